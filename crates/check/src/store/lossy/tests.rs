//! Lossy stores lose as much as theory says, no more and no less.

use super::{Bitstate, Collect, Compact, Filter, Fingerprints, Layout, LossyStore, Marked, Wanted};
use crate::bytes::{Fingerprint, Keys, fingerprint};
use crate::memory::Budget;
use crate::store::{Store, Writer};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

/// A state that differs from its neighbours in few bits, or in all.
fn state(number: u64, random: bool) -> Fingerprint {
    let number =
        if random { number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) } else { number };
    let mut bytes = [0; 24];
    bytes[4..12].copy_from_slice(&number.to_le_bytes());
    Keys::new(5).turn(fingerprint(&bytes))
}

/// Of `n` states that are not there, how many are taken for one that is; and the
/// bits that are set.
fn taken_for_others(filter: &impl Filter, n: u64, random: bool) -> (f64, f64) {
    let mut set = 0;
    for number in 0..n {
        filter.mark_one(state(number, random), &mut set);
    }
    assert!((0..n).all(|number| filter.contains(state(number, random))));
    let taken = (n..2 * n).filter(|number| filter.contains(state(*number, random)));
    (taken.count() as f64, set as f64)
}

fn mark(filter: &impl Filter, state: Fingerprint) -> Marked {
    filter.mark_one(state, &mut 0)
}

/// Whether a count out of `n` is what a probability makes likely.
fn likely(count: f64, n: u64, probability: f64) -> bool {
    let mean = n as f64 * probability;
    (count - mean).abs() <= 4.5 * (mean * (1.0 - probability)).sqrt() + 1.0
}

#[test]
fn scattered_bits_collide_as_in_theory() {
    for (bits, n, hashes) in [(1 << 20, 100_000, 1), (1 << 20, 100_000, 3), (999_983, 30_000, 20)] {
        for random in [false, true] {
            let filter = Bitstate::new(bits, hashes, Layout::Scattered, &budget()).expect("room");
            let (count, set) = taken_for_others(&filter, n, random);
            let fill = 1.0 - (1.0 - 1.0 / bits as f64).powf((n * hashes as u64) as f64);
            // States that are taken for others set no bits: the arena is a
            // little emptier than without them.
            assert!((0.95 * fill..=1.01 * fill).contains(&(set / bits as f64)), "{set} {fill}");
            let probability = (set / bits as f64).powi(hashes as i32);
            assert!(likely(count, n, probability), "{bits} {hashes} {count} {probability}");
        }
    }
}

#[test]
fn blocked_bits_collide_as_in_theory() {
    for (bits, n, hashes) in [(1u64 << 20, 100_000, 3), (1 << 21, 100_000, 8)] {
        for random in [false, true] {
            let filter = Bitstate::new(bits, hashes, Layout::Blocked, &budget()).expect("room");
            let (count, _) = taken_for_others(&filter, n, random);
            // States of a line are Poisson distributed.
            let mean = n as f64 * 512.0 / bits as f64;
            let (mut weight, mut probability) = ((-mean).exp(), 0.0);
            for states in 1..400 {
                weight *= mean / states as f64;
                let set = 1.0 - (1.0 - 1.0 / 512f64).powf((states * hashes) as f64);
                probability += weight * set.powi(hashes as i32);
            }
            let expected = n as f64 * probability;
            let error = (count - expected).abs();
            // States that are taken for others leave their lines emptier.
            let tolerance = 4.5 * expected.sqrt() + 0.1 * expected;
            assert!(error < tolerance, "{bits} {hashes}: {count} {expected}");
        }
    }
}

