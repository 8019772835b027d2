//! The answer that all estimators give: a coverage and the interval around it.
//!
//! Invariant: `0 <= low <= coverage <= high <= 1`, all of them numbers.

/// The part of all reachable states that was reached, as fractions of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    coverage: f64,
    low: f64,
    high: f64,
}

impl Estimate {
    /// Brings the three into `0..=1` and widens the interval to contain the
    /// coverage. `None` if one of them is not a number.
    pub fn new(coverage: f64, low: f64, high: f64) -> Option<Estimate> {
        if coverage.is_nan() || low.is_nan() || high.is_nan() {
            return None;
        }
        let coverage = coverage.clamp(0.0, 1.0);
        let low = low.clamp(0.0, coverage);
        Some(Estimate { coverage, low, high: high.clamp(coverage, 1.0) })
    }

    /// The most likely coverage.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The coverage may be as low as this; each estimator says what that means.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The coverage may be as high as this.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// How many reachable states there are if this is the coverage of a search
    /// that reached so many of them; `None` if that would be infinitely many.
    pub fn states(&self, reached: u64) -> Option<f64> {
        (self.coverage > 0.0).then(|| reached as f64 / self.coverage)
    }

    /// The coverage of another search of the same model: paper 004 (4.2) advises
    /// to estimate with one hash function and to carry the result over to the
    /// run with more of them. `self` belongs to a search that reached `reached`.
    pub fn carried(&self, reached: u64, other: u64) -> Option<Estimate> {
        let factor = other as f64 / reached as f64;
        Estimate::new(self.coverage * factor, self.low * factor, self.high * factor)
    }

    /// From expected omissions: `expected` states are missing, at least `fewest`
    /// and at most `most` of them by the model. Omissions are rare and nearly
    /// independent, so their number varies by its square root; the interval has
    /// two of these on both sides.
    pub(crate) fn from_omissions(
        reached: f64,
        fewest: f64,
        expected: f64,
        most: f64,
    ) -> Option<Estimate> {
        let share = |omitted: f64| reached / (reached + omitted.max(0.0));
        let least = fewest - 2.0 * fewest.sqrt();
        let worst = most + 2.0 * most.sqrt();
        Estimate::new(share(expected), share(worst), share(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_contains_the_coverage() {
        let odd = Estimate::new(0.5, 0.7, 0.2).expect("numbers");
        assert_eq!((odd.low(), odd.coverage(), odd.high()), (0.5, 0.5, 0.5));
        let wide = Estimate::new(1.5, -3.0, f64::INFINITY).expect("numbers");
        assert_eq!((wide.low(), wide.coverage(), wide.high()), (0.0, 1.0, 1.0));
        assert_eq!(Estimate::new(f64::NAN, 0.0, 1.0), None);
        assert_eq!(Estimate::new(0.5, 0.0, f64::NAN), None);
    }

    #[test]
    fn states_and_carried_agree() {
        let single = Estimate::new(0.25, 0.2, 0.5).expect("numbers");
        assert_eq!(single.states(1000), Some(4000.0));
        let double = single.carried(1000, 1500).expect("numbers");
        assert_eq!(double.coverage(), 0.375);
        assert_eq!(double.states(1500), Some(4000.0));
        assert_eq!((double.low() * 1e6).round(), 300_000.0);
        assert_eq!(double.high(), 0.75);
        assert_eq!(single.carried(1000, 1_000_000).map(|e| e.coverage()), Some(1.0));
        assert_eq!(single.carried(0, 0), None);
        assert_eq!(Estimate::new(0.0, 0.0, 0.0).and_then(|e| e.states(5)), None);
    }

    #[test]
    fn omissions_spread_by_their_square_root() {
        // 100 of 1000: 900 reached; at most 200 + 2 * sqrt(200) missing.
        let e = Estimate::from_omissions(900.0, 100.0, 100.0, 200.0).expect("numbers");
        assert_eq!(e.coverage(), 0.9);
        assert!((e.high() - 900.0 / 980.0).abs() < 1e-12);
        assert!((e.low() - 900.0 / (1100.0 + 28.284_271_247_461_9)).abs() < 1e-12);
        let none = Estimate::from_omissions(900.0, 0.0, 0.0, 0.0).expect("numbers");
        assert_eq!((none.low(), none.high()), (1.0, 1.0));
    }
}
