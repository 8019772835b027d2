//! Models from files, by their language.

use crate::args::ModelArgs;
use anyhow::{Context, Result, bail};
use ir::program::Program;
use ir::source::Sources;
use ir::trace::Trace;
use lang::diagnostic::Diagnostic;
use lang::promela::preprocess::FileLoader;
use std::io::Write;
use std::path::Path;

/// Reads the model, which is there until the process ends; errors and warnings go
/// to standard error. `None` if there were errors.
pub fn model(args: &ModelArgs) -> Result<Option<&'static Program>> {
    Ok(read(args)?.map(|program| &*Box::leak(Box::new(program))))
}

fn read(args: &ModelArgs) -> Result<Option<Program>> {
    let path = &args.model;
    let name = path.display().to_string();
    match path.extension().and_then(|e| e.to_str()) {
        Some("m") if !args.define.is_empty() => bail!("{name}: '-D' is for Promela models"),
        Some("m") => return murphi(args, &name),
        Some("json") => bail!("{name}: this looks like a trace: use 'supertrace show {name}'"),
        _ => {}
    }
    let text = text(path, &name)?;
    let defines = args.define.iter().map(|d| define(d)).collect::<Result<Vec<_>>>()?;
    let loaded = lang::promela::load(&name, text, &defines, &FileLoader);
    show(&name, &loaded.diagnostics, &loaded.sources);
    Ok(loaded.system.map(Program::from))
}

fn murphi(args: &ModelArgs, name: &str) -> Result<Option<Program>> {
    let loaded = lang::murphi::load(name, text(&args.model, name)?);
    show(name, &loaded.diagnostics, &loaded.sources);
    let Some(mut rules) = loaded.rules else { return Ok(None) };
    rules.deadlock = args.deadlock.into();
    rules.symmetry = args.symmetry.into();
    Ok(Some(Program::Rules(rules)))
}

fn text(path: &Path, name: &str) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read '{name}'"))?;
    lang::text(bytes).with_context(|| format!("'{name}' is no text file: it has zero bytes"))
}

/// Errors and warnings to standard error, and how many errors there are.
fn show(name: &str, diagnostics: &[Diagnostic], sources: &Sources) {
    // Nobody may be reading any more.
    let mut to = std::io::stderr().lock();
    for diagnostic in diagnostics {
        let _ = write!(to, "{}", diagnostic.render(sources));
    }
    let n_errors = diagnostics.iter().filter(|d| d.is_error()).count();
    if n_errors > 0 {
        let s = if n_errors == 1 { "" } else { "s" };
        let _ = writeln!(to, "supertrace: {n_errors} error{s} in '{name}'");
    }
}

fn define(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let head = name.split('(').next().unwrap_or("");
    let valid = head.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !valid {
        bail!("-D {text}: '{name}' is no name");
    }
    Ok((name.to_string(), value.to_string()))
}

pub fn trace(path: &Path) -> Result<Trace> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read '{name}'"))?;
    serde_json::from_str(&text).with_context(|| format!("'{name}' is no trace file"))
}

pub fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write '{}'", path.display()))
}
