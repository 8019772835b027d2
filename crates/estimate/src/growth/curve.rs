//! The curve of equation (4) in paper 004 and the descent to its best fit.
//!
//! Levenberg and Marquardt's method. States span orders of magnitude, so it
//! works with logarithms: with `z = k r (l0 - l)` the curve is
//! `ln N = ln M - ln(1 + e^z) / k`, and C is `e^(k r l0)`. Unknowns are ln M, l0
//! and ln r, so that no step makes M or r negative. A residual weighs as much as
//! its run has states, so that to first order it is one of states. (Equal
//! weights lost: on filters with random functions, where the curve is not quite
//! right, small arenas then pull the end of the curve away; a true coverage of
//! 57 % came out as 43 % instead of 54 %.)

use super::Point;
use super::linear::solve_linear;

/// ln M, l0 and ln r. With two unknowns the last one is fixed.
pub type Unknowns = [f64; 3];

/// Runs by size, at least one, and the number of their hash functions.
pub struct Runs<'a> {
    pub points: &'a [Point],
    pub k: f64,
}

/// Sums over all points at some unknowns.
pub struct Sums {
    /// Squares of residuals.
    pub cost: f64,
    /// Products of derivatives with each other.
    pub square: [[f64; 3]; 3],
    /// Products of derivatives with residuals.
    pub slope: Unknowns,
}

impl Runs<'_> {
    fn largest(&self) -> f64 {
        self.points.iter().fold(0.0, |most, p| most.max(p.reached))
    }

    /// The curve's ln N in an arena of this size, and its derivatives.
    pub fn curve(&self, at: &Unknowns, log_bits: f64) -> (f64, Unknowns) {
        let rate = at[2].exp();
        let distance = at[1] - log_bits;
        let z = self.k * rate * distance;
        let log_sum = if z > 0.0 { z + (-z).exp().ln_1p() } else { z.exp().ln_1p() };
        let free = 1.0 / (1.0 + (-z).exp()); // how little growth is inhibited
        (at[0] - log_sum / self.k, [1.0, -free * rate, -free * rate * distance])
    }

    fn sums(&self, at: &Unknowns) -> Sums {
        let mut sums = Sums { cost: 0.0, square: [[0.0; 3]; 3], slope: [0.0; 3] };
        let largest = self.largest();
        for point in self.points {
            let weight = point.reached / largest;
            let (value, derivative) = self.curve(at, point.log_bits);
            let residual = weight * (point.reached.ln() - value);
            sums.cost += residual * residual;
            for row in 0..3 {
                sums.slope[row] += weight * derivative[row] * residual;
                for column in 0..3 {
                    sums.square[row][column] +=
                        weight * weight * derivative[row] * derivative[column];
                }
            }
        }
        sums
    }

    /// The best fit with so many unknowns. One start is enough: with and without
    /// noise, descents from 1.02 to 40 times the largest run for M came to the
    /// same end wherever there is one.
    pub fn best(&self, unknowns: usize) -> (Unknowns, Sums) {
        self.descend(self.start(1.5), unknowns)
    }

    /// M is so many times the largest run, r = ln 2, and the smallest run is on
    /// the curve.
    fn start(&self, factor: f64) -> Unknowns {
        let states = factor * self.largest();
        let (rate, first) = (std::f64::consts::LN_2, self.points[0]);
        // (M / N)^k - 1 = e^z.
        let log_ratio = self.k * (states / first.reached).ln();
        let z = log_ratio + (-(-log_ratio).exp()).ln_1p();
        [states.ln(), first.log_bits + z / (self.k * rate), rate.ln()]
    }

    /// Levenberg and Marquardt's descent. Ends where no step helps any more.
    fn descend(&self, start: Unknowns, unknowns: usize) -> (Unknowns, Sums) {
        let (mut at, mut sums) = (start, self.sums(&start));
        let mut damping = 1e-3;
        for _ in 0..500 {
            let mut damped = sums.square;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] += damping * row[i] + 1e-300;
            }
            let step = solve_linear(damped, sums.slope, unknowns);
            let next = std::array::from_fn(|i| at[i] + step.map_or(0.0, |step| step[i]));
            let there = self.sums(&next);
            if there.cost < sums.cost {
                let gain = sums.cost - there.cost;
                (at, sums) = (next, there);
                damping = (damping / 10.0).max(1e-12);
                if gain <= sums.cost * 1e-14 {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        (at, sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [Point; 3] = [
        Point { log_bits: 18.0, reached: 9e4 },
        Point { log_bits: 20.0, reached: 3e5 },
        Point { log_bits: 21.0, reached: 4e5 },
    ];

    #[test]
    fn curve_is_equation_four() {
        let (m, c, r, k, l) = (5e5f64, 1e11f64, 0.6f64, 2.0f64, 20.0f64);
        let printed = m / (1.0 + c * (-k * r * l).exp()).powf(1.0 / k);
        let at = [m.ln(), c.ln() / (k * r), r.ln()];
        let (value, _) = Runs { points: &POINTS, k }.curve(&at, l);
        assert!((value.exp() / printed - 1.0).abs() < 1e-12);
    }

    #[test]
    fn derivatives_are_differences() {
        let runs = Runs { points: &POINTS, k: 3.0 };
        for at in [[13.0, 19.5, -0.4], [14.0, 22.0, 0.1], [12.9, 10.0, -0.3]] {
            let (_, derivative) = runs.curve(&at, 20.0);
            for i in 0..3 {
                let (mut less, mut more) = (at, at);
                less[i] -= 1e-6;
                more[i] += 1e-6;
                let slope = (runs.curve(&more, 20.0).0 - runs.curve(&less, 20.0).0) / 2e-6;
                assert!((slope - derivative[i]).abs() < 1e-6, "{at:?} {i}: {slope}");
            }
        }
    }

    #[test]
    fn start_makes_no_difference() {
        let points: Vec<_> = [3.1e4, 5.8e4, 1.2e5, 2.1e5, 3.4e5, 4.1e5]
            .iter()
            .zip(16u8..)
            .map(|(&reached, l)| Point { log_bits: f64::from(l), reached })
            .collect();
        for k in [1.0, 2.0, 3.0] {
            let runs = Runs { points: &points, k };
            let ends = [1.02, 1.5, 6.0, 40.0].map(|m| runs.descend(runs.start(m), 3).0[0]);
            assert!(ends.iter().all(|end| (end - ends[0]).abs() < 1e-5), "k={k} {ends:?}");
        }
    }

    #[test]
    fn starts_on_the_smallest_run() {
        let runs = Runs { points: &POINTS, k: 2.0 };
        let (value, _) = runs.curve(&runs.start(1.5), 18.0);
        assert!((value.exp() / 9e4 - 1.0).abs() < 1e-9);
        assert!((runs.start(1.5)[0].exp() / 6e5 - 1.0).abs() < 1e-9);
    }
}
