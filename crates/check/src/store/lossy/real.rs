//! States of real models collide as in theory. They are all alike, which random
//! states are not, and differ in more places than numbered ones.
//!
//! Half of a model's states are marked; of the other half, as many look marked
//! as theory says. The states are the same in every run, and so are the seeds:
//! what is likely here is so for ever.

use super::{Bitstate, Compact, Filter, Layout, Marked};
use crate::bytes::{Fingerprint, Keys, fingerprint};
use crate::crc::Crc;
use crate::memory::Budget;
use ir::fault::Fault;
use ir::interpret::Interpreter;
use ir::model::{Flow, Model, Sink, Step};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// A lock, a lock of another kind, and data: 25,657 to 51,596 states.
const MODELS: [&str; 3] = ["dijkstra_mutex", "peterson_filter", "records"];
/// Hash functions of each family.
const SEEDS: u64 = 8;

#[derive(Default)]
struct All {
    seen: HashSet<Vec<u8>>,
    /// In the order they were met.
    states: Vec<Vec<u8>>,
}

impl Sink for All {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        if self.seen.insert(state.to_vec()) {
            self.states.push(state.to_vec());
        }
        Flow::Continue
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }
}

/// All states of a model.
fn states(name: &str) -> Vec<Vec<u8>> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let path = models.join(format!("{name}.pml"));
    let text = std::fs::read_to_string(&path).expect("a readable model");
    let loader = lang::promela::preprocess::FileLoader;
    let loaded = lang::promela::load(name, text, &[], &loader);
    let system = loaded.system.expect("a correct model");
    let layout = ir::layout::Layout::new(&system);
    assert_eq!(layout.hidden, 0);
    let mut model = Interpreter::new(&system, &layout);
    let mut all = All::default();
    model.initial(&mut all);
    let mut next = 0;
    while let Some(state) = all.states.get(next).cloned() {
        model.expand(&state, &mut all);
        next += 1;
    }
    all.states
}

/// Fingerprints of a model's states, one half and the other, with each seed of
/// each family.
fn each_hash(mut see: impl FnMut(&str, &[Fingerprint], &[Fingerprint])) {
    for name in MODELS {
        let states = states(name);
        for seed in 1..=SEEDS {
            let crc = Crc::new(seed);
            for family in ["mix", "crc"] {
                let print = |state: &Vec<u8>| match family {
                    "mix" => Keys::new(seed).turn(fingerprint(state)),
                    _ => crc.fingerprint(state),
                };
                let prints: Vec<Fingerprint> = states.iter().map(print).collect();
                // Every other one: neighbours differ in a few bits.
                let (even, odd): (Vec<_>, Vec<_>) =
                    prints.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
                see(family, &even, &odd);
            }
        }
    }
}

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

/// That `draws` random bits of `bits` have all been set by `set` others, which
/// were set at random too, each as often as it comes: by inclusion and exclusion
/// over those that are free, for each number of different ones.
fn all_set(bits: f64, set: f64, draws: u32) -> f64 {
    // How likely it is that so many of the draws are different.
    let mut different = vec![1.0];
    for _ in 0..draws {
        let mut next = vec![0.0; different.len() + 1];
        for (n, p) in different.iter().enumerate() {
            next[n] += p * n as f64 / bits;
            next[n + 1] += p * (1.0 - n as f64 / bits);
        }
        different = next;
    }
    let covered = |n: usize| {
        let (mut sum, mut choose) = (0.0, 1.0);
        for free in 0..=n {
            sum += choose * (1.0 - free as f64 / bits).powf(set);
            choose *= -((n - free) as f64) / (free + 1) as f64;
        }
        sum
    };
    different.iter().enumerate().map(|(n, p)| p * covered(n)).sum()
}

/// Counts next to what was expected of them, for each family.
#[derive(Default)]
struct Counts {
    mix: Sums,
    crc: Sums,
}

#[derive(Default, Debug)]
struct Sums {
    counted: f64,
    expected: f64,
    chi_square: f64,
    n: f64,
}

impl Counts {
    fn add(&mut self, family: &str, counted: usize, tries: usize, probability: f64) {
        let sums = if family == "mix" { &mut self.mix } else { &mut self.crc };
        let mean = tries as f64 * probability;
        sums.counted += counted as f64;
        sums.expected += mean;
        sums.chi_square += (counted as f64 - mean).powi(2) / (mean * (1.0 - probability));
        sums.n += 1.0;
    }