#[test]
fn signatures_collide_as_in_theory() {
    for (slots, n, bits) in [(150_000, 100_000, 10), (200_000, 100_000, 5), (101_000, 100_000, 20)]
    {
        for random in [false, true] {
            let filter = Compact::with_slots(slots, bits, false, &budget()).expect("room");
            let missed =
                (0..n).filter(|i| mark(&filter, state(*i, random)) == Marked::Seen).count();
            // A state meets load / (1 - load) others on its way to a free slot;
            // the sum of that over all loads.
            let load = n as f64 / filter.slots() as f64;
            let met = filter.slots() as f64 * (-load - (1.0 - load).ln());
            let expected = met / ((1u64 << bits) - 1) as f64;
            let error = (missed as f64 - expected).abs();
            // Missed states leave the table emptier.
            assert!(error < 4.5 * expected.sqrt() + 0.2 * expected + 1.0, "{missed} {expected}");
            assert_eq!(filter.n_stored() + missed as u64, n);
        }
    }
}

#[test]
fn a_full_table_stops_or_drops() {
    let stops = Compact::with_slots(1009, 64, false, &budget()).expect("room");
    let drops = Compact::with_slots(1009, 64, true, &budget()).expect("room");
    for number in 0..1009 {
        assert_eq!(mark(&stops, state(number, true)), Marked::New);
        assert_eq!(mark(&drops, state(number, true)), Marked::New);
    }
    assert_eq!(mark(&stops, state(5000, true)), Marked::NoRoom);
    assert_eq!(mark(&drops, state(5000, true)), Marked::Dropped);
    assert_eq!((drops.n_stored(), drops.n_dropped()), (1009, 1));
}

fn finds_each_state_once<F: Filter>(filter: F) {
    let store = LossyStore::new(filter, 2, 7, 1.0, &budget()).expect("room");
    let mut writer = store.writer();
    let mut set = HashSet::new();
    for i in 0..60_000u64 {
        // Hidden bytes differ, states come twice, in lengths of their own.
        let number = i * i % 40_009;
        let mut bytes = vec![i as u8, (i >> 8) as u8];
        bytes.extend(number.to_le_bytes());
        bytes.resize(10 + number as usize % 23, 3);
        let mut new = None;
        writer.rows().push(&bytes);
        writer.settle(|token, _, _| new = Some(token)).expect("room");
        assert_eq!(new.is_some(), set.insert(number));
        if let Some(token) = new {
            assert_eq!(writer.read(token, &mut Vec::new()), bytes);
            writer.finish(i % 3 > 0);
        }
    }
}

#[test]
fn with_room_enough_nothing_is_missed() {
    for hashes in [2, 3, 4] {
        let filter = Bitstate::new(1 << 28, hashes, Layout::Blocked, &budget()).expect("room");
        finds_each_state_once(filter);
    }
    finds_each_state_once(Bitstate::new(1 << 28, 3, Layout::Scattered, &budget()).expect("room"));
    finds_each_state_once(Compact::new(1 << 24, 64, false, &budget()).expect("room"));
}

#[test]
fn remainders_collide_as_in_theory() {
    // Of states that differ in few bits: remainders are linear, so these are
    // the ones to be afraid of.
    let crc = crate::crc::Crc::new(9);
    let print = |number: u64| crc.fingerprint(&[&[7; 9][..], &number.to_le_bytes()].concat());
    let (bits, n) = (1 << 20, 100_000);
    for layout in [Layout::Scattered, Layout::Blocked] {
        let filter = Bitstate::new(bits, 3, layout, &budget()).expect("room");
        let mut set = 0;
        (0..n).for_each(|number| {
            filter.mark_one(print(number), &mut set);
        });
        let count = (n..2 * n).filter(|number| filter.contains(print(*number))).count() as f64;
        let fill = set as f64 / bits as f64;
        // Structure makes them collide less often, if at all.
        assert!(count < 1.3 * n as f64 * fill.powi(3), "{layout:?} {count}");
    }
}

