//! Breadth-first search by many threads, level by level.
//!
//! All states of a level are expanded before any of the next, so a first
//! violation is a nearest one, whatever the number of threads. Threads take
//! the states of a level in blocks; small levels are left to one thread, as
//! waking the others would take longer. Memory of a part of the level goes to
//! the next level when it has been expanded.

use super::Maker;
use super::run::Run;
use super::stack::Stack;
use super::worker::{Waiting, Worker};
use crate::dice::Dice;
use crate::files::Trouble;
use crate::outcome::Stop;
use crate::store::{Store, Writer};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::Builder;

/// States that a thread takes at once.
const BLOCK: usize = 64;
/// Levels with fewer states are expanded by one thread.
const SHARED_LEVEL: usize = 2048;

/// Explores all that can be reached from the frontier, which on an early end
/// is what is left of it: the rest of the level that was under way, and what
/// was found for the next.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Stack>) {
    let levels = Levels::new(run, std::mem::take(frontier));
    std::thread::scope(|scope| {
        let help = || {
            let mut worker = Worker::new(run, make(), store.writer());
            levels.help(&mut worker);
            worker.report();
            worker.reached().to_vec()
        };
        // Where the system makes no more threads those there are do it all.
        let spawn = |_| Builder::new().spawn_scoped(scope, help).ok();
        let helpers: Vec<_> = (1..run.options.threads).filter_map(spawn).collect();
        lock(&levels.round).helpers = helpers.len();
        let mut worker = Worker::new(run, make(), store.writer());
        levels.lead(&mut worker);
        worker.report();
        run.add_reached(worker.reached());
        for helper in helpers {
            run.add_reached(&helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    *frontier = levels.rest();
}

/// The same by one thread.
pub(super) fn explore<W: Writer>(worker: &mut Worker<W>, initial: Stack, run: &Run) {
    Levels::new(run, vec![initial]).lead(worker);
}

struct Levels<'r> {
    run: &'r Run<'r>,
    /// The states being expanded, part by part: a part is the lowest segment.
    level: RwLock<Stack>,
    /// Those of the part that were taken.
    taken: AtomicUsize,
    /// Those that were taken but not expanded, as the search was stopped.
    given_up: Mutex<Vec<Waiting>>,
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
    fn new(run: &'r Run<'r>, frontier: Vec<Stack>) -> Levels<'r> {
        let mut stacks = frontier.into_iter();
        let mut stack = || stacks.next().unwrap_or_else(|| Stack::new(&run.space));
        Levels {
            run,
            level: RwLock::new(stack()),
            taken: AtomicUsize::new(0),
            given_up: Mutex::default(),
            next: Mutex::new(stack()),
            round: Mutex::new(Round { number: 0, helpers: 0, working: 0, over: false }),
            begun: Condvar::new(),
            ended: Condvar::new(),
        }
    }

    fn lead<W: Writer>(&self, worker: &mut Worker<W>) {
        let _over = Over(self);
        while !self.run.is_stopped() {
            match self.part() {
                Ok(0) => {
                    self.run.end_level();
                    if self.run.is_stopped() || !self.turn() {
                        break;
                    }
                }
                Ok(size) => self.lead_part(worker, size),
                Err(trouble) => self.run.trouble(trouble),
            }
        }
    }

    fn lead_part<W: Writer>(&self, worker: &mut Worker<W>, size: usize) {
        let shared = size >= SHARED_LEVEL;
        if shared {
            self.begin_round();
        }
        self.expand_part(worker);
        if shared {
            self.end_round();
        }
    }

    /// What is left of the level, and what was found for the next.
    fn rest(self) -> Vec<Stack> {
        let mut level = self.level.into_inner().unwrap_or_else(PoisonError::into_inner);
        let next = self.next.into_inner().unwrap_or_else(PoisonError::into_inner);
        let given_up = self.given_up.into_inner().unwrap_or_else(PoisonError::into_inner);
        level.drop_bottom(self.taken.into_inner());
        if let Err(trouble) = level.push_all(given_up.into_iter()) {
            self.run.trouble(trouble);
        }
        vec![level, next]
    }

    fn help<W: Writer>(&self, worker: &mut Worker<W>) {
        let mut number = 0;
        while let Some(begun) = self.wait_for_round(number) {
            number = begun;
            let _done = Done(self);
            self.expand_part(worker);
        }
    }

    /// Goes to the next part of the level if the last one was all taken;
    /// returns its size, 0 at the end of the level.
    fn part(&self) -> Result<usize, Trouble> {
        let mut level = self.level.write().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: the threads that took states have ended their round.
        level.drop_bottom(self.taken.swap(0, Ordering::Relaxed));
        let size = level.read_back()?;
        if let Some(depth) = level.bottom_depth() {
            self.run.depth.store(depth as usize, Ordering::Relaxed);
        }
        Ok(size)
    }

    /// Makes the states found the next level; whether there are any.
    fn turn(&self) -> bool {
        let mut level = self.level.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *level, &mut *lock(&self.next));
        !level.is_empty()
    }

    fn expand_part<W: Writer>(&self, worker: &mut Worker<W>) {
        let level = self.level.read().unwrap_or_else(PoisonError::into_inner);
        let mut block = Vec::with_capacity(BLOCK);
        let mut dice = Dice(self.run.options.seed);
        while !self.run.is_stopped() {
            // Relaxed: each number is given once; the states are under the lock.
            let from = self.taken.fetch_add(BLOCK, Ordering::Relaxed);
            block.clear();
            level.copy_bottom(from, BLOCK, &mut block);
            if block.is_empty() {
                break;
            }
            if !worker.expand(&block) {
                lock(&self.given_up).extend_from_slice(&block);
            }
            self.run.options.turns.arrange(&mut worker.finds.fresh, &mut dice);
            self.add(&mut worker.finds.fresh);
        }
    }

    /// Adds states to the next level.
    fn add(&self, states: &mut Vec<Waiting>) {
        if states.is_empty() {
            return;
        }
        if let Err(trouble) = lock(&self.next).push_all(states.drain(..)) {
            self.run.trouble(trouble);
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
