//! Estimates that take hash functions for random: Stern, Dillinger & Manolios,
//! and the filter that both approximate (`filter.rs`).

use super::Run;
use super::filter::{expected_omissions, load, load_of_state};
use crate::Estimate;

impl Run {
    /// Stern's estimate, equation (1) of paper 004: right for one hash function
    /// and deaf to the number of them. `None` if all bits must be set. The
    /// interval is that of [`Run::bloom`].
    pub fn stern(&self) -> Option<Estimate> {
        let (bits, reached) = self.counts()?;
        let free = (-reached / bits).ln_1p();
        (reached < bits).then(|| spread(reached * (-1.0 / bits).ln_1p() / free, bits, -free))?
    }

    /// Dillinger and Manolios' estimate, equation (2) of paper 004. The interval
    /// is for omissions that cost no further state and for two standard
    /// deviations of their number. Always has an answer, 0 if need be.
    pub fn dillinger(&self) -> Option<Estimate> {
        let (_, reached) = self.counts()?;
        let lost = expected_omissions(self.reached, self.bits, self.hashes);
        let share = |omitted: f64| (reached - omitted.max(0.0)) / reached;
        let twice = 2.0 * lost;
        let (most, least) = (twice + 2.0 * twice.sqrt(), lost - 2.0 * lost.sqrt());
        Estimate::new(share(twice), share(most), share(least))
    }

    /// States reached by states looked up, for any number of hash functions,
    /// from the bits that are set or else from what is expected for so many
    /// states. The interval is two standard deviations of the number looked up,
    /// which is estimated from free bits (as in linear counting). `None` if no
    /// bit is free.
    pub fn bloom(&self) -> Option<Estimate> {
        self.bloom_alone(1.0)
    }

    /// The same if a state that is alone sets but a share of its bits, as these
    /// may be the same: so many more states have set the bits that are set. Its
    /// bits may be the same less often than that, so the interval ends where it
    /// would if they never were.
    pub fn bloom_alone(&self, share: f64) -> Option<Estimate> {
        let (bits, reached) = self.counts()?;
        let load = match self.bits_set {
            Some(set) if set >= self.bits || set == 0 => return None,
            Some(set) => -(-(set as f64) / bits).ln_1p(),
            None => load(bits, self.hashes, reached)?,
        };
        let coverage = reached * load_of_state(bits, self.hashes) / load;
        let (most, e) = (spread(coverage, bits, load)?, spread(share * coverage, bits, load)?);
        Estimate::new(e.coverage(), e.low(), most.high())
    }
}

/// The interval of an estimate from free bits at this load. The variance of the
/// load is that of the number of free bits, `m e^-t (1 - (1 + t) e^-t)`, by the
/// square of what a bit changes, `m e^-t`.
fn spread(coverage: f64, bits: f64, load: f64) -> Option<Estimate> {
    let deviation = ((load.exp_m1() - load).max(0.0) / bits).sqrt() / load;
    let low = coverage / (1.0 + 2.0 * deviation);
    let high = if deviation < 0.5 { coverage / (1.0 - 2.0 * deviation) } else { 1.0 };
    Estimate::new(coverage, low, high)
}

#[cfg(test)]
mod tests {
    use super::super::expected_coverage;
    use super::*;
    use crate::series::bisect;

