//! Promela, the language of Spin: preprocess, lex, parse, lower.

pub mod ast;
mod automaton;
mod flow;
pub mod lex;
mod lower;
mod parse;
pub mod preprocess;
pub mod token;

use crate::diagnostic::Diagnostic;
use ir::source::Sources;
use ir::system::System;
use preprocess::Loader;

/// Reads a model. `Err` holds all errors; `Ok` may come with warnings.
pub fn load(name: &str, text: String, defines: &[(String, String)], loader: &dyn Loader) -> Loaded {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let main = sources.add(name, text);
    let tokens = preprocess::tokenize(main, defines, loader, &mut sources, &mut diagnostics);
    let program = parse::parse(tokens, &mut diagnostics);
    let syntax_errors = diagnostics.iter().any(Diagnostic::is_error);
    let mut more = Vec::new();
    let system = lower::lower(&program, name, sources.clone(), &mut more);
    if syntax_errors {
        more.retain(|d| !follows_from_syntax(d));
    }
    diagnostics.extend(more);
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start));
    diagnostics.dedup();
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    Loaded { system: (!failed).then_some(system), sources, diagnostics }
}

/// What is said because a statement that could not be read is missing.
fn follows_from_syntax(diagnostic: &Diagnostic) -> bool {
    let phrases = ["there is no label", "has no label", "no process runs", "cannot stand here"];
    phrases.iter().any(|p| diagnostic.message.contains(p))
}

/// A model that was read, or what is wrong with it.
pub struct Loaded {
    pub system: Option<System>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}
