//! Dictionaries of short rows of words: each different row has a number.
//!
//! Invariant: a row has one number, whoever asks for it, and a number stands
//! for its row for ever. Number 0 stands for none.

use super::Full;
use super::table::{Growth, Inserted, PLACE_BITS, Placed, Table, tag};
use crate::memory::{Budget, Mapping};
use crossbeam_epoch::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers have so many bits, so that two fit in an entry of the roots' table.
pub const NUMBER_BITS: u32 = 30;
/// Numbers that a thread takes at once.
const CHUNK: u64 = 256;
const GROWTH: Growth = Growth { eighths: 12, full: 13 };

pub struct Words<const K: usize> {
    table: Table<Placed>,
    rows: Mapping,
    given: AtomicU64,
    budget: Arc<Budget>,
}

/// What a thread keeps of a dictionary: numbers not yet used, and the rows it
/// met last.
pub struct Recent<const K: usize> {
    next: u64,
    end: u64,
    rows: Vec<([u64; K], u32)>,
}

const RECENT_BITS: u32 = 11;

impl<const K: usize> Default for Recent<K> {
    fn default() -> Recent<K> {
        Recent { next: 0, end: 0, rows: Vec::new() }
    }
}

/// Spreads the bits of a number over all of it.
#[inline(always)]
pub fn mix(number: u64) -> u64 {
    let n = (number ^ (number >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Whether two rows are equal, word by word: wide loads of words that were
/// just stored one by one would have to wait.
#[inline(always)]
pub fn same<const K: usize>(a: &[u64; K], b: &[u64; K]) -> bool {
    a.iter().zip(b).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

#[inline(always)]
fn hash<const K: usize>(row: &[u64; K]) -> u64 {
    let mut hash = 0;
    for word in row {
        let product = (word ^ hash ^ 0x2D35_8DCC_AA6C_78A5) as u128 * 0x8BB8_4B93_962E_ACC9;
        hash = product as u64 ^ (product >> 64) as u64;
    }
    mix(hash)
}

impl<const K: usize> Words<K> {
    pub fn new(budget: &Arc<Budget>) -> Option<Words<K>> {
        let row = K as u64 * 8;
        let most = (budget.limit() / row).clamp(CHUNK, 1 << NUMBER_BITS);
        Some(Words {
            table: Table::new(budget, GROWTH)?,
            rows: Mapping::new(usize::try_from(most * row).ok()?)?,
            given: AtomicU64::new(0),
            budget: budget.clone(),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.given.load(Ordering::Relaxed) * K as u64 * 8
    }

    #[inline(always)]
    fn at(&self, number: u64) -> *mut [u64; K] {
        debug_assert!(number * (K as u64) * 8 < self.rows.len() as u64);
        self.rows.start().cast::<[u64; K]>().wrapping_add(number as usize)
    }

    #[inline(always)]
    pub fn row(&self, number: u32) -> [u64; K] {
        // SAFETY: a number is known only after its row was written: from an
        // entry of the table, or from a state that holds it; and a row never
        // changes.
        unsafe { *self.at(number as u64) }
    }

    /// The number of a row.
    #[inline(always)]
    pub fn number(
        &self,
        row: &[u64; K],
        recent: &mut Recent<K>,
        guard: &Guard,
    ) -> Result<u32, Full> {
        let hash = hash(row);
        let place = (hash >> (64 - RECENT_BITS)) as usize;
        if let Some((met, number)) = recent.rows.get(place)
            && same(met, row)
            && *number != 0
        {
            return Ok(*number);
        }
        self.look_up(row, hash, recent, guard)
    }

    fn look_up(
        &self,
        row: &[u64; K],
        hash: u64,
        recent: &mut Recent<K>,
        guard: &Guard,
    ) -> Result<u32, Full> {
        let is = |entry: u64| same(&self.row(Placed::place(entry) as u32), row);
        let make = || {
            if recent.next == recent.end {
                (recent.next, recent.end) = self.take()?;
            }
            // SAFETY: the number is this thread's own, and nobody else reads
            // its row before it is published with the entry.
            unsafe { *self.at(recent.next) = *row };
            Some(tag(hash) << PLACE_BITS | recent.next)
        };
        let number = match self.table.insert(hash, is, make, guard) {
            Inserted::New(entry) => {
                recent.next += 1;
                Placed::place(entry) as u32
            }
            Inserted::Found(entry) => Placed::place(entry) as u32,
            Inserted::NoRoom => return Err(Full),
        };
        recent.rows.resize(1 << RECENT_BITS, ([0; K], 0));
        recent.rows[(hash >> (64 - RECENT_BITS)) as usize] = (*row, number);
        Ok(number)
    }

    /// A chunk of numbers, from and to.
    #[cold]
    fn take(&self) -> Option<(u64, u64)> {
        if !self.budget.take(CHUNK * K as u64 * 8) {
            return None;
        }
        let from = self.given.fetch_add(CHUNK, Ordering::Relaxed);
        let fits = (from + CHUNK) * K as u64 * 8 <= self.rows.len() as u64;
        fits.then_some((from.max(1), from + CHUNK))
    }
}
