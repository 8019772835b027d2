//! Holzmann's probability of collision (paper 000, section 2) and what follows.
//!
//! With N states, M bits and h hash functions, equation (3) holds as long as
//! `h N < M`: `P = (h N / M)^h / (h + 1)`. (The text we have of (3) divides by
//! `(h + 1)^h`; its own special case (4), and the sum itself, by `h + 1`.) For
//! h = 1 this is (1). Beyond, `P = 1 - M / (h N)` (5) is the most it can be and
//! `1 - M / N` (2) the least. Where the two regimes meet, (5) starts from 0
//! again; we let P stay at `1 / (h + 1)` until (5) has come up to it, so that
//! more states never mean a higher coverage.
//!
//! For h > 2 the paper asks for an interpolation in its Figure 2, whose axes are
//! log M and coverage: from the upper knee of the curve for h to the lower knee
//! of the curve for h = 1. Here that is a straight line. It begins where (3)
//! ends, at `M = h N` with the coverage `h / (h + 1)`, and ends where it touches
//! the curve `M / N` of (2): with `t = ln(M / N)`, at the t for which
//! `e^t (1 + ln h - t) = h / (h + 1)`. From there on (2) holds. The tangent is
//! the one choice that leaves no parameter open, never exceeds the bound (2),
//! and keeps the number of states reached strictly growing with N up to M, so
//! that it can be inverted. For h = 20 it ends at `M = N / 6`. A filter with
//! random functions (`filter.rs`) covers as much at `M = 4 N` and less below: 18 %
//! where the line has 46 %, at `M = N`. The line is the paper's; [`Run::bloom`]
//! is the better answer for an arena that is too small.

use super::Run;
use crate::Estimate;
use crate::series::bisect;

/// The average probability that a state is taken for an old one, as equations
/// (1) to (5) of paper 000 estimate it, for `states` reachable states.
pub fn collision_probability(states: f64, bits: u64, hashes: u32) -> f64 {
    let (bits, h) = (bits as f64, f64::from(hashes.max(1)));
    if states.is_nan() || states <= 0.0 {
        return 0.0;
    }
    if hashes <= 2 || h * states < bits {
        at_most(states, bits, h)
    } else {
        1.0 - interpolated_coverage(states, bits, h)
    }
}

/// The most that the probability of collision can be: (1), (3) and (5). Only
/// just beyond the upper knee, where (5) starts over, the interpolation is more.
pub fn collision_bound(states: f64, bits: u64, hashes: u32) -> f64 {
    at_most(states, bits as f64, f64::from(hashes.max(1)))
        .max(collision_probability(states, bits, hashes))
}

/// Equation (10) and Table III of paper 000: how many runs with other hash
/// functions it takes until fewer than one state is expected to be missing, if
/// one run misses each state with this probability and runs are independent.
/// `None` if no number of runs is enough.
pub fn sequential_runs(collision_probability: f64, states: f64) -> Option<u64> {
    let p = collision_probability;
    if !(0.0..1.0).contains(&p) || !states.is_finite() {
        return None;
    }
    if p * states <= 1.0 {
        return Some(1);
    }
    Some((states.ln() / -p.ln()).ceil() as u64)
}

impl Run {
    /// The coverage for which `N' = (1 - P) N`, solved for N (paper 000, below
    /// (9)). The interval is what the bounds of the paper leave: `low` is
    /// without the interpolation, 0 if it cannot be solved, and `high` is 1,
    /// because there may have been no collision at all. `None` if the arena is
    /// saturated: from some N on, the same number of states is reached whatever
    /// N is. That number is M, and `M / 2` for h = 2.
    pub fn holzmann(&self) -> Option<Estimate> {
        let (bits, reached) = self.counts()?;
        let h = f64::from(self.hashes);
        // Here (5) is what bounds P, for any h, and M / h states are reached.
        let end_of_bound = 2.0 * bits / h;
        let low = solve(reached, end_of_bound, |n| collision_bound(n, self.bits, self.hashes));
        let end = if self.hashes <= 2 { end_of_bound } else { bits / lower_knee(h).exp() };
        let states = solve(reached, end, |n| collision_probability(n, self.bits, self.hashes))?;
        Estimate::new(reached / states, low.map_or(0.0, |most| reached / most), 1.0)
    }
}

/// Equations (1), (3) and (5), with the step between them levelled. For h = 1,
/// (5) is (2).
fn at_most(states: f64, bits: f64, h: f64) -> f64 {
    let load = h * states / bits;
    if load < 1.0 { load.powf(h) / (h + 1.0) } else { (1.0 - 1.0 / load).max(1.0 / (h + 1.0)) }
}

