//! Coverage of one bitstate run: an arena of bits, k of them set for a state.
//!
//! Three answers to the same question, from the crudest to the closest:
//! [`Run::holzmann`] (paper 000), [`Run::stern`] and [`Run::dillinger`] (paper
//! 004, equations (1) and (2)), and [`Run::bloom`], which is the exact
//! expectation for random hash functions and contains Stern's as k = 1.
//! Measured against real models all of them are too high when the coverage is
//! low (paper 004, Table 2); then several runs know more: see [`crate::growth`].

mod filter;
mod holzmann;
mod random;

pub use filter::{expected_coverage, expected_omissions, no_omission_probability, saturation};
pub use holzmann::{collision_bound, collision_probability, sequential_runs};

/// The counts that a finished bitstate search leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Bits in the arena: M in paper 000, m in paper 004.
    pub bits: u64,
    /// Hash functions, and so bits for each state: h in paper 000, k in paper 004.
    pub hashes: u32,
    /// States that were found to be new: N' in paper 000, N in paper 004.
    pub reached: u64,
    /// Bits that are set, if they were counted.
    pub bits_set: Option<u64>,
}

impl Run {
    /// Bits of the arena for each state reached, equation (9) of paper 000.
    /// Spin trusts a search above 100. `None` if no state was reached.
    pub fn hash_factor(&self) -> Option<f64> {
        (self.reached > 0).then(|| self.bits as f64 / self.reached as f64)
    }

    /// The share of bits that are set: as counted, or else as expected for so
    /// many states. `None` if nothing is known because the arena is saturated.
    pub fn fill(&self) -> Option<f64> {
        let (bits, reached) = self.counts()?;
        match self.bits_set {
            Some(set) => Some((set as f64 / bits).min(1.0)),
            // Every new state has set exactly one bit.
            None if self.hashes == 1 => Some((reached / bits).min(1.0)),
            None => filter::load(bits, self.hashes, reached).map(|load| -(-load).exp_m1()),
        }
    }

    /// Bits and states reached, if a coverage can be asked for at all.
    fn counts(&self) -> Option<(f64, f64)> {
        let hashes = 1..=filter::MOST_HASHES;
        let sound = self.bits >= 2 && self.reached >= 1 && hashes.contains(&self.hashes);
        sound.then_some((self.bits as f64, self.reached as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bits: u64, hashes: u32, reached: u64) -> Run {
        Run { bits, hashes, reached, bits_set: None }
    }

    #[test]
    fn hash_factor_is_bits_by_states() {
        assert_eq!(run(1 << 20, 2, 1 << 13).hash_factor(), Some(128.0));
        assert_eq!(run(1 << 20, 2, 0).hash_factor(), None);
    }

    #[test]
    fn fill_is_counted_or_expected() {
        assert_eq!(run(1000, 1, 250).fill(), Some(0.25));
        assert_eq!(Run { bits_set: Some(300), ..run(1000, 2, 250) }.fill(), Some(0.3));
        // Two functions and few states: hardly a bit is set twice.
        let fill = run(1_000_000, 2, 1000).fill().expect("not saturated");
        assert!((fill - 0.001_998).abs() < 1e-6, "{fill}");
        assert_eq!(run(1000, 2, 900).fill(), None);
        assert_eq!(run(0, 2, 900).fill(), None);
    }

    /// Any counts give a sound interval or none: nothing panics.
    #[test]
    fn all_counts_are_answered() {
        let sizes = [0, 1, 2, 3, 63, 64, 1000, 1 << 20, 1 << 40, u64::MAX];
        let mut answers = 0;
        for (bits, reached) in sizes.iter().flat_map(|&b| sizes.iter().map(move |&r| (b, r))) {
            for hashes in [0, 1, 2, 3, 20, 64, 1000, u32::MAX] {
                for bits_set in [None, Some(0), Some(1), Some(reached), Some(bits)] {
                    let run = Run { bits, hashes, reached, bits_set };
                    let all = [run.holzmann(), run.stern(), run.dillinger(), run.bloom()];
                    for e in all.into_iter().flatten() {
                        assert!(0.0 <= e.low() && e.low() <= e.coverage(), "{run:?} {e:?}");
                        assert!(e.coverage() <= e.high() && e.high() <= 1.0, "{run:?} {e:?}");
                        answers += 1;
                    }
                    assert!(run.fill().is_none_or(|f| (0.0..=1.0).contains(&f)), "{run:?}");
                }
            }
        }
        assert!(answers > 1000, "{answers}");
    }
}
