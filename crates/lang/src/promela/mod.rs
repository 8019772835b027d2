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
    if diagnostics.iter().any(Diagnostic::is_error) {
        // Names are checked all the same: what is wrong there is worth knowing.
        let mut more = Vec::new();
        lower::lower(&program, name, sources.clone(), &mut more);
        diagnostics.extend(more.into_iter().filter(|d| d.message.starts_with("undeclared")));
        return Loaded { system: None, sources, diagnostics };
    }
    let system = lower::lower(&program, name, sources.clone(), &mut diagnostics);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    Loaded { system: (!failed).then_some(system), sources, diagnostics }
}

/// A model that was read, or what is wrong with it.
pub struct Loaded {
    pub system: Option<System>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}
