//! `cargo xtask bench`: our speed and memory next to Spin's, on the same graphs.
//!
//! Both tools visit the whole state graph without reduction, so the numbers of
//! states and transitions must be equal; a figure of a model on which they are
//! not is no figure, and the bench fails. Runs of the two tools alternate, so
//! that a load on the machine that comes and goes hits both; medians are taken.

mod machine;
mod models;
mod options;
mod ours;
mod process;
mod spin;
mod summary;
mod table;

use models::Model;
use options::Options;
use std::process::ExitCode;

/// All that was measured on one model.
pub struct Measured {
    pub model: Model,
    pub pan: spin::Pan,
    pub spin: Vec<Run>,
    pub ours: Vec<Run>,
}

/// One search of the whole graph.
#[derive(Clone)]
pub struct Run {
    pub states: u64,
    pub transitions: u64,
    /// What the tool's own clock says the search took.
    pub reported_seconds: f64,
    pub usage: process::Usage,
}

pub fn main(args: &[String]) -> ExitCode {
    match options::parse(args).and_then(|options| options.map_or(Ok(ExitCode::SUCCESS), bench)) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn bench(options: Options) -> Result<ExitCode, String> {
    let missing = machine::missing(&options);
    if !missing.is_empty() {
        println!("skipped: {}", missing.join("; "));
        return Ok(ExitCode::SUCCESS);
    }
    let models = models::select(&options)?;
    let supertrace = ours::build(&options)?;
    let load_before = machine::load();
    machine::warn_if_busy(load_before);
    let scratch = process::Scratch::new()?;
    let (mut measured, mut failures) = prepare(models, &options, &scratch);
    repeat(&mut measured, &mut failures, &options, &supertrace);
    failures.extend(measured.iter().filter_map(disagreement));
    measured.retain(|m| !m.spin.is_empty() && disagreement(m).is_none());

    let rows: Vec<_> = measured.iter().map(summary::Row::new).collect();
    print!("{}", table::text(&rows));
    write(&options, &measured, &rows, &failures, load_before)?;
    for failure in &failures {
        eprintln!("\n*** FAILED *** {failure}");
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Generates and compiles every verifier once: this takes seconds and varies little.
fn prepare(
    models: Vec<Model>,
    options: &Options,
    scratch: &process::Scratch,
) -> (Vec<Measured>, Vec<String>) {
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    for model in models {
        eprintln!("{}: generating and compiling Spin's verifier", model.name);
        match spin::prepare(&model, options, &scratch.path.join(&model.name)) {
            Ok(pan) => {
                measured.push(Measured { model, pan, spin: Vec::new(), ours: Vec::new() });
            }
            Err(message) => failures.push(format!("{}: {message}", model.name)),
        }
    }
    (measured, failures)
}

/// Runs both tools in turn on every model, `options.repeat` times. A model on
/// which one of them fails is dropped.
fn repeat(
    measured: &mut Vec<Measured>,
    failures: &mut Vec<String>,
    options: &Options,
    supertrace: &std::path::Path,
) {
    for round in 1..=options.repeat {
        measured.retain_mut(|m| {
            eprintln!("{}: round {round} of {}", m.model.name, options.repeat);
            match (spin::run(&m.pan), ours::run(supertrace, &m.model, &m.pan.dir)) {
                (Ok(spin), Ok(ours)) => {
                    m.spin.push(spin);
                    m.ours.push(ours);
                    true
                }
                (Err(message), _) | (_, Err(message)) => {
                    failures.push(format!("{}: {message}", m.model.name));
                    false
                }
            }
        });
    }
}

/// What differs, if the two tools did not see the same graph in every run.
fn disagreement(m: &Measured) -> Option<String> {
    let differ = m.spin.iter().flat_map(|s| m.ours.iter().map(move |o| (s, o))).find(|(s, o)| {
        !spin::same_number(s.states, o.states) || !spin::same_number(s.transitions, o.transitions)
    });
    differ.map(|(s, o)| {
        format!(
            "{}: the graphs differ: Spin has {} states and {} transitions, ours {} and {}",
            m.model.name, s.states, s.transitions, o.states, o.transitions
        )
    })
}

fn write(
    options: &Options,
    measured: &[Measured],
    rows: &[summary::Row],
    failures: &[String],
    load_before: Option<f64>,
) -> Result<(), String> {
    let put = |path: &std::path::Path, text: String| {
        std::fs::write(path, text).map_err(|e| format!("cannot write '{}': {e}", path.display()))
    };
    if let Some(path) = &options.json {
        put(path, table::json(measured, rows, failures))?;
    }
    if options.write {
        if !failures.is_empty() {
            return Err("docs/benchmarks.md is not written, because a model failed".into());
        }
        put(
            &machine::root().join("docs/benchmarks.md"),
            table::markdown(rows, options, load_before),
        )?;
    }
    Ok(())
}
