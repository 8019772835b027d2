//! Records of states, one behind the other, in one mapping that all threads
//! share. A thread takes a chunk at a time and fills it alone.
//!
//! Record: place of the parent's record and length in one word, then the
//! state. A record is written once, before its place is known to others.

use super::Full;
use super::table::PLACE_BITS;
use crate::blocks::{damaged, read_number, write_number};
use crate::bytes::copy;
use crate::files::Trouble;
use crate::memory::{Budget, Mapping, prefetch};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A place counts units of so many bytes.
const UNIT: usize = 4;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
const HEAD: usize = 8;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Where the first record is: place 0 stands for none.
const FIRST: u64 = 8;
/// The length of a state has the bits that the parent's place leaves.
const MAX_LEN: usize = 1 << (64 - PLACE_BITS);
const LARGEST_CHUNK: u64 = 2 << 20;
const SMALLEST_CHUNK: u64 = 16 << 10;
/// Of records that are given up soon: memory that is not needed is much then.
const PASSING_CHUNK: u64 = 128 << 10;
/// Memory is provided for a part of what was given out, and of the limit.
const AHEAD: u64 = 8;
const MOST_AHEAD: u64 = 64;
/// From so much on memory is provided before it is written: to ask for it page
/// by page takes longer.
const WORTH_PROVIDING: u64 = 2 << 20;
/// Records may be read in steps of so many bytes, beyond their end.
const SLACK: usize = 64;

/// Bytes from one record to the next.
const fn size(len: usize) -> u64 {
    ((HEAD + len + UNIT - 1) & !(UNIT - 1)) as u64
}

/// Where a record is. 0 is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(pub u64);

pub struct Records {
    map: Mapping,
    chunk: u64,
    /// Bytes given out, and those of them that were given back.
    given: AtomicU64,
    released: AtomicU64,
    /// Bytes provided before they were given out.
    provided: AtomicU64,
    /// Chunks that threads have left before they were full.
    left: Mutex<Vec<Chunk>>,
    budget: Arc<Budget>,
}

/// A thread's own piece of the records.
#[derive(Debug)]
pub struct Chunk {
    at: u64,
    end: u64,
}

impl Chunk {
    pub const NONE: Chunk = Chunk { at: 0, end: 0 };
}

impl Records {
    /// `passing` if they are given up after some states.
    pub fn new(budget: &Arc<Budget>, passing: bool) -> Option<Records> {
        let most = if passing { PASSING_CHUNK } else { LARGEST_CHUNK };
        let chunk = (budget.limit() / 64).clamp(SMALLEST_CHUNK, most) & !4095;
        Records::with_chunk(chunk, budget)
    }

