//! Macro expansion.
//!
//! This is gcc's algorithm rather than Prosser's hide sets, because its output
//! is what Spin sees: expansions are read from a stack of contexts; a macro is
//! blocked while its context is on the stack; and a name read while its macro
//! is blocked is frozen for good. So every expansion ends, and where the C
//! standard leaves a choice we choose as gcc does.
//!
//! All lexemes of an expansion have the place of the macro call in the file's
//! text and count as one line.

use super::Preprocessor;
use super::macros::{Macro, Part, PartKind, paste, quote};
use crate::diagnostic::Diagnostic;
use crate::promela::lex::{Gap, Lexeme, LexemeKind};
use ir::source::Span;
use std::collections::HashSet;
use std::rc::Rc;

/// How deep macro calls may be nested in the arguments of macro calls.
const MAX_NESTED_CALLS: usize = 400;

/// Lexemes to be read before anything else.
struct Context {
    lexemes: std::vec::IntoIter<Lexeme>,
    /// The macro they come from; it is blocked until the context is popped.
    source: Option<Rc<str>>,
}

pub struct Expansion {
    contexts: Vec<Context>,
    /// Contexts up to this height belong to what is waiting for the current
    /// list to be expanded. 0 while the files themselves are read.
    floor: usize,
    blocked: HashSet<Rc<str>>,
    /// The gap before macro names whose expansion has not yielded a lexeme yet.
    gap: Gap,
    /// The last macro call spanned several lines: as in gcc's output, what
    /// follows its `)` is on a new line.
    call_broke_line: bool,
    depth: usize,
    /// `defined` is an operator now.
    in_condition: bool,
}

impl Default for Expansion {
    fn default() -> Expansion {
        Expansion {
            contexts: Vec::new(),
            floor: 0,
            blocked: HashSet::new(),
            gap: Gap::None,
            call_broke_line: false,
            depth: 0,
            in_condition: false,
        }
    }
}

/// The arguments of one macro call.
struct Arguments {
    lists: Vec<Vec<Lexeme>>,
    /// Each argument fully expanded, once that is needed.
    expanded: Vec<Option<Vec<Lexeme>>>,
    /// There is no argument for the variadic parameter, not even an empty one.
    rest_omitted: bool,
}

