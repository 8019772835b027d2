//! Searches: one loop for each order, what they share is here.

mod bfs;
mod dfs;
mod path;

use crate::outcome::{Found, Outcome, Progress, Stop, Verdict};
use ir::fault::{Fault, FaultKind};
use ir::model::Model;
use ir::source::Span;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) use path::steps_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Dfs,
    Bfs,
}

pub struct Options<'a> {
    pub order: Order,
    /// Longest path to follow.
    pub depth: Option<usize>,
    pub ignore: Vec<FaultKind>,
    /// Look for this violation only.
    pub target: Option<Target>,
    /// Stop after this many different violations.
    pub max_violations: usize,
    pub memory: u64,
    pub time: Option<Duration>,
    pub interrupt: &'a AtomicBool,
    pub progress: Option<&'a dyn Fn(&Progress)>,
}

/// A violation to look for: its kind and, except for deadlocks, its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub kind: FaultKind,
    pub span: Span,
}

impl Target {
    fn matches(&self, fault: &Fault) -> bool {
        fault.kind == self.kind && (self.kind == FaultKind::Deadlock || fault.span == self.span)
    }
}

/// Searches the model's states for faults.
pub fn check(model: &mut dyn Model, options: &Options) -> Outcome {
    let mut run = Run::new(options);
    let store_memory = match options.order {
        Order::Dfs => dfs::search(model, &mut run),
        Order::Bfs => bfs::search(model, &mut run),
    };
    run.finish(model, store_memory)
}

/// Expansions between two looks at the clock.
const CLOCK_EXPANSIONS: u32 = 256;
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Makes room for `extra` more elements without taking more than `budget`
/// bytes for the vector in all; false if that cannot be. A vector left to
/// itself would double, and so break a memory limit by far.
pub(crate) fn reserve<T>(vec: &mut Vec<T>, extra: usize, budget: u64) -> bool {
    let needed = vec.len() + extra;
    if needed <= vec.capacity() {
        return true;
    }
    let bytes = |n: usize| (n * size_of::<T>()) as u64;
    if bytes(needed) > budget {
        return false;
    }
    let roomy = (vec.capacity() / 4 * 5).max(needed).max(1024);
    let capacity = if bytes(roomy) > budget { needed } else { roomy };
    vec.reserve_exact(capacity - vec.len());
    true
}

/// A search under way: counts, limits and what was found.
pub(crate) struct Run<'a> {
    pub options: &'a Options<'a>,
    started: Instant,
    next_progress: Duration,
    expansions: u32,
    pub states: u64,
    pub transitions: u64,
    pub depth: usize,
    pub memory: u64,
    pub stop: Option<Stop>,
    /// Some path was cut at the depth limit.
    pub cut: bool,
    found: Vec<(Fault, Vec<u32>)>,
    n_violations: u64,
}

impl<'a> Run<'a> {
    fn new(options: &'a Options<'a>) -> Run<'a> {
        Run {
            options,
            started: Instant::now(),
            next_progress: PROGRESS_EVERY,
            expansions: 0,
            states: 0,
            transitions: 0,
            depth: 0,
            memory: 0,
            stop: None,
            cut: false,
            found: Vec::new(),
            n_violations: 0,
        }
    }

    pub fn ignores(&self, fault: &Fault) -> bool {
        self.options.ignore.contains(&fault.kind)
            || self.options.target.is_some_and(|target| !target.matches(fault))
    }

    /// Notes a violation at the end of a path; the search may be over then.
    pub fn report(&mut self, fault: Fault, path: Vec<u32>) {
        self.n_violations += 1;
        let same = |(f, _): &(Fault, Vec<u32>)| f.kind == fault.kind && f.span == fault.span;
        if !self.found.iter().any(same) {
            self.found.push((fault, path));
        }
        if self.found.len() >= self.options.max_violations {
            self.stop = Some(Stop::Violations);
        }
    }

    /// Called for each expansion: looks at the clock now and then.
    pub fn tick(&mut self) {
        self.expansions += 1;
        if self.expansions >= CLOCK_EXPANSIONS {
            self.look_at_clock();
        }
    }

    pub fn look_at_clock(&mut self) {
        self.expansions = 0;
        // Relaxed: a flag on its own, seen late does no harm.
        if self.options.interrupt.load(Ordering::Relaxed) {
            self.stop = self.stop.or(Some(Stop::Interrupt));
        }
        let elapsed = self.started.elapsed();
        if self.options.time.is_some_and(|limit| elapsed >= limit) {
            self.stop = self.stop.or(Some(Stop::Time));
        }
        if let (Some(progress), true) = (self.options.progress, elapsed >= self.next_progress) {
            self.next_progress = elapsed + PROGRESS_EVERY;
            progress(&Progress {
                states: self.states,
                transitions: self.transitions,
                depth: self.depth,
                memory: self.memory,
                elapsed,
            });
        }
    }

    fn finish(self, model: &mut dyn Model, store_memory: u64) -> Outcome {
        let elapsed = self.started.elapsed();
        let reached = model.reached().to_vec();
        let stop = self.stop.or(self.cut.then_some(Stop::Depth));
        let violations: Vec<Found> = self
            .found
            .into_iter()
            .map(|(fault, path)| {
                let steps = steps_of(model, &path);
                // The first edge leads to the initial state; the last is the fault,
                // and a deadlock has no step of its own.
                let own = 1 + (fault.kind == FaultKind::Deadlock) as usize;
                let depth = path.len().saturating_sub(own);
                Found { fault, depth, steps }
            })
            .collect();
        let verdict = if !violations.is_empty() {
            Verdict::Violation
        } else if stop.is_some() {
            Verdict::Incomplete
        } else {
            Verdict::Holds
        };
        Outcome {
            verdict,
            stop,
            violations,
            n_violations: self.n_violations,
            states: self.states,
            transitions: self.transitions,
            depth: self.depth,
            elapsed,
            memory: self.memory,
            store_memory,
            reached,
        }
    }
}
