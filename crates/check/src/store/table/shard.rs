//! Shards and generations: the memory of a table.

use super::growth::SMALLEST_PIECE;
use super::{COUNTED, EMPTY, Growth, SAMPLED, SHARDS, TAG_BITS};
use crate::memory::{Budget, Mapping};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Slots of the smallest shard at first.
const FIRST_SLOTS: u64 = 16;
/// Slots in a page: memory is given back by the page.
const PAGE_SLOTS: u64 = 512;
/// Slots in a cache line. A shard has two lines at least.
pub(super) const LINE_SLOTS: usize = 8;
/// Parts of a shard, at most: a bit for each.
const MOST_PARTS: usize = u64::BITS as usize;
/// Shards of fewer slots at least double, and begin anywhere in a page.
pub(super) const SMALL: u64 = 4 * PAGE_SLOTS;

/// Memory for all shards, some larger than others. It stays in place as long
/// as the table, and is taken from the budget, provided and given back by the
/// piece: the system is asked seldom, as all threads wait for it.
pub(super) struct Generation {
    pub map: Arc<Mapping>,
    pub shards: Box<[Shard]>,
    /// Shards that have not been moved on.
    pub left: AtomicU32,
    pieces: Box<[Piece]>,
    /// Bytes of a piece.
    piece: usize,
}

#[derive(Default)]
struct Piece {
    /// Shards that have a part in it and have not been moved on.
    users: AtomicU32,
    /// Locked while pages that were kept move there.
    memory: Mutex<Memory>,
}

/// What is known of a piece's memory.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Memory {
    #[default]
    Untaken,
    /// It is taken from the budget.
    Taken,
    /// Nobody will need it again, but somebody may be reading it still.
    Left,
}

impl Piece {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One shard in one generation.
pub(super) struct Shard {
    pub slots: *const AtomicU64,
    pub len: u64,
    /// It is full with so many entries.
    pub most: u32,
    /// One slot of so many is counted for all of them, as threads would wait for each
    /// other's counts.
    share: u32,
    pub generation: usize,
    pub number: u8,
    /// Parts that threads have begun to move on, in order, and a bit for each
    /// that is moved.
    begun: AtomicU32,
    moved: AtomicU64,
}

// SAFETY: the pointer leads into a mapping that lives as long as the table,
// and what is there are atomics.
unsafe impl Send for Shard {}
// SAFETY: as above.
unsafe impl Sync for Shard {}

/// Of how many slots of a shard of this length one is counted; a power of two.
fn share(len: u64) -> u32 {
    if len < COUNTED { 1 } else { 1 << (len / SAMPLED).max(LINE_SLOTS as u64).ilog2().min(31) }
}

impl Generation {
    /// A piece of memory has at most `piece` bytes, a power of two.
    pub fn new(number: usize, growth: Growth, piece: usize) -> Option<Generation> {
        let (from, to) = (smallest(number, growth), smallest(number + 1, growth));
        let size = |shard: u64| {
            let size = from + (to - from) * shard / SHARDS as u64;
            size.next_multiple_of(if from < SMALL { LINE_SLOTS as u64 } else { PAGE_SLOTS })
        };
        let slots: u64 = (0..SHARDS as u64).map(size).sum();
        let bytes = usize::try_from(slots.checked_mul(8)?).ok()?;
        let piece = piece.min(1 << (bytes / growth.pieces).max(SMALLEST_PIECE as usize).ilog2());
        let map = Arc::new(Mapping::in_pieces(bytes, piece)?);
        let mut at = map.start().cast_const().cast::<AtomicU64>();
        let shards = (0..SHARDS).map(|i| {
            let len = size(i as u64);
            let slots = at;
            at = at.wrapping_add(len as usize);
            let most = u32::try_from(len * growth.full / 64).unwrap_or(u32::MAX);
            let (begun, moved) = (AtomicU32::new(0), AtomicU64::new(0));
            Shard {
                slots,
                len,
                most,
                share: share(len),
                generation: number,
                number: i as u8,
                begun,
                moved,
            }
        });
        let shards = shards.collect();
        let mut generation = Generation {
            pieces: (0..map.len().div_ceil(piece)).map(|_| Piece::default()).collect(),
            map,
            shards,
            left: AtomicU32::new(SHARDS as u32),
            piece,
        };
        for shard in &generation.shards {
            for piece in generation.pieces_of(shard) {
                *generation.pieces[piece].users.get_mut() += 1;
            }
        }
        Some(generation)
    }

