//! Breadth-first search by many threads, level by level.
//!
//! All states of a level are expanded before any of the next, so a first
//! violation is a nearest one, whatever the number of threads. Threads take
//! the states of a level in blocks; small levels are left to one thread, as
//! waking the others would take longer.

use super::run::Run;
use super::stack::Stack;
use super::worker::{Waiting, Worker};
use super::{Maker, merge};
use crate::outcome::Stop;
use crate::store::{Store, Writer};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

/// States that a thread takes at once.
const BLOCK: usize = 64;
/// Levels with fewer states are expanded by one thread.
const SHARED_LEVEL: usize = 2048;

/// Returns for each action whether it was run.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S) -> Vec<bool> {
    let levels = Levels::new(run, run.options.threads - 1);
    let mut reached = Vec::new();
    std::thread::scope(|scope| {
        let help = || {
            let mut worker = Worker::new(run, make(), store.writer());
            levels.help(&mut worker);
            worker.reached().to_vec()
        };
        let helpers: Vec<_> = (1..run.options.threads).map(|_| scope.spawn(help)).collect();
        let mut worker = Worker::new(run, make(), store.writer());
        levels.lead(&mut worker);
        merge(&mut reached, worker.reached());
        for helper in helpers {
            match helper.join() {
                Ok(its) => merge(&mut reached, &its),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    reached
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

    fn lead<W: Writer>(&self, worker: &mut Worker<W>) {
        let _over = Over(self);
        worker.start();
        self.add(worker);
        for depth in 0.. {
            let size = self.turn();
            if size == 0 || self.run.is_stopped() {
                break;
            }
            self.run.depth.store(depth, Ordering::Relaxed);
            let shared = size >= SHARED_LEVEL;
            if shared {
                self.begin_round();
            }
            self.expand_level(worker);
            if shared {
                self.end_round();
            }
            self.run.end_level();
        }
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
            worker.expand(&states[from..states.len().min(from + BLOCK)]);
            worker.finish();
            self.add(worker);
        }
    }

    /// Adds what a worker has found to the next level.
    fn add<W: Writer>(&self, worker: &mut Worker<W>) {
        let fresh: &mut Vec<Waiting> = &mut worker.finds.fresh;
        if !fresh.is_empty() && lock(&self.next).push_all(fresh.drain(..)).is_err() {
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
