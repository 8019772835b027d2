//! Work that threads of a depth-first search pass to each other.
//!
//! A thread without work waits here; a thread that sees one waiting gives away
//! half of its own. The search is over when all threads wait and nothing lies
//! in the pool; as both are known under one lock, no thread can leave early
//! and none can wait for ever (`models/self/pool.pml`). With `--cfg loom` all
//! interleavings of some small uses are tried.

use super::worker::Waiting;
#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, Ordering};
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

pub(super) struct Pool {
    shared: Mutex<Shared>,
    changed: Condvar,
    /// More threads wait than gifts lie here.
    hungry: AtomicBool,
}

struct Shared {
    gifts: Vec<Vec<Waiting>>,
    waiting: usize,
    threads: usize,
    over: bool,
}

impl Pool {
    pub fn new(threads: usize) -> Pool {
        let shared = Shared { gifts: Vec::new(), waiting: 0, threads, over: false };
        let (shared, changed) = (Mutex::new(shared), Condvar::new());
        Pool { shared, changed, hungry: AtomicBool::new(false) }
    }

    /// So many of the threads could not be made.
    pub fn do_without(&self, missing: usize) {
        self.lock().threads -= missing;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a gift would be welcome.
    pub fn is_hungry(&self) -> bool {
        // Relaxed: a hint; seen late it costs a little time.
        self.hungry.load(Ordering::Relaxed)
    }

    pub fn give(&self, gift: Vec<Waiting>) {
        let mut shared = self.lock();
        shared.gifts.push(gift);
        self.update(&shared);
        self.changed.notify_one();
    }

    /// Waits for a gift; `None` when the search is over.
    pub fn take(&self) -> Option<Vec<Waiting>> {
        let mut shared = self.lock();
        shared.waiting += 1;
        loop {
            if shared.over || (shared.gifts.is_empty() && shared.waiting == shared.threads) {
                shared.over = true;
                self.changed.notify_all();
                return None;
            }
            if let Some(gift) = shared.gifts.pop() {
                shared.waiting -= 1;
                self.update(&shared);
                return Some(gift);
            }
            self.update(&shared);
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sends all threads home.
    pub fn close(&self) {
        self.lock().over = true;
        self.changed.notify_all();
    }

    /// Gifts that nobody has taken.
    pub fn rest(&self) -> Vec<Vec<Waiting>> {
        std::mem::take(&mut self.lock().gifts)
    }

    fn update(&self, shared: &Shared) {
        self.hungry.store(shared.waiting > shared.gifts.len(), Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    const STATE: Waiting = Waiting { token: 1, depth: 0, cause: 0 };

    /// Expands its states one by one, each of which has no successor, and gives
    /// one away if that is welcome; returns how many it has expanded.
    fn work(pool: &Pool, mut own: Vec<Waiting>, closes: bool) -> usize {
        let mut expanded = 0;
        loop {
            if own.pop().is_none() {
                match pool.take() {
                    Some(gift) => own = gift,
                    None => return expanded,
                }
                continue;
            }
            expanded += 1;
            if closes {
                pool.close();
                return expanded;
            }
            if pool.is_hungry()
                && let Some(state) = own.pop()
            {
                pool.give(vec![state]);
            }
        }
    }

    fn search(states: [usize; 2], closes: [bool; 2]) -> usize {
        let pool = Arc::new(Pool::new(2));
        let other = pool.clone();
        let (mine, its) = (vec![STATE; states[0]], vec![STATE; states[1]]);
        let thread = thread::spawn(move || work(&other, its, closes[1]));
        let expanded = work(&pool, mine, closes[0]);
        let total = expanded + thread.join().expect("no panic");
        total + pool.rest().iter().map(Vec::len).sum::<usize>()
    }

    #[test]
    fn all_work_is_done_and_all_threads_leave() {
        loom::model(|| assert_eq!(search([3, 0], [false, false]), 3));
        loom::model(|| assert_eq!(search([2, 2], [false, false]), 4));
    }

    #[test]
    fn a_thread_that_leaves_takes_all_with_it() {
        loom::model(|| assert_eq!(search([2, 1], [true, false]), 2));
    }
}