    fn with_chunk(chunk: u64, budget: &Arc<Budget>) -> Option<Records> {
        let most = (UNIT as u64) << PLACE_BITS;
        let mut bytes = (budget.limit().min(most) + 2 * chunk) & !4095;
        // A system that refuses so much address space gives less.
        let map = loop {
            match usize::try_from(bytes).ok().and_then(Mapping::growing) {
                Some(map) => break map,
                None if bytes <= chunk => return None,
                None => bytes /= 2,
            }
        };
        Some(Records {
            map,
            chunk,
            given: AtomicU64::new(0),
            released: AtomicU64::new(0),
            provided: AtomicU64::new(0),
            left: Mutex::default(),
            budget: budget.clone(),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Writes a record at the thread's chunk, which is not moved on: until
    /// `keep` is called the next record takes its place. `None` if memory is full.
    #[inline]
    pub fn write(&self, chunk: &mut Chunk, state: &[u8], parent: Place) -> Option<Place> {
        if state.len() >= MAX_LEN {
            return None;
        }
        self.reserve(chunk, state.len())?;
        let head = parent.0 | (state.len() as u64) << PLACE_BITS;
        // SAFETY: the chunk lies in the mapping and belongs to this thread; no
        // other thread reads it before it is told the place.
        unsafe {
            let at = self.map.start().add(chunk.at as usize);
            at.cast::<u64>().write_unaligned(head);
            copy(state, std::slice::from_raw_parts_mut(at.add(HEAD), state.len()));
        }
        Some(Place(chunk.at / UNIT as u64))
    }

    /// Makes sure that there is memory for the record of a state of this length.
    #[inline]
    pub fn reserve(&self, chunk: &mut Chunk, len: usize) -> Option<()> {
        let size = (HEAD + len) as u64;
        if chunk.end - chunk.at < size {
            *chunk = self.take(size)?;
        }
        Some(())
    }

    /// Keeps the record just written, of a state of this length.
    #[inline]
    pub fn keep(chunk: &mut Chunk, len: usize) {
        chunk.at += size(len);
    }

    /// Takes back the record just written, all of it: whatever is written there
    /// next may be shorter, and `chunks` must find nothing behind it.
    #[inline]
    pub fn drop_written(&self, chunk: &Chunk) {
        let written = HEAD + self.state(Place(chunk.at / UNIT as u64)).len();
        // SAFETY: as in `write`, which has written so many bytes here.
        unsafe { self.map.start().add(chunk.at as usize).write_bytes(0, written) }
    }

    /// The places of all records, chunk by chunk. Nobody may write meanwhile.
    pub fn chunks(&self) -> impl Iterator<Item = Vec<Place>> {
        let mut at = FIRST;
        (0..self.n_chunks()).map(move |number| {
            let end = (number + 1) * self.chunk;
            at = at.max(number * self.chunk);
            let mut places = Vec::new();
            // A record that ends in a later chunk has that to itself.
            while at + HEAD as u64 <= end {
                let place = Place(at / UNIT as u64);
                let len = (self.head(place) >> PLACE_BITS) as usize;
                if len == 0 {
                    break;
                }
                places.push(place);
                at += size(len);
            }
            places
        })
    }

    /// Gives back the memory of a chunk: its records are no more.
    pub fn release(&self, number: usize) {
        self.map.release(number * self.chunk as usize, self.chunk as usize);
        self.budget.give(self.chunk);
        self.released.fetch_add(self.chunk, Ordering::Relaxed);
    }

    /// A thread writes no more: others may fill its chunk.
    pub fn leave(&self, chunk: Chunk) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
    }

    #[cold]
    fn take(&self, size: u64) -> Option<Chunk> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(chunk) = left.filter(|chunk| chunk.end - chunk.at >= size) {
            return Some(chunk);
        }
        let size = size.next_multiple_of(self.chunk);
        if !self.budget.take(size) {
            return None;
        }
        let at = self.given.fetch_add(size, Ordering::Relaxed);
        let end = at + size;
        if end + SLACK as u64 > self.map.len() as u64 {
            self.given.fetch_sub(size, Ordering::Relaxed);
            self.budget.give(size);
            return None;
        }
        // Relaxed: as in `provide`.
        if at >= WORTH_PROVIDING && self.provided.load(Ordering::Relaxed) < end {
            self.map.provide(at as usize, size as usize);
        }
        Some(Chunk { at: at.max(FIRST), end })
    }

    /// Provides a chunk that will be given out soon; false if there are enough,
    /// or if the system does not know how.
    pub fn provide(&self) -> bool {
        // Relaxed: whatever the order, a page may be provided twice or not at all.
        let given = self.given.load(Ordering::Relaxed);
        let from = self.provided.load(Ordering::Relaxed).max(given);
        let ahead = (given / AHEAD)
            .max(self.chunk)
            .min(self.budget.limit() / MOST_AHEAD)
            .min(self.budget.left());
        if given < WORTH_PROVIDING || from + self.chunk > given + ahead {
            return false;
        }
        self.provided.store(from + self.chunk, Ordering::Relaxed);
        self.map.provide(from as usize, self.chunk as usize)
    }

    #[inline]
    pub fn at(&self, place: Place) -> *const u8 {
        // Places come from `write`, so they lie in the mapping.
        self.map.start().wrapping_add(place.0 as usize * UNIT)
    }

    /// Asks for the record of a state of this length.
    #[inline]
    pub fn prefetch(&self, place: Place, len: usize) {
        let at = self.at(place);
        prefetch(at);
        // Often the same cache line, but to find out takes longer. The rest of
        // a long one is fetched by the machine, as it is read in order.
        prefetch(at.wrapping_add((HEAD + len - 1).min(LINE)));
    }

    /// Asks for the first bytes of a record.
    #[inline]
    pub fn prefetch_first(&self, place: Place) {
        prefetch(self.at(place));
    }

    #[inline]
    pub fn state(&self, place: Place) -> &[u8] {
        // SAFETY: a place is known only after its record was written, and a
        // record never changes.
        unsafe {
            let at = self.at(place);
            let len = at.cast::<u64>().read_unaligned() >> PLACE_BITS;
            std::slice::from_raw_parts(at.add(HEAD), len as usize)
        }
    }

    /// The first eight bytes of a state that has so many.
    #[inline]
    pub fn word(&self, place: Place) -> u64 {
        debug_assert!(self.state(place).len() >= size_of::<u64>());
        // SAFETY: as in `state`; behind any record there are `SLACK` bytes.
        unsafe { u64::from_le(self.at(place).add(HEAD).cast::<u64>().read_unaligned()) }
    }

    /// Changes all words. Nobody else may use them.
    pub fn change_words(&mut self, mut change: impl FnMut(u64) -> u64) {
        for place in self.chunks().flatten() {
            let word = change(self.word(place));
            // SAFETY: as in `word`; `&mut self` is the only user.
            unsafe {
                self.at(place).add(HEAD).cast_mut().cast::<u64>().write_unaligned(word.to_le())
            }
        }
    }

    pub fn parent(&self, place: Place) -> Place {
        Place(self.head(place) & PLACE_MASK)
    }

    fn head(&self, place: Place) -> u64 {
        debug_assert!(place.0 as usize * UNIT + HEAD <= self.map.len());
        // SAFETY: the head lies in the mapping: that of a record as it was
        // written there, others as `chunks` looks at no more than these.
        unsafe { self.at(place).cast::<u64>().read_unaligned() }
    }

    fn n_chunks(&self) -> u64 {
        self.bytes().min(self.map.len() as u64) / self.chunk
    }

    /// Writes all chunks as they are, so that places stay what they are.
    /// Nobody may write records meanwhile.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        write_number(to, self.chunk)?;
        write_number(to, self.n_chunks())?;
        let len = (self.n_chunks() * self.chunk) as usize;
        // SAFETY: so many bytes lie in the mapping, and nobody writes to them.
        to.write_all(unsafe { std::slice::from_raw_parts(self.map.start(), len) })
    }

