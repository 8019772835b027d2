//! Coverage of a search with hash compaction: b-bit signatures in T slots.
//!
//! A state is omitted if it is taken for another one with the same signature.
//! How often that happens is a matter of how many signatures a new state is
//! compared with, which depends on where slots come from:
//!
//! - [`Probing::Signature`]: the slot is a function of the signature, so equal
//!   signatures always meet. Wolper & Leroy (paper 002, section 4): hashing
//!   without collision detection in a table of `2^b` bits. With N distinct
//!   states, none is lost with the probability `(1 - 1/2^b) (1 - 2/2^b) ...`,
//!   about `exp(-N^2 / 2^(b+1))`.
//! - [`Probing::Uniform`]: the slot comes from other bits of the hash, and each
//!   further probe from still others. The state after i stored ones looks at
//!   `i / (T - i + 1)` occupied slots on average, which sums up to
//!   `(T + 1) (H(T + 1) - H(T - N + 1)) - N`. That is Stern & Dill's result, and
//!   what CMurphi reports.
//! - [`Probing::Linear`]: the same, but probes go from slot to slot. What a new
//!   state is compared with is how far it ends up from its home, in total
//!   `N (Q - 1) / 2` with `Q = 1 + (N-1)/T + (N-1)(N-2)/T^2 + ...` (Knuth, The
//!   Art of Computer Programming, section 6.4, theorem K). Exact for a table
//!   without deletions; about `T a^2 / (1 - a) / 2` with the share a occupied.
//!
//! Omissions are of first order: they are expected to be few among the states
//! that one lookup is compared with. States behind omitted ones are not counted.

mod probing;

use crate::Estimate;
use crate::series::log_tail;
use probing::{linear_comparisons, same_signature_probability, uniform_comparisons};

/// Which signatures a new state is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probing {
    /// All equal ones: the signature determines the slot.
    Signature,
    /// Those in slots of a random sequence until one is free.
    Uniform,
    /// Those in neighbouring slots, from a random one until one is free.
    Linear,
}

/// The counts that a finished search with hash compaction leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Table {
    /// Slots of the table: T.
    pub slots: u64,
    /// How many different signatures there are: 2^b for b bits, without those
    /// that determine the slot; one less if one of them says that a slot is free.
    pub signatures: f64,
    /// States stored: N'.
    pub stored: u64,
    /// How the table finds a slot.
    pub probing: Probing,
}

impl Table {
    /// How many comparisons of a new state with the signature of another state
    /// are expected in all, for [`Probing::Signature`] all pairs of states.
    /// `None` if more states are stored than there are slots.
    pub fn comparisons(&self) -> Option<f64> {
        if self.stored > self.slots {
            return None;
        }
        let (slots, stored) = (self.slots as f64, self.stored as f64);
        Some(match self.probing {
            Probing::Signature => stored * (stored - 1.0).max(0.0) / 2.0,
            Probing::Uniform => uniform_comparisons(slots, stored),
            Probing::Linear => linear_comparisons(slots, stored),
        })
    }

    /// How many states are expected to have been omitted.
    pub fn omissions(&self) -> Option<f64> {
        let comparisons = self.comparisons()?;
        let signatures = self.signatures();
        if self.probing != Probing::Signature {
            return Some(comparisons / signatures);
        }
        // So many distinct states have so many signatures: equation (1) of
        // paper 004, with 2^b bits and one hash function.
        let share = self.stored as f64 / signatures;
        (share < 1.0).then(|| signatures * log_tail(1, -(-share).ln_1p()))
    }

    /// The probability that at least one state was omitted. By Jensen's
    /// inequality an upper bound for [`Probing::Linear`] and
    /// [`Probing::Uniform`], where the number of comparisons is an average.
    pub fn omission_probability(&self) -> Option<f64> {
        let comparisons = self.comparisons()?;
        let signatures = self.signatures();
        if self.probing == Probing::Signature {
            return Some(same_signature_probability(self.stored as f64, signatures));
        }
        // (1 - 1/2^b)^comparisons; nothing to compare with, nothing omitted.
        let kept = if comparisons > 0.0 { comparisons * (-1.0 / signatures).ln_1p() } else { 0.0 };
        Some(-kept.exp_m1())
    }

