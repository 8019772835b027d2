//! Depth-first search by many threads, each with a stack of its own.
//!
//! A few states at a time are taken from the top of the stack, so that the
//! memory of one arrives while another is expanded; so the order is depth
//! first by bundles. Their new successors go on top. States are marked when
//! they are found, so a stack holds names of states, not states.

use super::Maker;
use super::pool::Pool;
use super::run::Run;
use super::stack::Stack;
use super::worker::{Waiting, Worker};
use crate::outcome::Stop;
use crate::store::{Store, Writer};
use std::panic::resume_unwind;

/// States that are taken from the stack at once.
const BUNDLE: usize = 16;
/// States that a thread expands before it gives any away: a small model is
/// searched by one thread, in the same order every time.
const ALONE: u64 = 16_384;

/// Explores all that can be reached from the frontier, which on an early end
/// is what is left of it.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Waiting>) {
    let pool = Pool::new(run.options.threads);
    let help = |start: Vec<Waiting>| {
        let mut worker = Worker::new(run, make(), store.writer());
        let mut stack = Stack::new(&run.budget);
        push(&mut stack, start.into_iter(), run);
        explore(&mut worker, &mut stack, &pool, run);
        worker.report();
        (stack.take(), worker.reached().to_vec())
    };
    let start = std::mem::take(frontier);
    std::thread::scope(|scope| {
        let helpers: Vec<_> =
            (1..run.options.threads).map(|_| scope.spawn(|| help(Vec::new()))).collect();
        let mine = help(start);
        let all = helpers.into_iter().map(|h| h.join().unwrap_or_else(|p| resume_unwind(p)));
        for (left, its) in all.chain([mine]) {
            frontier.extend(left);
            run.add_reached(&its);
        }
    });
    frontier.extend(pool.rest());
}

/// Closes the pool, so that nobody waits for a thread that is no more.
struct Leaving<'p>(&'p Pool);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn explore<W: Writer>(worker: &mut Worker<W>, stack: &mut Stack, pool: &Pool, run: &Run) {
    // A thread leaves when the search is over, or by a panic.
    let _leaving = Leaving(pool);
    let mut bundle = Vec::with_capacity(BUNDLE);
    while !run.is_stopped() {
        if stack.is_empty() {
            let Some(gift) = pool.take() else { return };
            push(stack, gift.into_iter(), run);
        }
        stack.pop_into(BUNDLE, &mut bundle);
        if !worker.expand(&bundle) {
            push(stack, bundle.drain(..).rev(), run);
        }
        // The first that was found comes on top.
        push(stack, worker.finds.fresh.drain(..).rev(), run);
        if pool.is_hungry() && stack.len() > 1 && worker.expanded >= ALONE {
            pool.give(stack.split_bottom());
        }
    }
}

fn push(stack: &mut Stack, states: impl ExactSizeIterator<Item = Waiting>, run: &Run) {
    if stack.push_all(states).is_err() {
        run.stop(Stop::Memory);
    }
}
