//! The result of `supertrace swarm`, as text and as one JSON object.

use crate::check::{Unreached, unreached};
use crate::coverage::Interval;
use crate::text::{NOT_CHECKED, bytes, count, paint, percent, plural, quoted, seconds};
use ::swarm::{Done, Growth, Limit, Record, Seen, Task, curve, growth, seen};
use ir::program::Program;
use ir::source::Position;
use ir::trace::Trace;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A number of states.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Amount {
    pub estimate: f64,
    pub low: f64,
    /// `null` if there is no upper limit.
    pub high: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    #[serde(flatten)]
    pub interval: Interval,
    pub method: &'static str,
}

/// What some tasks have seen together.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    #[serde(skip)]
    pub tasks: usize,
    pub distinct_states: Amount,
    pub reachable_states: Option<Amount>,
    pub coverage: Option<Coverage>,
    /// Of a sample of the states, how many were seen by one task, by two, and
    /// so on; the last number counts those seen by more, too.
    pub overlap: [u64; 8],
    /// States that tasks have met in this sample and none has seen.
    pub edge: u64,
    /// States that all tasks together have really seen, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_states: Option<u64>,
}

impl Figures {
    /// A task that has ended at a violation has not seen what it could, so
    /// that nothing is known of the coverage.
    pub fn of(seen: &Seen, record: &Record) -> Figures {
        let mut done = record.tasks.values().take(seen.tasks);
        let cut = !record.subject.go_on && done.any(|task| !task.violations.is_empty());
        let distinct = seen.incidence.distinct();
        let distinct_states =
            Amount { estimate: distinct.estimate, low: distinct.low, high: Some(distinct.high) };
        let coverage = seen.incidence.coverage().filter(|_| !cut);
        let reachable = coverage.map(|c| Amount {
            estimate: distinct.estimate / c.coverage(),
            low: distinct.low / c.high(),
            high: (c.low() > 0.0).then(|| distinct.high / c.low()),
        });
        Figures {
            tasks: seen.tasks,
            distinct_states,
            reachable_states: reachable,
            coverage: coverage.map(|c| Coverage { interval: c.into(), method: "overlap and edge" }),
            overlap: seen.incidence.seen_by,
            edge: seen.incidence.edge,
            exact_states: None,
        }
    }
}

/// A curve: figures with the number of their tasks.
fn after_tasks<S: Serializer>(curve: &[Figures], to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Point<'f> {
        tasks: usize,
        #[serde(flatten)]
        figures: &'f Figures,
    }
    to.collect_seq(curve.iter().map(|figures| Point { tasks: figures.tasks, figures }))
}

#[derive(Debug, Clone, Serialize)]
pub struct Violation {
    pub kind: &'static str,
    pub message: String,
    pub location: Position,
    /// Tasks that found it.
    pub count: usize,
    /// Transitions from the initial state.
    pub depth: usize,
    /// The task with the shortest way to it, and a command that runs it again.
    pub task: u32,
    pub reproduce: String,
    pub trace: Trace,
}

/// Tasks with arenas of one size.
#[derive(Debug, Clone, Serialize)]
pub struct Size {
    pub arena: u64,
    pub tasks: usize,
    /// States and time of one task, on average.
    pub states: f64,
    pub seconds: Option<f64>,
    pub violations: usize,
}

/// A task that came to its end.
#[derive(Debug, Clone)]
pub struct TaskRow {
    pub task: Task,
    pub done: Done,
    /// Its time and the moment of its end, if this run has seen it.
    pub times: Option<(f64, f64)>,
}

/// What a swarm has measured besides its record.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// Number, time and moment of the end of each task, in seconds.
    pub times: Vec<(u32, f64, f64)>,
    /// States that were really seen after so many tasks.
    pub exact: Vec<(usize, u64)>,
    pub first_violation: Option<f64>,
}

