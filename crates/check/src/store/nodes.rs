//! Nodes of the tree that states are folded into: a dictionary from pairs of
//! 32-bit numbers to the number of the node.
//!
//! Invariant: a pair has one number, whoever asks for it, and a number stands
//! for its pair for ever. Number 0 is no node.

use super::Full;
use super::table::{Growth, Inserted, PLACE_BITS, Placed, Table, tag};
use crate::memory::{Budget, Mapping};
use crossbeam_epoch::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers have so many bits, so that two fit in an entry of the roots' table.
pub const NODE_BITS: u32 = 30;
/// Numbers that a thread takes at once: a page of pairs.
const CHUNK: u64 = 512;
const GROWTH: Growth = Growth { quarters: 6, full: 13 };

pub struct Nodes {
    table: Table<Placed>,
    pairs: Mapping,
    given: AtomicU64,
    budget: Arc<Budget>,
}

/// A thread's own numbers, not yet used, and the pairs it met last.
pub struct Numbers {
    next: u64,
    end: u64,
    recent: Vec<(u64, u32)>,
}

const RECENT_BITS: u32 = 12;

impl Numbers {
    pub fn new() -> Numbers {
        Numbers { next: 0, end: 0, recent: vec![(0, 0); 1 << RECENT_BITS] }
    }
}

/// Spreads the bits of a number over all of it.
#[inline]
pub fn mix(number: u64) -> u64 {
    let n = (number ^ (number >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

impl Nodes {
    pub fn new(budget: &Arc<Budget>) -> Option<Nodes> {
        let most = (budget.limit() / 8).min(1 << NODE_BITS).max(CHUNK);
        Some(Nodes {
            table: Table::new(budget, GROWTH)?,
            pairs: Mapping::new(usize::try_from(most * 8).ok()?)?,
            given: AtomicU64::new(0),
            budget: budget.clone(),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.given.load(Ordering::Relaxed) * 8
    }

    #[inline]
    fn at(&self, number: u64) -> &AtomicU64 {
        debug_assert!(number * 8 < self.pairs.len() as u64);
        // SAFETY: numbers are given out below the mapping's length, which is
        // page-aligned, zeroed, and only used as atomic words.
        unsafe { &*self.pairs.start().cast::<AtomicU64>().add(number as usize) }
    }

    #[inline]
    pub fn pair(&self, number: u32) -> u64 {
        // Relaxed: a number is known only from an entry that was read with
        // Acquire, or from a state that was.
        self.at(number as u64).load(Ordering::Relaxed)
    }

    /// The number of a pair.
    #[inline]
    pub fn number(&self, pair: u64, mine: &mut Numbers, guard: &Guard) -> Result<u32, Full> {
        let hash = mix(pair);
        let place = (hash >> (64 - RECENT_BITS)) as usize;
        let (met, number) = mine.recent[place];
        if met == pair && number != 0 {
            return Ok(number);
        }
        let number = self.look_up(pair, hash, mine, guard)?;
        mine.recent[place] = (pair, number);
        Ok(number)
    }

    fn look_up(
        &self,
        pair: u64,
        hash: u64,
        mine: &mut Numbers,
        guard: &Guard,
    ) -> Result<u32, Full> {
        let is = |entry: u64| self.pair(Placed::place(entry) as u32) == pair;
        let make = || {
            if mine.next == mine.end {
                (mine.next, mine.end) = self.take()?;
            }
            // Relaxed: published with the entry.
            self.at(mine.next).store(pair, Ordering::Relaxed);
            Some(tag(hash) << PLACE_BITS | mine.next)
        };
        match self.table.insert(hash, is, make, guard) {
            Inserted::New(entry) => {
                mine.next += 1;
                Ok(Placed::place(entry) as u32)
            }
            Inserted::Found(entry) => Ok(Placed::place(entry) as u32),
            Inserted::NoRoom => Err(Full),
        }
    }

    /// A chunk of numbers, from and to.
    #[cold]
    fn take(&self) -> Option<(u64, u64)> {
        if !self.budget.take(CHUNK * 8) {
            return None;
        }
        let from = self.given.fetch_add(CHUNK, Ordering::Relaxed);
        let fits = (from + CHUNK) * 8 <= self.pairs.len() as u64;
        fits.then_some((from.max(1), from + CHUNK))
    }
}
