//! Searches: which state next, by how many threads, and when to end.

mod bfs;
mod checkpoint;
mod dfs;
mod job;
mod path;
mod pool;
mod provide;
mod retrace;
mod run;
mod searcher;
mod sequence;
mod spill;
mod stack;
mod strict;
mod turns;
mod way_to;
mod worker;

use crate::files::{Error, Files};
use crate::outcome::{Found, Lossy, Outcome, Progress, Stop, Verdict};
use crate::store::{Aim, Bitstate, Collect, Filter, Layout, LossyStore, Shape, Store};
use ir::fault::{Fault, FaultKind};
use ir::model::Model;
use ir::source::Span;
use job::{Job, Kept};
use run::Run;
pub use searcher::{Discipline, Searcher};
pub use sequence::{Sequence, sequence};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Dfs,
    Bfs,
}

/// The hash functions of a lossy store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashing {
    /// Products of words: fast.
    Mix,
    /// Remainders by random polynomials, as Spin has them.
    Crc,
}

/// In which order the successors of a state are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// As the model has them.
    Forward,
    Reverse,
    /// Forward, but beginning anywhere, by the seed.
    Rotated,
    /// By the seed.
    Random,
}

/// Whether states are kept packed or folded together: a fifth of the memory, some
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compress {
    Off,
    On,
    /// Packed where that saves time, and all of it when memory is short.
    Auto,
}

/// What is remembered of the states that were visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// All of them, in full.
    Exact,
    /// Some bits of an arena for each: a state may be taken for another.
    Bitstate { bits: u64, hashes: u32, layout: Layout },
    /// A signature for each, in a table of at most so many bits: a state may
    /// be taken for another. If the table is full, states are dropped or the
    /// search ends.
    Compact { arena: u64, signature: u32, drop: bool },
}

pub struct Options<'a> {
    pub order: Order,
    pub turns: Turns,
    pub storage: Storage,
    pub hashing: Hashing,
    /// Of hash functions and of everything else that is random.
    pub seed: u64,
    /// With a lossy store, the probability that a state is stored when it is
    /// met; one that is not is expanded again when it is met again.
    pub store_probability: f64,
    /// With a lossy store: leaves out what is found another way, as exact searches
    /// do. What is lost is lost with all that is found by it alone, so this is for one
    /// of many searches.
    pub sparing: bool,
    /// Is told of the states that a search with a lossy store finds.
    pub collector: Option<&'a dyn Collect>,
    /// With a lossy store, depth first and by one thread: so many states of the
    /// chain of first successors must be visited for a state to count as
    /// visited. 0: the search is not in strict order.
    pub precision: u32,
    pub threads: usize,
    pub compress: Compress,
    /// States after which they are folded, with `Compress::On`; they are packed
    /// sooner.
    pub fold_after: u64,
    /// Longest path to follow.
    pub depth: Option<usize>,
    pub ignore: Vec<FaultKind>,
    /// Look for this violation only.
    pub target: Option<Target>,
    /// Stop after this many different violations.
    pub max_violations: usize,
    pub memory: u64,
    /// Time that this run may take; that of earlier ones does not count.
    pub time: Option<Duration>,
    pub interrupt: &'a AtomicBool,
    /// Checkpoints, and disk space instead of memory.
    pub files: Option<&'a Files>,
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

/// All cores, three GiB, no other limit; the first violation, depth first.
impl Default for Options<'_> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Options {
            order: Order::Dfs,
            turns: Turns::Forward,
            storage: Storage::Exact,
            hashing: Hashing::Mix,
            seed: 0,
            store_probability: 1.0,
            sparing: false,
            collector: None,
            precision: 0,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            compress: Compress::Auto,
            fold_after: FOLD_AFTER,
            depth: None,
            ignore: Vec::new(),
            target: None,
            max_violations: 1,
            memory: 3 << 30,
            time: None,
            interrupt: &NEVER,
            files: None,
            progress: None,
        }
    }
}

/// A violation to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub kind: FaultKind,
    /// Its place; none if any will do.
    pub span: Option<Span>,
}

impl Target {
    fn matches(&self, fault: &Fault) -> bool {
        fault.kind == self.kind && self.span.is_none_or(|span| fault.span == span)
    }
}

