//! Shows what a swarm has come to.

use crate::args::Engine;
use crate::args::swarm::ShowArgs;
use crate::counterexample::{Effort, SHORTEN_MEMORY, SHORTEN_TIME, counterexample, print_result};
use crate::{command, engine, exit, load, note, progress, units};
use ::check::{Found, Maker};
use anyhow::Result;
use ir::program::Program;
use ir::trace::Trace;
use report::swarm::{Context, SwarmReport};
use std::collections::BTreeMap;
use std::time::Instant;
use swarm::{Halt, Record, Swarm};

pub use report::swarm::Counted;

/// What is known besides the record.
pub struct Run<'a> {
    pub engine: Engine,
    pub planned: Option<u32>,
    pub counted: Counted,
    /// `None` if records were merged.
    pub swarm: Option<&'a Swarm>,
}

pub fn show(
    program: &'static Program,
    reduced: &Program,
    record: &Record,
    args: &ShowArgs,
    run: Run,
) -> Result<u8> {
    let traces = match record.violations.is_empty() {
        true => Vec::new(),
        false => engine::with_real_paths(program, run.engine, |make| {
            traces(program, reduced, record, make)
        })?,
    };
    let mut reached = record.reached.clone();
    engine::expand_reached(reduced, &mut reached);
    if progress::wanted(args.quiet) {
        progress::clear();
    }
    let halt = run.swarm.and_then(|swarm| swarm.halt);
    let context = Context {
        counted: run.counted,
        planned: run.planned,
        spent: run.swarm.map(|swarm| (swarm.elapsed.as_secs_f64(), swarm.memory)),
        stopped_by: match halt {
            Some(Halt::Interrupt) => Some("interrupt"),
            // Without a number of tasks time is what ends a swarm.
            Some(Halt::Time) if run.planned.is_some() => Some("time"),
            _ => None,
        },
        options: options(record),
        version: env!("CARGO_PKG_VERSION"),
        command: command::given(),
    };
    let first = traces.first().map(|(_, trace): &(usize, Trace)| trace.clone());
    let report = SwarmReport::new(program, record, &reached, traces, context);
    print_report(&report, args);
    write_files(&report, record, args, first.as_ref())?;
    Ok(match report.verdict {
        "violation" => exit::VIOLATION,
        "no-violation-found" => exit::NO_VIOLATION,
        _ => exit::STOPPED,
    })
}

/// The counterexamples of all violations, with their depths.
fn traces(
    program: &Program,
    reduced: &Program,
    record: &Record,
    make: &Maker<'static>,
) -> Result<Vec<(usize, Trace)>> {
    let started = Instant::now();
    let mut traces = Vec::new();
    for (left, violation) in (1..=record.violations.len() as u32).rev().zip(&record.violations) {
        // Each has its part of the time that is left.
        let time = Some(SHORTEN_TIME.saturating_sub(started.elapsed()) / left);
        let (memory, threads) = (SHORTEN_MEMORY, units::default_threads());
        let effort = Some(Effort { make, time, memory, threads, same_deadlock: true });
        let swarm::Violation { fault, depth, steps, .. } = violation.clone();
        let found = Found { fault, depth, steps };
        let define = &record.subject.define;
        let shown = counterexample(program, reduced, define, &found, effort)?;
        traces.push((shown.depth, shown.trace));
    }
    Ok(traces)
}

/// Writes the files that were asked for. One that cannot be written does not
/// keep the others from it.
fn write_files(
    report: &SwarmReport,
    record: &Record,
    args: &ShowArgs,
    first: Option<&Trace>,
) -> Result<()> {
    let mut written = Vec::new();
    if let Some(path) = &args.record {
        written.push(load::write(path, &(serde_json::to_string(record)? + "\n")));
    }
    match (&args.trace, first) {
        (Some(path), Some(trace)) => {
            let text = serde_json::to_string_pretty(trace)? + "\n";
            written.push(load::write(path, &text));
        }
        // A file of an earlier run must not be taken for a result of this one.
        (Some(path), None) => {
            let path = path.display();
            note(&format!("there is no counterexample, so '{path}' was not written"));
        }
        (None, _) => {}
    }
    if let Some(path) = &args.report {
        written.push(load::write(path, &report::html::swarm_page(report)));
    }
    written.into_iter().collect()
}

fn print_report(report: &SwarmReport, args: &ShowArgs) {
    let (json, color) = (args.json.then(|| report.json()), args.color.on());
    let trace = report.violations.first().map(|violation| &violation.trace);
    print_result(json, args.quiet, color, &report.text(color), trace);
}

fn options(record: &Record) -> BTreeMap<&'static str, serde_json::Value> {
    use serde_json::json;
    let subject = &record.subject;
    let settings = subject.settings;
    BTreeMap::from([
        ("arena", json!(settings.arena)),
        ("portfolio", json!(settings.portfolio)),
        ("hashes", json!(settings.hashes)),
        ("depth", json!(settings.depth)),
        ("diversity", json!(if settings.plain { "plain" } else { "full" })),
        ("ignore", json!(subject.ignore)),
        ("reduce", json!(if subject.reduced { "default" } else { "none" })),
        ("go_on", json!(subject.go_on)),
        ("define", json!(subject.define)),
        ("deadlock", json!(subject.deadlock)),
        ("symmetry", json!(subject.symmetry)),
    ])
}