/// Coverage for `M <= h N`: the line, then (2).
fn interpolated_coverage(states: f64, bits: f64, h: f64) -> f64 {
    let (t, knee) = ((bits / states).ln(), lower_knee(h));
    if t < knee { t.exp() } else { knee.exp() * (1.0 + t - knee) }
}

/// ln(M / N) where the line from the upper knee touches the curve of (2).
fn lower_knee(h: f64) -> f64 {
    bisect(-50.0, 0.0, h / (h + 1.0), |t| t.exp() * (1.0 + h.ln() - t))
}

/// The number of states for which `reached` are reached, if there is one below `end`.
fn solve(reached: f64, end: f64, collision: impl Fn(f64) -> f64) -> Option<f64> {
    let reached_of = |states: f64| states * (1.0 - collision(states));
    // A relative hair below the end, where rounding would make states of nothing.
    if reached >= reached_of(end) * (1.0 - 1e-12) {
        return None;
    }
    Some(bisect(reached, end, reached, reached_of))
}

#[cfg(test)]
mod tests {
    use super::super::expected_coverage;
    use super::*;

    const DTP: f64 = 427_567.0;

    fn coverage(states: f64, bits: u64, hashes: u32) -> f64 {
        1.0 - collision_probability(states, bits, hashes)
    }

    /// Table II: (M, states reached). The first row as printed, 26.84 Mbytes; the
    /// text has 2^28 bits for it, which are 33.55.
    const TABLE_2: [(u64, f64); 6] = [
        (214_720_000, 427_446.0),
        (1 << 25, 427_459.0),
        (1 << 24, 427_097.0),
        (1 << 23, 425_576.0),
        (1 << 22, 420_961.0),
        (1 << 21, 366_438.0),
    ];

    #[test]
    fn predicts_table_two() {
        for (bits, reached) in TABLE_2 {
            let error = coverage(DTP, bits, 2) - reached / DTP;
            // At 0.262 Mbytes so many collisions cut off whole parts of the graph.
            let tolerance = if bits == 1 << 21 { 0.09 } else { 0.002 };
            assert!(error.abs() < tolerance, "{bits}: off by {error}");
        }
        // By hand: (2 * 427567 / 2^22)^2 / 3.
        assert!((collision_probability(DTP, 1 << 22, 2) - 0.013_855).abs() < 1e-6);
    }

    #[test]
    fn solves_table_two_for_the_states() {
        for (bits, reached) in TABLE_2 {
            let run = Run { bits, hashes: 2, reached: reached as u64, bits_set: None };
            let e = run.holzmann().expect("not saturated");
            let tolerance = if bits == 1 << 21 { 0.10 } else { 0.002 };
            assert!((e.coverage() - reached / DTP).abs() < tolerance, "{bits}: {e:?}");
            let states = e.states(run.reached).expect("not zero");
            let again = states * coverage(states, run.bits, 2);
            assert!((again - reached).abs() < 1e-3, "{again} for {reached}");
        }
    }