/// Makes the model anew, for each thread its own.
pub type Maker<'m> = dyn Fn() -> Box<dyn Model + 'm> + Sync + 'm;

/// States that are enough to learn how to fold them.
pub const FOLD_AFTER: u64 = 32_768;

/// Time to look for the violation that Spin would find first, as a multiple of
/// the time that the search took.
const SPIN_ORDER: u32 = 4;
const SPIN_ORDER_LEAST: Duration = Duration::from_millis(100);
const SPIN_ORDER_MOST: Duration = Duration::from_secs(1);

/// Searches the model's states for faults. An error is one of the files that
/// were given, met before the search has begun.
pub fn check(make: &Maker, options: &Options) -> Result<Outcome, Error> {
    let mut run = Run::new(options);
    run.open_spill()?;
    let mut job = Job::new(make, &mut run)?;
    job.explore(make, &run);
    let saved = job.saved();
    let mut outcome = conclude(make, &run, job.kept());
    if let Storage::Bitstate { bits, hashes, layout } = options.storage
        && outcome.lossy.is_none()
        && outcome.states > 0
    {
        // None was lost so far: but what was asked for is a search that may.
        let bits = Bitstate::usable(bits, layout);
        outcome.lossy = Some(Lossy::Bitstate { bits, hashes, layout, set: None });
        outcome.verdict = of_lossy(outcome.verdict);
        outcome.compressed = false;
    }
    outcome.checkpoint = saved;
    Ok(outcome)
}

/// Finds the ways to the violations that were met.
fn conclude(make: &Maker, run: &Run, kept: Kept) -> Outcome {
    let options = run.options;
    let bytes = kept.bytes(run);
    let (shapes, compressed) = match kept {
        Kept::Exact(store) => return conclude_exact(make, run, store),
        Kept::Packed(store) if store.aim() == Aim::Speed => {
            return Outcome { compressed: true, ..conclude_exact(make, run, *store) };
        }
        Kept::Fingerprints(store) => {
            let lossy = bitstate(store.filter.arena(), None);
            return conclude_lossy(make, run, &store, lossy);
        }
        Kept::Bitstate(store) => return conclude_bitstate(make, run, &store),
        Kept::Compact(store) => {
            let lossy = Lossy::Compact {
                slots: store.filter.slots(),
                signature: store.filter.bits(),
                stored: store.filter.n_stored(),
                dropped: store.filter.n_dropped(),
            };
            return conclude_lossy(make, run, &store, lossy);
        }
        Kept::Packed(store) => {
            // Its memory is needed to find the way.
            drop(store);
            (Vec::new(), true)
        }
        Kept::Tree(tree) => (tree.shapes(), true),
        Kept::Nothing => (Vec::new(), false),
    };
    let found = run.take_found();
    let mut outcome = Outcome { compressed, ..outcome(run, Vec::new(), bytes) };
    let ways = found.iter().filter_map(|w| way(make, options, &shapes, &w.fault, run.spent()));
    outcome.violations = ways.collect();
    if !found.is_empty() {
        told(&mut outcome);
    }
    outcome
}

/// The same after a search that has kept ways, or that can be done once more.
fn conclude_exact(make: &Maker, run: &Run, store: impl Store) -> Outcome {
    let mut model = make();
    let ways = run.take_found().into_iter().map(|w| path::way(&mut *model, &store, w));
    let ways: Vec<path::Way> = ways.collect();
    let mut outcome = outcome(run, Vec::new(), store.bytes());
    if ways.is_empty() {
        return outcome;
    }
    // If it is not needed, its memory is.
    let store = ways.iter().any(|way| way.begins_with.is_some()).then_some(store);
    let first = if model.hidden() > 0 { None } else { spins_first(make, run) };
    outcome.violations = match first {
        Some(found) => vec![found],
        None => {
            let whole = |way| whole(make, run, store.as_ref(), way);
            ways.into_iter().filter_map(whole).collect()
        }
    };
    told(&mut outcome);
    // With what it took to find the ways.
    outcome.memory = run.budget.peak();
    outcome
}