impl Preprocessor<'_> {
    /// The next lexeme of the output, all macros replaced; `None` at the end.
    pub fn next_expanded(&mut self) -> Option<Lexeme> {
        loop {
            let mut lexeme = self.next_raw()?;
            if lexeme.kind == LexemeKind::FileEnd || self.try_expand(&lexeme) {
                continue;
            }
            self.replace_builtin(&mut lexeme);
            let gap = std::mem::replace(&mut self.expansion.gap, Gap::None);
            lexeme.gap = lexeme.gap.max(gap);
            return Some(lexeme);
        }
    }

    /// Expands the macros in `list` as if it stood alone.
    pub fn expand_list(&mut self, list: Vec<Lexeme>, in_condition: bool) -> Vec<Lexeme> {
        let place = list.first().map_or(Span::NONE, |lexeme| lexeme.span);
        if self.expansion.depth >= MAX_NESTED_CALLS {
            self.halt(Diagnostic::error(place, "macro calls are nested too deeply"));
        }
        if !self.pay(place, list.len()) {
            return Vec::new();
        }
        let expansion = &mut self.expansion;
        expansion.contexts.push(Context { lexemes: list.into_iter(), source: None });
        let height = expansion.contexts.len();
        let floor = std::mem::replace(&mut expansion.floor, height);
        let gap = std::mem::replace(&mut expansion.gap, Gap::None);
        let outer_condition = std::mem::replace(&mut expansion.in_condition, in_condition);
        expansion.depth += 1;
        let expanded = std::iter::from_fn(|| self.next_expanded()).collect();
        while self.expansion.contexts.len() >= height {
            self.pop_context();
        }
        let expansion = &mut self.expansion;
        expansion.depth -= 1;
        expansion.in_condition = outer_condition;
        expansion.gap = gap;
        expansion.floor = floor;
        expanded
    }

    /// The next lexeme of the contexts or, when there are none, of the files.
    fn next_raw(&mut self) -> Option<Lexeme> {
        loop {
            if self.halted {
                return None;
            }
            let expansion = &mut self.expansion;
            let Some(context) = expansion.contexts.last_mut() else {
                return self.next_from_files();
            };
            if let Some(mut lexeme) = context.lexemes.next() {
                if lexeme.name().is_some_and(|name| expansion.blocked.contains(name)) {
                    lexeme.frozen = true;
                }
                return Some(lexeme);
            }
            if expansion.contexts.len() <= expansion.floor {
                return None;
            }
            self.pop_context();
        }
    }

    fn next_from_files(&mut self) -> Option<Lexeme> {
        let mut lexeme = self.next_in_file()?;
        if std::mem::take(&mut self.expansion.call_broke_line) {
            lexeme.gap = lexeme.gap.max(Gap::Comment);
        }
        Some(lexeme)
    }

    fn pop_context(&mut self) {
        if let Some(Context { source: Some(name), .. }) = self.expansion.contexts.pop() {
            self.expansion.blocked.remove(&name);
        }
    }

    fn push_back(&mut self, lexeme: Lexeme) {
        let lexemes = vec![lexeme].into_iter();
        self.expansion.contexts.push(Context { lexemes, source: None });
    }

    /// If `lexeme` is a macro call, makes its expansion the next thing to read.
    fn try_expand(&mut self, lexeme: &Lexeme) -> bool {
        let Some(name) = lexeme.name().filter(|_| !lexeme.frozen) else { return false };
        let Some(definition) = self.macros.get(name).cloned() else { return false };
        let mut arguments = Arguments { lists: vec![], expanded: vec![], rest_omitted: false };
        let mut place = lexeme.span;
        if let Some(parameters) = &definition.parameters {
            if !self.take_open_parenthesis() {
                return false;
            }
            let arguments_read = self.collect_arguments(lexeme, &definition, parameters.len());
            let Some((lists, end)) = arguments_read else { return false };
            place = place.to(end);
            match self.match_arguments(lexeme, &definition, parameters.len(), lists) {
                Some(matched) => arguments = matched,
                None => return false,
            }
        }
        let lexemes = self.substitute(place, &definition, &mut arguments);
        let expansion = &mut self.expansion;
        expansion.gap = expansion.gap.max(lexeme.gap);
        expansion.blocked.insert(definition.name.clone());
        let source = Some(definition.name.clone());
        expansion.contexts.push(Context { lexemes: lexemes.into_iter(), source });
        // An empty expansion costs something, too.
        self.pay(lexeme.span, 1);
        true
    }

    /// True if no list is being expanded on its own.
    fn reads_files(&self) -> bool {
        self.expansion.floor == 0
    }

    fn take_open_parenthesis(&mut self) -> bool {
        self.stop_at_directives = true;
        let next = self.next_raw();
        self.stop_at_directives = false;
        match next {
            Some(next) if next.is_punct("(") => {
                self.expansion.call_broke_line |= next.gap >= Gap::Comment && self.reads_files();
                true
            }
            Some(next) => {
                self.push_back(next);
                false
            }
            None => false,
        }
    }

    /// Reads the arguments of a call up to its `)`, and where that is.
    fn collect_arguments(
        &mut self,
        call: &Lexeme,
        definition: &Macro,
        n_parameters: usize,
    ) -> Option<(Vec<Vec<Lexeme>>, Span)> {
        let mut lists = vec![Vec::new()];
        let mut open = 0;
        let mut broke_line = false;
        loop {
            let next = self.next_raw();
            let Some(mut lexeme) = next.filter(|next| next.kind != LexemeKind::FileEnd) else {
                if !self.halted {
                    let message = format!("the call of macro '{}' is not closed", definition.name);
                    self.log.report(Diagnostic::error(call.span, message).help("add ')'"));
                }
                return None;
            };
            broke_line |= lexeme.gap >= Gap::Comment;
            match lexeme.kind {
                LexemeKind::Punct(")") if open == 0 => {
                    self.expansion.call_broke_line |= broke_line && self.reads_files();
                    return Some((lists, lexeme.span));
                }
                LexemeKind::Punct(",")
                    if open == 0 && !(definition.variadic && lists.len() == n_parameters) =>
                {
                    lists.push(Vec::new());
                    continue;
                }
                LexemeKind::Punct("(") => open += 1,
                LexemeKind::Punct(")") => open -= 1,
                _ => {}
            }
            if let Some(list) = lists.last_mut() {
                let widest = if list.is_empty() { Gap::None } else { Gap::Space };
                lexeme.gap = lexeme.gap.min(widest);
                list.push(lexeme);
            }
        }
    }

    /// Checks the number of arguments.
    fn match_arguments(
        &mut self,
        call: &Lexeme,
        definition: &Macro,
        n_parameters: usize,
        mut lists: Vec<Vec<Lexeme>>,
    ) -> Option<Arguments> {
        let single_empty = matches!(&lists[..], [only] if only.is_empty());
        if n_parameters == 0 && single_empty {
            lists.clear();
        }
        let omitted = definition.variadic && lists.len() + 1 == n_parameters;
        if lists.len() != n_parameters && !omitted {
            let at_least = if definition.variadic { "at least " } else { "" };
            let message = format!(
                "macro '{}' takes {at_least}{} but is given {}",
                definition.name,
                count_arguments(n_parameters - usize::from(definition.variadic)),
                lists.len(),
            );
            self.log.report(Diagnostic::error(call.span, message));
            return None;
        }
        lists.resize(n_parameters, Vec::new());
        let rest_omitted = omitted || (definition.variadic && n_parameters == 1 && single_empty);
        Some(Arguments { expanded: vec![None; lists.len()], lists, rest_omitted })
    }

    /// The body of `definition` with its parameters replaced; all of it at `place`.
    fn substitute(
        &mut self,
        place: Span,
        definition: &Macro,
        arguments: &mut Arguments,
    ) -> Vec<Lexeme> {
        let mut out: Vec<Lexeme> = Vec::new();
        // The gap of parts that came to nothing goes to the next lexeme.
        let mut gap = Gap::None;
        let mut left_operand_empty = true;
        let mut pasting = false;
        for part in &definition.body {
            let as_written = pasting || part.pasted;
            if pasting && definition.is_rest(part) && ends_in_comma(&out) {
                // gcc's `, ## __VA_ARGS__`: no arguments, no comma.
                pasting = false;
                if arguments.rest_omitted {
                    out.pop();
                }
            }
            let mut piece = self.fill_in(place, part, as_written, arguments);
            if !self.pay(place, piece.len() + 1) {
                return Vec::new();
            }
            gap = gap.max(part.gap);
            if let Some(first) = piece.first_mut() {
                first.gap = std::mem::replace(&mut gap, Gap::None);
            }
            if !pasting || left_operand_empty {
                left_operand_empty = piece.is_empty();
            } else if !piece.is_empty() {
                self.paste_onto(&mut out, place, &mut piece);
            }
            out.append(&mut piece);
            pasting = part.pasted;
        }
        for lexeme in &mut out {
            lexeme.span = place;
        }
        out
    }

    /// What one part of a body becomes. Operands of `#` and `##` are taken as written.
    fn fill_in(
        &mut self,
        place: Span,
        part: &Part,
        as_written: bool,
        arguments: &mut Arguments,
    ) -> Vec<Lexeme> {
        match &part.kind {
            PartKind::Plain(kind) => vec![Lexeme::new(kind.clone(), place)],
            PartKind::Quoted(index) => {
                let list = &arguments.lists[*index];
                let length = list.iter().map(|lexeme| lexeme.spelling().len()).sum();
                match self.pay_for_text(place, length) {
                    true => vec![Lexeme::new(quote(list), place)],
                    false => Vec::new(),
                }
            }
            PartKind::Parameter(index) if as_written => arguments.lists[*index].clone(),
            PartKind::Parameter(index) => {
                if arguments.expanded[*index].is_none() {
                    let list = arguments.lists[*index].clone();
                    let in_condition = self.expansion.in_condition;
                    arguments.expanded[*index] = Some(self.expand_list(list, in_condition));
                }
                arguments.expanded[*index].clone().unwrap_or_default()
            }
        }
    }

    /// Joins the last lexeme of `out` and the first of `piece`, which are not empty.
    fn paste_onto(&mut self, out: &mut [Lexeme], place: Span, piece: &mut Vec<Lexeme>) {
        let (Some(left), Some(right)) = (out.last_mut(), piece.first()) else { return };
        let length = left.spelling().len() + right.spelling().len();
        if !self.pay_for_text(place, length) {
            return;
        }
        match paste(left, right, &mut self.spellings) {
            Some(kind) => {
                *left = Lexeme { gap: left.gap, ..Lexeme::new(kind, place) };
                piece.remove(0);
            }
            None => {
                let (left, right) = (left.spelling(), right.spelling());
                let message = format!("'##' makes no token of '{left}' and '{right}'");
                self.log.report(Diagnostic::error(place, message));
            }
        }
    }

    /// `#` and `##` can double a text with every call, so long texts cost more.
    fn pay_for_text(&mut self, place: Span, length: usize) -> bool {
        self.pay(place, length / 16)
    }

    /// Replaces what looks like a macro but has no definition.
    fn replace_builtin(&mut self, lexeme: &mut Lexeme) {
        let Some(name) = lexeme.name() else { return };
        lexeme.kind = match &**name {
            "__LINE__" => {
                LexemeKind::Number(self.sources.position(lexeme.span).line.to_string().into())
            }
            "__FILE__" => {
                let file = self.sources.position(lexeme.span).file;
                LexemeKind::Text(file.replace('\\', "\\\\").replace('"', "\\\"").into())
            }
            "defined" if self.expansion.in_condition => {
                LexemeKind::Number(if self.defined_operand(lexeme.span) { "1" } else { "0" }.into())
            }
            _ => return,
        };
    }

    /// Reads `NAME` or `(NAME)` after `defined`.
    fn defined_operand(&mut self, operator: Span) -> bool {
        let mut next = self.next_raw();
        let parenthesis = next.as_ref().is_some_and(|next| next.is_punct("("));
        if parenthesis {
            next = self.next_raw();
        }
        let defined = next.as_ref().and_then(|next| next.name()).map(|name| self.is_defined(name));
        let closed = !parenthesis || self.next_raw().is_some_and(|next| next.is_punct(")"));
        if defined.is_none() || !closed {
            let error = Diagnostic::error(operator, "'defined' is not followed by a macro name");
            self.log.report(error.help("write 'defined NAME' or 'defined(NAME)'"));
        }
        defined.unwrap_or(false)
    }
}

fn count_arguments(n: usize) -> String {
    if n == 1 { "1 argument".into() } else { format!("{n} arguments") }
}

fn ends_in_comma(lexemes: &[Lexeme]) -> bool {
    lexemes.last().is_some_and(|last| last.is_punct(","))
}
