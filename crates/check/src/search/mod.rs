//! Searches: which state next, by how many threads, and when to end.

mod bfs;
mod dfs;
mod path;
mod pool;
mod run;
mod stack;
mod worker;

use crate::outcome::{Found, Outcome, Progress, Stop, Verdict};
use crate::store::{ExactStore, Store};
use ir::fault::{Fault, FaultKind};
use ir::model::Model;
use ir::source::Span;
use run::Run;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Dfs,
    Bfs,
}

pub struct Options<'a> {
    pub order: Order,
    pub threads: usize,
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
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
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

/// Makes the model anew, for each thread its own.
pub type Maker<'m> = dyn Fn() -> Box<dyn Model + 'm> + Sync + 'm;

/// Searches the model's states for faults.
pub fn check(make: &Maker, options: &Options) -> Outcome {
    let run = Run::new(options);
    let mut model = make();
    let Some(store) = ExactStore::new(model.hidden(), &run.budget) else {
        run.stop(Stop::Memory);
        return outcome(&run, Vec::new(), Vec::new(), 0);
    };
    let reached = match options.order {
        Order::Dfs => dfs::search(make, &run, &store),
        Order::Bfs => bfs::search(make, &run, &store),
    };
    let elapsed = run.elapsed();
    let violations = run.take_found().into_iter();
    let violations = violations.map(|w| path::found(&mut *model, &store, w)).collect();
    Outcome { elapsed, ..outcome(&run, violations, reached, store.bytes()) }
}

fn outcome(run: &Run, violations: Vec<Found>, reached: Vec<bool>, store_memory: u64) -> Outcome {
    let stop = run.stopped_by();
    let verdict = match (violations.is_empty(), stop) {
        (false, _) => Verdict::Violation,
        (true, Some(_)) => Verdict::Incomplete,
        (true, None) => Verdict::Holds,
    };
    Outcome {
        verdict,
        stop,
        violations,
        n_violations: run.n_violations.load(Ordering::Relaxed),
        states: run.states.load(Ordering::Relaxed),
        transitions: run.transitions.load(Ordering::Relaxed),
        depth: run.depth.load(Ordering::Relaxed),
        elapsed: run.elapsed(),
        memory: run.budget.peak(),
        store_memory,
        reached,
    }
}

/// Adds what another thread has reached.
fn merge(reached: &mut Vec<bool>, other: &[bool]) {
    reached.resize(reached.len().max(other.len()), false);
    reached.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}