/// A violation with the whole way to it.
fn whole(make: &Maker, run: &Run, store: Option<&impl Store>, way: path::Way) -> Option<Found> {
    let path::Way { found, begins_with } = way;
    let (Some(state), Some(store)) = (begins_with, store) else { return Some(found) };
    match way_to::way_to(make, run, store, &state) {
        Some((steps, depth)) => {
            let steps = [steps, found.steps].concat();
            Some(Found { fault: found.fault, depth: depth + found.depth, steps })
        }
        // There was no memory for it.
        None => {
            let ignore = run.options.ignore.clone();
            let left = Options { memory: run.budget.left(), ignore, ..*run.options };
            self::way(make, &left, &[], &found.fault, run.spent())
        }
    }
}

/// There were violations: nothing is reported that was not run again.
fn told(outcome: &mut Outcome) {
    match outcome.violations.is_empty() {
        false => outcome.verdict = Verdict::Violation,
        true => (outcome.verdict, outcome.stop) = (Verdict::Incomplete, Some(Stop::Way)),
    }
}

fn conclude_bitstate(make: &Maker, run: &Run, store: &LossyStore<Bitstate>) -> Outcome {
    conclude_lossy(make, run, store, bitstate(&store.filter, Some(store.n_set())))
}

fn bitstate(arena: &Bitstate, set: Option<u64>) -> Lossy {
    let (bits, hashes, layout) = (arena.bits(), arena.hashes(), arena.layout());
    Lossy::Bitstate { bits, hashes, layout, set }
}

/// The same after a search that may have missed states.
fn conclude_lossy<F: Filter>(
    make: &Maker,
    run: &Run,
    store: &LossyStore<F>,
    lossy: Lossy,
) -> Outcome {
    let found = run.take_found();
    let has_found = !found.is_empty();
    let way = |witness| whole(make, run, Some(store), path::way(&mut *make(), store, witness));
    let ways = found.into_iter().filter_map(way).collect();
    let mut outcome = outcome(run, ways, store.bytes());
    outcome.states = outcome.states.saturating_sub(store.n_unstored());
    if has_found {
        told(&mut outcome);
    }
    outcome.verdict = of_lossy(outcome.verdict);
    outcome.lossy = Some(lossy);
    outcome.polynomial_tries = store.polynomial_tries();
    outcome
}

/// What a search may say that may have missed states.
fn of_lossy(verdict: Verdict) -> Verdict {
    if verdict == Verdict::Holds { Verdict::NoViolationFound } else { verdict }
}

/// The violation that Spin finds first, if that is found soon: so the result does
/// not depend on the number of threads.
fn spins_first(make: &Maker, run: &Run) -> Option<Found> {
    let options = run.options;
    if options.order == Order::Bfs || options.max_violations > 1 {
        return None;
    }
    let spent = run.spent();
    let left = options.time.map_or(SPIN_ORDER_MOST, |t| t.saturating_sub(spent));
    let time = (spent * SPIN_ORDER).clamp(SPIN_ORDER_LEAST, SPIN_ORDER_MOST).min(left);
    let ignore = options.ignore.clone();
    let options = Options { time: Some(time), ignore, files: None, ..*options };
    retrace::retrace(make, &Run::new(&options), Vec::new(), None)
}

/// The way to a violation after a search that has not kept it.
fn way(
    make: &Maker,
    options: &Options,
    shapes: &[Shape],
    fault: &Fault,
    spent: Duration,
) -> Option<Found> {
    let target = Target { kind: fault.kind, span: Some(fault.span) };
    let options = Options {
        storage: Storage::Exact,
        compress: Compress::Off,
        ignore: Vec::new(),
        target: Some(target),
        max_violations: 1,
        time: options.time.map(|t| t.saturating_sub(spent)),
        files: None,
        ..*options
    };
    // A shortest way needs a search that keeps it; it goes no deeper than the
    // first, so it may fit in memory.
    if options.order == Order::Bfs
        && let Some(found) = check(make, &options).ok().and_then(|mut o| o.violations.pop())
    {
        return Some(found);
    }
    retrace::retrace(make, &Run::new(&options), shapes.to_vec(), Some(target))
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
        spent: run.spent(),
        memory: run.budget.peak(),
        store_memory,
        reached: run.take_reached(),
        compressed: false,
        precision: run.options.precision,
        lossy: None,
        polynomial_tries: None,
        spilled: run.space.spill.as_ref().map_or(0, |spill| spill.peak()),
        trouble: run.take_trouble(),
        checkpoint: None,
    }
}
