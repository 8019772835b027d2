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
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

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
    let stacks = Mutex::new(std::mem::take(frontier).into_iter());
    let next = || stacks.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let mut mine = next().unwrap_or_else(|| Stack::new(&run.space));
        let spawn = |_| Builder::new().spawn_scoped(scope, || next().map(help)).ok();
        let helpers: Vec<_> = (1..threads).filter_map(spawn).collect();
        // Where the system makes no more threads those there are do it all.
        let missing = threads - 1 - helpers.len();
        pool.do_without(missing);
        (0..missing).filter_map(|_| next()).for_each(|stack| put_on(&mut mine, stack, run));
        let mine = Some(help(mine));
        let all = helpers.into_iter().map(|h| h.join().unwrap_or_else(|p| resume_unwind(p)));
        for (left, its) in std::iter::once(mine).chain(all).flatten() {
            frontier.push(left);
            run.add_reached(&its);
        }
    });
    let n_stacks = frontier.len();
    for (number, gift) in pool.rest().into_iter().enumerate() {
        push(&mut frontier[number % n_stacks], gift.into_iter(), run);
    }
}

/// Puts all of one stack on another.
fn put_on(stack: &mut Stack, mut other: Stack, run: &Run) {
    let mut bundle = Vec::with_capacity(BUNDLE);
    while !other.is_empty() {
        if let Err(trouble) = other.pop_into(BUNDLE, &mut bundle) {
            return run.trouble(trouble);
        }
        push(stack, bundle.drain(..).rev(), run);
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
