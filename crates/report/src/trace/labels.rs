//! How processes, places, variables and messages are called, the same in every view.

use super::text::{clean, cut, cut_start};
use ir::source::Position;
use ir::trace::{Change, Message, Trace, TraceStep};
use std::collections::{HashMap, HashSet};

/// Longer names are cut, lest one name takes the room of all else.
const PROCESS_LIMIT: usize = 24;
const PLACE_LIMIT: usize = 32;

/// The names of one trace.
pub struct Labels<'t> {
    /// Variables that belong to no process.
    globals: HashSet<&'t str>,
    /// The last part of each path, where that tells the files apart.
    short_files: HashMap<&'t str, &'t str>,
    /// Changes are written as assignments, and the start state is step 0.
    rules: bool,
}

impl<'t> Labels<'t> {
    pub fn new(trace: &'t Trace) -> Labels<'t> {
        let changes = trace.steps.iter().flat_map(|step| &step.changes);
        let globals = changes.map(|c| c.name.as_str()).filter(|n| !n.contains("):")).collect();
        let files: HashSet<&str> = trace.steps.iter().map(|s| s.location.file.as_str()).collect();
        let mut n_named: HashMap<&str, usize> = HashMap::new();
        for file in &files {
            *n_named.entry(last_part(file)).or_default() += 1;
        }
        let unique = |file: &&str| n_named[last_part(file)] == 1;
        let short_files = files.into_iter().filter(unique).map(|f| (f, last_part(f))).collect();
        Labels { globals, short_files, rules: of_rules(trace) }
    }

    /// `file:line`; the heading of a view has the whole path.
    pub fn place(&self, position: &Position) -> String {
        let file = position.file.as_str();
        let short = self.short_files.get(file).unwrap_or(&file);
        cut_start(&clean(&format!("{short}:{}", position.line)), PLACE_LIMIT)
    }

    /// The number of the step at a place, as people count.
    pub fn number(&self, at: usize) -> usize {
        at + !self.rules as usize
    }

    /// `x: 0 -> 1`, or `x = 1` for a variable of a new process; of rules `x := 1`. A variable of
    /// the process that takes the step goes without the name of that process,
    /// unless a global has the same name.
    pub fn change(&self, step: &TraceStep, change: &Change) -> String {
        let own = change.name.strip_prefix(&format!("{}({}):", step.name, step.process));
        let name = own.filter(|own| !self.globals.contains(own)).unwrap_or(&change.name);
        let text = if self.rules {
            format!("{name} := {}", change.to)
        } else if change.from.is_empty() {
            format!("{name} = {}", change.to)
        } else {
            format!("{name}: {} -> {}", change.from, change.to)
        };
        clean(&text)
    }
}

/// Whether the steps of a trace are rules, after a start state.
fn of_rules(trace: &Trace) -> bool {
    trace.steps.first().is_some_and(|step| step.name.is_empty())
}

/// Steps of a trace, a start state not counted.
pub fn n_steps(trace: &Trace) -> usize {
    trace.steps.len() - of_rules(trace) as usize
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// `name(2)` in at most `limit` characters; the name is cut, never the number.
pub fn process(name: &str, number: u8, limit: usize) -> String {
    if name.is_empty() {
        return "rules".into();
    }
    let number = format!("({number})");
    let limit = limit.min(PROCESS_LIMIT);
    format!("{}{number}", cut(&clean(name), limit.saturating_sub(number.len())))
}

/// The process that takes a step.
pub fn process_of(step: &TraceStep) -> String {
    if step.name.is_empty() {
        // A rule belongs to no process.
        return String::new();
    }
    process(&step.name, step.process, PROCESS_LIMIT)
}

/// `1,ack`.
pub fn values(message: &Message) -> String {
    clean(&message.values.join(","))
}

/// `q!1,ack` for a send, `q?1,ack` for a receive.
pub fn event(message: &Message, sign: char) -> String {
    format!("{}{sign}{}", clean(&message.channel), values(message))
}

/// `1 step`, `2 steps`.
pub fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        _ => format!("{n} {noun}s"),
    }
}