/// What the report needs besides the record.
pub struct Context {
    pub counted: Counted,
    /// Tasks asked for; `None` if there was no limit.
    pub planned: Option<u32>,
    /// Time and memory of all; `None` if records were merged.
    pub spent: Option<(f64, u64)>,
    pub stopped_by: Option<&'static str>,
    pub options: BTreeMap<&'static str, serde_json::Value>,
    pub version: &'static str,
    /// As it was given.
    pub command: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct SwarmReport {
    pub verdict: &'static str,
    pub violations: Vec<Violation>,
    pub first_violation_seconds: Option<f64>,
    /// Why fewer tasks were run than asked for.
    pub stopped_by: Option<&'static str>,
    /// Tasks asked for; `null` if there was no limit.
    pub tasks: Option<u32>,
    pub tasks_done: usize,
    /// Of them, those that were ended by a lack of memory.
    pub tasks_out_of_memory: usize,
    /// Sums over all tasks.
    pub states: u64,
    pub transitions: u64,
    /// Of the deepest task.
    pub depth: usize,
    pub seconds: Option<f64>,
    pub states_per_second: Option<f64>,
    pub memory_bytes: Option<u64>,
    #[serde(flatten)]
    pub figures: Figures,
    /// Reachable states by another method; `null` if it does not tell.
    pub growth: Option<Growth>,
    /// The same after fewer tasks.
    #[serde(serialize_with = "after_tasks")]
    pub curve: Vec<Figures>,
    pub sizes: Vec<Size>,
    pub seed: u64,
    pub model: String,
    pub language: &'static str,
    pub options: BTreeMap<&'static str, serde_json::Value>,
    pub version: &'static str,
    /// Statements that no task has run; there may be ways to them.
    pub unreached: Vec<Unreached>,
    pub not_checked: Vec<String>,
    /// For the page.
    #[serde(skip)]
    pub task_rows: Vec<TaskRow>,
    #[serde(skip)]
    pub command: String,
}

/// Points of the curve.
const POINTS: usize = 40;

impl SwarmReport {
    /// `traces` are those of the record's violations, with their depths.
    pub fn new(
        program: &Program,
        record: &Record,
        reached: &[bool],
        traces: Vec<(usize, Trace)>,
        context: Context,
    ) -> SwarmReport {
        let exact = |tasks: usize| {
            let counts = context.counted.exact.iter().find(|(n, _)| *n == tasks);
            counts.map(|(_, states)| *states)
        };
        let figures =
            |seen: &Seen| Figures { exact_states: exact(seen.tasks), ..Figures::of(seen, record) };
        let violations = violations(record, traces);
        let done = record.tasks.values();
        let states = done.clone().map(|d| d.states).sum();
        let spent = context.spent;
        SwarmReport {
            verdict: match (violations.is_empty(), record.tasks.is_empty(), context.stopped_by) {
                (false, ..) => "violation",
                (true, false, None) => "no-violation-found",
                _ => "incomplete",
            },
            first_violation_seconds: context.counted.first_violation,
            stopped_by: context.stopped_by,
            tasks: context.planned,
            tasks_done: record.tasks.len(),
            tasks_out_of_memory: done.clone().filter(|d| d.limit == Some(Limit::Memory)).count(),
            states,
            transitions: done.clone().map(|d| d.transitions).sum(),
            depth: done.map(|d| d.depth).max().unwrap_or(0),
            seconds: spent.map(|(seconds, _)| seconds),
            states_per_second: spent.map(|(seconds, _)| rate(record, &context.counted, seconds)),
            memory_bytes: spent.map(|(_, memory)| memory),
            figures: figures(&seen(record, usize::MAX)),
            growth: growth(record).ok(),
            curve: curve(record, POINTS).iter().map(figures).collect(),
            sizes: sizes(record, &context.counted),
            seed: record.subject.settings.seed,
            model: program.name().to_string(),
            language: program.language(),
            options: context.options,
            version: context.version,
            unreached: unreached(program, reached),
            not_checked: program.unchecked().to_vec(),
            task_rows: task_rows(record, &context.counted),
            command: context.command,
            violations,
        }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report holds nothing that JSON cannot")
    }

    pub fn text(&self, color: bool) -> String {
        let mut out = String::new();
        let code = match self.verdict {
            "violation" => "1;31",
            "no-violation-found" => "1;36",
            _ => "1;33",
        };
        let _ = writeln!(out, "{}: {}", self.model, paint(self.verdict, code, color));
        if self.tasks_done == 0 {
            out.push_str("  no task came to its end\n  help: smaller --arena, or more --time\n");
        }
        for v in &self.violations {
            let at = &v.location;
            let _ = writeln!(
                out,
                "  {}:{}:{}: {} ({}), after {}, found by {}\n    again: {}",
                at.file,
                at.line,
                at.column,
                v.message,
                v.kind,
                plural(v.depth as u64, "transition"),
                plural(v.count as u64, "task"),
                v.reproduce
            );
        }
        out.push_str(&self.numbers());
        for property in &self.not_checked {
            let _ = writeln!(out, "  {NOT_CHECKED}{property}");
        }
        out
    }

