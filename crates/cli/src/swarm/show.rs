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
use std::time::Duration;
use swarm::{Halt, Record, Swarm};

pub use report::swarm::Counted;

/// Time and memory for the search for a shorter counterexample, for each.
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
    let mut traces = Vec::new();
    for violation in &record.violations {
        traces.push(counterexample(system, reduced, record, violation)?);
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
    if let (Some(path), Some(trace)) = (&args.trace, &first) {
        load::write(path, &(serde_json::to_string_pretty(trace)? + "\n"))?;
    }
    if let Some(path) = &args.report {
        load::write(path, &report::html::swarm_page(&report))?;
    }
    if let Some(path) = &args.record {
        load::write(path, &(serde_json::to_string(record)? + "\n"))?;
    }
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
) -> Result<(usize, Trace)> {
    let layout = Layout::new(system);
    let swarm::Violation { fault, depth, steps, .. } = violation.clone();
    let mut found = check::as_written(reduced, &Found { fault, depth, steps });
    let mut path = check::confirm(system, &layout, &found)?;
    found.depth = check::depth(&path);
    let make = || -> Box<dyn Model + '_> { Box::new(Interpreter::new(system, &layout)) };
    let (threads, interrupt) = (units::default_threads(), check::interrupt());
    let time = Some(SHORTEN_TIME);
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