    #[test]
    fn equations_by_hand() {
        let p = collision_probability;
        assert_eq!(p(256.0, 1024, 1), 0.125); // (1): 2^(8-10-1)
        assert_eq!(p(4096.0, 1024, 1), 0.75); // (2): 1 - 2^(10-12)
        assert!((p(256.0, 1024, 2) - 16.0 / 3.0 / 64.0).abs() < 1e-15); // (4)
        assert_eq!(p(2048.0, 1024, 2), 0.75); // (5): 1 - 2^(10-11) / 2
        assert_eq!(p(128.0, 1024, 4), 0.0125); // (3): 0.5^4 / 5
        assert_eq!(collision_bound(1024.0, 1024, 4), 0.75); // (5)
        // (3) is the average of (h i / M)^h over all states.
        let sum: f64 = (0..20_000).map(|i| (3.0 * f64::from(i) / 100_000.0).powi(3)).sum();
        assert!((p(20_000.0, 100_000, 3) / (sum / 20_000.0) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn interpolation_runs_from_knee_to_knee() {
        for h in [3, 4, 8, 20, 64] {
            let (m, hf) = (1u64 << 30, f64::from(h));
            let (bits, upper) = (m as f64, (1u64 << 30) as f64 / hf);
            let knee = lower_knee(hf).exp();
            let end = bits / knee;
            // It starts at the end of (3) and ends on (2).
            assert!((coverage(upper, m, h) - hf / (hf + 1.0)).abs() < 1e-9, "h={h}");
            assert!((coverage(upper * 0.999_999, m, h) - hf / (hf + 1.0)).abs() < 1e-5);
            assert!((coverage(end, m, h) - knee).abs() < 1e-9, "h={h}");
            // In the middle of the logarithmic axis it is the middle of the coverages.
            let middle = coverage((upper * end).sqrt(), m, h);
            assert!((middle - (hf / (hf + 1.0) + knee) / 2.0).abs() < 1e-9, "h={h}");
            // It lies between the bounds (5) and (2).
            for step in 0..100 {
                let states = upper * 1.2f64.powi(step);
                let between = collision_probability(states, m, h);
                assert!(between <= collision_bound(states, m, h) + 1e-12, "h={h} {states}");
                assert!(between >= 1.0 - bits / states - 1e-12, "h={h} {states}");
            }
        }
        assert!((1.0 / lower_knee(20.0).exp() - 6.1).abs() < 0.1);
    }

    #[test]
    fn interpolation_against_a_filter() {
        for (states, line, filter) in [(0.25, 0.69, 0.69), (1.0, 0.46, 0.18)] {
            let states = states * 1e6;
            assert!((coverage(states, 1_000_000, 20) - line).abs() < 0.01);
            assert!((expected_coverage(states, 1_000_000, 20) - filter).abs() < 0.01);
        }
    }

    /// The text of paper 000 on the choice of h: twenty functions are better
    /// above 20 bits for each state, one or two below.
    #[test]
    fn many_functions_pay_off_above_twenty_bits_a_state() {
        for bits_per_state in [30, 40, 80] {
            let m = 1_000_000 * bits_per_state;
            assert!(coverage(1e6, m, 20) > coverage(1e6, m, 2), "{bits_per_state}");
        }
        for states in [1e5, 2e5, 5e5, 1e6, 4e6, 1e7, 1e9] {
            let few = coverage(states, 1_000_000, 1).max(coverage(states, 1_000_000, 2));
            assert!(coverage(states, 1_000_000, 20) <= few + 1e-12, "{states}");
        }
    }

    #[test]
    fn more_states_are_more_reached_and_less_covered() {
        for h in [1, 2, 3, 5, 20, 64] {
            let mut before = (0.0, 1.0);
            for step in 0..400 {
                let states = 1.05f64.powi(step);
                let now = coverage(states, 1 << 16, h);
                assert!(now <= before.1 + 1e-12 && now >= 0.0, "h={h} N={states}");
                assert!(states * now >= before.0 * (1.0 - 1e-9), "h={h} N={states}");
                before = (states * now, now);
            }
        }
    }

    #[test]
    fn inverse_of_the_prediction() {
        for h in [1, 2, 3, 7, 20] {
            for load in [0.01, 0.1, 0.3, 0.45] {
                let states = f64::round(load * 1e7);
                let reached = (states * coverage(states, 10_000_000, h)).round() as u64;
                let run = Run { bits: 10_000_000, hashes: h, reached, bits_set: None };
                let e = run.holzmann().expect("not saturated");
                let back = e.states(reached).expect("not zero");
                assert!((back / states - 1.0).abs() < 1e-4, "h={h} load={load}: {back}");
                assert!(e.high() == 1.0 && e.low() <= e.coverage());
            }
        }
    }

    #[test]
    fn saturated_arena_has_no_answer() {
        let run = |hashes, reached| Run { bits: 1 << 20, hashes, reached, bits_set: None };
        assert_eq!(run(1, 1 << 20).holzmann(), None);
        assert_eq!(run(2, 1 << 19).holzmann(), None);
        assert_eq!(run(20, 1 << 20).holzmann(), None);
        assert!(run(2, (1 << 19) - 9).holzmann().is_some());
        assert!(run(20, (1 << 19) - 9).holzmann().is_some_and(|e| e.low() == 0.0));
    }

    /// Paper 000, section 5: a hash factor of 4 went with a coverage of 93 %.
    #[test]
    fn hash_factor_four() {
        let run = Run { bits: 1 << 22, hashes: 2, reached: 1 << 20, bits_set: None };
        let e = run.holzmann().expect("not saturated");
        assert!((e.coverage() - 0.93).abs() < 0.04, "{e:?}");
    }

    #[test]
    fn table_three() {
        let rows = [(0.1, 6), (0.2, 9), (0.3, 11), (0.4, 15), (0.5, 19)];
        let more = [(0.6, 26), (0.7, 37), (0.8, 59), (0.9, 124), (0.0, 1)];
        for (p, runs) in rows.into_iter().chain(more) {
            assert_eq!(sequential_runs(p, DTP), Some(runs), "{p}");
        }
        assert_eq!(sequential_runs(1.0, DTP), None);
        assert_eq!(sequential_runs(f64::NAN, DTP), None);
    }
}
