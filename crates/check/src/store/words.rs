//! Dictionaries of short rows of words: each different row has a number.
//!
//! Invariant: a row has one number, whoever asks for it, and a number stands
//! for its row for ever. Number 0 stands for none.

use super::Full;
use super::table::{
    Growth, Inserted, PLACE_BITS, Placed, Position, Sight, Table, by_sight, mix, tag,
};
use crate::blocks::{damaged, read_number, write_number};
use crate::files::Trouble;
use crate::memory::{Budget, Mapping, prefetch};
use crossbeam_epoch::Guard;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers have so many bits, so that two fit in an entry of the roots' table.
pub const NUMBER_BITS: u32 = 30;
/// Numbers that a thread takes at once.
const CHUNK: u64 = 256;
const GROWTH: Growth = Growth { quick: 0, eighths: 12, full: 58, pieces: 256, ahead: 16 };

pub struct Words<const K: usize> {
    table: Table<Placed>,
    rows: Mapping,
    given: AtomicU64,
    budget: Arc<Budget>,
}

/// What a thread keeps of a dictionary: numbers not yet used, the rows it met
/// last, and those whose numbers it has asked for.
pub struct Desk<const K: usize> {
    next: u64,
    end: u64,
    recent: Vec<([u64; K], u32)>,
    asked: Vec<Asked<K>>,
    positions: Vec<Position>,
}

struct Asked<const K: usize> {
    row: [u64; K],
    hash: u64,
    mark: u32,
}

const RECENT_BITS: u32 = 11;

impl<const K: usize> Default for Desk<K> {
    fn default() -> Desk<K> {
        let (recent, asked, positions) = (Vec::new(), Vec::new(), Vec::new());
        Desk { next: 0, end: 0, recent, asked, positions }
    }
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
            rows: Mapping::growing(usize::try_from(most * row).ok()?)?,
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

    /// Asks for a row that `row` will read.
    #[inline(always)]
    pub fn prefetch(&self, number: u32) {
        prefetch(self.at(number as u64).cast());
    }

    /// The number of a row if it was met not long ago; else `resolve` tells it,
    /// with the mark, when memory has had time to arrive.
    #[inline(always)]
    pub fn ask(&self, row: &[u64; K], mark: u32, desk: &mut Desk<K>) -> Option<u32> {
        let hash = hash(row);
        if let Some((met, number)) = desk.recent.get((hash >> (64 - RECENT_BITS)) as usize)
            && same(met, row)
            && *number != 0
        {
            return Some(*number);
        }
        self.table.prefetch(hash);
        desk.asked.push(Asked { row: *row, hash, mark });
        None
    }

    /// Tells the numbers of all rows that were asked for.
    #[inline(always)]
    pub fn resolve(
        &self,
        desk: &mut Desk<K>,
        guard: &Guard,
        mut tell: impl FnMut(u32, u32),
    ) -> Result<(), Full> {
        if desk.asked.is_empty() {
            return Ok(());
        }
        desk.recent.resize(1 << RECENT_BITS, ([0; K], 0));
        by_sight!(S => self.seek::<S>(desk, guard));
        let mut asked = std::mem::take(&mut desk.asked);
        let mut result = Ok(());
        for (i, asked) in asked.iter().enumerate() {
            match self.number(asked, desk.positions[i], desk, guard) {
                Ok(number) => tell(asked.mark, number),
                Err(Full) => result = Err(Full),
            }
        }
        asked.clear();
        desk.asked = asked;
        result
    }

    /// Looks for the tags of all rows that were asked for, and asks for what has them.
    #[inline(always)]
    fn seek<S: Sight>(&self, desk: &mut Desk<K>, guard: &Guard) {
        desk.positions.clear();
        desk.positions.extend(desk.asked.iter().map(|asked| {
            let position = self.table.seek::<S>(self.table.first(asked.hash, guard), asked.hash);
            let position = position.unwrap_or_else(|| self.table.seek_beyond(asked.hash));
            self.prefetch(Placed::place(position.entry().unwrap_or(0)) as u32);
            position
        }));
    }

    #[inline(always)]
    fn number(
        &self,
        asked: &Asked<K>,
        position: Position,
        desk: &mut Desk<K>,
        guard: &Guard,
    ) -> Result<u32, Full> {
        let is = |entry: u64| same(&self.row(Placed::place(entry) as u32), &asked.row);
        let make = || {
            if desk.next == desk.end {
                (desk.next, desk.end) = self.take()?;
            }
            // SAFETY: the number is this thread's own, and nobody else reads
            // its row before it is published with the entry.
            unsafe { *self.at(desk.next) = asked.row };
            Some(tag(asked.hash) << PLACE_BITS | desk.next)
        };
        let number = match self.table.insert_at(position, asked.hash, is, make, guard) {
            Inserted::New(entry) => {
                desk.next += 1;
                Placed::place(entry) as u32
            }
            Inserted::Found(entry) => Placed::place(entry) as u32,
            Inserted::NoRoom => return Err(Full),
        };
        desk.recent[(asked.hash >> (64 - RECENT_BITS)) as usize] = (asked.row, number);
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

    /// Writes each number with its row. Nobody may be asking for numbers.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        // Not the rows one after the other: some numbers were never used.
        let room = self.rows.len() as u64 / (K as u64 * 8);
        write_number(to, self.given.load(Ordering::Relaxed).min(room))?;
        write_number(to, self.table.entries().count() as u64)?;
        for entry in self.table.entries() {
            let number = Placed::place(entry);
            write_number(to, number)?;
            self.row(number as u32).iter().try_for_each(|word| write_number(to, *word))?;
        }
        Ok(())
    }

    /// Reads what `save` has written.
    pub fn load(from: &mut dyn Read, budget: &Arc<Budget>) -> Result<Words<K>, Trouble> {
        let words = Words::<K>::new(budget).ok_or(Full)?;
        let (given, n_rows) = (read_number(from)?, read_number(from)?);
        let bytes = given.checked_mul(K as u64 * 8).ok_or_else(damaged)?;
        if bytes > words.rows.len() as u64 || !budget.take(bytes) {
            return Err(Trouble::Full);
        }
        words.given.store(given, Ordering::Relaxed);
        let guard = &mut crossbeam_epoch::pin();
        for i in 0..n_rows {
            if i % 1024 == 0 {
                guard.repin();
            }
            let number = read_number(from)?;
            let mut row = [0; K];
            for word in &mut row {
                *word = read_number(from)?;
            }
            if number == 0 || number >= given {
                return Err(damaged().into());
            }
            // SAFETY: the row lies in the mapping, as its number is below
            // `given`, and nobody else knows of this dictionary.
            unsafe { *words.at(number) = row };
            let hash = hash(&row);
            let entry = tag(hash) << PLACE_BITS | number;
            if words.table.insert_value(hash, entry, guard) == Inserted::NoRoom {
                return Err(Trouble::Full);
            }
        }
        Ok(words)
    }
}
