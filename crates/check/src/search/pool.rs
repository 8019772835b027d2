//! Work that threads of a depth-first search pass to each other.
//!
//! A thread without work waits here; a thread that sees one waiting gives away
//! half of its own. The search is over when all threads wait and nothing lies
//! in the pool; as both are known under one lock, no thread can leave early
//! and none can wait for ever (`models/self/pool.pml`).

use super::worker::Waiting;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
        Pool { shared: Mutex::new(shared), changed: Condvar::new(), hungry: false.into() }
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
