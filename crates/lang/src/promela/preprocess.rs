//! The built-in C preprocessor: a file and its includes to Promela tokens.
//!
//! Spin runs `gcc -E -x c` and lexes what comes out. We do the same without
//! the detour over text, so that every token knows where it was written and
//! no compiler needs to be installed. Four steps, each pulled by the next:
//!
//! 1. [`lex`](super::lex) cuts a file into lexemes;
//! 2. `directives` keeps the stack of open files and obeys the `#` lines;
//! 3. `expand` replaces macros, as gcc does it;
//! 4. `convert` turns what is left into [`Token`]s and reports the lexemes
//!    that are none.
//!
//! Invariant: whatever the text, the work is bounded. Each lexeme that an
//! expansion or an include produces is paid from a budget ([`BUDGET`]), nesting
//! has limits, and the first limit hit ends the run with one error.

mod condition;
mod convert;
mod directives;
mod expand;
mod macros;
#[cfg(test)]
mod tests;

use super::lex::{Lexeme, Spellings, lex};
use super::token::Token;
use crate::diagnostic::Diagnostic;
use convert::Converter;
use directives::OpenFile;
use expand::Expansion;
use ir::source::{Sources, Span};
use macros::Macro;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::rc::Rc;

/// How many lexemes expansions and includes may produce: far more than any
/// model that can be checked, few enough to stop within a second or two.
const BUDGET: usize = 4_000_000;

/// Reads include files.
pub trait Loader {
    /// Finds the file that `name` means in the file called `from`; returns the
    /// name it was found under and its text, or why it cannot be read.
    fn load(&self, name: &str, from: &str) -> Result<(String, String), String>;
}

/// Finds include files next to the including file, then in the current directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileLoader;

impl Loader for FileLoader {
    fn load(&self, name: &str, from: &str) -> Result<(String, String), String> {
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        let path = if beside.exists() { &beside } else { Path::new(name) };
        // Reading a device or a pipe might never end.
        if fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            let text = crate::text(bytes).ok_or("not a text file")?;
            Ok((path.display().to_string(), text))
        } else {
            Err("not a regular file".into())
        }
    }
}

/// Preprocesses and lexes file number `main` of `sources`, with the macros
/// `defines` (name and body) defined. Adds the included files to `sources`.
/// The result ends with exactly one [`TokenKind::End`](super::token::TokenKind::End).
pub fn tokenize(
    main: u32,
    defines: &[(String, String)],
    loader: &dyn Loader,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut preprocessor = Preprocessor::new(loader, sources, diagnostics);
    for (name, body) in defines {
        preprocessor.define_from_command_line(name, body);
    }
    preprocessor.open_main(main);
    let mut converter = Converter::default();
    while let Some(lexeme) = preprocessor.next_expanded() {
        converter.push(&lexeme, &mut preprocessor.log);
    }
    let end = preprocessor.end_of(main);
    converter.finish(end, &mut preprocessor.log)
}

/// Collects diagnostics. A mistake in a macro comes up at each use of it, so
/// repetitions are dropped and their number is limited.
struct Log<'a> {
    diagnostics: &'a mut Vec<Diagnostic>,
    room: usize,
}

impl Log<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.room > 0 && self.diagnostics.last() != Some(&diagnostic) {
            self.room -= 1;
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The state of the preprocessor; `directives` and `expand` add its methods.
struct Preprocessor<'a> {
    loader: &'a dyn Loader,
    sources: &'a mut Sources,
    log: Log<'a>,
    spellings: Spellings,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// The main file and, on top of it, the includes being read.
    files: Vec<OpenFile>,
    /// The lexemes of every file read so far.
    lexed: HashMap<u32, Rc<[Lexeme]>>,
    /// File numbers by name, so that a file included twice is kept once.
    numbers: HashMap<String, u32>,
    /// Files with `#pragma once`.
    once: HashSet<u32>,
    /// The next lexeme is wanted only if it comes before the next directive.
    stop_at_directives: bool,
    expansion: Expansion,
    budget: usize,
    /// A limit was hit: nothing is read any more.
    halted: bool,
}

impl<'a> Preprocessor<'a> {
    fn new(
        loader: &'a dyn Loader,
        sources: &'a mut Sources,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Preprocessor<'a> {
        Preprocessor {
            loader,
            sources,
            log: Log { diagnostics, room: 1000 },
            spellings: Spellings::default(),
            macros: HashMap::new(),
            files: Vec::new(),
            lexed: HashMap::new(),
            numbers: HashMap::new(),
            once: HashSet::new(),
            stop_at_directives: false,
            expansion: Expansion::default(),
            budget: BUDGET,
            halted: false,
        }
    }

    fn define_from_command_line(&mut self, name: &str, body: &str) {
        let text = format!("{name} {body}").replace(['\n', '\r'], " ");
        let mut complaints = Vec::new();
        let mut line = lex(&text, 0, &mut self.spellings, &mut complaints);
        for lexeme in &mut line {
            lexeme.span = Span::NONE;
        }
        for complaint in complaints {
            self.log.report(Diagnostic { span: Span::NONE, ..complaint });
        }
        self.define(Span::NONE, &line);
    }

    fn open_main(&mut self, main: u32) {
        if let Some(file) = self.sources.files.get(main as usize) {
            self.numbers.insert(file.name.clone(), main);
            self.open(main);
        }
    }

    /// Puts a file on the stack, to be read next.
    fn open(&mut self, number: u32) {
        let lexemes = match self.lexed.get(&number) {
            Some(lexemes) => lexemes.clone(),
            None => {
                let mut complaints = Vec::new();
                let text = self.sources.files.get(number as usize).map_or("", |file| &file.text);
                let lexemes: Rc<[Lexeme]> =
                    lex(text, number, &mut self.spellings, &mut complaints).into();
                for complaint in complaints {
                    self.log.report(complaint);
                }
                self.lexed.insert(number, lexemes.clone());
                lexemes
            }
        };
        self.files.push(OpenFile::new(number, lexemes));
    }

    fn end_of(&self, number: u32) -> Span {
        let length = self.sources.files.get(number as usize).map_or(0, |file| file.text.len());
        Span { file: number, start: length as u32, end: length as u32 }
    }

    /// Pays for work; halts with an error at `place` when the budget is used up.
    fn pay(&mut self, place: Span, cost: usize) -> bool {
        if self.budget < cost {
            self.halt(
                Diagnostic::error(place, "macros and includes expand to too much text")
                    .help(format!("the limit is {BUDGET} tokens")),
            );
        }
        self.budget = self.budget.saturating_sub(cost);
        !self.halted
    }

    fn halt(&mut self, reason: Diagnostic) {
        if !self.halted {
            self.halted = true;
            self.log.report(reason);
        }
    }
}
