//! What a search with a lossy store has missed, as far as it can tell.
//!
//! The headline is the estimate that uses most of what is known: for bitstate
//! the bits that are set, which tell how many different states were met, new
//! or not, or fingerprints if there were too few states to set bits; for hash
//! compaction the comparisons that signatures had to pass.
//! Neither knows what lies behind a state that was missed. So the interval goes
//! down to the most careful of all estimates, and further by what is missing
//! already: a state that was missed hides others.

use ::check::{Layout, Lossy, Outcome};
use estimate::Estimate;
use estimate::bitstate::Run;
use estimate::compact::{Probing, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// Coverage as a fraction of one, with the interval around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

/// The headline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    #[serde(flatten)]
    pub interval: Interval,
    pub method: &'static str,
    /// Why this method.
    pub reason: &'static str,
    /// The states are like a line, so a state that was missed may hide all.
    pub line_like: bool,
}

/// All that is known of what was missed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    pub coverage: Option<Coverage>,
    /// By name; `null` where a method has no answer, as the store is too full.
    pub estimates: BTreeMap<&'static str, Option<Interval>>,
    /// Bits of the arena for each state.
    pub hash_factor: f64,
    /// Share of bits, or slots, in use.
    pub fill: f64,
    pub expected_omissions: Option<f64>,
    /// That at least one state was omitted.
    pub omission_probability: Option<f64>,
    /// Times that the table had no room for a state.
    pub dropped: u64,
    /// Polynomials that were tried to find those of the hash functions.
    pub polynomial_tries: Option<u32>,
}

impl Missed {
    /// There was no room for another state.
    pub fn is_full(&self) -> bool {
        self.fill >= 1.0
    }
}

impl From<Estimate> for Interval {
    fn from(e: Estimate) -> Interval {
        Interval { estimate: e.coverage(), low: e.low(), high: e.high() }
    }
}

impl Missed {
    pub fn of(outcome: &Outcome) -> Option<Missed> {
        let states = outcome.states;
        let line_like = (outcome.transitions as f64) < LINE_LIKE * states as f64;
        let missed = match outcome.lossy? {
            Lossy::Bitstate { bits, hashes, layout, set } => {
                let run = Run { bits, hashes, reached: states, bits_set: set };
                if set.is_some() { bitstate(run, layout, line_like) } else { fingerprints(run) }
            }
            Lossy::Compact { slots, signature, stored, dropped } => {
                // One of them stands for a free slot.
                let signatures = f64::from(signature).exp2() - 1.0;
                let table = Table { slots, signatures, stored, probing: Probing::Uniform };
                compact(table, signature, dropped, line_like)
            }
        };
        // A search that was stopped has missed more than its store has lost.
        let mut coverage = missed.coverage.filter(|_| outcome.stop.is_none());
        if let Some(coverage) = coverage.as_mut().filter(|_| outcome.precision > 0) {
            // How much precision on demand has won back is not known.
            coverage.interval.high = 1.0;
        }
        Some(Missed { coverage, polynomial_tries: outcome.polynomial_tries, ..missed })
    }
}

/// Bits of a line of the blocked layout.
const LINE: f64 = 512.0;

/// The share of its bits that a state sets if it is alone: those that lie in one
/// line are more often the same than others are.
fn share_alone(hashes: u32, layout: Layout) -> f64 {
    let k = hashes as f64;
    match layout {
        Layout::Scattered => 1.0,
        Layout::Blocked => LINE * (1.0 - (1.0 - 1.0 / LINE).powf(k)) / k,
    }
}

fn bitstate(run: Run, layout: Layout, line_like: bool) -> Missed {
    let bits_set = run.bloom_alone(share_alone(run.hashes, layout));
    let expected = Run { bits_set: None, ..run };
    let estimates = BTreeMap::from([
        ("holzmann", expected.holzmann().map(Interval::from)),
        ("stern", expected.stern().map(Interval::from)),
        ("dillinger", expected.dillinger().map(Interval::from)),
        ("bits-set", bits_set.map(Interval::from)),
    ]);
    let reason = "it uses the bits that are set, of which the other methods only know how many \
                  are expected";
    let omissions = estimate::bitstate::expected_omissions(run.reached, run.bits, run.hashes);
    Missed {
        coverage: headline(&estimates, "bits-set", reason, line_like),
        hash_factor: run.hash_factor().unwrap_or(0.0),
        fill: run.fill().unwrap_or(1.0),
        expected_omissions: Some(omissions),
        omission_probability: Some(-(-omissions).exp_m1()),
        dropped: 0,
        polynomial_tries: None,
        estimates,
    }
}

/// The bits of a fingerprint that stands for a state before bits are set.
const FINGERPRINT: i32 = 64;

/// Of a bitstate search that has not set any bits: its states are told apart by
/// fingerprints. What it would have missed with bits is told by the estimates.
fn fingerprints(run: Run) -> Missed {
    let states = run.reached as f64;
    // Pairs of states, each as likely as the other to look the same.
    let omissions = states * (states - 1.0).max(0.0) / 2.0 * 0.5f64.powi(FINGERPRINT);
    let seen = 1.0 - omissions / (states + omissions).max(1.0);
    // Twenty states hide behind one that was missed, as elsewhere.
    let interval = Interval { estimate: seen, low: 1.0 - (1.0 + HIDDEN) * (1.0 - seen), high: 1.0 };
    let estimates = BTreeMap::from([
        ("holzmann", run.holzmann().map(Interval::from)),
        ("stern", run.stern().map(Interval::from)),
        ("dillinger", run.dillinger().map(Interval::from)),
        ("fingerprints", Some(interval)),
    ]);
    let reason = "the states were few enough to keep a fingerprint of 64 bits of each, and no bit \
                  of the arena was set";
    let method = "fingerprints";
    Missed {
        coverage: Some(Coverage { interval, method, reason, line_like: false }),
        estimates,
        hash_factor: run.hash_factor().unwrap_or(0.0),
        fill: run.fill().unwrap_or(0.0),
        expected_omissions: Some(omissions),
        omission_probability: Some(-(-omissions).exp_m1()),
        dropped: 0,
        polynomial_tries: None,
    }
}

