//! How many signatures new states meet, and when two are the same.

use crate::series::log_tail;

/// The sum of `i / (T - i + 1)` for i below `stored`, by harmonic numbers:
/// `H(n) = ln n + const + 1/(2n) - 1/(12n^2) + 1/(120n^4)`.
pub fn uniform_comparisons(slots: f64, stored: f64) -> f64 {
    if stored <= 4096.0 {
        return (0..stored as u32).map(|i| f64::from(i) / (slots - f64::from(i) + 1.0)).sum();
    }
    let (all, left) = (slots + 1.0, slots - stored + 1.0);
    let share = stored / all;
    // A small share keeps its digits one way, a share near 1 the other.
    let load = if share < 0.5 { -(-share).ln_1p() } else { (all / left).ln() };
    let logarithm = all * log_tail(1, load);
    let rest = |n: f64| 0.5 / n - 1.0 / (12.0 * n * n) + 1.0 / (120.0 * n.powi(4));
    logarithm + all * (rest(all) - rest(left))
}

/// `N (Q - 1) / 2`. The terms of Q fall faster than any geometric series, so
/// what is left after a million of them is bounded by one, and by what Q is in a
/// full table: less than `sqrt(pi T / 2)` (Ramanujan).
pub fn linear_comparisons(slots: f64, stored: f64) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    for i in 1..=1_000_000 {
        let ratio = (stored - f64::from(i)) / slots;
        if ratio <= 0.0 {
            return stored * sum / 2.0;
        }
        term *= ratio;
        sum += term;
        if term * ratio <= sum * (1.0 - ratio) * 1e-16 {
            return stored * sum / 2.0;
        }
    }
    let ratio = (stored - 1e6) / slots;
    let full = (std::f64::consts::FRAC_PI_2 * slots).sqrt();
    stored * (sum + term * ratio / (1.0 - ratio)).min(full) / 2.0
}

/// One minus the product of `1 - i / l` for i below `states`. Its logarithm is
/// `-l` times the sum of `x^j / (j (j - 1))` for j from 2, with `x = states / l`,
/// that is `-l (x + (1 - x) ln(1 - x))`, and half a term for the end.
pub fn same_signature_probability(states: f64, signatures: f64) -> f64 {
    let share = states / signatures;
    if share >= 1.0 {
        return if states > 1.0 { 1.0 } else { 0.0 };
    }
    let load = -(-share).ln_1p();
    // x + (1 - x) ln(1 - x) = x load - (load - x), and load - x is the tail.
    let exponent = signatures * (share * load - log_tail(1, load)) - load / 2.0;
    -(-exponent.max(0.0)).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} is not {b}");
    }

    #[test]
    fn uniform_sum_at_once_is_the_sum() {
        for (slots, stored) in [(10_000, 5_000), (10_000, 9_990), (10_000, 10_000)] {
            let sum: f64 = (0..stored).map(|i| f64::from(i) / f64::from(slots - i + 1)).sum();
            close(uniform_comparisons(f64::from(slots), f64::from(stored)), sum, 1e-3);
        }
        let sum: f64 = (0..50_000).map(|i| f64::from(i) / f64::from(1_000_000 - i + 1)).sum();
        close(uniform_comparisons(1e6, 5e4), sum, 1e-9);
    }

    #[test]
    fn linear_sum_meets_the_limit_for_large_tables() {
        for share in [0.1, 0.5, 0.9] {
            let limit = 1e9 * share * share / (1.0 - share) / 2.0;
            close(linear_comparisons(1e9, 1e9 * share), limit, 1e-4);
        }
        // A full table: Q is Ramanujan's, sqrt(pi T / 2) - 1/3.
        let full = 1e6 * ((std::f64::consts::PI * 5e5).sqrt() - 1.0 / 3.0 - 1.0) / 2.0;
        close(linear_comparisons(1e6, 1e6), full, 1e-3);
        // Beyond a million terms: still close to the limit, never above a full table.
        let nearly = 1e15 * 0.999_999_f64.powi(2) / 1e-6 / 2.0;
        close(linear_comparisons(1e15, 0.999_999e15), nearly, 1e-2);
        close(linear_comparisons(1e18, 1e18), 1e18 * (1.570_796_326e18f64).sqrt() / 2.0, 1e-6);
    }

    #[test]
    fn signature_probability_is_the_product() {
        for (states, bits) in [(2, 4), (20, 8), (23, 9), (100, 16), (60_000, 32)] {
            let l = f64::from(bits).exp2();
            let product: f64 = (0..states).map(|i| 1.0 - f64::from(i) / l).product();
            let p = same_signature_probability(f64::from(states), l);
            assert!((p - (1.0 - product)).abs() < 2e-3, "{states} in 2^{bits}: {p} {product}");
        }
        assert_eq!(same_signature_probability(300.0, 256.0), 1.0);
    }
}
