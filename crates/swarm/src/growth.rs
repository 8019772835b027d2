//! The number of reachable states by how many of them tasks see in arenas of
//! different size: a cross-check that knows nothing of which states these are.
//!
//! Tasks that differ in nothing but seed, order and arena lie on one curve
//! (`estimate::growth`, paper 004). There may be several kinds of such tasks; that
//! with the most sizes of arenas is taken.

use crate::coverage::seen;
use crate::record::Record;
use check::Discipline;
use estimate::growth::{Failure, Point, fit};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many states can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    pub estimate: f64,
    pub low: f64,
    /// None if there is no upper limit.
    pub high: Option<f64>,
}

/// Fails if arenas are of too few sizes, if states grow as fast as they do, and if
/// more states were seen than the curve has.
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
    let fit = fit(&points, hashes)?;
    // Of the largest arena.
    let (reached, coverage) = (fit.states * fit.estimate.coverage(), fit.estimate);
    let high = (coverage.low() > 0.0).then(|| reached / coverage.low());
    let distinct = seen(record, usize::MAX).incidence.distinct().low;
    if high.is_some_and(|high| high < distinct) {
        return Err(Failure::Undetermined);
    }
    let [estimate, low] = [fit.states, reached / coverage.high()].map(|n| n.max(distinct));
    Ok(Growth { estimate, low, high })
}