fn compact(table: Table, signature_bits: u32, dropped: u64, line_like: bool) -> Missed {
    let estimates = BTreeMap::from([("signatures", table.coverage().map(Interval::from))]);
    let coverage = if dropped > 0 {
        // Nobody knows how often the same state was dropped.
        None
    } else {
        headline(&estimates, "signatures", "it is the one for hash compaction", line_like)
    };
    let bits = table.slots as f64 * f64::from(signature_bits);
    Missed {
        coverage,
        estimates,
        hash_factor: bits / table.stored.max(1) as f64,
        fill: table.stored as f64 / table.slots.max(1) as f64,
        expected_omissions: table.omissions(),
        omission_probability: table.omission_probability(),
        dropped,
        polynomial_tries: None,
    }
}

/// States that are hidden by one that was missed, at the worst. Of 120 runs of
/// 12 models (arenas of 1 to 32 bits a state, k = 1 and 3) those of frogs.3,
/// where most states have one predecessor, hid up to 98, hanoi.2 43, adding.2
/// 16, all others 8 or fewer.
const HIDDEN: f64 = 20.0;
/// With fewer transitions a state nearly all have one predecessor: like a line,
/// which ends at the first state that is missed.
const LINE_LIKE: f64 = 1.25;

fn headline(
    estimates: &BTreeMap<&'static str, Option<Interval>>,
    method: &'static str,
    reason: &'static str,
    line_like: bool,
) -> Option<Coverage> {
    let best = (*estimates.get(method)?)?;
    // Holzmann's lower bound is one for any N, and too low to be of use.
    let lows = estimates.iter().filter(|(name, _)| **name != "holzmann");
    let low = lows.filter_map(|(_, e)| e.map(|e| e.low)).fold(best.low, f64::min);
    let hidden = 1.0 - (1.0 + HIDDEN) * (1.0 - best.low);
    let low = if line_like { 0.0 } else { low.min(hidden).max(0.0) };
    Some(Coverage { interval: Interval { low, ..best }, method, reason, line_like })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roomy_arena_has_seen_nearly_all_and_a_full_one_has_no_answer() {
        let run = Run { bits: 1 << 30, hashes: 3, reached: 1_000_000, bits_set: Some(2_995_800) };
        let missed = bitstate(run, Layout::Scattered, false);
        let coverage = missed.coverage.expect("bits are free");
        assert!(coverage.interval.low > 0.9 && coverage.interval.estimate > 0.99);
        let line = bitstate(run, Layout::Scattered, true).coverage.expect("bits are free");
        assert_eq!(line.interval, Interval { low: 0.0, ..coverage.interval });
        assert!((missed.hash_factor - 1073.741824).abs() < 1e-6 && missed.fill < 0.003);
        assert!(missed.omission_probability.is_some_and(|p| p < 0.1));
        let full = Run { bits: 1 << 10, hashes: 1, reached: 1 << 10, bits_set: Some(1 << 10) };
        assert_eq!(bitstate(full, Layout::Scattered, false).coverage, None);
    }

    /// Bits of one state that are the same are not taken for states that were
    /// missed.
    #[test]
    fn bits_in_one_line_that_are_the_same_cost_no_coverage() {
        let (bits, reached) = (1 << 26, 400_000);
        for hashes in [1, 3, 8, 20, 64] {
            // Lines are nearly empty, so a state sets its bits as if it were alone.
            let alone = share_alone(hashes, Layout::Blocked) * f64::from(hashes);
            let free = (-(reached as f64) * alone / bits as f64).exp();
            let set = ((1.0 - free) * bits as f64) as u64;
            let run = Run { bits, hashes, reached, bits_set: Some(set) };
            let coverage = bitstate(run, Layout::Blocked, false).coverage.expect("bits are free");
            let Interval { estimate, low, high } = coverage.interval;
            assert!(estimate > 0.999 && low > 0.97 && high == 1.0, "{hashes}: {coverage:?}");
        }
    }

    #[test]
    fn fingerprints_have_seen_all_and_the_arena_would_be_as_full_as_with_bits() {
        let run = Run { bits: 1 << 30, hashes: 3, reached: 1_000_000, bits_set: None };
        let missed = fingerprints(run);
        let coverage = missed.coverage.expect("an answer");
        assert!(coverage.interval.low > 0.999_999 && coverage.method == "fingerprints");
        assert!(missed.expected_omissions.is_some_and(|n| (1e-8..1e-7).contains(&n)));
        assert!((0.002_7..0.002_8).contains(&missed.fill), "{}", missed.fill);
        let none = fingerprints(Run { reached: 0, ..run }).coverage.expect("an answer");
        assert!((0.0..=1.0).contains(&none.interval.low), "{none:?}");
    }

    #[test]
    fn dropped_states_leave_no_estimate() {
        let probing = Probing::Uniform;
        let table = Table { slots: 1000, signatures: 65_535.0, stored: 500, probing };
        let some = compact(table, 16, 0, false);
        assert!(some.coverage.is_some_and(|c| c.interval.estimate > 0.99));
        assert_eq!(some.hash_factor, 32.0);
        assert_eq!(compact(Table { stored: 1000, ..table }, 16, 7, false).coverage, None);
    }
}