    /// The coverage that follows. `low` is for omissions that cost one more
    /// state each, as Dillinger & Manolios count them; both ends are for two
    /// standard deviations of the number of omissions. `None` if the table is
    /// full: then states were dropped that nobody has counted.
    pub fn coverage(&self) -> Option<Estimate> {
        if self.stored == 0 || self.stored >= self.slots {
            return None;
        }
        let omitted = self.omissions()?;
        Estimate::from_omissions(self.stored as f64, omitted, omitted, 2.0 * omitted)
    }

    fn signatures(&self) -> f64 {
        // More make no difference, but infinitely many would.
        self.signatures.clamp(1.0, 1e150)
    }
}

/// The most that compaction can cover of `states` in a memory of `bits`, with
/// `slot_bits` for each: equation (7) of paper 000, which is 1 where (8) holds.
pub fn capacity_coverage(states: f64, bits: u64, slot_bits: u32) -> f64 {
    let capacity = bits as f64 / f64::from(slot_bits.max(1));
    if states > capacity { capacity / states } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(slots: u64, bits: u32, stored: u64, probing: Probing) -> Table {
        Table { slots, signatures: f64::from(bits).exp2(), stored, probing }
    }

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} is not {b}");
    }

    #[test]
    fn comparisons_by_hand() {
        // The second state meets the first with one in ten, the third one of two
        // with two in ten and then the other with one in nine.
        let uniform = table(10, 8, 3, Probing::Uniform).comparisons().expect("fits");
        close(uniform, 0.1 + 0.2 * (1.0 + 1.0 / 9.0), 1e-12);
        // The first two are neighbours with three in ten: then the third meets two
        // of them from one slot and one from another; else one from two slots.
        let linear = table(10, 8, 3, Probing::Linear).comparisons().expect("fits");
        close(linear, 0.1 + 0.3 * (0.1 * 2.0 + 0.1) + 0.7 * 0.2, 1e-12);
        assert_eq!(table(10, 8, 3, Probing::Signature).comparisons(), Some(3.0));
        assert_eq!(table(10, 8, 11, Probing::Linear).comparisons(), None);
    }

    /// Stores random states in a table and counts the omitted ones.
    fn simulate(table: Table, random: &mut u64) -> u32 {
        let (slots, mask) = (table.slots as usize, table.signatures as u64 - 1);
        let (mut rows, mut stored, mut omitted) = (vec![None; slots], 0, 0);
        while stored < table.stored {
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let hash = *random ^ (*random >> 31);
            let hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (mut slot, signature) = ((hash >> 40) as usize % slots, hash >> 8 & mask);
            while rows[slot].is_some_and(|other| other != signature) {
                slot = (slot + 1) % slots;
            }
            if rows[slot].is_some() {
                omitted += 1;
            } else {
                rows[slot] = Some(signature);
                stored += 1;
            }
        }
        omitted
    }

    #[test]
    fn simulated_table_omits_as_many() {
        let table = table(4096, 10, 2900, Probing::Linear);
        let (mut random, mut total, mut without) = (42, 0, 0);
        for _ in 0..400 {
            let omitted = simulate(table, &mut random);
            total += omitted;
            without += u32::from(omitted == 0);
        }
        // 3.4 are expected; the mean of 400 tables varies by 0.1.
        close(f64::from(total) / 400.0, table.omissions().expect("fits"), 0.1);
        let complete = 1.0 - table.omission_probability().expect("fits");
        assert!((f64::from(without) / 400.0 - complete).abs() < 0.04, "{without} {complete}");
    }

    /// Paper 002: with 64 bits the odds stay below one in a thousand up to a
    /// gigabit of memory; the best use of memory takes 40 to 100 bits a state.
    #[test]
    fn wolper_and_leroy_on_signatures() {
        let odds = |memory: u64, bits: u32| {
            let n = memory / u64::from(bits);
            table(n, bits, n, Probing::Signature).omission_probability().expect("fits")
        };
        assert!(odds(1 << 30, 64) < 1e-3);
        close(odds(1 << 30, 64), (2f64.powi(24)).powi(2) / 2f64.powi(65), 1e-5);
        for (memory, wanted) in [(1_000_000, 1e-3), (1_000_000_000, 1e-3), (1_000_000_000, 1e-6)] {
            let bits = (1..=128).find(|&b| odds(memory, b) <= wanted).expect("enough");
            assert!((39..=100).contains(&bits), "{bits} bits for {memory}");
        }
        // A million states in 10^15 entries: N^2 / 2^(b+1), the exponent of (2).
        let million = table(1_000_000, 50, 1_000_000, Probing::Signature);
        close(million.omission_probability().expect("fits"), 1e12 / 2f64.powi(51), 1e-3);
    }

    /// Half of all signatures: each further one takes `l / (l - i)` states.
    #[test]
    fn signatures_are_collected() {
        let states: f64 = (0..2048).map(|i| 4096.0 / f64::from(4096 - i)).sum();
        let half = table(4096, 12, 2048, Probing::Signature);
        close(half.omissions().expect("fits"), states - 2048.0, 1e-3);
        close(half.coverage().expect("not full").coverage(), 2048.0 / states, 1e-3);
    }

    /// What CMurphi computes with its formula for 40 bits, by hand.
    #[test]
    fn cmurphi() {
        let t = table(1_000_003, 40, 900_000, Probing::Uniform);
        let sum: f64 = (0..900_000).map(|i| f64::from(i) / f64::from(1_000_003 - i + 1)).sum();
        close(t.omission_probability().expect("fits"), sum / 2f64.powi(40), 1e-5);
        close(t.omissions().expect("fits"), sum / 2f64.powi(40), 1e-7);
        let linear = Table { probing: Probing::Linear, ..t };
        assert!(linear.omissions() > t.omissions());
    }

    /// Paper 000, Table II: 64-bit signatures in less memory than they need.
    #[test]
    fn table_two_of_holzmann() {
        for (log, percent) in [(25, 100.0), (24, 61.3), (23, 30.6), (22, 15.3), (21, 7.7)] {
            let coverage = 100.0 * capacity_coverage(427_567.0, 1 << log, 64);
            assert!((coverage - percent).abs() < 0.1, "2^{log}: {coverage}");
        }
    }

    #[test]
    fn coverage_or_none() {
        let e = table(1000, 4, 500, Probing::Linear).coverage().expect("not full");
        // About 0.25 / 0.5 / 2 * 1000 comparisons, one in 16 of them equal.
        close(e.coverage(), 500.0 / (500.0 + 250.0 / 16.0), 0.01);
        let omitted = 500.0 / e.coverage() - 500.0;
        close(500.0 / e.low() - 500.0, 2.0 * omitted + 2.0 * (2.0 * omitted).sqrt(), 1e-9);
        close(500.0 / e.high() - 500.0, omitted - 2.0 * omitted.sqrt(), 1e-9);
        assert_eq!(table(1000, 64, 1000, Probing::Linear).coverage(), None);
        assert_eq!(table(1000, 64, 0, Probing::Linear).coverage(), None);
        assert_eq!(table(1000, 8, 256, Probing::Signature).coverage(), None);
        for probing in [Probing::Signature, Probing::Uniform, Probing::Linear] {
            for bits in [0, 1, 64, 128, u32::MAX] {
                for stored in [0, 1, 2, 1 << 40, u64::MAX] {
                    let p = table(u64::MAX, bits, stored, probing).omission_probability();
                    assert!(p.is_some_and(|p| (0.0..=1.0).contains(&p)), "{bits} {stored} {p:?}");
                }
            }
        }
    }
}
