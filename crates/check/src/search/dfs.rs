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
use super::worker::{BUNDLE, Waiting, Worker};
use crate::dice::Dice;
use crate::store::{Store, Writer};
use std::panic::resume_unwind;

/// States that a thread expands before it gives any away: a small model is
/// searched by one thread, in the same order every time.
const ALONE: u64 = 4_096;

/// Explores all that can be reached from the frontier, which on an early end
/// is what is left of it: a stack for each thread.
pub(super) fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Stack>) {
    let threads = run.options.threads.max(frontier.len());
    frontier.resize_with(threads, || Stack::new(&run.space));
    let pool = Pool::new(threads);
    let help = |mut stack: Stack| {
        let mut worker = Worker::new(run, make(), store.writer());
        explore(&mut worker, &mut stack, &pool, run);
        worker.report();
        (stack, worker.reached().to_vec())
    };
    let mut stacks = std::mem::take(frontier).into_iter();
    std::thread::scope(|scope| {
        let first = stacks.next();
        let helpers: Vec<_> = stacks.map(|stack| scope.spawn(|| help(stack))).collect();
        let mine = first.map(help);
        let all = helpers.into_iter().map(|h| h.join().unwrap_or_else(|p| resume_unwind(p)));
        for (left, its) in mine.into_iter().chain(all) {
            frontier.push(left);
            run.add_reached(&its);
        }
    });
    for (number, gift) in pool.rest().into_iter().enumerate() {
        push(&mut frontier[number % threads], gift.into_iter(), run);
    }
}

/// Closes the pool, so that nobody waits for a thread that is no more.
struct Leaving<'p>(&'p Pool);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What one of the threads does, from its own stack and the pool.
pub(super) fn explore<W: Writer>(
    worker: &mut Worker<W>,
    stack: &mut Stack,
    pool: &Pool,
    run: &Run,
) {
    // A thread leaves when the search is over, or by a panic.
    let _leaving = Leaving(pool);
    let mut bundle = Vec::with_capacity(BUNDLE);
    let mut dice = Dice(run.options.seed);
    while !run.is_stopped() {
        if stack.is_empty() {
            let Some(gift) = pool.take() else { return };
            push(stack, gift.into_iter(), run);
        }
        if let Err(trouble) = stack.pop_into(BUNDLE, &mut bundle) {
            run.trouble(trouble);
            return;
        }
        if !worker.expand(&bundle) {
            push(stack, bundle.drain(..).rev(), run);
        }
        run.options.turns.arrange(&mut worker.finds.fresh, &mut dice);
        // The first comes on top.
        push(stack, worker.finds.fresh.drain(..).rev(), run);
        if pool.is_hungry() && stack.n_in_memory() > 1 && worker.expanded >= ALONE {
            pool.give(stack.split_bottom());
        }
    }
}

fn push(stack: &mut Stack, states: impl ExactSizeIterator<Item = Waiting>, run: &Run) {
    if let Err(trouble) = stack.push_all(states) {
        run.trouble(trouble);
    }
}