    fn run(bits: u64, hashes: u32, reached: u64) -> Run {
        Run { bits, hashes, reached, bits_set: None }
    }

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} is not {b}");
    }

    #[test]
    fn stern_by_hand() {
        // Half of the bits set: ln 2 m states looked up for 0.5 m reached.
        let e = run(1 << 30, 1, 1 << 29).stern().expect("bits are free");
        close(e.coverage(), 0.5 / 2f64.ln(), 1e-8);
        assert!(e.low() > 0.72 && e.high() < 0.7222, "{e:?}");
        let tiny = run(4, 1, 2).stern().expect("bits are free");
        close(tiny.coverage(), 2.0 * 0.75f64.ln() / 0.5f64.ln(), 1e-12);
        assert_eq!(run(1 << 30, 1, 1 << 30).stern(), None);
        assert_eq!(run(1 << 30, 1, 0).stern(), None);
    }

    #[test]
    fn dillinger_by_hand() {
        // E(o) = 2 (0.25 + 0.4375) of 3 states.
        let e = run(4, 1, 3).dillinger().expect("always");
        close(e.coverage(), (3.0 - 1.375) / 3.0, 1e-12);
        let large = run(1 << 33, 3, 1 << 30).dillinger().expect("always");
        // The same with all numbers smaller by 2^18, where the sum is made step by step.
        let lost = 2.0 * expected_omissions(1 << 12, 1 << 15, 3) / f64::from(1 << 12);
        close(large.coverage(), 1.0 - lost, 1e-3);
        // 100 of 10,000 states omitted twice: 200 + 2 sqrt(200), 100 - 2 sqrt(100).
        let bits = bisect(1e5, 1e6, -100.0, |m| -expected_omissions(10_000, m as u64, 2)) as u64;
        let e = run(bits, 2, 10_000).dillinger().expect("always");
        close(1.0 - e.coverage(), 0.02, 1e-3);
        close(1.0 - e.low(), 0.022_828, 1e-3);
        close(1.0 - e.high(), 0.008, 1e-3);
        assert_eq!(run(1000, 1, 1_000_000).dillinger().map(|e| e.coverage()), Some(0.0));
    }

    #[test]
    fn bloom_is_stern_for_one_function() {
        for reached in [1_000, 100_000, 500_000, 999_000] {
            let run = run(1_000_000, 1, reached);
            let (bloom, stern) = (run.bloom().expect("free"), run.stern().expect("free"));
            close(bloom.coverage(), stern.coverage(), 1e-9);
            let counted = Run { bits_set: Some(reached), ..run }.bloom().expect("free");
            close(counted.coverage(), stern.coverage(), 1e-9);
        }
    }

    /// A filter with a simple generator of random numbers in place of hashes.
    fn simulate(states: u64, bits: usize, hashes: u32, seed: u64) -> Run {
        let (mut arena, mut random) = (vec![false; bits], seed);
        let mut reached = 0;
        for _ in 0..states {
            let mut new = false;
            for _ in 0..hashes {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                let bit = ((random >> 33) as usize) % bits;
                new |= !std::mem::replace(&mut arena[bit], true);
            }
            reached += u64::from(new);
        }
        let set = arena.iter().filter(|&&bit| bit).count() as u64;
        Run { bits: bits as u64, hashes, reached, bits_set: Some(set) }
    }

    #[test]
    fn simulated_filter_is_estimated() {
        for (hashes, states) in
            [(1, 30_000), (1, 200_000), (2, 50_000), (3, 60_000), (20, 5_000), (20, 20_000)]
        {
            let run = simulate(states, 100_003, hashes, 17 + u64::from(hashes));
            let actual = run.reached as f64 / states as f64;
            close(expected_coverage(states as f64, run.bits, hashes), actual, 0.01);
            let counted = run.bloom().expect("bits are free");
            close(counted.coverage(), actual, 0.02);
            assert!(counted.low() <= actual && actual <= counted.high() + 1e-9, "{counted:?}");
            let expected = Run { bits_set: None, ..run }.bloom().expect("bits are free");
            close(expected.coverage(), actual, 0.02);
            close(
                Run { bits_set: None, ..run }.fill().expect("free"),
                run.bits_set.unwrap_or(0) as f64 / run.bits as f64,
                0.01,
            );
        }
    }

    /// The number of states looked up is off by the deviation that is claimed.
    #[test]
    fn interval_has_two_deviations() {
        for (hashes, states) in [(1, 3_000), (1, 12_000), (2, 4_000)] {
            let (mut squares, mut claimed) = (0.0, 0.0);
            for seed in 1..=400 {
                let run = simulate(states, 6_007, hashes, seed * 0x1234_5678_9abc);
                let e = run.bloom().expect("bits are free");
                squares += (e.states(run.reached).expect("some") / states as f64 - 1.0).powi(2);
                claimed += (e.coverage() / e.low() - 1.0) / 2.0;
            }
            close((squares / 400.0).sqrt(), claimed / 400.0, 0.15);
        }
    }

    #[test]
    fn saturated_arena_has_no_answer() {
        assert_eq!(run(1 << 16, 2, 49_152).bloom(), None);
        assert!(run(1 << 16, 2, 48_000).bloom().is_some_and(|e| e.coverage() < 0.4));
        assert_eq!(Run { bits_set: Some(64), ..run(64, 2, 9) }.bloom(), None);
    }
}