/// A state is marked as it is put, however many bits it has.
#[test]
fn all_numbers_of_bits_are_set_alike() {
    let keys = Keys::new(3);
    let print = |number: u64| keys.turn(fingerprint(&number.to_le_bytes()));
    for layout in [Layout::Blocked, Layout::Scattered] {
        for hashes in (1..=9).chain([20, 64]) {
            let arena = || Bitstate::new(1 << 16, hashes, layout, &budget()).expect("room");
            let (marked, put) = (arena(), arena());
            for number in 0..2_000 {
                let mut set = 0;
                let new = marked.mark_one(print(number), &mut set) == Marked::New;
                assert_eq!(set, put.put(print(number)), "{layout:?} {hashes}");
                assert!(new == (set > 0) && marked.contains(print(number)));
            }
        }
    }
}

#[test]
fn fingerprints_are_poured_into_an_arena_without_loss() {
    let keys = Keys::narrow(7);
    let print = |number: u64| keys.turn(fingerprint(&number.to_le_bytes()));
    for (layout, hashes, threads) in [
        (Layout::Blocked, 3, 1),
        (Layout::Blocked, 3, 4),
        (Layout::Scattered, 20, 1),
        (Layout::Scattered, 20, 4),
    ] {
        let arena = || Bitstate::new(1 << 22, hashes, layout, &budget()).expect("room");
        let early = Fingerprints::before(arena(), threads, &budget()).expect("room");
        let n = 50_000;
        assert!((0..n).all(|number| mark(&early, print(number)) == Marked::New));
        assert!((0..n).all(|number| mark(&early, print(number)) == Marked::Seen));
        assert!(early.contains(print(0)) && !early.contains(print(n)));
        let (poured, set) = early.pour(keys);
        // As if all had been marked there, but for those that looked marked.
        let (direct, mut marked) = (arena(), 0);
        for number in 0..n {
            direct.mark_one(print(number), &mut marked);
            assert!(poured.contains(print(number)));
        }
        assert_eq!(set, marked);
    }
}

#[test]
fn fingerprints_depend_on_all_bytes_and_on_the_seed() {
    let mut seen = HashSet::new();
    let print = |bytes: &[u8], seed| Keys::new(seed).turn(fingerprint(bytes));
    for len in 0..70 {
        let mut bytes = vec![0u8; len];
        assert!(seen.insert(print(&bytes, 0)) && seen.insert(print(&bytes, 1)));
        for i in 0..len {
            bytes[i] = 1;
            assert!(seen.insert(print(&bytes, 0)));
            bytes[i] = 0;
        }
    }
}

/// Remembers what it was told, and wants to know of all new states and of half of
/// the others.
#[derive(Default)]
struct Told {
    stored: Mutex<Vec<u64>>,
    met: Mutex<Vec<u64>>,
}

impl Collect for Told {
    fn collect(&self, stored: &[u64], met: &[u64]) -> Wanted {
        self.stored.lock().expect("no panic").extend(stored);
        self.met.lock().expect("no panic").extend(met);
        Wanted { stored: u64::MAX, met: u64::MAX / 2 }
    }
}

#[test]
fn a_collector_is_told_of_states_that_were_lost() {
    let (told, n) = (Told::default(), 2000u64);
    let filter = Bitstate::new(1024, 2, Layout::Blocked, &budget()).expect("room");
    let mut store = LossyStore::new(filter, 0, 1, 1.0, &budget()).expect("room");
    store.collector = Some(&told);
    let mut writer = store.writer();
    let mut hashes = HashSet::new();
    for number in 0..n {
        let state = number.to_le_bytes();
        hashes.insert(fingerprint(&state).fixed());
        writer.rows().push(&state);
        writer.settle(|_, _, _| {}).expect("room");
        writer.finish(true);
    }
    drop(writer);
    let stored: HashSet<u64> = told.stored.lock().expect("no panic").iter().copied().collect();
    let met: HashSet<u64> = told.met.lock().expect("no panic").iter().copied().collect();
    // Most do not fit in so few bits. Each is told of once, as one or the other.
    assert!(stored.len() < 1000 && stored.is_disjoint(&met) && stored.is_subset(&hashes));
    let wanted = |hash: &&u64| **hash < u64::MAX / 2 && !stored.contains(*hash);
    assert_eq!(met, hashes.iter().filter(wanted).copied().collect());
}
