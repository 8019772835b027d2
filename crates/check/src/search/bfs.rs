//! Breadth-first search by many threads, level by level.
//!
//! All states of a level are expanded before any of the next, so a first
//! violation is a nearest one, whatever the number of threads. Threads take
//! the states of a level in blocks; small levels are left to one thread, as
//! waking the others would take longer.

use super::Maker;
use super::run::Run;
use super::stack::Stack;
use super::worker::{Waiting, Worker};
use crate::outcome::Stop;
use crate::store::{Store, Writer};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

/// States that a thread takes at once.
const BLOCK: usize = 64;
/// Levels with fewer states are expanded by one thread.
const SHARED_LEVEL: usize = 2048;

/// Explores all that can be reached from the frontier, which on an early end
/// is what is left of it.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Waiting>) {
    let levels = Levels::new(run, run.options.threads - 1);
    std::thread::scope(|scope| {
        let help = || {
            let mut worker = Worker::new(run, make(), store.writer());
            levels.help(&mut worker);
            worker.report();
            worker.reached().to_vec()
        };
        let helpers: Vec<_> = (1..run.options.threads).map(|_| scope.spawn(help)).collect();
        let mut worker = Worker::new(run, make(), store.writer());
        levels.lead(&mut worker, std::mem::take(frontier));
        worker.report();
        run.add_reached(worker.reached());
        for helper in helpers {
            run.add_reached(&helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    *frontier = levels.rest();
}

struct Levels<'r> {
    run: &'r Run<'r>,
    /// The states being expanded.
    level: RwLock<Stack>,
    /// Those of them that were taken.
    taken: AtomicUsize,
    /// The states found.
    next: Mutex<Stack>,
    round: Mutex<Round>,
    begun: Condvar,
    ended: Condvar,
}

struct Round {
    number: u64,
    /// Threads that are to help, or have not finished helping.
    helpers: usize,
    working: usize,
    over: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'r> Levels<'r> {
    fn new(run: &'r Run<'r>, helpers: usize) -> Levels<'r> {
        Levels {
            run,
            level: RwLock::new(Stack::new(&run.budget)),
            taken: AtomicUsize::new(0),
            next: Mutex::new(Stack::new(&run.budget)),
            round: Mutex::new(Round { number: 0, helpers, working: 0, over: false }),
            begun: Condvar::new(),
            ended: Condvar::new(),
        }
    }

    fn lead<W: Writer>(&self, worker: &mut Worker<W>, frontier: Vec<Waiting>) {
        let _over = Over(self);
        // Of a search that goes on, the rest of the level that was under way
        // comes first.
        let first = frontier.iter().map(|w| w.depth).min().unwrap_or(0);
        let (now, later): (Vec<_>, Vec<_>) = frontier.into_iter().partition(|w| w.depth == first);
        self.add(&mut { now });
        let mut later = Some(later);
        loop {
            let size = self.turn();
            if size == 0 {
                break;
            }
            self.add(&mut later.take().unwrap_or_default());
            let shared = size >= SHARED_LEVEL;
            if shared {
                self.begin_round();
            }
            self.expand_level(worker);
            if shared {
                self.end_round();
            }
            self.run.end_level();
            if self.run.is_stopped() {
                break;
            }
        }
    }

    /// What is left of the level and what was found for the next.
    fn rest(&self) -> Vec<Waiting> {
        let level = self.level.read().unwrap_or_else(PoisonError::into_inner);
        let taken = self.taken.load(Ordering::Relaxed).min(level.len());
        let mut rest = level.items()[taken..].to_vec();
        rest.extend(lock(&self.next).take());
        rest
    }

    fn help<W: Writer>(&self, worker: &mut Worker<W>) {
        let mut number = 0;
        while let Some(begun) = self.wait_for_round(number) {
            number = begun;
            let _done = Done(self);
            self.expand_level(worker);
        }
    }

    /// Makes the states found the next level; returns how many there are.
    fn turn(&self) -> usize {
        let mut level = self.level.write().unwrap_or_else(PoisonError::into_inner);
        level.clear();
        std::mem::swap(&mut *level, &mut *lock(&self.next));
        self.taken.store(0, Ordering::Relaxed);
        level.len()
    }

    fn expand_level<W: Writer>(&self, worker: &mut Worker<W>) {
        let level = self.level.read().unwrap_or_else(PoisonError::into_inner);
        let states = level.items();
        while !self.run.is_stopped() {
            // Relaxed: each number is given once; the states are under the lock.
            let from = self.taken.fetch_add(BLOCK, Ordering::Relaxed);
            if from >= states.len() {
                break;
            }
            let block = &states[from..states.len().min(from + BLOCK)];
            if !worker.expand(block) {
                self.add(&mut block.to_vec());
            }
            self.add(&mut worker.finds.fresh);
        }
    }

    /// Adds states to the next level.
    fn add(&self, states: &mut Vec<Waiting>) {
        if !states.is_empty() && lock(&self.next).push_all(states.drain(..)).is_err() {
            self.run.stop(Stop::Memory);
        }
    }

    fn begin_round(&self) {
        let mut round = lock(&self.round);
        round.number += 1;
        round.working = round.helpers;
        self.begun.notify_all();
    }

    fn end_round(&self) {
        let mut round = lock(&self.round);
        while round.working > 0 {
            round = self.ended.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The number of the round after `last`; `None` when the search is over.
    fn wait_for_round(&self, last: u64) -> Option<u64> {
        let mut round = lock(&self.round);
        loop {
            if round.over {
                return None;
            }
            if round.number > last {
                return Some(round.number);
            }
            round = self.begun.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A helper is done with a round, for good if it panics.
struct Done<'l, 'r>(&'l Levels<'r>);

impl Drop for Done<'_, '_> {
    fn drop(&mut self) {
        let mut round = lock(&self.0.round);
        round.working -= 1;
        if std::thread::panicking() {
            round.helpers -= 1;
            self.0.run.stop(Stop::Interrupt);
        }
        self.0.ended.notify_all();
    }
}

/// The search is over, also if it ends by a panic.
struct Over<'l, 'r>(&'l Levels<'r>);

impl Drop for Over<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.round).over = true;
        self.0.begun.notify_all();
    }
}
