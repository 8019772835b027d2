//! Bitstate: some bits of an arena stand for a state, which counts as visited
//! if all of them are set (Holzmann's supertrace; a Bloom filter).

use super::{Filter, Marked};
use crate::bytes::Fingerprint;
use crate::memory::{Budget, Mapping, prefetch};
use crossbeam_epoch::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the bits of a state are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All in one cache line: one access to memory.
    Blocked,
    /// Anywhere, each on its own: fewer states are missed, slower.
    Scattered,
}

/// Bits of a cache line.
const LINE: u64 = 512;
/// Bits that fit in the second-level cache of a core, with room for the rest.
const NEAR: u64 = 1 << 22;

/// States whose memory is asked for together.
const BLOCK: usize = 64;

pub struct Bitstate {
    map: Mapping,
    /// Bytes that were provided.
    provided: AtomicU64,
    bits: u64,
    hashes: u32,
    layout: Layout,
    budget: Arc<Budget>,
}

impl Bitstate {
    /// An arena of so many bits, 512 at least; `None` if there is no memory.
    pub fn new(bits: u64, hashes: u32, layout: Layout, budget: &Arc<Budget>) -> Option<Bitstate> {
        let bits = Bitstate::usable(bits, layout);
        let bytes = bytes_of(bits);
        if !budget.take(bytes) {
            return None;
        }
        let map = usize::try_from(bytes).ok().and_then(Mapping::new);
        if map.is_none() {
            budget.give(bytes);
        }
        let (provided, budget) = (AtomicU64::new(0), budget.clone());
        Some(Bitstate { map: map?, provided, bits, hashes, layout, budget })
    }

    /// The same memory, empty again, as an arena of so many bits; false, and
    /// nothing done, if it is too small for that.
    pub fn renew(&mut self, bits: u64, hashes: u32, layout: Layout) -> bool {
        let bits = Bitstate::usable(bits, layout);
        if bytes_of(bits) > self.map.len() as u64 {
            return false;
        }
        // SAFETY: the bytes lie in the mapping, and nobody else uses them.
        unsafe { self.map.start().write_bytes(0, bytes_of(self.bits) as usize) };
        (self.bits, self.hashes, self.layout) = (bits, hashes, layout);
        true
    }

    /// Bits of an arena for which so many were asked for.
    pub fn usable(bits: u64, layout: Layout) -> u64 {
        match layout {
            Layout::Blocked => (bits / LINE).max(1) * LINE,
            Layout::Scattered => bits.max(LINE),
        }
    }

    /// Bits of the arena.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether the processor has all of an arena of so many bits at hand.
    pub fn is_near(bits: u64) -> bool {
        bits <= NEAR
    }

    /// Sets the bits of a state, and tells how many of them were not set. As
    /// `mark` without other threads.
    #[inline(always)]
    pub fn put(&self, state: Fingerprint) -> u64 {
        let mut set = 0;
        self.each_bit(state, |bit| {
            set += self.put_bit(bit);
            true
        });
        set
    }

    /// The same where a state has but one bit, and that in its line.
    #[inline(always)]
    pub fn put_one(&self, state: Fingerprint) -> u64 {
        debug_assert!(self.has_one_bit());
        self.put_bit(self.line(state) + state.1 % LINE)
    }

    /// Whether `put_one` does.
    pub fn has_one_bit(&self) -> bool {
        self.hashes == 1 && self.layout == Layout::Blocked
    }

    #[inline(always)]
    fn put_bit(&self, bit: u64) -> u64 {
        let (word, at) = (self.word(bit), bit % 64);
        // Relaxed: nobody else is there.
        let value = word.load(Ordering::Relaxed);
        word.store(value | (1 << at), Ordering::Relaxed);
        (!value >> at) & 1
    }