    /// The pieces that a shard has a part in.
    fn pieces_of(&self, shard: &Shard) -> Range<usize> {
        let start = shard.slots as usize - self.map.start() as usize;
        start / self.piece..(start + shard.bytes() as usize).div_ceil(self.piece)
    }

    fn bytes_of(&self, pieces: Range<usize>) -> Range<usize> {
        pieces.start * self.piece..(pieces.end * self.piece).min(self.map.len())
    }

    /// Takes the memory of a shard, as far as nobody has, and has the system
    /// provide it; `None` if there is not enough, else how many pieces it were.
    /// A page that is read before it is written is provided twice, and the
    /// second time all threads have to wait.
    pub fn take(&self, shard: &Shard, budget: &Budget) -> Option<usize> {
        let mut n_taken = 0;
        for number in self.pieces_of(shard) {
            let mut memory = self.pieces[number].lock();
            if *memory == Memory::Untaken {
                let rest = budget.take_pages(&self.map, self.bytes_of(number..number + 1))?;
                *memory = Memory::Taken;
                drop(memory);
                self.map.provide(rest.start, rest.len());
                n_taken += 1;
            }
        }
        Some(n_taken)
    }

    /// What is taken from the budget.
    pub fn taken(&self) -> Vec<Range<usize>> {
        let is_taken = |number: &usize| *self.pieces[*number].lock() == Memory::Taken;
        self.runs((0..self.pieces.len()).filter(is_taken))
    }

    /// The bytes of pieces, in order, side by side where they are.
    fn runs(&self, pieces: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let pieces: Vec<usize> = pieces.collect();
        let runs = pieces.chunk_by(|piece, next| piece + 1 == *next);
        runs.map(|run| self.bytes_of(run[0]..run[run.len() - 1] + 1)).collect()
    }

    /// A shard is moved on: returns what was taken and no shard needs any more.
    pub fn leave(&self, shard: &Shard) -> Vec<Range<usize>> {
        // Relaxed: for people, and for guesses.
        self.left.fetch_sub(1, Ordering::Relaxed);
        // AcqRel: all uses by those who left come before the end.
        let is_last = |piece: &Piece| piece.users.fetch_sub(1, Ordering::AcqRel) == 1;
        let leave = |piece: &Piece| std::mem::replace(&mut *piece.lock(), Memory::Left);
        let is_free = |number: &usize| {
            let piece = &self.pieces[*number];
            is_last(piece) && leave(piece) == Memory::Taken
        };
        self.runs(self.pieces_of(shard).filter(is_free))
    }
}

/// Slots of the smallest shard of a generation.
fn smallest(generation: usize, growth: Growth) -> u64 {
    let next = |size: u64| match size {
        _ if size < growth.quick => size * 4,
        _ if size < SMALL => size * 2,
        _ => size / 8 * growth.eighths,
    };
    (0..generation).fold(FIRST_SLOTS, |size, _| next(size).min(1 << 40))
}

/// The generation that no shard has left, and all have come to, with so many entries.
pub(super) fn first_generation(n_entries: u64, growth: Growth) -> usize {
    let each = n_entries / SHARDS as u64;
    let is_left = |number: &usize| smallest(number + 1, growth) * growth.full / 64 < each;
    (0..).take_while(is_left).count()
}

/// The place behind another in the same line, for slots of this size.
#[inline(always)]
pub(super) fn next_in_line(at: usize, size: usize) -> usize {
    let line = LINE_SLOTS * size;
    at & !(line - 1) | (at + size) & (line - 1)
}

impl Shard {
    pub fn bytes(&self) -> u64 {
        self.len * 8
    }

    #[inline]
    pub fn slots(&self) -> &[AtomicU64] {
        // SAFETY: so many zeroed words of the generation's mapping belong to
        // the shard, and are only used as atomics.
        unsafe { std::slice::from_raw_parts(self.slots, self.len as usize) }
    }

