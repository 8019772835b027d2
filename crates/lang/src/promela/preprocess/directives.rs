//! The stack of open files, and the directives in them.
//!
//! Directives are obeyed while the files are read, below macro expansion: one
//! in the middle of a macro call's arguments works as it does with gcc. Only
//! between a macro's name and its `(` there can be none.

use super::macros::{Macro, macro_name};
use super::{Preprocessor, condition};
use crate::diagnostic::Diagnostic;
use crate::promela::lex::{Gap, Lexeme, LexemeKind, unsplice};
use ir::source::Span;
use std::rc::Rc;

const MAX_INCLUDE_DEPTH: usize = 100;

/// What opening an included file costs, besides its lexemes.
const INCLUDE_COST: usize = 100;

/// A file being read.
pub struct OpenFile {
    number: u32,
    lexemes: Rc<[Lexeme]>,
    next: usize,
    /// The `#if`s around the next line, innermost last.
    conditionals: Vec<Conditional>,
}

/// An `#if` whose `#endif` has not been read.
struct Conditional {
    span: Span,
    /// The lines of the current group are read.
    active: bool,
    /// No further group will be read: one was, or the whole `#if` is skipped.
    settled: bool,
    seen_else: bool,
}

impl OpenFile {
    pub fn new(number: u32, lexemes: Rc<[Lexeme]>) -> OpenFile {
        OpenFile { number, lexemes, next: 0, conditionals: Vec::new() }
    }

    fn is_skipping(&self) -> bool {
        self.conditionals.last().is_some_and(|conditional| !conditional.active)
    }

    /// Takes the lexemes up to the end of the line.
    fn take_line(&mut self) -> Vec<Lexeme> {
        let rest = &self.lexemes[self.next..];
        let length = rest.iter().skip(1).take_while(|lexeme| lexeme.gap != Gap::Line).count() + 1;
        let line = rest[..length.min(rest.len())].to_vec();
        self.next += line.len();
        line
    }
}

