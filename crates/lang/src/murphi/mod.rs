//! Murphi, the language of CMurphi and Rumur: lex, parse, check, lower to
//! `Rules`.
//!
//! The language is that of Rumur, with unions, multisets, `choose` and
//! `undefined` of CMurphi. Where the two tools differ in what they accept, the
//! model is accepted if it can mean one thing only.

pub mod ast;
mod check;
pub mod lex;
mod lower;
pub mod model;
mod parse;
pub mod token;
pub mod types;

use crate::diagnostic::Diagnostic;
use ir::rules::Rules;
use ir::source::Sources;
pub use model::Model;

/// A model that was read and checked, or what is wrong with it.
pub struct Checked {
    pub model: Option<Model>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// A model that can run, or what is wrong with it.
pub struct Loaded {
    pub rules: Option<Rules>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and lowers a model: all that is wrong with it is in the diagnostics.
pub fn load(name: &str, text: String) -> Loaded {
    let Checked { model, sources, mut diagnostics } = read(name, text);
    let rules = model.and_then(|model| match lower::lower(&model, name, sources.clone()) {
        Ok(rules) => Some(rules),
        Err(errors) => {
            diagnostics.extend(errors);
            None
        }
    });
    Loaded { rules, sources, diagnostics }
}

/// Reads and checks a model.
pub fn read(name: &str, text: String) -> Checked {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let file = sources.add(name, text);
    let tokens = lex::lex(&sources.files[file as usize].text, file, &mut diagnostics);
    let program = parse::parse(tokens, &mut diagnostics);
    let model = check::check(&program, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(check::symmetry::warnings(&model));
    }
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
    diagnostics.dedup();
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    Checked { model: (!failed).then_some(model), sources, diagnostics }
}