    #[inline(always)]
    pub fn slot(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at < self.len as usize);
        // SAFETY: `at` comes from `first` or `next`, which stay below the length.
        unsafe { self.slots().get_unchecked(at) }
    }

    /// The slot where searches for a tag begin.
    #[inline(always)]
    pub fn first(&self, tag: u64) -> usize {
        ((tag * self.len) >> TAG_BITS) as usize
    }

    /// The slot behind another in the search for a tag that began at `first`:
    /// around the line, then in the second line, then in those behind it. Behind
    /// the last one comes `first` again.
    #[inline(always)]
    pub fn next(&self, at: usize, first: usize, tag: u64) -> usize {
        let next = next_in_line(at, 1);
        if next % LINE_SLOTS != first % LINE_SLOTS { next } else { self.next_line(at, first, tag) }
    }

    fn next_line(&self, at: usize, first: usize, tag: u64) -> usize {
        let (line, home) = (at / LINE_SLOTS, first / LINE_SLOTS);
        let second = self.second_line(tag, home);
        let mut next = second;
        if line != home {
            next = self.line_behind(line);
            if next == home {
                next = self.line_behind(home);
            }
            if next == second {
                return first;
            }
        }
        next * LINE_SLOTS + first % LINE_SLOTS
    }

    /// Where the search for a tag goes on that has not ended in its first line:
    /// anywhere else, so that full lines do not fill their neighbours.
    fn second_line(&self, tag: u64, home: usize) -> usize {
        let mixed = (tag + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let line = ((mixed * (self.len / LINE_SLOTS as u64)) >> 32) as usize;
        if line == home { self.line_behind(home) } else { line }
    }

    fn line_behind(&self, line: usize) -> usize {
        if (line + 1) * LINE_SLOTS < self.len as usize { line + 1 } else { 0 }
    }

    /// The slot where the search for a tag goes on beyond its first line.
    pub fn second(&self, tag: u64) -> usize {
        let first = self.first(tag);
        self.next_line(first, first, tag)
    }

    /// How many entries one in this slot stands for.
    #[inline(always)]
    pub fn share_of(&self, slot: *const AtomicU64) -> u32 {
        let number = (slot.addr() / size_of::<AtomicU64>()) as u32;
        if number & (self.share - 1) == 0 { self.share } else { 0 }
    }

    /// Slots of a part, in which it is moved on: all have as many but the last.
    fn part_len(&self) -> usize {
        (self.len as usize).div_ceil(MOST_PARTS).next_multiple_of(LINE_SLOTS)
    }

    fn n_parts(&self) -> usize {
        (self.len as usize).div_ceil(self.part_len())
    }

    pub fn part(&self, number: usize) -> &[AtomicU64] {
        let start = number * self.part_len();
        &self.slots()[start..(start + self.part_len()).min(self.len as usize)]
    }

    /// A part that no thread has begun to move.
    pub fn begin_part(&self) -> Option<usize> {
        // Relaxed: whose part it is, no more.
        let next = |begun: u32| ((begun as usize) < self.n_parts()).then_some(begun + 1);
        let begun = self.begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        begun.ok().map(|part| part as usize)
    }

    /// A part that is not moved yet.
    pub fn unmoved_part(&self) -> Option<usize> {
        // Acquire: who finds that all are moved sees all entries where they are.
        let part = self.moved.load(Ordering::Acquire).trailing_ones() as usize;
        (part < self.n_parts()).then_some(part)
    }

    pub fn end_part(&self, part: usize) {
        // Release: its entries were put in before.
        self.moved.fetch_or(1 << part, Ordering::Release);
    }

    /// Puts in an entry that is moved, unless another thread has.
    pub fn put(&self, entry: u64, tag: u64) {
        let first = self.first(tag);
        let mut at = first;
        loop {
            let mut found = self.slot(at).load(Ordering::Acquire);
            if found == EMPTY {
                // Release: the record behind the entry is seen with it.
                match self.slot(at).compare_exchange(
                    EMPTY,
                    entry,
                    Ordering::Release,
                    Ordering::Acquire,
                ) {
                    Ok(_) => return,
                    Err(winner) => found = winner,
                }
            }
            // In a shard that is complete, perhaps moving on, the entry comes
            // before any free slot.
            if found == entry {
                return;
            }
            at = self.next(at, first, tag);
        }
    }
}
