//! A Bloom filter with random hash functions, computed exactly.
//!
//! A state that is taken for an old one finds all its bits set and sets none.
//! So after N distinct states, lost ones included, the share of bits set is
//! `u = 1 - (1 - 1/m)^(k N)` as in any Bloom filter, and the next state is lost
//! with the probability `u^k`. Summed over all states (an integral, which
//! `du = (1 - u) dx` turns into a series, see `series.rs`):
//!
//! - reached: `(m / k) (u + u^2 / 2 + ... + u^k / k)`
//! - lost: `(m / k)` times the rest of that series
//! - both: `(m / k) (-ln(1 - u))`
//!
//! For k = 1 the quotient of the first and the last is Stern's equation (1) of
//! paper 004 (`random.rs`). In a saturated arena (u = 1) it is the harmonic
//! number `H_k` that limits the states reached to `m H_k / k`: 0.75 m for k = 2,
//! where paper 004 has it from a recurrence (Figure 3).
//!
//! All this counts states that were looked up. States that only lost ones lead
//! to were never looked up; Dillinger & Manolios count one of them for each lost
//! one, hence the 2 in their E(o).

use crate::series::{bisect, log_head, log_tail};

/// Up to so many states E(o) is summed state by state.
const FEW: u64 = 4096;

/// More hash functions than this are taken for this many.
pub(super) const MOST_HASHES: u32 = 1000;

/// The expected number of omissions among `states` distinct states in turn: the
/// sum of `(1 - (1 - 1/m)^(i k))^k` for i below `states`. This is E(o) of paper
/// 004 without its factor 2. The cost does not depend on the number of states:
/// Euler and Maclaurin's formula on the integral, whose value is known.
pub fn expected_omissions(states: u64, bits: u64, hashes: u32) -> f64 {
    let sum = if states <= FEW { omissions_one_by_one } else { omissions_at_once };
    sum(states, bits, sane(hashes))
}

fn omissions_one_by_one(states: u64, bits: u64, hashes: u32) -> f64 {
    let step = load_of_state(bits as f64, hashes);
    let lost = |i: u64| (-(-step * i as f64).exp_m1()).powf(f64::from(hashes));
    (0..states).map(lost).sum()
}

fn omissions_at_once(states: u64, bits: u64, hashes: u32) -> f64 {
    let (k, step) = (f64::from(hashes), load_of_state(bits as f64, hashes));
    let load = step * states as f64;
    let u = -(-load).exp_m1();
    let slope_at_end = k * u.powf(k - 1.0) * (-load).exp() * step;
    let slope_at_start = if hashes == 1 { step } else { 0.0 };
    let integral = log_tail(hashes, load) / step;
    integral - u.powf(k) / 2.0 + (slope_at_end - slope_at_start) / 12.0
}

/// The coverage to expect of `states` reachable states, all of them looked up.
pub fn expected_coverage(states: f64, bits: u64, hashes: u32) -> f64 {
    let load = states * load_of_state(bits as f64, hashes);
    let reached = reached(bits as f64, hashes, load);
    if reached < states { reached / states } else { 1.0 }
}

/// The probability that not a single one of `states` is lost, (3) of paper 002:
/// the product of `1 - (k i / m)^k`, here with u in place of `k i / m`.
pub fn no_omission_probability(states: u64, bits: u64, hashes: u32) -> f64 {
    // ln(1 - x) = -x - x^2 / 2 - ...: the sum of u^(jk) over all states is again
    // a rest of the series, divided by the load of one state.
    let (hashes, step) = (sane(hashes), load_of_state(bits as f64, hashes));
    let load = step * states as f64;
    let exponent: f64 = (1..=100)
        .map(|j: u32| log_tail(j.saturating_mul(hashes), load) / (step * f64::from(j)))
        .sum();
    // The integral counts half a state too many at its end.
    let last = (-(-load).exp_m1()).powf(f64::from(hashes));
    (-(exponent - last / 2.0).max(0.0)).exp()
}

/// How many states an arena can take in until all its bits are set.
pub fn saturation(bits: u64, hashes: u32) -> f64 {
    reached(bits as f64, hashes, f64::INFINITY)
}

/// `-ln` of the share of bits still free, for which `reached` states have been
/// reached. `None` if less than one bit would be free.
pub(super) fn load(bits: f64, hashes: u32, reached: f64) -> Option<f64> {
    let (most, reached_at) = (bits.ln(), |load| self::reached(bits, hashes, load));
    (reached < reached_at(most)).then(|| bisect(0.0, most, reached, reached_at))
}

/// The states reached up to this load: the integral, and what Euler and
/// Maclaurin's formula has to add for its end.
fn reached(bits: f64, hashes: u32, load: f64) -> f64 {
    let integral = log_head(sane(hashes), load) / load_of_state(bits, hashes);
    integral + (-(-load).exp_m1()).powf(f64::from(sane(hashes))) / 2.0
}