    /// With mixed words each count is what chance makes of it: chi-square within
    /// four standard deviations. Remainders are linear, so states that are alike
    /// share their luck: with one polynomial counts are off by up to a few
    /// percent either way, but not on average.
    fn check(&self, what: &str) {
        let Sums { counted, expected, chi_square, n } = self.mix;
        assert!(n > 0.0 && chi_square < n + 4.0 * (2.0 * n).sqrt(), "{what}: {:?}", self.mix);
        assert!((counted - expected).abs() < 4.0 * expected.sqrt(), "{what}: {:?}", self.mix);
        let Sums { counted, expected, chi_square, n } = self.crc;
        let error = (counted - expected).abs();
        assert!(error < 4.0 * expected.sqrt() + 0.01 * expected, "{what}: {:?}", self.crc);
        assert!(n > 0.0 && chi_square < 15.0 * n, "{what}: {:?}", self.crc);
    }
}

/// Bits of the arena for each state that is marked, and bits of a state.
const SIZES: [(u64, u32); 4] = [(3, 1), (4, 2), (6, 3), (10, 7)];

/// `expected` is the probability that a state looks marked, by bits of the
/// arena, states that are marked and bits of a state.
fn check_bits(layout: Layout, expected: fn(f64, f64, u32) -> f64) {
    let mut counts: Vec<Counts> = SIZES.iter().map(|_| Counts::default()).collect();
    each_hash(|family, marked, others| {
        for ((room, hashes), counts) in SIZES.into_iter().zip(&mut counts) {
            let bits = room * marked.len() as u64;
            let filter = Bitstate::new(bits, hashes, layout, &budget()).expect("room");
            marked.iter().for_each(|state| {
                filter.mark_one(*state, &mut 0);
            });
            let found = others.iter().filter(|state| filter.contains(**state)).count();
            let probability = expected(filter.bits() as f64, marked.len() as f64, hashes);
            counts.add(family, found, others.len(), probability);
        }
    });
    for (counts, size) in counts.iter().zip(SIZES) {
        counts.check(&format!("{layout:?} {size:?}"));
    }
}

#[test]
fn scattered_bits_of_real_states_collide_as_in_theory() {
    check_bits(Layout::Scattered, |bits, states, k| all_set(bits, states * f64::from(k), k));
}

#[test]
fn blocked_bits_of_real_states_collide_as_in_theory() {
    check_bits(Layout::Blocked, |bits, states, k| {
        // States of a line are Poisson distributed.
        let mean = states * 512.0 / bits;
        let (mut weight, mut sum) = ((-mean).exp(), 0.0);
        for others in 0..1000 {
            sum += weight * all_set(512.0, f64::from(others * k), k);
            weight *= mean / f64::from(others + 1);
        }
        sum
    });
}

#[test]
fn signatures_of_real_states_collide_as_in_theory() {
    /// Bits of a signature, and slots for each state.
    const TABLES: [(u32, f64); 4] = [(2, 2.0), (4, 1.2), (6, 1.5), (8, 1.05)];
    let mut counts: Vec<[Counts; 2]> = TABLES.iter().map(|_| Default::default()).collect();
    each_hash(|family, marked, others| {
        for ((bits, slots), [missed, taken]) in TABLES.into_iter().zip(&mut counts) {
            let n = marked.len();
            let slots = (slots * n as f64) as u64;
            let filter = Compact::with_slots(slots, bits, false, &budget()).expect("room");
            let seen = marked
                .iter()
                .filter(|state| filter.mark_one(**state, &mut 0) == Marked::Seen)
                .count();
            // One value stands for a free slot.
            let signatures = ((1u64 << bits) - 1) as f64;
            let (slots, stored) = (filter.slots() as f64, filter.n_stored() as f64);
            let load = stored / slots;
            // For each state that is stored, load / (1 - load) are passed on the
            // way to its slot; the sum of that over all loads.
            let passed = slots * (-load - (1.0 - load).ln());
            missed.add(family, seen, n, passed / signatures / n as f64);
            // Slot by slot: free, the same signature, or another one.
            let same = load / signatures;
            let found = others.iter().filter(|state| filter.contains(**state)).count();
            taken.add(family, found, others.len(), same / (1.0 - load + same));
        }
    });
    for ([missed, taken], table) in counts.iter().zip(TABLES) {
        missed.check(&format!("missed {table:?}"));
        taken.check(&format!("taken for others {table:?}"));
    }
}
