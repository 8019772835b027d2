//! Searches: which state next, by how many threads, and when to end.

mod bfs;
mod dfs;
mod path;
mod pool;
mod run;
mod stack;
mod worker;

use crate::outcome::{Found, Outcome, Progress, Stop, Verdict};
use crate::store::{ExactStore, Full, Store, Token};
use ir::fault::{Fault, FaultKind};
use ir::model::Model;
use ir::source::Span;
use run::Run;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worker::{Waiting, Worker};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Dfs,
    Bfs,
}

/// Whether states are kept folded together: a fifth of the memory, some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compress {
    Off,
    On,
    /// When memory is short.
    Auto,
}

pub struct Options<'a> {
    pub order: Order,
    pub threads: usize,
    pub compress: Compress,
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

/// States after which a search that is to be compact knows how to fold them.
const FOLD_AT: u64 = 32_768;

/// Searches the model's states for faults.
pub fn check(make: &Maker, options: &Options) -> Outcome {
    let run = Run::new(options);
    let hidden = make().hidden();
    let Some(store) = ExactStore::new(hidden, &run.budget) else {
        run.stop(Stop::Memory);
        return outcome(&run, Vec::new(), 0);
    };
    // Bytes that do not count for equality have no place in a tree of nodes.
    let compress = if hidden > 0 { Compress::Off } else { options.compress };
    if compress == Compress::On {
        run.pause_at(FOLD_AT);
    }
    let mut frontier = start(make, &run, &store);
    search(make, &run, &store, &mut frontier);
    let fold = run.is_paused() || (run.is_full() && compress != Compress::Off);
    if !fold {
        let violations = violations(make, &run, &store);
        return outcome(&run, violations, store.bytes());
    }
    let mut tokens: Vec<Token> = frontier.iter().map(|w| w.token).collect();
    match store.fold(&run.budget, tokens.iter_mut()) {
        Ok(tree) => {
            run.go_on();
            frontier.iter_mut().zip(tokens).for_each(|(w, token)| w.token = token);
            search(make, &run, &tree, &mut frontier);
            outcome(&run, violations(make, &run, &tree), tree.bytes())
        }
        Err(Full) => {
            run.stop(Stop::Memory);
            outcome(&run, Vec::new(), run.budget.used())
        }
    }
}

fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Waiting>) {
    match run.options.order {
        Order::Dfs => dfs::search(make, run, store, frontier),
        Order::Bfs => bfs::search(make, run, store, frontier),
    }
}

/// What was found, with the way to it.
fn violations<S: Store>(make: &Maker, run: &Run, store: &S) -> Vec<Found> {
    let mut model = make();
    run.take_found().into_iter().map(|w| path::found(&mut *model, store, w)).collect()
}

/// Stores the initial states.
fn start<S: Store>(make: &Maker, run: &Run, store: &S) -> Vec<Waiting> {
    let mut worker = Worker::new(run, make(), store.writer());
    worker.start();
    std::mem::take(&mut worker.finds.fresh)
}

fn outcome(run: &Run, violations: Vec<Found>, store_memory: u64) -> Outcome {
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
        reached: run.take_reached(),
    }
}