    /// Sets the bits of states, and tells how many were not set. If this thread is not
    /// `alone`, others may set those of others meanwhile, which takes locked instructions.
    pub fn mark_all(&self, mut states: impl Iterator<Item = Fingerprint>, alone: bool) -> u64 {
        let (mut set, guard) = (0, crossbeam_epoch::pin());
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            block.extend(states.by_ref().take(BLOCK));
            if block.is_empty() {
                return set;
            }
            block.iter().for_each(|state| self.approach(*state, &guard));
            for state in block.drain(..) {
                if alone {
                    set += self.put(state);
                } else {
                    self.mark((), state, &mut set, &guard);
                }
            }
        }
    }

    /// Makes a page that the system has not provided yet one that can be written.
    /// If it were read first, it would be provided twice, and the second time all
    /// threads would have to wait.
    #[inline(always)]
    fn touch(&self, bit: u64) {
        // Relaxed: whatever the order, a page is touched for nothing or not at all.
        let provided = self.provided.load(Ordering::Relaxed);
        if provided > 0 && provided <= bit / 8 {
            self.word(bit).fetch_or(0, Ordering::Relaxed);
        }
    }

    /// The word that holds a bit.
    #[inline(always)]
    fn word(&self, bit: u64) -> &AtomicU64 {
        debug_assert!(bit < self.map.len() as u64 * 8);
        // SAFETY: the mapping has as many bits, in aligned words that are only
        // used as atomics.
        unsafe { &*self.map.start().cast::<AtomicU64>().add((bit / 64) as usize) }
    }

    /// The first bit of the cache line that a state has, if it has but one.
    #[inline(always)]
    fn line(&self, state: Fingerprint) -> u64 {
        within(state.0, self.bits / LINE) * LINE
    }

    /// Calls `see` with each bit of a state until it answers false; the last
    /// answer.
    #[inline(always)]
    fn each_bit(&self, state: Fingerprint, mut see: impl FnMut(u64) -> bool) -> bool {
        match self.layout {
            Layout::Scattered => {
                let (mut at, mut step) = (state.0, state.1 | 1);
                (0..self.hashes as u64).all(|i| {
                    let bit = within(at, self.bits);
                    // Steps that change keep two states that share two bits
                    // from sharing all of them.
                    at = at.wrapping_add(step);
                    step = step.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    see(bit)
                })
            }
            Layout::Blocked => {
                let line = self.line(state);
                let mut rest = state.1;
                (0..self.hashes).all(|i| {
                    if i > 0 && i % 7 == 0 {
                        // Seven times nine bits are used up.
                        rest = (state.1 ^ rest.rotate_left(29) ^ i as u64)
                            .wrapping_mul(0xD1B5_4A32_D192_ED03);
                        rest ^= rest >> 32;
                    }
                    let bit = line + rest % LINE;
                    rest /= LINE;
                    see(bit)
                })
            }
        }
    }
}

fn bytes_of(bits: u64) -> u64 {
    bits.div_ceil(LINE) * (LINE / 8)
}

/// A number below `limit`, from one that may be anything.
#[inline(always)]
fn within(number: u64, limit: u64) -> u64 {
    ((number as u128 * limit as u128) >> 64) as u64
}

impl Filter for Bitstate {
    type Place = ();

    #[inline(always)]
    fn approach(&self, state: Fingerprint, _guard: &Guard) {
        let ask = |bit| prefetch((&raw const *self.word(bit)).cast());
        match self.layout {
            Layout::Blocked => ask(self.line(state)),
            Layout::Scattered => {
                self.each_bit(state, |bit| {
                    ask(bit);
                    true
                });
            }
        }
    }

    #[inline(always)]
    fn mark(&self, (): (), state: Fingerprint, set: &mut u64, _guard: &Guard) -> Marked {
        let before = *set;
        let blocked = self.layout == Layout::Blocked;
        if blocked {
            // All bits are in one page.
            self.touch(self.line(state));
        }
        self.each_bit(state, |bit| {
            let (word, mask) = (self.word(bit), 1 << (bit % 64));
            if !blocked {
                self.touch(bit);
            }
            // Relaxed: bits stand for themselves. Most are set, and to look is
            // cheaper than to set.
            if word.load(Ordering::Relaxed) & mask == 0 {
                *set += (word.fetch_or(mask, Ordering::Relaxed) & mask == 0) as u64;
            }
            true
        });
        if *set > before { Marked::New } else { Marked::Seen }
    }

    fn contains(&self, state: Fingerprint) -> bool {
        self.each_bit(state, |bit| self.word(bit).load(Ordering::Relaxed) & (1 << (bit % 64)) != 0)
    }

    fn is_full(&self) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn provide(&self) -> bool {
        self.map.provide_next(&self.provided)
    }
}

impl Drop for Bitstate {
    fn drop(&mut self) {
        self.budget.give(self.bytes());
    }
}
