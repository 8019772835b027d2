//! Hash compaction: a signature of some bits in a table of slots stands for a
//! state. Slots are found by bits of the fingerprint that are not in the
//! signature, so that signature and place tell states apart together (Wolper
//! and Leroy; Stern and Dill).
//!
//! A state is looked for in slots that are spread over the table, each state's
//! own way, up to a free one: so a table can be filled to the last slot.

use super::{Filter, Marked};
use crate::bytes::Fingerprint;
use crate::memory::{Budget, Mapping, prefetch};
use crossbeam_epoch::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Compact {
    map: Mapping,
    /// Bytes that were provided.
    provided: AtomicU64,
    /// A prime, so that every step comes by all slots.
    slots: u64,
    bits: u32,
    /// A word has as many slots as fit in whole.
    per_word: u64,
    stored: AtomicU64,
    /// Times that there was no slot for a state.
    dropped: AtomicU64,
    /// Without room, states count as seen; else the search ends.
    drop: bool,
    budget: Arc<Budget>,
}

impl Compact {
    /// A table of at most so many bits with signatures of `bits` each; `None`
    /// if there is no memory.
    pub fn new(arena: u64, bits: u32, drop: bool, budget: &Arc<Budget>) -> Option<Compact> {
        let per_word = 64 / bits as u64;
        Compact::with_slots((arena / 64).max(1) * per_word, bits, drop, budget)
    }

    /// A table of at most so many slots, but three.
    pub fn with_slots(slots: u64, bits: u32, drop: bool, budget: &Arc<Budget>) -> Option<Compact> {
        let per_word = 64 / bits as u64;
        let most = slots.max(3).div_ceil(per_word) * 8;
        if most > budget.left() {
            return None;
        }
        let slots = prime_up_to(slots.max(3));
        let bytes = slots.div_ceil(per_word) * 8;
        if !budget.take(bytes) {
            return None;
        }
        let map = usize::try_from(bytes).ok().and_then(Mapping::new);
        if map.is_none() {
            budget.give(bytes);
        }
        let [provided, stored, dropped] = [0; 3].map(AtomicU64::new);
        let budget = budget.clone();
        Some(Compact { map: map?, provided, slots, bits, per_word, stored, dropped, drop, budget })
    }

    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Bits of a signature.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    pub fn n_stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    pub fn n_dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The word that holds a slot, and where in it.
    #[inline(always)]
    fn slot(&self, slot: u64) -> (&AtomicU64, u32) {
        debug_assert!(slot < self.slots);
        let at = (slot / self.per_word) as usize;
        // SAFETY: the mapping has a word for each `per_word` slots, aligned and
        // only used as atomics.
        let word = unsafe { &*self.map.start().cast::<AtomicU64>().add(at) };
        (word, (slot % self.per_word) as u32 * self.bits)
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// First slot, step, and signature: never 0, which stands for a free slot.
    #[inline(always)]
    fn way(&self, Fingerprint(a, b): Fingerprint) -> (u64, u64, u64) {
        let first = ((a as u128 * self.slots as u128) >> 64) as u64;
        let values = self.mask();
        let signature = 1 + ((b as u128 * values as u128) >> 64) as u64;
        // Mixed, as it must not depend on either alone.
        let step = (a ^ b.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let step = 1 + ((step as u128 * (self.slots - 1) as u128) >> 64) as u64;
        (first, step, signature)
    }

    /// Goes from slot to slot. Puts the signature into the first that is free,
    /// if it is to be put anywhere.
    #[inline(always)]
    fn walk(&self, state: Fingerprint, put: bool) -> Marked {
        let (mut slot, step, signature) = self.way(state);
        let mut tried = 0;
        while tried < self.slots {
            let (word, shift) = self.slot(slot);
            // Relaxed: signatures stand for themselves.
            let value = word.load(Ordering::Relaxed);
            let there = (value >> shift) & self.mask();
            if there == signature {
                return Marked::Seen;
            }
            if there == 0 {
                let with = value | signature << shift;
                let relaxed = Ordering::Relaxed;
                if !put || word.compare_exchange(value, with, relaxed, relaxed).is_ok() {
                    return Marked::New;
                }
                // The word has changed: look at it again.
                continue;
            }
            slot += step;
            slot -= if slot >= self.slots { self.slots } else { 0 };
            tried += 1;
        }
        Marked::NoRoom
    }
}

impl Filter for Compact {
    type Place = ();

    #[inline(always)]
    fn approach(&self, state: Fingerprint, _guard: &Guard) {
        let (word, _) = self.slot(self.way(state).0);
        prefetch((&raw const *word).cast());
    }

    #[inline(always)]
    fn mark(&self, (): (), state: Fingerprint, _set: &mut u64, _guard: &Guard) -> Marked {
        // A full table is not walked to its end each time.
        let marked = match self.is_full() {
            true => self.walk_full(state),
            false => self.walk(state, true),
        };
        // Relaxed: counts.
        match marked {
            Marked::New => {
                self.stored.fetch_add(1, Ordering::Relaxed);
            }
            Marked::NoRoom if self.drop => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                return Marked::Dropped;
            }
            Marked::Seen | Marked::Dropped | Marked::NoRoom => {}
        }
        marked
    }

    fn contains(&self, state: Fingerprint) -> bool {
        let found = if self.is_full() { self.walk_full(state) } else { self.walk(state, false) };
        found == Marked::Seen
    }

    fn is_full(&self) -> bool {
        // Relaxed: a count.
        self.stored.load(Ordering::Relaxed) >= self.slots
    }

    fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn provide(&self) -> bool {
        self.map.provide_next(&self.provided)
    }
}

/// Slots that are looked at in a full table before a state counts as not there.
const PATIENCE: u64 = 64;

impl Compact {
    /// In a full table a state that was stored is found after some slots, most
    /// likely; one that was not is not worth looking at all of them.
    fn walk_full(&self, state: Fingerprint) -> Marked {
        let (mut slot, step, signature) = self.way(state);
        for _ in 0..PATIENCE {
            let (word, shift) = self.slot(slot);
            if (word.load(Ordering::Relaxed) >> shift) & self.mask() == signature {
                return Marked::Seen;
            }
            slot = (slot + step) % self.slots;
        }
        Marked::NoRoom
    }
}

impl Drop for Compact {
    fn drop(&mut self) {
        self.budget.give(self.map.len() as u64);
    }
}

/// The greatest prime that is not above `n`, which is at least 3.
fn prime_up_to(n: u64) -> u64 {
    let is_prime = |n: u64| {
        n == 2
            || n % 2 == 1
                && (3..).step_by(2).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
    };
    (2..=n).rev().find(|&n| is_prime(n)).unwrap_or(3)
}
