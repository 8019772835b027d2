//! The result of `supertrace check` as one JSON object (`docs/json.md`).

use crate::coverage::Missed;
use ::check::{Outcome, Stop, Verdict};
use ir::program::Program;
use ir::rules::Rules;
use ir::source::Position;
use ir::system::{Action, ActionIdx, Op, System};
use ir::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    pub verdict: &'static str,
    pub violation: Option<Violation>,
    /// All violations, if more than one was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// Why the search ended early: a name of `Stop`.
    pub stopped_by: Option<&'static str>,
    pub states: u64,
    pub transitions: u64,
    pub depth: usize,
    pub seconds: f64,
    pub states_per_second: f64,
    pub memory_bytes: u64,
    pub bytes_per_state: f64,
    /// Most bytes of waiting states on disk at a time.
    pub spilled_bytes: u64,
    /// What a lossy store has missed.
    #[serde(flatten)]
    pub missed: Option<Missed>,
    /// Each search, if there were several; the other figures are of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunReport>,
    /// The file from which the search can go on, if it ended early.
    pub checkpoint: Option<String>,
    pub seed: u64,
    pub model: String,
    pub language: &'static str,
    pub options: BTreeMap<&'static str, serde_json::Value>,
    pub version: &'static str,
    /// Statements that were never run; `null` if the search did not see everything.
    pub unreached: Option<Vec<Unreached>>,
    /// Properties in the model that were read but not checked.
    pub not_checked: Vec<String>,
    /// For the page.
    #[serde(skip)]
    pub command: String,
}

/// One of several searches.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    pub states: u64,
    pub transitions: u64,
    pub seconds: f64,
    #[serde(flatten)]
    pub missed: Option<Missed>,
}

impl RunReport {
    fn new(outcome: &Outcome) -> RunReport {
        RunReport {
            states: outcome.states,
            transitions: outcome.transitions,
            seconds: outcome.elapsed.as_secs_f64(),
            missed: Missed::of(outcome),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Violation {
    pub kind: String,
    pub message: String,
    pub location: Position,
    /// Transitions from the initial state.
    pub depth: usize,
    pub trace: Trace,
}

#[derive(Debug, Clone, Serialize)]
pub struct Unreached {
    pub process: String,
    pub location: Position,
    pub statement: String,
}

/// What the report needs besides the outcome.
pub struct Context {
    pub seed: u64,
    pub options: BTreeMap<&'static str, serde_json::Value>,
    pub version: &'static str,
    /// Where checkpoints were to be written.
    pub checkpoint: Option<String>,
    /// Each search, if there were several.
    pub runs: Vec<Outcome>,
    /// As it was given.
    pub command: String,
}

impl CheckReport {
    /// `traces` are those of `outcome.violations`, with their depths.
    pub fn new(
        program: &Program,
        outcome: &Outcome,
        traces: Vec<(usize, Trace)>,
        context: Context,
    ) -> CheckReport {
        let violations: Vec<Violation> = traces.into_iter().filter_map(violation).collect();
        let seconds = outcome.elapsed.as_secs_f64();
        let complete = outcome.stop.is_none() && outcome.lossy.is_none();
        let resumable = outcome.checkpoint.as_ref().is_some_and(|saved| saved.resumable);
        CheckReport {
            verdict: verdict_name(outcome.verdict),
            violation: violations.first().cloned(),
            violations: if violations.len() > 1 { violations } else { Vec::new() },
            stopped_by: outcome.stop.map(stop_name),
            states: outcome.states,
            transitions: outcome.transitions,
            depth: outcome.depth,
            seconds,
            states_per_second: outcome.states as f64 / seconds.max(1e-9),
            memory_bytes: outcome.memory,
            bytes_per_state: outcome.store_memory as f64 / outcome.states.max(1) as f64,
            spilled_bytes: outcome.spilled,
            // How much several searches have missed together is not known.
            missed: Missed::of(outcome).filter(|_| context.runs.is_empty()),
            runs: context.runs.iter().map(RunReport::new).collect(),
            checkpoint: context.checkpoint.filter(|_| resumable),
            seed: context.seed,
            model: program.name().to_string(),
            language: program.language(),
            options: context.options,
            version: context.version,
            unreached: complete.then(|| unreached(program, &outcome.reached)),
            not_checked: program.unchecked().to_vec(),
            command: context.command,
        }
    }

    /// All violations, be it one or several.
    pub(crate) fn all_violations(&self) -> &[Violation] {
        if self.violations.is_empty() { self.violation.as_slice() } else { &self.violations }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report holds nothing that JSON cannot")
    }
}

fn violation((depth, trace): (usize, Trace)) -> Option<Violation> {
    let found = trace.violation.clone()?;
    Some(Violation {
        kind: found.kind.name().into(),
        message: found.message,
        location: found.location,
        depth,
        trace,
    })
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violation => "violation",
        Verdict::NoViolationFound => "no-violation-found",
        Verdict::Incomplete => "incomplete",
    }
}

pub(crate) fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Time => "time",
        Stop::Memory => "memory",
        Stop::Depth => "depth",
        Stop::Interrupt => "interrupt",
        Stop::Violations => "violations",
        Stop::Way => "way",
        Stop::Disk => "disk",
    }
}

