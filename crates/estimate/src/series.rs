//! The logarithm's series, cut in two, and a bisection.
//!
//! With `u = 1 - exp(-load)`, `-ln(1 - u) = load` is the sum of `u^j / j`. The
//! first k terms are what a filter with k hash functions takes in until the
//! share u of its bits is set, the rest is what it takes for old meanwhile
//! (see `bitstate::bloom`). Both are small differences of large numbers if
//! computed carelessly.

/// The sum of `u^j / j` for j from 1 to `terms`, with `u = 1 - exp(-load)`.
pub fn log_head(terms: u32, load: f64) -> f64 {
    let u = -(-load).exp_m1();
    let (mut sum, mut power) = (0.0, 1.0);
    for j in 1..=terms {
        power *= u;
        sum += power / f64::from(j);
    }
    sum
}

/// The sum of `u^j / j` for all j above `skipped`, with `u = 1 - exp(-load)`.
pub fn log_tail(skipped: u32, load: f64) -> f64 {
    let u = -(-load).exp_m1();
    if u > 0.9 {
        // Here the tail is of the order of the whole: nothing cancels.
        return load - log_head(skipped, load);
    }
    let mut power = u.powf(f64::from(skipped));
    let mut sum = 0.0;
    for j in 1..1000 {
        power *= u;
        let term = power / (f64::from(skipped) + f64::from(j));
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
    }
    sum
}

/// Where the increasing function `rises` reaches `target` between `from` and
/// `to`, to the last bit.
pub fn bisect(from: f64, to: f64, target: f64, rises: impl Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (from, to);
    for _ in 0..2000 {
        let middle = below + (above - below) / 2.0;
        if middle <= below || middle >= above {
            break;
        }
        if rises(middle) < target {
            below = middle;
        } else {
            above = middle;
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_make_the_logarithm() {
        for load in [1e-9, 1e-3, 0.5, 1.0, 2.3, 2.31, 10.0, 700.0] {
            for k in [0, 1, 2, 3, 20, 64] {
                let sum = log_head(k, load) + log_tail(k, load);
                assert!((sum / load - 1.0).abs() < 1e-12, "k={k} load={load}: {sum}");
            }
        }
    }

    #[test]
    fn small_tails_keep_their_digits() {
        // u^21 / 21 (1 + 21/22 u + ...) with u = 0.01.
        let load = -(-0.01_f64).ln_1p();
        let expected = 0.01_f64.powi(21)
            * (1.0 / 21.0 + 0.01 / 22.0 + 0.0001 / 23.0 + 1e-6 / 24.0 + 1e-8 / 25.0);
        assert!((log_tail(20, load) / expected - 1.0).abs() < 1e-9);
        // Both ways of computing meet at u = 0.9.
        let (left, right) = (log_tail(20, 10f64.ln() - 1e-9), log_tail(20, 10f64.ln() + 1e-9));
        assert!((left / right - 1.0).abs() < 1e-6, "{left} {right}");
    }

    #[test]
    fn bisection_finds_the_last_bit() {
        let root = bisect(0.0, 2.0, 2.0, |x| x * x);
        assert!((root - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(bisect(0.0, 0.0, 1.0, |x| x), 0.0);
    }
}
