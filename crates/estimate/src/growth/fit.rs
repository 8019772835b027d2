//! The curve of equation (4) of paper 004, fitted to the runs there are.
//!
//! `curve.rs` finds the best fit, here it is judged. As in section 4.2, r = ln 2
//! is tried if a free r fails, and if that fails too there is no estimate.

use super::curve::{Runs, Sums, Unknowns};
use super::linear::solve_linear;
use super::{Failure, Point, Simple, by_size, simple};
use crate::Estimate;

/// Growth rates beyond these are no growth of a filter; Table 1 of paper 004 has
/// 0.55 to 0.95.
const RATES: (f64, f64) = (0.3, 1.5);

/// Below this inhibition `(N / M)^k` of the largest run the end is not in sight.
const LEAST_INHIBITION: f64 = 1e-3;

/// With a larger standard deviation of ln M the curve says nothing about M.
const MOST_DEVIATION: f64 = 1.0;

/// With a larger root mean square of weighted residuals it is another curve.
const MOST_SCATTER: f64 = 0.05;

/// The same where a free rate found no end. A rate that is a little too large
/// turns slow growth into an end, so it has to fit well.
const MOST_SCATTER_WITHOUT_END: f64 = 0.01;

/// The curve that fits best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Coverage of the run in the largest arena, equation (5). The interval has
    /// two standard deviations of ln M, by the scatter around the curve, and the
    /// interval of the simple formula: scatter says nothing of what is wrong
    /// with the curve.
    pub estimate: Estimate,
    /// Reachable states: M.
    pub states: f64,
    /// Growth rate: r.
    pub rate: f64,
    /// True if the growth rate had to be fixed to ln 2.
    pub rate_fixed: bool,
    /// ln C.
    pub log_c: f64,
    /// Coefficient of determination R^2 of the numbers of states.
    pub r_squared: f64,
}

/// Fits the curve and estimates the coverage of the run in the largest arena.
/// Takes arenas of at least three sizes, four for the growth rate to be free.
pub fn fit(points: &[Point], hashes: u32) -> Result<Fit, Failure> {
    let sorted = by_size(points, hashes)?;
    let with_unknowns = |unknowns, scatter| fit_unknowns(&sorted, hashes, unknowns, scatter);
    match with_unknowns(3, MOST_SCATTER) {
        Ok(fit) => Ok(fit),
        Err(Failure::NoEndInSight) => {
            with_unknowns(2, MOST_SCATTER_WITHOUT_END).map_err(|_| Failure::NoEndInSight)
        }
        Err(_) => with_unknowns(2, MOST_SCATTER),
    }
}

fn fit_unknowns(
    points: &[Point],
    hashes: u32,
    unknowns: usize,
    most_scatter: f64,
) -> Result<Fit, Failure> {
    if points.len() <= unknowns {
        return Err(Failure::TooFewSizes);
    }
    let runs = Runs { points, k: f64::from(hashes) };
    let (at, sums) = runs.best(unknowns);
    let scatter = (sums.cost / (points.len() - unknowns) as f64).sqrt();
    let (states, rate) = (at[0].exp(), at[2].exp());
    let coverage = points[points.len() - 1].reached / states;
    if coverage.powf(runs.k) < LEAST_INHIBITION {
        return Err(Failure::NoEndInSight);
    }
    let deviation = scatter * uncertainty(&sums, unknowns).ok_or(Failure::Undetermined)?;
    let fits = scatter <= most_scatter && (RATES.0..=RATES.1).contains(&rate);
    if !fits || !states.is_finite() || deviation > MOST_DEVIATION {
        return Err(Failure::Undetermined);
    }
    Ok(Fit {
        estimate: interval(&runs, hashes, coverage, deviation).ok_or(Failure::Undetermined)?,
        // Noise may put the end of the curve below the last run.
        states: states.max(points[points.len() - 1].reached),
        rate,
        rate_fixed: unknowns == 2,
        log_c: runs.k * rate * at[1],
        r_squared: r_squared(&runs, &at),
    })
}

/// The standard deviation of ln M for residuals of deviation 1. `None` if the
/// runs do not determine it.
fn uncertainty(sums: &Sums, unknowns: usize) -> Option<f64> {
    let inverse = solve_linear(sums.square, [1.0, 0.0, 0.0], unknowns)?;
    (inverse[0] >= 0.0).then(|| inverse[0].sqrt())
}

