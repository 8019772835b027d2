//! The number of reachable states by how many of them tasks see in arenas of
//! different size: a cross-check that knows nothing of which states these are.
//!
//! Tasks that differ in nothing but seed, order and arena lie on one curve
//! (`estimate::growth`, paper 004). There may be several kinds of such tasks; that
//! with the most sizes of arenas is taken.

use crate::record::Record;
use check::Discipline;
use estimate::Estimate;
use estimate::growth::{Failure, Point, fit, simple};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many states can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    pub estimate: f64,
    pub low: f64,
    /// None if there is no upper limit.
    pub high: Option<f64>,
    /// Whether the curve was fitted, or solved for two sizes.
    pub method: &'static str,
}

/// Fails if arenas are of too few sizes, or if states grow as fast as they do.
pub fn growth(record: &Record) -> Result<Growth, Failure> {
    let settings = &record.subject.settings;
    let mut kinds: BTreeMap<(u32, bool), Vec<Point>> = BTreeMap::new();
    for (number, done) in &record.tasks {
        let task = settings.task(*number);
        let goes_on = record.subject.go_on || done.violations.is_empty();
        if task.search == Discipline::Dfs && done.limit.is_none() && goes_on {
            let points = kinds.entry((task.hashes, task.sparing)).or_default();
            points.push(Point::new(done.arena, done.states));
        }
    }
    let n_sizes = |points: &[Point]| {
        points.iter().map(|point| point.log_bits.to_bits()).collect::<BTreeSet<_>>().len()
    };
    let most = kinds.into_iter().max_by_key(|(_, points)| (n_sizes(points), points.len()));
    let ((hashes, _), points) = most.ok_or(Failure::TooFewSizes)?;
    match (fit(&points, hashes), simple(&points, hashes)) {
        (Ok(fit), _) => Ok(by("fit", fit.states, fit.estimate)),
        (_, Ok(simple)) => Ok(by("simple", simple.states, simple.estimate)),
        (Err(failure), Err(_)) => Err(failure),
    }
}

/// From the coverage of the largest arena.
fn by(method: &'static str, states: f64, coverage: Estimate) -> Growth {
    let reached = states * coverage.coverage();
    Growth {
        estimate: states,
        low: reached / coverage.high(),
        high: (coverage.low() > 0.0).then(|| reached / coverage.low()),
        method,
    }
}
