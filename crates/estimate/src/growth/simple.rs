//! The simple formula, equation (6) of paper 004: two runs and r = ln 2.
//!
//! With the factor `F_m = 2^n` between two arenas and `F_N` between the states
//! reached in them, the coverage of the larger run is the k-th root of
//! `(F_m^k - F_N^k) / (F_m^k - 1)`. It is a positive number only if the states
//! have grown less than the arena. As in section 3.2.2 and 4.2, the largest run
//! is compared with the one of half its size first (n = 1), then with smaller
//! and smaller ones until a positive number comes out. We take the runs there
//! are, nearest first, so n need not be a whole number.

use super::{Failure, Point, by_size};
use crate::Estimate;

/// Growth rates that most models have for k from 1 to 3, by Table 1 of paper 004.
const RATES: (f64, f64) = (1.8, 2.3);

/// What the simple formula makes of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simple {
    /// Coverage of the run in the largest arena. `low` and `high` are what the
    /// formula yields if the growth rate is not ln 2 but ln 1.8 or ln 2.3.
    pub estimate: Estimate,
    /// Reachable states: M.
    pub states: f64,
    /// How many doublings the arena was smaller that the largest was compared with.
    pub n: f64,
}

/// Estimates the coverage of the run in the largest arena.
pub fn simple(points: &[Point], hashes: u32) -> Result<Simple, Failure> {
    let sorted = by_size(points, hashes)?;
    let (&largest, smaller) = sorted.split_last().ok_or(Failure::TooFewSizes)?;
    if smaller.is_empty() {
        return Err(Failure::TooFewSizes);
    }
    for point in smaller.iter().rev() {
        let n = largest.log_bits - point.log_bits;
        let growth = largest.reached / point.reached;
        let with_rate = |base: f64| coverage(n * base.ln(), growth, hashes);
        let Some(coverage) = with_rate(2.0) else { continue };
        let (low, high) = (with_rate(RATES.0).unwrap_or(0.0), with_rate(RATES.1).unwrap_or(1.0));
        let estimate = Estimate::new(coverage, low, high).ok_or(Failure::Undetermined)?;
        return Ok(Simple { estimate, states: largest.reached / coverage, n });
    }
    Err(Failure::NoEndInSight)
}

/// Equation (6) with `e^(r n)` and `F_N`, divided by the former to the k so that
/// nothing overflows; no more than 1, and `None` if it is not positive.
fn coverage(rn: f64, growth: f64, hashes: u32) -> Option<f64> {
    let k = f64::from(hashes);
    let above = -(k * (growth.ln() - rn)).exp_m1();
    let below = -(-k * rn).exp_m1();
    let coverage = (above / below).powf(1.0 / k);
    (above > 0.0 && coverage > 0.0).then_some(coverage.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::*;

    fn doubled(growth: f64) -> [Point; 2] {
        [Point { log_bits: 20.0, reached: 1e6 }, Point { log_bits: 21.0, reached: 1e6 * growth }]
    }

    /// Section 4.2: F_N = 1.9 is 36.1 % for k = 2 and 10.0 % for k = 1.
    #[test]
    fn worked_example() {
        let two = simple(&doubled(1.9), 2).expect("grows less than the arena");
        assert_eq!((two.estimate.coverage() * 1000.0).round(), 361.0);
        let one = simple(&doubled(1.9), 1).expect("grows less than the arena");
        assert!((one.estimate.coverage() - 0.1).abs() < 1e-12);
        assert!((one.states - 1.9e7).abs() < 1.0);
        // With ln 1.8 it would be none, with ln 2.3 (2.3 - 1.9) / (2.3 - 1).
        assert_eq!(one.estimate.low(), 0.0);
        assert!((one.estimate.high() - 0.4 / 1.3).abs() < 1e-12);
    }

    #[test]
    fn ends_of_the_scale() {
        let full = simple(&doubled(1.0), 1).expect("does not grow");
        assert_eq!((full.estimate.coverage(), full.states), (1.0, 1e6));
        let less = simple(&doubled(0.99), 3).expect("does not grow");
        assert_eq!(less.estimate.coverage(), 1.0);
        assert_eq!(simple(&doubled(2.0), 1), Err(Failure::NoEndInSight));
        assert_eq!(simple(&doubled(2.5), 2), Err(Failure::NoEndInSight));
    }

    #[test]
    fn falls_back_to_smaller_arenas() {
        let mut points = doubled(2.1).to_vec();
        points.push(Point { log_bits: 19.0, reached: 0.6e6 });
        points.push(Point { log_bits: 17.0, reached: 0.2e6 });
        let found = simple(&points, 1).expect("3.5 < 4");
        assert_eq!(found.n, 2.0);
        assert!((found.estimate.coverage() - 0.5 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn exact_on_the_curve() {
        for k in [1, 2, 3, 20] {
            for l in [17.5, 19.0, 20.0, 22.0] {
                let c = f64::from(k) * 2f64.ln() * 19.0;
                let at = |l| curve(3e5, c.exp(), 2f64.ln(), k, l);
                let found = simple(&[at(l - 2.5), at(l)], k).expect("on the curve");
                assert!((found.states / 3e5 - 1.0).abs() < 1e-6, "k={k} l={l} {found:?}");
            }
        }
    }

    #[test]
    fn odd_input() {
        let p = |log_bits, reached| Point { log_bits, reached };
        assert_eq!(simple(&[], 1), Err(Failure::TooFewSizes));
        assert_eq!(simple(&[p(20.0, 5.0)], 1), Err(Failure::TooFewSizes));
        assert_eq!(simple(&[p(20.0, 5.0), p(20.0, 9.0)], 1), Err(Failure::TooFewSizes));
        assert_eq!(simple(&doubled(1.5), 0), Err(Failure::Unsound));
        assert_eq!(simple(&[p(f64::NAN, 5.0), p(20.0, 9.0)], 1), Err(Failure::Unsound));
        let huge = simple(&[p(1.0, 1.0), p(1000.0, 1e300)], 64).expect("1e300 < 2^999");
        assert!(huge.estimate.coverage() > 0.9 && huge.states.is_finite());
    }
}