/// A state sets at least one bit, and nobody sets more than this: sums over all
/// hash functions stay short.
fn sane(hashes: u32) -> u32 {
    hashes.clamp(1, MOST_HASHES)
}

/// What one state adds to the load: `-k ln(1 - 1/m)`. An arena has at least two
/// bits.
pub(super) fn load_of_state(bits: f64, hashes: u32) -> f64 {
    -f64::from(sane(hashes)) * (-1.0 / bits.max(2.0)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} is not {b}");
    }

    #[test]
    fn sum_at_once_is_the_sum_one_by_one() {
        for hashes in [1, 2, 3, 5, 20, 64] {
            for (states, bits) in
                [(2_000, 1 << 16), (5_000, 9_999), (100_000, 1 << 24), (1_000_000, 1 << 18)]
            {
                let fast = omissions_at_once(states, bits, hashes);
                close(fast, omissions_one_by_one(states, bits, hashes), 1e-6);
            }
        }
        // Small by hand: 1 - 3/4 and 1 - (3/4)^2.
        close(expected_omissions(3, 4, 1), 0.25 + 0.4375, 1e-12);
        // (1 - (3/4)^2)^2 and (1 - (3/4)^4)^2.
        close(expected_omissions(3, 4, 2), 0.191_406_25 + 0.467_300_415, 1e-8);
    }

    #[test]
    fn sum_at_once_for_one_function_is_geometric() {
        // The sum of 1 - q^i is N - (1 - q^N) m.
        let (n, m) = (10_000_000_000_u64, 1_u64 << 34);
        let geometric = n as f64 + m as f64 * ((n as f64) * (-1.0 / m as f64).ln_1p()).exp_m1();
        close(expected_omissions(n, m, 1), geometric, 1e-9);
        // Few collisions: (k N / m)^k N / (k + 1), less a little for overlaps.
        let few = (20.0 * 1e-3_f64).powi(20) * 1e10 / 21.0;
        close(expected_omissions(n, 10_000_000_000_000, 20), few, 0.25);
    }

    /// Paper 004, Figure 3: in a saturated arena 0.75 m states for k = 2.
    #[test]
    fn saturation_by_the_recurrence() {
        let m = f64::from(1 << 16);
        let (mut set, mut states) = (0.0, 0);
        while set < m {
            set += (2.0 * m - 1.0) / (m + set); // equation (3)
            states += 1;
        }
        close(saturation(1 << 16, 2), f64::from(states), 1e-3);
        close(saturation(1 << 16, 2), 0.75 * m, 1e-3);
        close(saturation(1 << 16, 1), m, 1e-3);
    }

    #[test]
    fn no_omission_is_the_product() {
        for (states, bits, hashes) in [(100, 5_000, 1), (1_000, 100_000, 2), (1_000, 20_000, 5)] {
            let mut product = 1.0;
            for i in 0..states {
                let u = 1.0 - (1.0 - 1.0 / bits as f64).powf((i * u64::from(hashes)) as f64);
                product *= 1.0 - u.powf(f64::from(hashes));
            }
            let p = no_omission_probability(states, bits, hashes);
            assert!((p - product).abs() < 1e-3, "k={hashes}: {p} is not {product}");
        }
    }

    /// Paper 002, section 3: for a million states and odds of one in a thousand,
    /// 10^15 bits with one function and 6 * 10^10 with two (both without the
    /// factor k + 1); and about 20 functions use 100 Mbit best.
    #[test]
    fn wolper_and_leroy_on_the_number_of_functions() {
        let odds = |bits, hashes| 1.0 - no_omission_probability(1_000_000, bits, hashes);
        close(odds(1_000_000_000_000_000, 1), 1e-3 / 2.0, 0.01);
        close(odds(63_245_553_203, 2), 1e-3 / 3.0, 0.01);
        let most = |hashes| {
            bisect(1.0, 1e7, 1e-3, |n| 1.0 - no_omission_probability(n as u64, 100_000_000, hashes))
        };
        let best = (1..=64).max_by(|&a, &b| most(a).total_cmp(&most(b))).expect("some");
        assert!((15..=35).contains(&best), "{best}");
        // The paper has 60 to 100 bits a state, because it takes no two bits of
        // different states for the same; the table is 35 % full in both cases.
        let pessimistic = (0.021 * 5e6f64.powi(20)).powf(1.0 / 21.0);
        assert!(most(20) > pessimistic && most(20) < 1.5 * pessimistic, "{}", most(20));
        let fill = -(-20.0 * most(20) / 1e8).exp_m1();
        assert!((fill - 0.35).abs() < 0.06, "{fill}");
    }
}
