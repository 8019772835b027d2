//! Finds the way to a state once more: a search that was fast has not kept it.
//!
//! A search in a store that keeps ways, among the states that were visited: so it
//! finds the state whatever its order, and does not take longer than the first.

use super::job::Job;
use super::run::{Event, Run};
use super::{Compress, Maker, Options, Order, Storage, path};
use crate::store::{Store, Writer};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// It looks for the state when there are so many states, and again whenever there
/// are a quarter more.
const FIRST_LOOK: u64 = 16_384;

/// The steps to a state, and its depth on that way. `None` if there is no memory to
/// find it, or if it is interrupted.
pub(super) fn way_to<S: Store>(
    make: &Maker,
    run: &Run,
    visited: &S,
    state: &[u8],
) -> Option<(Vec<Step>, usize)> {
    let given = run.options;
    let options = Options {
        storage: Storage::Exact,
        // By a way that is not too long.
        order: if given.depth.is_some() { Order::Bfs } else { given.order },
        compress: Compress::Off,
        // None of them ends it.
        max_violations: usize::MAX,
        ignore: Vec::new(),
        time: None,
        files: None,
        progress: None,
        ..*given
    };
    let within =
        || -> Box<dyn Model + '_> { Box::new(Within { model: make(), visited: visited.writer() }) };
    let mut run = Run::beside(&options, &run.budget);
    let mut job = Job::new(&within, &mut run).ok()?;
    let mut look_at = FIRST_LOOK;
    loop {
        run.pause_at(look_at);
        job.search(&within, &run);
        let store = job.exact()?;
        if let Some(token) = store.writer().find(state) {
            return Some(path::steps_to(&mut *make(), store, token));
        }
        if run.event() != Event::Enough {
            return None;
        }
        look_at += look_at / 4;
        run.go_on();
    }
}

/// A model without the states that were not visited, and without faults.
struct Within<'m, W> {
    model: Box<dyn Model + 'm>,
    visited: W,
}

impl<W: Writer> Model for Within<'_, W> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        self.model.initial(sink)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.model.expand(state, &mut Visited { visited: &mut self.visited, sink })
    }
}

struct Visited<'a, W> {
    visited: &'a mut W,
    sink: &'a mut dyn Sink,
}

impl<W: Writer> Sink for Visited<'_, W> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        match self.visited.contains(state) {
            true => self.sink.successor(state, steps),
            false => Flow::Continue,
        }
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.sink.tick(bytes)
    }
}
