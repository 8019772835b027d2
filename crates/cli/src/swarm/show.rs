//! Shows what a swarm has come to.

use crate::args::swarm::ShowArgs;
use crate::{check, command, exit, load, print, progress, units};
use ::check::Found;
use anyhow::Result;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::Model;
use ir::system::System;
use ir::trace::{self, Trace};
use report::swarm::{Context, SwarmReport};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use swarm::{Halt, Record, Swarm};

pub use report::swarm::Counted;

/// Time and memory for the search for shorter counterexamples.
const SHORTEN_TIME: Duration = Duration::from_secs(2);
const SHORTEN_MEMORY: u64 = 1 << 30;
/// A counterexample of up to this many steps is printed with the result.
const LISTED_STEPS: usize = 100;

/// What is known besides the record.
pub struct Run<'a> {
    pub planned: Option<u32>,
    pub counted: Counted,
    /// `None` if records were merged.
    pub swarm: Option<&'a Swarm>,
}

pub fn show(
    system: &System,
    reduced: &System,
    record: &Record,
    args: &ShowArgs,
    run: Run,
) -> Result<u8> {
    let started = Instant::now();
    let mut traces = Vec::new();
    for (left, violation) in (1..=record.violations.len() as u32).rev().zip(&record.violations) {
        // Each has its part of the time that is left.
        let time = SHORTEN_TIME.saturating_sub(started.elapsed()) / left;
        traces.push(counterexample(system, reduced, record, violation, time)?);
    }
    let mut reached = record.reached.clone();
    ir::reduce::expand_reached(reduced, &mut reached);
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
    let report = SwarmReport::new(system, record, &reached, traces, context);
    print_report(&report, args);
    // One that cannot be written does not keep the others from it.
    let mut written = Vec::new();
    if let Some(path) = &args.record {
        written.push(load::write(path, &(serde_json::to_string(record)? + "\n")));
    }
    match (&args.trace, &first) {
        (Some(path), Some(trace)) => {
            let text = serde_json::to_string_pretty(trace)? + "\n";
            written.push(load::write(path, &text));
        }
        // A file of an earlier run must not be taken for a result of this one.
        (Some(path), None) => {
            let path = path.display();
            eprintln!("supertrace: there is no counterexample, so '{path}' was not written");
        }
        (None, _) => {}
    }
    if let Some(path) = &args.report {
        written.push(load::write(path, &report::html::swarm_page(&report)));
    }
    written.into_iter().collect::<Result<()>>()?;
    Ok(match report.verdict {
        "violation" => exit::VIOLATION,
        "no-violation-found" => exit::NO_VIOLATION,
        _ => exit::STOPPED,
    })
}

fn print_report(report: &SwarmReport, args: &ShowArgs) {
    if args.json {
        print(&(report.json() + "\n"));
        return;
    }
    let color = args.color.on();
    let text = report.text(color);
    if args.quiet {
        print(&(text.lines().next().unwrap_or("").to_string() + "\n"));
        return;
    }
    print(&text);
    if let Some(violation) = report.violations.first() {
        print("\n");
        let n = violation.trace.steps.len();
        if n <= LISTED_STEPS {
            print(&report::trace::steps(&violation.trace, color));
        } else {
            print(&format!(
                "the counterexample has {n} steps: keep it with --trace FILE, \
                 then 'supertrace show FILE'\n"
            ));
        }
    }
}

/// The way to a violation in the model as it is written: replayed, shortened
/// and replayed again.
fn counterexample(
    system: &System,
    reduced: &System,
    record: &Record,
    violation: &swarm::Violation,
    time: Duration,
) -> Result<(usize, Trace)> {
    let layout = Layout::new(system);
    let swarm::Violation { fault, depth, steps, .. } = violation.clone();
    let mut found = check::as_written(reduced, &Found { fault, depth, steps });
    let mut path = check::confirm(system, &layout, &found)?;
    found.depth = check::depth(&path);
    let make = || -> Box<dyn Model + '_> { Box::new(Interpreter::new(system, &layout)) };
    let (threads, interrupt) = (units::default_threads(), check::interrupt());
    let time = Some(time);
    let shorter = ::check::shorten(&make, &found, time, SHORTEN_MEMORY, threads, interrupt);
    if let Some(shorter) = shorter {
        path = check::confirm(system, &layout, &shorter)?;
    }
    let mut trace = trace::describe(system, &layout, &path);
    trace.define = record.subject.define.clone();
    Ok((check::depth(&path), trace))
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
    ])
}