fn interval(runs: &Runs, hashes: u32, coverage: f64, deviation: f64) -> Option<Estimate> {
    let factor = (2.0 * deviation).exp();
    let (mut low, mut high) = (coverage / factor, coverage * factor);
    if let Ok(Simple { estimate, .. }) = simple(runs.points, hashes) {
        low = low.min(estimate.low());
        high = high.max(estimate.high());
    }
    Estimate::new(coverage, low, high)
}

fn r_squared(runs: &Runs, at: &Unknowns) -> f64 {
    let mean = runs.points.iter().map(|p| p.reached).sum::<f64>() / runs.points.len() as f64;
    let (mut around_curve, mut around_mean) = (0.0, 0.0);
    for p in runs.points {
        around_curve += (p.reached - runs.curve(at, p.log_bits).0.exp()).powi(2);
        around_mean += (p.reached - mean).powi(2);
    }
    if around_mean > 0.0 { 1.0 - around_curve / around_mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::*;
    use crate::bitstate::expected_coverage;

    /// Six runs, each half the size of the next, as in section 4.2; the curve
    /// bends at l = 20.
    fn runs(m: f64, r: f64, k: u32, largest: f64) -> Vec<Point> {
        let c = (f64::from(k) * r * 20.0).exp();
        (0..6).rev().map(|i| curve(m, c, r, k, largest - f64::from(i))).collect()
    }

    #[test]
    fn recovers_the_curve() {
        for k in [1, 2, 3, 20] {
            for r in [0.57, 2f64.ln(), 0.9] {
                for largest in [19.0, 20.0, 21.5, 24.0] {
                    let points = runs(5e6, r, k, largest);
                    if k == 20 && largest < 20.0 {
                        // The twentieth power of one half: nothing to be seen yet.
                        assert!(fit(&points, k).is_err(), "r={r}");
                        continue;
                    }
                    let found = fit(&points, k).expect("on the curve");
                    let error = (found.states / 5e6 - 1.0).abs();
                    assert!(error < 1e-3, "k={k} r={r} l={largest}: {found:?}");
                    assert!((found.rate - r).abs() < 1e-3 && !found.rate_fixed, "{found:?}");
                    let log_c = f64::from(k) * r * 20.0;
                    assert!((found.log_c / log_c - 1.0).abs() < 1e-2, "{found:?}");
                    assert!(found.r_squared > 0.999_999, "{found:?}");
                    let coverage = points[5].reached / 5e6;
                    assert!((found.estimate.coverage() / coverage - 1.0).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn noise_costs_a_few_percent() {
        let noise = [0.006, -0.01, 0.004, 0.009, -0.007, 0.003];
        for k in [1, 2, 3] {
            for largest in [21.0, 22.0, 23.0] {
                let mut points = runs(5e6, 0.72, k, largest);
                for (point, noise) in points.iter_mut().zip(noise) {
                    point.reached *= 1.0 + noise;
                }
                let found = fit(&points, k).expect("near the curve");
                assert!((found.states / 5e6 - 1.0).abs() < 0.06, "k={k} l={largest}: {found:?}");
                let actual = points[5].reached / 5e6;
                assert!(found.estimate.low() < actual && actual < found.estimate.high() + 0.01);
                assert!(found.estimate.low() < found.estimate.high(), "{found:?}");
            }
        }
    }

    #[test]
    fn scatter_widens_the_interval_and_lowers_r_squared() {
        let mut points = runs(5e6, 2f64.ln(), 1, 24.0);
        for (point, noise) in points.iter_mut().zip([0.02, -0.02, 0.02, -0.02, 0.0, 0.0]) {
            point.reached *= 1.0 + noise;
        }
        let found = fit(&points, 1).expect("near the curve");
        let narrow = simple(&points, 1).expect("two sizes").estimate;
        assert!(found.estimate.high() > narrow.high() + 0.005, "{found:?} {narrow:?}");
        // By the definition, with equation (4) as it is printed.
        let mean = points.iter().map(|p| p.reached).sum::<f64>() / 6.0;
        let (mut curved, mut level) = (0.0, 0.0);
        for p in &points {
            let on_curve = curve(found.states, found.log_c.exp(), found.rate, 1, p.log_bits);
            curved += (p.reached - on_curve.reached).powi(2);
            level += (p.reached - mean).powi(2);
        }
        assert!((found.r_squared - (1.0 - curved / level)).abs() < 1e-9, "{found:?}");
        assert!(found.r_squared < 0.9999, "{found:?}");
    }

    /// What filters with random functions reach of a state space, which no
    /// curve has been fitted to before.
    fn filters(k: u32, smallest: u32, largest: u32) -> Vec<Point> {
        let m = 1.3e6;
        let reached = |l| m * expected_coverage(m, 1u64 << l, k);
        (smallest..=largest)
            .map(|l| Point { log_bits: f64::from(l), reached: reached(l) })
            .collect()
    }

    /// Table 1 of paper 004: the rates of its two random graphs.
    #[test]
    fn growth_rates_of_random_graphs() {
        for (k, rate) in [(1, 0.82), (2, 0.69), (3, 0.65)] {
            let found = fit(&filters(k, 16, 25), k).expect("ten sizes");
            assert!((found.rate - rate).abs() < 0.02, "k={k}: {found:?}");
            assert!(found.r_squared > 0.995, "k={k}: {found:?}");
        }
    }

    #[test]
    fn filters_are_estimated() {
        for k in [1, 2, 3] {
            for largest in 20..=24 {
                let points = filters(k, largest - 5, largest);
                let e = fit(&points, k).expect("six sizes").estimate;
                let actual = points[5].reached / 1.3e6;
                assert!((e.coverage() - actual).abs() < 0.08, "k={k} l={largest} {actual} {e:?}");
                assert!(
                    e.low() <= actual + 0.01 && actual <= e.high(),
                    "k={k} l={largest} {actual} {e:?}"
                );
            }
        }
    }

    #[test]
    fn fixes_the_rate_if_it_must() {
        let points = runs(5e6, 2f64.ln(), 1, 21.0);
        let found = fit(&points[3..], 1).expect("three sizes");
        assert!(found.rate_fixed && (found.states / 5e6 - 1.0).abs() < 1e-6, "{found:?}");
        assert_eq!(found.rate, 2f64.ln());
        assert_eq!(fit(&points[4..], 1), Err(Failure::TooFewSizes));
    }

    #[test]
    fn no_end_in_sight() {
        let doubling: Vec<_> = (0..6).map(|i| Point::new(1 << (20 + i), 3000 << i)).collect();
        for k in [1, 2, 3, 20] {
            assert!(fit(&doubling, k).is_err(), "k={k} {:?}", fit(&doubling, k));
        }
    }

    /// Noise of three percent, up and down in turn, that hides the end.
    #[test]
    fn noise_may_hide_the_end() {
        let noisy = |k, largest| {
            let mut points = runs(5e6, 2f64.ln(), k, largest);
            for (point, sign) in points.iter_mut().zip([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]) {
                point.reached *= 1.0 + 0.03 * sign;
            }
            points
        };
        // 46 % in truth; a fixed rate still tells something.
        let found = fit(&noisy(2, 19.0), 2).expect("a fixed rate");
        assert!(found.rate_fixed && (found.estimate.coverage() - 0.33).abs() < 0.01, "{found:?}");
        assert!(found.estimate.high() > 0.46, "{found:?}");
        // One size less to compare with, and less to see: 11 % in truth.
        assert_eq!(fit(&noisy(1, 17.0)[3..], 1), Err(Failure::Undetermined));
    }

    #[test]
    fn odd_input_gives_a_value_or_a_failure() {
        let p = |log_bits, reached| Point { log_bits, reached };
        let equal = [p(20.0, 7.0); 6];
        assert_eq!(fit(&equal, 1), Err(Failure::TooFewSizes));
        assert_eq!(fit(&[], 1), Err(Failure::TooFewSizes));
        assert_eq!(fit(&[p(20.0, 0.0); 6], 1), Err(Failure::Unsound));
        let flat: Vec<_> = (0..6).map(|i| p(20.0 + f64::from(i), 1e6)).collect();
        let shrinking: Vec<_> = (0..6).map(|i| p(f64::from(i), 1e6 / f64::from(1 + i))).collect();
        let wild: Vec<_> =
            (0..6).map(|i| p(f64::from(i * i), [1.0, 1e18][i as usize % 2])).collect();
        let huge: Vec<_> = (0..6).map(|i| p(1e9 * f64::from(i), 1e300)).collect();
        let ones: Vec<_> = (0..6).map(|i| p(f64::from(i), 1.0)).collect();
        for points in [flat, shrinking, wild, huge, ones] {
            for k in [1, 2, 64, u32::MAX] {
                if let Ok(found) = fit(&points, k) {
                    let e = found.estimate;
                    assert!(e.low() <= e.coverage() && e.coverage() <= e.high());
                    assert!(found.states.is_finite() && found.log_c.is_finite(), "{found:?}");
                    assert!(found.r_squared <= 1.0, "{found:?}");
                }
            }
        }
    }
}