impl Preprocessor<'_> {
    /// The next lexeme of the text lines of the innermost file; directives are
    /// obeyed on the way. `None` at the end of the main file, and at a directive
    /// that must not be passed.
    pub fn next_in_file(&mut self) -> Option<Lexeme> {
        loop {
            if self.halted {
                return None;
            }
            let file = self.files.last_mut()?;
            let Some(lexeme) = file.lexemes.get(file.next) else {
                let number = file.number;
                self.close_file();
                let kind = LexemeKind::FileEnd;
                return self
                    .files
                    .last()
                    .map(|_| Lexeme::new(kind, Span { file: number, ..Span::NONE }));
            };
            if lexeme.gap == Gap::Line && lexeme.is_punct("#") {
                if self.stop_at_directives {
                    return None;
                }
                let line = file.take_line();
                self.obey(&line);
            } else if file.is_skipping() {
                file.take_line();
            } else {
                let lexeme = lexeme.clone();
                file.next += 1;
                return Some(lexeme);
            }
        }
    }

    fn close_file(&mut self) {
        for open in self.files.pop().into_iter().flat_map(|file| file.conditionals) {
            let error = Diagnostic::error(open.span, "this condition has no '#endif'");
            self.log.report(error);
        }
    }

    fn is_skipping(&self) -> bool {
        self.files.last().is_some_and(OpenFile::is_skipping)
    }

    pub fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || matches!(name, "__LINE__" | "__FILE__")
    }

    /// Obeys a directive; `line` starts with its `#`.
    fn obey(&mut self, line: &[Lexeme]) {
        let [hash, head, rest @ ..] = line else { return };
        let span = hash.span.to(head.span);
        let name = match &head.kind {
            LexemeKind::Name(name) => name,
            // A line marker of another preprocessor: `# 12 "file"`.
            LexemeKind::Number(_) => return,
            _ => {
                if !self.is_skipping() {
                    let message = format!("'#{}' is not a directive", head.spelling());
                    self.log.report(Diagnostic::error(span, message));
                }
                return;
            }
        };
        if !self.obey_conditional(span, name, rest) && !self.is_skipping() {
            self.obey_plain(span, name, rest);
        }
    }

    /// Obeys the directives that count in skipped text, too; false if `name` is none.
    fn obey_conditional(&mut self, span: Span, name: &str, rest: &[Lexeme]) -> bool {
        match name {
            "if" => self.begin_conditional(span, |this| this.condition_holds(span, rest)),
            "ifdef" => self.begin_conditional(span, |this| {
                this.one_macro_name("#ifdef", span, rest).is_some_and(|name| this.is_defined(&name))
            }),
            "ifndef" => self.begin_conditional(span, |this| {
                let name = this.one_macro_name("#ifndef", span, rest);
                name.is_some_and(|name| !this.is_defined(&name))
            }),
            "elif" => self.next_group(span, name, |this| this.condition_holds(span, rest)),
            "else" => {
                self.expect_end("#else", rest);
                self.next_group(span, name, |_| true);
            }
            "endif" => {
                self.expect_end("#endif", rest);
                let file = self.files.last_mut();
                if file.and_then(|file| file.conditionals.pop()).is_none() {
                    self.report_stray(span, name);
                }
            }
            _ => return false,
        }
        true
    }

    fn obey_plain(&mut self, span: Span, name: &str, rest: &[Lexeme]) {
        match name {
            "define" => self.define(span, rest),
            "undef" => {
                if let Some(name) = self.one_macro_name("#undef", span, rest) {
                    self.macros.remove(&name);
                }
            }
            "include" => self.include(span, rest),
            "error" => {
                let message = self.directive_text("#error", rest);
                self.log.report(Diagnostic::error(span, message));
            }
            "warning" => {
                let message = self.directive_text("#warning", rest);
                self.log.report(Diagnostic::warning(span, message));
            }
            "pragma" => {
                if rest.first().and_then(Lexeme::name).is_some_and(|word| &**word == "once") {
                    self.once.extend(self.files.last().map(|file| file.number));
                }
            }
            "line" | "ident" => {}
            _ => self.report_unknown(span, name),
        }
    }

    fn report_unknown(&mut self, span: Span, name: &str) {
        let error = Diagnostic::error(span, format!("unknown directive '#{name}'"));
        self.log.report(error.help(
            "known are #define, #undef, #include, #if, #ifdef, #ifndef, #elif, #else, #endif, \
             #error and #warning",
        ));
    }

    fn report_stray(&mut self, span: Span, name: &str) {
        let error = Diagnostic::error(span, format!("'#{name}' without '#if'"));
        self.log.report(error);
    }

    /// Opens an `#if`; its condition is looked at only if its text matters.
    fn begin_conditional(&mut self, span: Span, holds: impl FnOnce(&mut Self) -> bool) {
        let skipped = self.is_skipping();
        let active = !skipped && holds(self);
        if let Some(file) = self.files.last_mut() {
            let settled = skipped || active;
            file.conditionals.push(Conditional { span, active, settled, seen_else: false });
        }
    }

    /// Ends a group of lines and begins the next, at `#elif` or `#else`.
    fn next_group(&mut self, span: Span, name: &str, holds: impl FnOnce(&mut Self) -> bool) {
        let file = self.files.last_mut();
        let Some(conditional) = file.and_then(|file| file.conditionals.last_mut()) else {
            return self.report_stray(span, name);
        };
        if conditional.seen_else {
            conditional.active = false;
            let error = Diagnostic::error(span, format!("'#{name}' after '#else'"));
            return self.log.report(error);
        }
        conditional.seen_else = name == "else";
        let active = !conditional.settled && holds(self);
        let file = self.files.last_mut();
        if let Some(conditional) = file.and_then(|file| file.conditionals.last_mut()) {
            conditional.active = active;
            conditional.settled |= active;
        }
    }

    fn condition_holds(&mut self, span: Span, line: &[Lexeme]) -> bool {
        let line = self.expand_list(line.to_vec(), true);
        if self.halted {
            return false;
        }
        condition::evaluate(span, &line).unwrap_or_else(|error| {
            self.log.report(error);
            false
        })
    }

    /// The name that is all that should follow `directive`.
    fn one_macro_name(&mut self, directive: &str, span: Span, line: &[Lexeme]) -> Option<Rc<str>> {
        match macro_name(directive, span, line) {
            Ok(((name, _), rest)) => {
                self.expect_end(directive, rest);
                Some(name)
            }
            Err(error) => {
                self.log.report(error);
                None
            }
        }
    }

    fn expect_end(&mut self, directive: &str, rest: &[Lexeme]) {
        if let Some(extra) = rest.first() {
            let message = format!("the text after '{directive}' is ignored");
            let warning = Diagnostic::warning(extra.span, message);
            self.log.report(warning.help("make it a comment"));
        }
    }

    pub fn define(&mut self, directive: Span, line: &[Lexeme]) {
        let definition = match Macro::parse(directive, line) {
            Ok(definition) => definition,
            Err(error) => return self.log.report(error),
        };
        let earlier = self.macros.get(&definition.name);
        if let Some(earlier) = earlier.filter(|earlier| !earlier.same_as(&definition)) {
            let at = self.sources.position(earlier.span);
            let help = match earlier.span {
                Span::NONE => "the earlier definition is given on the command line".into(),
                _ => format!("the earlier definition is at {}:{}", at.file, at.line),
            };
            let message = format!("macro '{}' is redefined", definition.name);
            self.log.report(Diagnostic::warning(definition.span, message).help(help));
        }
        self.macros.insert(definition.name.clone(), Rc::new(definition));
    }

    /// The text of an `#error` or `#warning`, as it stands in the file.
    fn directive_text(&self, directive: &str, rest: &[Lexeme]) -> String {
        match rest {
            [] => directive.into(),
            [first, ..] => format!("{directive} {}", unsplice(self.written(first.span, rest))),
        }
    }

    /// What stands in the file from `first` to the end of `line`.
    fn written(&self, first: Span, line: &[Lexeme]) -> &str {
        self.sources.text(line.last().map_or(first, |last| first.to(last.span)))
    }

    fn include(&mut self, span: Span, line: &[Lexeme]) {
        let expanded = match line.first() {
            Some(first) if first.name().is_some() => self.expand_list(line.to_vec(), false),
            _ => line.to_vec(),
        };
        match expanded.first().map(|first| (&first.kind, first.span)) {
            Some((LexemeKind::Text(name), place)) => {
                self.expect_end("#include", &expanded[1..]);
                let name = name.clone();
                self.include_file(place, &name);
            }
            Some((LexemeKind::Punct(punct), place)) if punct.starts_with('<') => {
                let written = self.written(place, line);
                let name = written.split_inclusive('>').next().unwrap_or(written).to_owned();
                let error = Diagnostic::error(place, format!("there is no header '{name}'"));
                self.log.report(error.help("include a Promela file: #include \"file\""));
            }
            _ if self.halted => {}
            _ => {
                let error = Diagnostic::error(span, "'#include' without a file name");
                self.log.report(error.help("write #include \"file\""));
            }
        }
    }

    fn include_file(&mut self, place: Span, name: &str) {
        if self.files.len() > MAX_INCLUDE_DEPTH {
            let error = Diagnostic::error(place, "includes are nested too deeply");
            return self.halt(error.help(format!("does '{name}' include itself?")));
        }
        let from = self.files.last().and_then(|file| self.sources.files.get(file.number as usize));
        let from = from.map_or("", |file| &file.name);
        let (found, text) = match self.loader.load(name, from) {
            Ok(found) => found,
            Err(reason) => {
                let message = format!("cannot read '{name}': {reason}");
                return self.log.report(Diagnostic::error(place, message));
            }
        };
        let number = match self.numbers.get(&found) {
            Some(number) => *number,
            None => {
                let number = self.sources.add(found.clone(), text);
                self.numbers.insert(found, number);
                number
            }
        };
        if !self.once.contains(&number) {
            self.open(number);
            let n_lexemes = self.files.last().map_or(0, |file| file.lexemes.len());
            self.pay(place, n_lexemes + INCLUDE_COST);
        }
    }
}
