//! Depth-first search by many threads, each with a stack of its own.
//!
//! A few states at a time are taken from the top of the stack, so that the
//! memory of one arrives while another is expanded; so the order is depth
//! first by bundles. Their new successors go on top. States are marked when
//! they are found, so a stack holds names of states, not states.

use super::pool::Pool;
use super::run::Run;
use super::stack::Stack;
use super::worker::Worker;
use super::{Maker, merge};
use crate::outcome::Stop;
use crate::store::{Store, Writer};

/// States that are taken from the stack at once.
const BUNDLE: usize = 16;
/// States that a thread expands before it gives any away: a small model is
/// searched by one thread, in the same order every time.
const ALONE: u64 = 16_384;

/// Returns for each action whether it was run.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S) -> Vec<bool> {
    let pool = Pool::new(run.options.threads);
    let mut reached = Vec::new();
    std::thread::scope(|scope| {
        let help = || {
            let mut worker = Worker::new(run, make(), store.writer());
            explore(&mut worker, Stack::new(&run.budget), &pool, run);
            worker.reached().to_vec()
        };
        let helpers: Vec<_> = (1..run.options.threads).map(|_| scope.spawn(help)).collect();
        let mut worker = Worker::new(run, make(), store.writer());
        worker.start();
        let mut stack = Stack::new(&run.budget);
        push(&mut worker, &mut stack, run);
        explore(&mut worker, stack, &pool, run);
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

/// Closes the pool, so that nobody waits for a thread that is no more.
struct Leaving<'p>(&'p Pool);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn explore<W: Writer>(worker: &mut Worker<W>, mut stack: Stack, pool: &Pool, run: &Run) {
    // A thread leaves when the search is over, or by a panic.
    let _leaving = Leaving(pool);
    let mut bundle = Vec::with_capacity(BUNDLE);
    while !run.is_stopped() {
        if stack.is_empty() {
            let Some(gift) = pool.take() else { return };
            if stack.push_all(gift.into_iter()).is_err() {
                run.stop(Stop::Memory);
                return;
            }
        }
        stack.pop_into(BUNDLE, &mut bundle);
        worker.expand(&bundle);
        worker.finish();
        push(worker, &mut stack, run);
        if pool.is_hungry() && stack.len() > 1 && worker.expanded >= ALONE {
            pool.give(stack.split_bottom());
        }
    }
}

/// Puts the states that were found on the stack, the first on top.
fn push<W: Writer>(worker: &mut Worker<W>, stack: &mut Stack, run: &Run) {
    let fresh = &mut worker.finds.fresh;
    if let Some(deepest) = fresh.iter().map(|w| w.depth).max() {
        run.depth.fetch_max(deepest as usize, std::sync::atomic::Ordering::Relaxed);
    }
    if stack.push_all(fresh.drain(..).rev()).is_err() {
        run.stop(Stop::Memory);
    }
}
