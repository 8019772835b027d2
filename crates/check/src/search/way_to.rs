//! Finds the way to a state once more: a search that was fast has not kept it.
//!
//! The same search again, in a store that keeps ways, until the state is there.

use super::job::Job;
use super::run::{Event, Run};
use super::{Compress, Maker, Options, Order, path};
use crate::store::Store;
use ir::model::Step;

/// It looks for the state when there are so many states, and again whenever there
/// are a quarter more.
const FIRST_LOOK: u64 = 16_384;

/// The steps to a state, and its depth on that way. `None` if it is not found
/// within the limits; there is none of time, as it does not take long.
pub(super) fn way_to(make: &Maker, options: &Options, state: &[u8]) -> Option<(Vec<Step>, usize)> {
    let options = Options {
        // By a way that is not too long.
        order: if options.depth.is_some() { Order::Bfs } else { options.order },
        compress: Compress::Off,
        // None of them ends it.
        max_violations: usize::MAX,
        ignore: Vec::new(),
        time: None,
        files: None,
        progress: None,
        ..*options
    };
    let mut run = Run::new(&options);
    let mut job = Job::new(make, &mut run).ok()?;
    let mut look_at = FIRST_LOOK;
    loop {
        run.pause_at(look_at);
        job.search(make, &run);
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
