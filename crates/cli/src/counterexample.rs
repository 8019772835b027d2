//! From a violation that a search has found to what is shown: the path in the
//! model as it is written, replayed, shortened and replayed again.

use crate::print;
use anyhow::{Context, Result};
use check::{Found, Maker, Target};
use ir::fault::FaultKind;
use ir::model::Step;
use ir::program::Program;
use ir::reduce;
use ir::rules::symmetry::{Canon, straighten};
use ir::trace::{self, Expected, Replayed, Trace};
use report::text::{NO_STATE, NOT_CHECKED};
use std::time::Duration;

/// Time and memory for the search for a shorter path, if nothing else is said.
pub const SHORTEN_TIME: Duration = Duration::from_secs(2);
pub const SHORTEN_MEMORY: u64 = 1 << 30;
/// A counterexample of up to this many steps is printed with the result.
const LISTED_STEPS: usize = 100;

/// What may be spent on a shorter path.
pub struct Effort<'m> {
    /// Makes the model as it is written.
    pub make: &'m Maker<'static>,
    pub time: Option<Duration>,
    pub memory: u64,
    pub threads: usize,
    /// There may be several deadlocks, of which each is to be shown.
    pub same_deadlock: bool,
}

pub struct Counterexample {
    /// Transitions to the violation; that of a deadlock is the last state itself.
    pub depth: usize,
    pub steps: Vec<Step>,
    pub trace: Trace,
}

/// `reduced` is the model as it was searched. Without effort the path stays as
/// it is.
pub fn counterexample(
    program: &Program,
    reduced: &Program,
    define: &[String],
    found: &Found,
    effort: Option<Effort>,
) -> Result<Counterexample> {
    let mut found = found.clone();
    if let Program::Processes { system, .. } = reduced {
        let faulty = found.fault.kind != FaultKind::Deadlock;
        found.steps = reduce::expand_steps(system, &found.steps, faulty);
    }
    if let Program::Rules(rules) = program
        && Canon::new(rules).is_some()
    {
        let real = straighten(rules, &found.steps, &found.fault);
        found.steps = real.with_context(|| {
            format!(
                "{}: a violation was found ({}) that no real path leads to: the model tells \
                 values of a scalarset apart. Search with '--symmetry off'",
                program.name(),
                found.fault.message
            )
        })?;
    }
    let mut path = confirm(program, &found)?;
    found.depth = path.transitions.len();
    let shorter = effort.and_then(|Effort { make, time, memory, threads, same_deadlock }| {
        let span = match &path.fault {
            // Where it is in the model as it is written.
            Some(fault) if fault.kind == FaultKind::Deadlock => same_deadlock.then_some(fault.span),
            _ => Some(found.fault.span),
        };
        let target = Target { kind: found.fault.kind, span };
        check::shorten(make, &found, target, time, memory, threads, crate::check::interrupt())
    });
    if let Some(shorter) = shorter {
        path = confirm(program, &shorter)?;
    }
    let mut trace = trace::describe(program, &path);
    trace.define = define.to_vec();
    Ok(Counterexample { depth: path.transitions.len(), steps: path.steps(), trace })
}

/// Runs a path again in the interpreter, so that no false alarm is reported.
fn confirm(program: &Program, found: &Found) -> Result<Replayed> {
    // Reductions may move the place of a fault; rules have none.
    let span = matches!(program, Program::Rules(_)).then_some(found.fault.span);
    let expected = Expected { kind: found.fault.kind, span };
    trace::replay(program, &found.steps, Some(expected)).map_err(|reason| {
        anyhow::anyhow!(
            "a counterexample ({}: {}) does not replay: {reason}\n\
             this is a bug in Supertrace, not in the model: please report it",
            found.fault.kind,
            found.fault.message
        )
    })
}

/// Prints a result as it was asked for: as JSON, the verdict alone and what it
/// is not about, or all of it with the first counterexample.
pub fn print_result(
    json: Option<String>,
    quiet: bool,
    color: bool,
    text: &str,
    trace: Option<&Trace>,
) {
    match (json, trace) {
        (Some(json), _) => print(&(json + "\n")),
        (None, _) if quiet => {
            let begins = |line: &str, with| line.trim_start().starts_with(with);
            let unchecked = |line: &&str| begins(line, NOT_CHECKED) || begins(line, NO_STATE);
            let lines = text.lines().take(1).chain(text.lines().filter(unchecked));
            print(&lines.map(|line| format!("{line}\n")).collect::<String>());
        }
        (None, None) => print(text),
        (None, Some(trace)) => print(&format!("{text}\n{}", listing(trace, color))),
    }
}

/// The steps of a counterexample, or what to do if there are too many.
fn listing(trace: &Trace, color: bool) -> String {
    let n = trace.steps.len();
    if n <= LISTED_STEPS {
        return report::trace::steps(trace, false, color);
    }
    format!(
        "the counterexample has {n} steps: keep it with --trace FILE, \
         then 'supertrace show FILE'\n"
    )
}
