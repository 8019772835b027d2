//! Many small searches with bitstate stores, one after the other by one
//! thread. Their memory is used again, so that a search begins at once.
//!
//! Invariant: what a search finds depends on its options alone, not on the
//! searches before it, unless a limit of time or memory ends it.

mod pile;
mod switches;
mod walk;

use super::pool::Pool;
use super::run::Run;
use super::spill::Space;
use super::stack::Stack;
use super::worker::Worker;
use super::{Hashing, Maker, Options, Order, Storage, bfs, conclude_bitstate, dfs, outcome};
use crate::crc::Crc;
use crate::memory::Budget;
use crate::outcome::{Outcome, Stop};
use crate::store::{Bitstate, LossyStore, Slab, Store};
use pile::{End, Pile};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a small search goes through the states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    Dfs,
    Bfs,
    /// Depth first, along paths on which the process changes so many times at
    /// the most.
    Switches(u32),
    /// Random walks from the initial states, of so many steps together.
    Walk(u64),
}

/// Of searches that nobody interrupts.
static UNINTERRUPTED: AtomicBool = AtomicBool::new(false);

pub struct Searcher<'r, 'm> {
    make: &'r Maker<'m>,
    budget: Arc<Budget>,
    space: Arc<Space>,
    /// Memory of searches before.
    parts: Option<(Bitstate, Slab)>,
    stack: Option<Stack>,
    pile: Option<Pile>,
    /// Some search took too much memory for a pile.
    without_pile: bool,
}

impl<'r, 'm> Searcher<'r, 'm> {
    /// For searches that may use so much memory.
    pub fn new(make: &'r Maker<'m>, memory: u64) -> Searcher<'r, 'm> {
        let budget = Arc::new(Budget::new(memory));
        let space = Arc::new(Space::new(&budget, 2));
        Searcher { make, budget, space, parts: None, stack: None, pile: None, without_pile: false }
    }

    /// Most memory that was in use at a time.
    pub fn memory(&self) -> u64 {
        self.budget.peak()
    }

    /// Searches by one thread. The storage must be bitstate; order, threads
    /// and memory of the options do not count.
    pub fn search(&mut self, discipline: Discipline, options: &Options) -> Outcome {
        let order = if discipline == Discipline::Bfs { Order::Bfs } else { Order::Dfs };
        let ignore = options.ignore.clone();
        let mut options = Options { order, ignore, threads: 1, ..*options };
        if discipline == Discipline::Dfs && suits_pile(&options) && !self.without_pile {
            match self.search_on_pile(&options) {
                (End::Done, outcome) => return outcome,
                (End::Met(n), outcome) => {
                    options.max_violations = n;
                    return self.find_ways(&options.without_limits(), outcome);
                }
                (End::Enough, _) => options = options.without_limits(),
                (End::Full, Outcome { spent, .. }) => {
                    (self.pile, self.without_pile) = (None, true);
                    options.time = options.time.map(|limit| limit.saturating_sub(spent));
                }
            }
        }
        self.search_in_store(discipline, &options)
    }

    /// Searches once more, until there are ways to all violations that were met.
    fn find_ways(&mut self, options: &Options, met: Outcome) -> Outcome {
        let again = self.search_in_store(Discipline::Dfs, options);
        if again.violations.len() < options.max_violations {
            // There was no memory for it.
            return again;
        }
        let (elapsed, spent) = (met.elapsed + again.elapsed, met.spent + again.spent);
        let Outcome { verdict, violations, memory, .. } = again;
        Outcome { verdict, violations, memory, elapsed, spent, ..met }
    }

    fn search_in_store(&mut self, discipline: Discipline, options: &Options) -> Outcome {
        let run = Run::within(options, &self.budget, &self.space);
        let Some(store) = self.store(&run) else {
            run.stop(Stop::Memory);
            return outcome(&run, Vec::new(), 0);
        };
        self.explore(discipline, &run, &store);
        self.conclude(&run, store)
    }

    /// Searches without keeping ways.
    fn search_on_pile(&mut self, options: &Options) -> (End, Outcome) {
        let run = Run::within(options, &self.budget, &self.space);
        let pile = self.pile.take().or_else(|| Pile::new(&self.budget));
        let (Some(mut pile), Some(store)) = (pile, self.store(&run)) else {
            return (End::Full, outcome(&run, Vec::new(), 0));
        };
        let end = pile::search(self.make, &run, store.marker(), &mut pile);
        pile.clear();
        self.pile = Some(pile);
        (end, self.conclude(&run, store))
    }

    /// Takes the memory of a store back.
    fn conclude(&mut self, run: &Run, store: LossyStore<'_, Bitstate>) -> Outcome {
        let outcome = conclude_bitstate(self.make, run, &store);
        let (filter, mut slab) = store.into_parts();
        slab.clear();
        self.parts = Some((filter, slab));
        outcome
    }

    /// An empty store, of the memory that is there if it is large enough.
    fn store<'a>(&mut self, run: &Run<'a>) -> Option<LossyStore<'a, Bitstate>> {
        let hidden = (self.make)().hidden();
        let Options { seed, store_probability, hashing, collector, .. } = *run.options;
        let Storage::Bitstate { bits, hashes, layout } = run.options.storage else { return None };
        let mut parts = self.parts.take();
        let fits = parts.as_mut().is_some_and(|(filter, _)| filter.renew(bits, hashes, layout));
        let (filter, slab) = if fits {
            parts?
        } else {
            drop(parts);
            let filter = Bitstate::new(bits, hashes, layout, &self.budget)?;
            (filter, Slab::new(&self.budget)?)
        };
        let mut store = LossyStore::in_slab(filter, slab, hidden, seed, store_probability);
        store.collector = collector;
        store.be_alone();
        store.polynomials = (hashing == Hashing::Crc).then(|| Crc::new(seed));
        Some(store)
    }

    fn explore(&mut self, discipline: Discipline, run: &Run, store: &LossyStore<'_, Bitstate>) {
        match discipline {
            Discipline::Switches(limit) => switches::search(self.make, run, store, limit),
            Discipline::Walk(steps) => walk::search(self.make, run, store, steps),
            Discipline::Dfs | Discipline::Bfs => self.explore_all(run, store),
        }
    }

    fn explore_all(&mut self, run: &Run, store: &LossyStore<'_, Bitstate>) {
        let mut worker = Worker::new(run, (self.make)(), store.writer());
        let mut stack = self.stack.take().unwrap_or_else(|| Stack::new(&self.space));
        worker.start();
        if let Err(trouble) = stack.push_all(worker.finds.fresh.drain(..)) {
            run.trouble(trouble);
        }
        if run.options.order == Order::Dfs {
            dfs::explore(&mut worker, &mut stack, &Pool::new(1), run);
            self.stack = Some(stack).filter(Stack::is_empty);
        } else {
            bfs::explore(&mut worker, stack, run);
        }
        worker.report();
        run.add_reached(worker.reached());
    }
}

impl Options<'_> {
    /// The same for what was seen already: that will be told, however long it takes.
    fn without_limits(self) -> Self {
        Options { time: None, interrupt: &UNINTERRUPTED, ..self }
    }
}

/// Whether states may lie on a pile: in an arena that is near, if nothing else is
/// to be done for each.
fn suits_pile(options: &Options) -> bool {
    let Storage::Bitstate { bits, .. } = options.storage else { return false };
    let plain = options.hashing == Hashing::Mix && options.store_probability >= 1.0;
    Bitstate::is_near(bits) && plain && options.depth.is_none()
}

#[cfg(test)]
mod tests;
