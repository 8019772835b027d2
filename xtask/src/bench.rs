//! `cargo xtask bench`: our speed and memory next to those of other checkers.
//!
//! Contenders (`contenders.rs`) take turns on every model, so that a load on
//! the machine that comes and goes hits all of them; medians are taken.
//! Contenders that search the same graph must count the same states and
//! transitions; a figure of a model on which they do not is no figure, and the
//! bench fails. Models and contenders that cannot run are named as skipped.

mod contenders;
mod latency;
pub mod machine;
pub mod models;
mod murphi;
mod options;
mod ours;
mod plot;
pub mod process;
mod raw;
mod report;
mod rumur;
#[cfg(test)]
mod sample;
mod sections;
mod spin;
mod startup;
mod summary;
pub mod table;

// For `cargo xtask lean`.
pub use ours::build;
pub use raw::lines;

use contenders::{Contender, Graph};
use models::Model;
use options::Options;
pub use spin::{errors as pan_errors, obstacle as pan_obstacle, states as pan_states};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
pub use summary::median;

/// A contender that is ready to search a model.
#[derive(Clone)]
struct Prepared {
    program: PathBuf,
    args: Vec<String>,
    /// Its own directory, for what it writes.
    dir: PathBuf,
    /// Those of its flags that were chosen for this model.
    sizes: Option<String>,
    /// What was done once before the search can start.
    steps: Vec<Step>,
    /// After so many seconds the search is ended, and is no run.
    limit: Option<u32>,
    /// Reads the report; an error if the search was not complete.
    read: fn(&str) -> Result<Figures, String>,
}

#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    seconds: f64,
}

/// What a tool says of its search.
#[derive(Clone, Copy, Debug)]
struct Figures {
    states: u64,
    transitions: u64,
    /// Rumur does not tell it.
    depth: Option<u64>,
    /// By the tool's own clock; Spin's has hundredths, Rumur's whole seconds.
    seconds: f64,
    store_bytes_per_state: Option<f64>,
}

/// One search of the whole graph.
#[derive(Clone, Copy, Debug)]
struct Run {
    figures: Figures,
    usage: process::Usage,
}

/// All runs of a contender on a model.
struct Series {
    contender: Contender,
    prepared: Prepared,
    runs: Vec<Run>,
    /// The search took longer than its limit; then there are no runs.
    is_over: bool,
}

/// All that was measured on one model.
struct Measured {
    model: Model,
    series: Vec<Series>,
}

/// All that was measured.
struct Results {
    contenders: Vec<Contender>,
    measured: Vec<Measured>,
    startup: Vec<startup::Small>,
    skipped: Vec<String>,
    failures: Vec<String>,
    load_before: Option<f64>,
    /// What ours was built from, unless the binary was given.
    commit: Option<String>,
}

pub fn main(args: &[String]) -> ExitCode {
    if let Some((_, rest)) = args.split_first().filter(|(first, _)| *first == "latency") {
        return latency::main(rest);
    }
    if let Some((_, rest)) = args.split_first().filter(|(first, _)| *first == "murphi") {
        return exit_code(murphi::main(rest));
    }
    let options = options::parse(args);
    exit_code(options.and_then(|options| options.map_or(Ok(ExitCode::SUCCESS), bench)))
}