/// What never ran: statements of processes, or rules.
pub(crate) fn unreached(program: &Program, reached: &[bool]) -> Vec<Unreached> {
    match program {
        Program::Processes { system, .. } => unreached_statements(system, reached),
        Program::Rules(rules) => unreached_rules(rules, reached),
    }
}

fn unreached_rules(rules: &Rules, reached: &[bool]) -> Vec<Unreached> {
    let covers = rules.covers.iter().map(|cover| (&cover.name, cover.span));
    let all = rules.rules.iter().map(|rule| (&rule.name, rule.span)).chain(covers);
    all.enumerate()
        .filter(|(i, _)| !reached.get(*i).copied().unwrap_or(false))
        .map(|(_, (name, span))| Unreached {
            process: String::new(),
            location: rules.sources.position(span),
            statement: name.clone(),
        })
        .collect()
}

/// Statements none of whose actions ran. A statement can have several actions:
/// one where it stands and one for each selection it begins a branch of.
fn unreached_statements(system: &System, reached: &[bool]) -> Vec<Unreached> {
    let ran = |i: usize| reached.get(i).copied().unwrap_or(false);
    let mut statements: BTreeMap<(u32, u32), (bool, usize)> = BTreeMap::new();
    for (i, action) in system.actions.iter().enumerate() {
        let jump = action.ops[0] == Op::Skip && is_jump(&action.text);
        if !jump {
            let entry = statements.entry((action.proc.0, action.trail_id)).or_insert((false, i));
            entry.0 |= ran(i) || action.text == END && arrives_at(system, i, &ran);
        }
    }
    let mut out: Vec<Unreached> = statements
        .into_values()
        .filter(|(ran, _)| !ran)
        .map(|(_, i)| {
            let action = &system.actions[i];
            Unreached {
                process: system.proc(action.proc).name.clone(),
                location: system.sources.position(action.span),
                statement: action.text.clone(),
            }
        })
        .collect();
    out.sort_by(|a, b| {
        let key = |u: &Unreached| (u.process.clone(), u.location.line, u.location.column);
        key(a).cmp(&key(b))
    });
    out
}

/// Text of the action by which a process goes.
const END: &str = "-end-";

/// Whether some process came to where an action is. A process that has come to
/// its end has reached it, though it may have to wait for younger ones to go.
fn arrives_at(system: &System, action: usize, ran: &impl Fn(usize) -> bool) -> bool {
    let proc = system.actions[action].proc;
    let here = |i: &ActionIdx| i.0 as usize == action;
    let at = system.proc(proc).locations.iter().position(|l| l.actions.iter().any(here));
    let leads_there = |other: &Action| {
        other.proc == proc && other.target.is_some_and(|target| Some(target.0 as usize) == at)
    };
    system.actions.iter().enumerate().any(|(i, other)| leads_there(other) && ran(i))
}

fn is_jump(text: &str) -> bool {
    text == "break" || text == ".(goto)" || text.starts_with("goto ")
}