    /// Reads what `save` has written.
    pub fn load(from: &mut dyn Read, budget: &Arc<Budget>) -> Result<Records, Trouble> {
        let (chunk, n_chunks) = (read_number(from)?, read_number(from)?);
        if !(SMALLEST_CHUNK..=LARGEST_CHUNK).contains(&chunk) || !chunk.is_multiple_of(4096) {
            return Err(damaged().into());
        }
        let records = Records::with_chunk(chunk, budget).ok_or(Full)?;
        let bytes = n_chunks.checked_mul(chunk).ok_or_else(damaged)?;
        if bytes.saturating_add(SLACK as u64) > records.map.len() as u64 || !budget.take(bytes) {
            return Err(Trouble::Full);
        }
        records.given.store(bytes, Ordering::Relaxed);
        // SAFETY: so many bytes lie in the mapping, and nobody else knows of it.
        let to = unsafe { std::slice::from_raw_parts_mut(records.map.start(), bytes as usize) };
        from.read_exact(to)?;
        let whole = |place: Place| {
            let end = place.0 * UNIT as u64 + HEAD as u64 + (records.head(place) >> PLACE_BITS);
            end <= bytes && records.parent(place).0 * (UNIT as u64) < bytes
        };
        if !records.chunks().flatten().all(whole) {
            return Err(damaged().into());
        }
        Ok(records)
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.budget.give(*self.given.get_mut() - *self.released.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_taken_back_leaves_nothing_behind_a_shorter_one() {
        let records = Records::new(&Arc::new(Budget::new(1 << 20)), false).expect("room");
        let mut chunk = Chunk::NONE;
        records.write(&mut chunk, &[7; 100], Place(0)).expect("room");
        records.drop_written(&chunk);
        let kept = records.write(&mut chunk, &[5; 10], Place(0)).expect("room");
        Records::keep(&mut chunk, 10);
        assert_eq!(records.chunks().flatten().collect::<Vec<_>>(), [kept]);
    }
}