    fn numbers(&self) -> String {
        let mut out = String::new();
        let planned = self.tasks.filter(|n| *n as usize >= self.tasks_done);
        let of = planned.map_or(String::new(), |n| format!(" of {}", count(n.into())));
        let first = self
            .first_violation_seconds
            .map_or(String::new(), |s| format!(", first violation after {}", seconds(s)));
        let total = planned.map_or(self.tasks_done, |n| n as usize);
        let tasks = if total == 1 { "task" } else { "tasks" };
        let _ = writeln!(out, "  {}{of} {tasks}{first}", count(self.tasks_done as u64));
        if self.tasks_out_of_memory > 0 {
            let n = plural(self.tasks_out_of_memory as u64, "task");
            let _ = writeln!(
                out,
                "  {n} ended for lack of memory\n  help: raise --memory, or lower --threads"
            );
        }
        let number = |n: f64| count(n.round() as u64);
        let Figures { distinct_states: distinct, reachable_states, coverage, exact_states, .. } =
            &self.figures;
        let _ = writeln!(
            out,
            "  about {} different states ({} to {}), depth {}",
            number(distinct.estimate),
            number(distinct.low),
            distinct.high.map_or("no limit".into(), number),
            count(self.depth as u64)
        );
        if let Some(states) = exact_states {
            let _ = writeln!(out, "  counted: {} different states", count(*states));
        }
        if let (Some(coverage), Some(reachable)) = (coverage, reachable_states) {
            let Interval { estimate, low, high } = coverage.interval;
            let _ = writeln!(
                out,
                "  coverage about {} ({} to {}) of about {} reachable states, by {}",
                percent(estimate),
                percent(low),
                percent(high),
                number(reachable.estimate),
                coverage.method
            );
        } else if self.violations.is_empty() && self.tasks_done > 1 {
            out += "  coverage unknown: two tasks that follow all paths tell it, and every fourth \
                    does unless --depth cuts it short\n";
        }
        if let Some(growth) = &self.growth {
            let _ = writeln!(
                out,
                "  about {} reachable states ({} to {}) by growth with arenas",
                number(growth.estimate),
                number(growth.low),
                growth.high.map_or("no limit".into(), number)
            );
        }
        if let (Some(time), Some(rate), Some(memory)) =
            (self.seconds, self.states_per_second, self.memory_bytes)
        {
            let _ = writeln!(
                out,
                "  {}, {} states/s, {}, seed {}",
                seconds(time),
                count(rate as u64),
                bytes(memory),
                self.seed
            );
        }
        out
    }
}

/// A command that runs a task alone.
fn command(record: &Record, task: u32) -> String {
    let words = record.subject.command(task);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn violations(record: &Record, traces: Vec<(usize, Trace)>) -> Vec<Violation> {
    let all = record.violations.iter().zip(traces);
    let shown = all.filter_map(|(violation, (depth, trace))| {
        let found = trace.violation.clone()?;
        Some(Violation {
            kind: found.kind.name(),
            message: found.message,
            location: found.location,
            count: record.n_found(violation.place()),
            depth,
            task: violation.task,
            reproduce: command(record, violation.task),
            trace,
        })
    });
    shown.collect()
}

fn task_rows(record: &Record, counted: &Counted) -> Vec<TaskRow> {
    let times: BTreeMap<u32, (f64, f64)> =
        counted.times.iter().map(|(n, time, end)| (*n, (*time, *end))).collect();
    let row = |(number, done): (&u32, &Done)| TaskRow {
        task: record.subject.settings.task(*number),
        done: done.clone(),
        times: times.get(number).copied(),
    };
    record.tasks.iter().map(row).collect()
}

/// States a second of the tasks of this run; others may have been kept before.
fn rate(record: &Record, counted: &Counted, seconds: f64) -> f64 {
    let done = counted.times.iter().filter_map(|(number, ..)| record.tasks.get(number));
    done.map(|task| task.states as f64).sum::<f64>() / seconds.max(1e-9)
}

/// Arenas by size, the largest first.
fn sizes(record: &Record, counted: &Counted) -> Vec<Size> {
    let mut sizes: BTreeMap<u64, Size> = BTreeMap::new();
    let times: BTreeMap<u32, f64> = counted.times.iter().map(|(n, time, _)| (*n, *time)).collect();
    for (number, done) in &record.tasks {
        let arena = done.arena;
        let none = Size { arena, tasks: 0, states: 0.0, seconds: Some(0.0), violations: 0 };
        let size = sizes.entry(arena).or_insert(none);
        size.tasks += 1;
        size.states += done.states as f64;
        size.seconds = size.seconds.zip(times.get(number)).map(|(a, b)| a + b);
        size.violations += done.violations.len();
    }
    let mut sizes: Vec<Size> = sizes.into_values().rev().collect();
    for size in &mut sizes {
        size.states /= size.tasks as f64;
        size.seconds = size.seconds.map(|s| s / size.tasks as f64);
    }
    sizes
}
