//! Shorter counterexamples: a depth-first search finds long ones.

use crate::outcome::Found;
use crate::search::{Options, Order, Target, check};
use ir::model::Model;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Looks for the same violation breadth first within `time` and `memory`.
/// What it finds is a shortest path; `None` if it found none that is shorter.
pub fn shorten(
    model: &mut dyn Model,
    found: &Found,
    time: Option<Duration>,
    memory: u64,
    interrupt: &AtomicBool,
) -> Option<Found> {
    let options = Options {
        order: Order::Bfs,
        depth: Some(found.depth),
        ignore: Vec::new(),
        target: Some(Target { kind: found.fault.kind, span: found.fault.span }),
        max_violations: 1,
        memory,
        time,
        interrupt,
        progress: None,
    };
    let outcome = check(model, &options);
    outcome.violations.into_iter().next().filter(|v| v.depth < found.depth)
}