fn exit_code(result: Result<ExitCode, String>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn bench(options: Options) -> Result<ExitCode, String> {
    let supertrace = ours::build(options.supertrace.as_deref())?;
    let scratch = process::Scratch::new()?;
    let results = measure(&options, &supertrace, &scratch.path)?;
    let report = report::Report::new(&results, &options);
    print!("{}", report.text());
    for failure in &results.failures {
        eprintln!("\n*** FAILED *** {failure}");
    }
    report::write(&report, &results, &options)?;
    Ok(if results.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(options: &Options, supertrace: &Path, scratch: &Path) -> Result<Results, String> {
    let (contenders, mut skipped) = contenders::select(options, supertrace, scratch)?;
    let (models, missing) =
        if options.startup { (Vec::new(), Vec::new()) } else { models::select(options, scratch)? };
    skipped.extend(missing);
    for skipped in &skipped {
        eprintln!("skipped: {skipped}");
    }
    // Now, not in the end: the work goes on meanwhile.
    let commit = options.supertrace.is_none().then(machine::commit).flatten();
    let load_before = machine::load();
    machine::warn_if_busy(load_before);

    let mut failures = Vec::new();
    let mut measured: Vec<Measured> = models
        .into_iter()
        .map(|model| {
            let pan = options.pan.as_deref();
            prepare(model, &contenders, pan, supertrace, scratch, &mut failures)
        })
        .collect();
    repeat(&mut measured, &mut failures, options.repeat);
    failures.extend(measured.iter().filter_map(disagreement));
    measured.retain(|m| !m.series.is_empty() && disagreement(m).is_none());
    let startup = startup::measure(options, supertrace, scratch, &mut skipped, &mut failures);
    Ok(Results { contenders, measured, startup, skipped, failures, load_before, commit })
}

/// Generates and compiles once: this takes seconds and varies little.
fn prepare(
    model: Model,
    contenders: &[Contender],
    pan: Option<&str>,
    supertrace: &Path,
    scratch: &Path,
    failures: &mut Vec<String>,
) -> Measured {
    eprintln!("{}: preparing", model.name);
    let mut series = Vec::new();
    for contender in contenders {
        let dir = scratch.join(&model.name).join(contender.name);
        match contender.prepare(&model, pan, supertrace, &dir) {
            Ok(prepared) => series.push(Series::new(contender.clone(), prepared)),
            Err(message) => failures.push(format!("{}, {}: {message}", model.name, contender.name)),
        }
    }
    Measured { model, series }
}

/// Lets all contenders search every model in turn, `rounds` times. One that
/// fails on a model is out for this model, one over its limit has no more turns.
fn repeat(measured: &mut [Measured], failures: &mut Vec<String>, rounds: usize) {
    for round in 1..=rounds {
        for Measured { model, series } in measured.iter_mut() {
            eprintln!("{}: round {round} of {rounds}", model.name);
            series.retain_mut(|s| match s.take_turn() {
                Ok(()) => true,
                Err(message) => {
                    failures.push(format!("{}, {}: {message}", model.name, s.contender.name));
                    false
                }
            });
        }
    }
}

impl Series {
    fn new(contender: Contender, prepared: Prepared) -> Series {
        Series { contender, prepared, runs: Vec::new(), is_over: false }
    }

    fn take_turn(&mut self) -> Result<(), String> {
        if self.is_over {
            return Ok(());
        }
        match self.prepared.run()? {
            Some(run) => self.runs.push(run),
            None => {
                self.is_over = true;
                self.runs.clear();
            }
        }
        Ok(())
    }
}

impl Prepared {
    /// Nothing if the search took longer than its limit.
    fn run(&self) -> Result<Option<Run>, String> {
        machine::warm_memory();
        let (program, args, dir) = (&self.program, &self.args, &self.dir);
        let ended = match self.limit {
            Some(seconds) => process::run_within(program, args, dir, seconds)?,
            None => Some(process::run(program, args, dir)?),
        };
        let run = |(output, usage): (String, _)| Ok(Run { figures: (self.read)(&output)?, usage });
        ended.map(run).transpose()
    }
}

/// What differs, if contenders of the same graph did not count the same in
/// every run, or not what the list of models says. Those that miss states may
/// count what they like.
fn disagreement(m: &Measured) -> Option<String> {
    let counted: Vec<(&Contender, Figures)> = m
        .series
        .iter()
        .flat_map(|s| s.runs.iter().map(|run| (&s.contender, run.figures)))
        .collect();
    for (i, (first, a)) in counted.iter().enumerate() {
        if let Some(states) = m.model.states.filter(|_| first.graph == Graph::Full)
            && a.states != states
        {
            let (model, name) = (&m.model.name, first.name);
            return Some(format!("{model}: {name} has {} states, not {states}", a.states));
        }
        let differs = |(second, b): &&(&Contender, Figures)| {
            first.graph == second.graph
                && first.graph != Graph::Sampled
                && !(spin::same_number(a.states, b.states)
                    && spin::same_number(a.transitions, b.transitions))
        };
        if let Some((second, b)) = counted[i + 1..].iter().find(differs) {
            return Some(format!(
                "{}: the graphs differ: {} has {} states and {} transitions, {} has {} and {}",
                m.model.name,
                first.name,
                a.states,
                a.transitions,
                second.name,
                b.states,
                b.transitions
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_of_the_same_graph_must_agree() {
        let mut measured = sample::measured("m", |_| 1.0);
        assert_eq!(disagreement(&measured), None);
        measured.series[1].runs[0].figures.transitions += 1;
        let found = disagreement(&measured).unwrap();
        assert!(found.starts_with("m: the graphs differ: spin has 2000000"), "{found}");
    }

    #[test]
    fn contenders_of_the_full_graph_must_count_what_the_list_says() {
        let mut measured = sample::measured("m", |_| 1.0);
        measured.model.states = Some(1);
        assert_eq!(disagreement(&measured).unwrap(), "m: spin has 2000000 states, not 1");
    }

    #[test]
    fn contenders_that_miss_states_need_not_agree() {
        let mut measured = sample::measured("m", |_| 1.0);
        measured.series.retain(|s| s.contender.graph == Graph::Sampled);
        assert!(measured.series.len() > 1);
        measured.series[0].runs[0].figures.states -= 7;
        assert_eq!(disagreement(&measured), None);
    }

    #[test]
    fn a_contender_must_agree_with_itself() {
        let mut measured = sample::measured("m", |_| 1.0);
        measured.series.retain(|s| s.contender.graph == Graph::SpinReduced);
        let mut run = measured.series[0].runs[0];
        run.figures.states += 1;
        measured.series[0].runs.push(run);
        assert!(disagreement(&measured).is_some());
    }
}
