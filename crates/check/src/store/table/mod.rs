//! A lock-free hash table of 64-bit entries that only grows: the index of all
//! exact stores.
//!
//! The table is cut into shards by the highest bits of a hash; the next bits,
//! the tag, give the place in the shard, from where slots are tried one after
//! the other: first those of the same cache line, all around, then those of a
//! second one, anywhere, then those behind it. Shards grow one at a time, each
//! when it is full: its entries are moved to the same shard of the next
//! *generation*, and its old memory is given back. Threads that meet a shard on
//! the move help, each with another part of it, so none waits for another, and
//! the search goes on everywhere else; but while memory that was used before
//! is put where a shard will be (`memory/spare.rs`), who needs it waits. The
//! shards of a generation differ in size, so that they do not all grow at the
//! same time: the table takes more memory by and by, never twice of what it
//! needs.
//!
//! Moving (after Click's table, simpler as entries never change or go): each
//! free slot of the old shard is frozen, so nothing can be added to it any
//! more; each entry is put into the new shard. Putting an entry
//! twice is harmless. Who has moved all slots switches the shard over
//! (`models/self/table.pml`).
//!
//! Invariant: an entry that was inserted is found by every later insert, in
//! the old shard until all of it is moved, in the new one after that. A search
//! that ends at a frozen free slot does not know, and goes to the new shard.

mod growth;
mod line;
mod shard;

pub(crate) use line::by_sight;
#[cfg(target_arch = "x86_64")]
pub use line::{Avx2, Avx512};
pub use line::{Each, Sight};

use super::Full;
use crate::blocks::{damaged, read_number, write_number};
use crate::files::Trouble;
use crate::memory::{Budget, prefetch_to_write};
use crossbeam_epoch::Guard;
use growth::Room;
use shard::{Generation, LINE_SLOTS, Shard, first_generation, next_in_line};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

const SHARD_BITS: u32 = 8;
const SHARDS: usize = 1 << SHARD_BITS;
const TAG_BITS: u32 = 26;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
/// In free slots of a shard that is being moved. No entry looks so.
const FROZEN: u64 = 1 << 63;
const EMPTY: u64 = 0;
/// In shards of fewer slots all entries are counted; in larger ones those in one of
/// eight slots, or fewer if that leaves so many slots.
const COUNTED: u64 = 2048;
const SAMPLED: u64 = 512;
const GENERATIONS: usize = 128;
/// Where memory is short shards grow by little: before one of `Growth::quick`
/// slots grows, the table takes a 32nd of the memory, and after that a fifth of
/// it at most.
const QUICK_SHARE: u64 = 32 * SHARDS as u64 * 8;

/// What the table must know of its entries. An entry is not 0 and has bit 63
/// clear.
pub trait Entry {
    /// The tag that was in the hash the entry was inserted with.
    fn tag(entry: u64) -> u64;
}

/// An entry of tag and place: where what it stands for is kept.
pub struct Placed;

pub const PLACE_BITS: u32 = 63 - TAG_BITS;

impl Placed {
    #[inline]
    pub fn place(entry: u64) -> u64 {
        entry & ((1 << PLACE_BITS) - 1)
    }
}

impl Entry for Placed {
    #[inline]
    fn tag(entry: u64) -> u64 {
        entry >> PLACE_BITS
    }
}

/// An entry that is all of a hash that its shard does not tell.
pub struct Rest;

const REST_BITS: u32 = 64 - SHARD_BITS;

impl Rest {
    #[inline]
    pub fn of(hash: u64) -> u64 {
        // Never 0.
        hash & ((1 << REST_BITS) - 1) | 1 << REST_BITS
    }
}

impl Entry for Rest {
    #[inline]
    fn tag(entry: u64) -> u64 {
        (entry >> (REST_BITS - TAG_BITS)) & TAG_MASK
    }
}

/// An entry that is all there is of what it stands for.
pub struct Whole;

impl Entry for Whole {
    #[inline]
    fn tag(entry: u64) -> u64 {
        tag(mix(entry))
    }
}

/// Spreads the bits of a number over all of it.
#[inline(always)]
pub fn mix(number: u64) -> u64 {
    let n = (number ^ (number >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The tag in a hash.
pub fn tag(hash: u64) -> u64 {
    (hash >> (64 - SHARD_BITS - TAG_BITS)) & TAG_MASK
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    New(u64),
    Found(u64),
    NoRoom,
}

/// How a table trades memory for speed.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// A full shard of fewer slots grows to four times its size: entries are
    /// moved less often.
    pub quick: u64,
    /// Any other one grows to so many eighths of its size.
    pub eighths: u64,
    /// A shard with more entries than so many of 64 slots is full.
    pub full: u64,
    /// Memory is taken by pieces of a generation, at least so many: fewer are
    /// faster, and take more memory while shards move.
    pub pieces: usize,
    /// So many shards have their memory provided before they are moved on.
    pub ahead: usize,
}

pub struct Table<E> {
    /// What each shard is now.
    shards: Box<[AtomicPtr<Shard>; SHARDS]>,
    /// Entries of each shard, about.
    counts: Box<[AtomicU32; SHARDS]>,
    generations: Box<[AtomicPtr<Generation>]>,
    growth: Growth,
    budget: Arc<Budget>,
    entry: PhantomData<E>,
}

/// Where a search begins, or has ended: an entry with the right tag, or a free
/// slot.
#[derive(Clone, Copy)]
pub struct Position {
    slot: *const AtomicU64,
    /// What was in it; frozen if that is not known.
    value: u64,
}

impl Position {
    /// The entry, if there is one.
    #[inline(always)]
    pub fn entry(self) -> Option<u64> {
        (self.value & !FROZEN != EMPTY).then_some(self.value)
    }

    /// The slot as it is now. The guard must be the one of `approach`.
    #[inline(always)]
    pub fn again(self) -> Position {
        // SAFETY: a search has begun or ended at the slot, in a mapping that lives as long
        // as the table. Acquire: what an entry points to was written before the entry.
        let value = unsafe { (*self.slot).load(Ordering::Acquire) };
        Position { value, ..self }
    }

    #[inline(always)]
    pub fn is_free(self) -> bool {
        self.value == EMPTY
    }
}

/// A free slot in which an entry can be put, and how many entries it counts for.
pub struct Vacancy<'t> {
    slot: *const AtomicU64,
    shard: &'t Shard,
    share: u32,
}

/// A slot in a search that goes on from one to the next.
#[derive(Clone, Copy)]
struct Spot<'t> {
    shard: &'t Shard,
    at: usize,
    value: u64,
}

/// In the place of a value: there is no slot that is free. No entry looks so.
const FULL: u64 = u64::MAX;

/// What became of a new entry.
enum Put {
    Done(u64),
    /// The slot is taken.
    Lost,
    Moved,
    NoRoom,
}

impl<E: Entry> Table<E> {
    /// `None` if not even a small table fits.
    pub fn new(budget: &Arc<Budget>, growth: Growth) -> Option<Table<E>> {
        Table::for_entries(0, budget, growth)
    }

    /// The same for so many entries, which will be put in at once: it begins where it
    /// would come to.
    pub fn for_entries(n: u64, budget: &Arc<Budget>, mut growth: Growth) -> Option<Table<E>> {
        growth.quick = growth.quick.min(budget.limit() / QUICK_SHARE);
        let table = Table {
            shards: Box::new([const { AtomicPtr::new(std::ptr::null_mut()) }; SHARDS]),
            counts: Box::new([const { AtomicU32::new(0) }; SHARDS]),
            generations: (0..GENERATIONS).map(|_| AtomicPtr::default()).collect(),
            growth,
            budget: budget.clone(),
            entry: PhantomData,
        };
        let first = table.generation(first_generation(n, growth))?;
        for (place, shard) in table.shards.iter().zip(&first.shards) {
            first.take(shard, budget)?;
            place.store((&raw const *shard).cast_mut(), Ordering::Release);
        }
        Some(table)
    }

    /// Asks for the first slots that a hash leads to.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        let shard = self.shard(hash);
        prefetch_to_write((&raw const *shard.slot(shard.first(tag(hash)))).cast());
    }

    /// The same, to begin a search there with `seek` and the same guard.
    #[inline(always)]
    pub fn approach(&self, hash: u64, guard: &Guard) -> Position {
        let position = self.first(hash, guard);
        prefetch_to_write(position.slot.cast());
        position
    }

    /// Where a search begins.
    #[inline(always)]
    pub fn first(&self, hash: u64, _guard: &Guard) -> Position {
        let shard = self.shard(hash);
        Position { slot: shard.slot(shard.first(tag(hash))), value: FROZEN }
    }

    /// Asks for the slots that a search goes on with beyond the first line.
    pub fn prefetch_second(&self, hash: u64) {
        let shard = self.shard(hash);
        prefetch_to_write((&raw const *shard.slot(shard.second(tag(hash)))).cast());
    }

    /// Looks for the tag of a hash beyond the first line, and there once more: the
    /// shard may have moved on since.
    pub fn seek_beyond(&self, hash: u64) -> Position {
        let Spot { shard, at, value } = self.seek_first(hash);
        // If no slot is free, as if it were frozen, so that `insert_at` has a
        // close look.
        let value = if value == FULL { FROZEN } else { value };
        Position { slot: shard.slot(at), value }
    }

    /// Whether an entry for this hash can be put where `seek` has ended without a close
    /// look. Where none is counted there is no need for one.
    #[inline(always)]
    pub fn vacancy(&self, Position { slot, value }: Position, hash: u64) -> Option<Vacancy<'_>> {
        let shard = self.shard(hash);
        let share = shard.share_of(slot);
        let has_room = || share == 0 || self.count_of(shard).load(Ordering::Relaxed) < shard.most;
        (value == EMPTY && has_room()).then_some(Vacancy { slot, shard, share })
    }

    /// Puts an entry there, if the slot is still free. The guard must be that of `seek`.
    #[inline(always)]
    pub fn fill(&self, Vacancy { slot, shard, share }: Vacancy, new: u64) -> bool {
        debug_assert!(new & !FROZEN != EMPTY);
        // SAFETY: `seek` has found it in a mapping that lives as long as the
        // table. If its shard has moved on it is frozen: the memory is not
        // given back before the guard ends.
        let put = self.put(unsafe { &*slot }, new);
        if put && share > 0 {
            self.count(shard, share);
        }
        put
    }

    /// Finds the entry that is the `same`, or inserts the one that `make`
    /// gives, from where `seek` has ended, some time ago perhaps but with the
    /// same guard. `make` may be
    /// called again after a lost race, and then must give an entry that means
    /// the same.
    #[inline(always)]
    pub fn insert_at(
        &self,
        position: Position,
        hash: u64,
        mut same: impl FnMut(u64) -> bool,
        mut make: impl FnMut() -> Option<u64>,
        guard: &Guard,
    ) -> Inserted {
        if let Some(entry) = position.entry() {
            if same(entry) {
                return Inserted::Found(entry);
            }
        } else if let Some(vacancy) = self.vacancy(position, hash) {
            let Some(new) = make() else { return Inserted::NoRoom };
            if self.fill(vacancy, new) {
                return Inserted::New(new);
            }
        }
        self.insert(hash, same, make, guard)
    }

    /// Finds the entry that is the `same`, or inserts the one that `make` gives.
    #[inline(never)]
    pub fn insert(
        &self,
        hash: u64,
        mut same: impl FnMut(u64) -> bool,
        mut make: impl FnMut() -> Option<u64>,
        guard: &Guard,
    ) -> Inserted {
        let mut spot = self.seek_first(hash);
        loop {
            let Spot { shard, at, value } = spot;
            if value == EMPTY {
                match self.put_new(shard, at, &mut make, guard) {
                    Put::Done(entry) => return Inserted::New(entry),
                    Put::NoRoom => return Inserted::NoRoom,
                    Put::Lost => spot = self.seek_from(shard, tag(hash), at),
                    Put::Moved => spot = self.seek_first(hash),
                }
            } else if value == FROZEN {
                self.move_on(shard, guard);
                spot = self.seek_first(hash);
            } else if value == FULL {
                if self.grow(shard, shard.len, guard) != Room::Moved {
                    return Inserted::NoRoom;
                }
                spot = self.seek_first(hash);
            } else if same(value) {
                return Inserted::Found(value);
            } else {
                spot = self.seek_behind(shard, tag(hash), at);
            }
        }
    }

    /// Begins a search slot by slot.
    fn seek_first(&self, hash: u64) -> Spot<'_> {
        let shard = self.shard(hash);
        self.seek_from(shard, tag(hash), shard.first(tag(hash)))
    }

    /// Goes on behind a slot.
    fn seek_behind<'t>(&self, shard: &'t Shard, tag: u64, at: usize) -> Spot<'t> {
        let first = shard.first(tag);
        let next = shard.next(at, first, tag);
        match next == first {
            true => Spot { shard, at, value: FULL },
            false => self.seek_from(shard, tag, next),
        }
    }

    /// Goes on at a slot; all have been looked at when the search comes back to
    /// the first one.
    fn seek_from<'t>(&self, shard: &'t Shard, tag: u64, mut at: usize) -> Spot<'t> {
        let first = shard.first(tag);
        loop {
            // Acquire: as in `Position::again`.
            let value = shard.slot(at).load(Ordering::Acquire);
            if value & !FROZEN == EMPTY || E::tag(value) == tag {
                return Spot { shard, at, value };
            }
            at = shard.next(at, first, tag);
            if at == first {
                return Spot { shard, at, value: FULL };
            }
        }
    }

    /// Looks for an entry that stands for itself in the first line: where it is, or
    /// where it may be put. If that is beyond, asks for the second line.
    #[inline(always)]
    pub fn seek_value(&self, from: Position, hash: u64, value: u64) -> Option<Position> {
        let mut slot = from.slot;
        for _ in 0..LINE_SLOTS {
            // Relaxed: there is nothing behind the entry.
            // SAFETY: as in `look`.
            let there = unsafe { (*slot).load(Ordering::Relaxed) };
            if there == value || there & !FROZEN == EMPTY {
                return Some(Position { slot, value: there });
            }
            slot = slot.map_addr(|at| next_in_line(at, size_of::<AtomicU64>()));
        }
        self.prefetch_second(hash);
        None
    }

    /// The same without a branch for each slot: whether it is there, and if not, where
    /// it may be put in the first line; if nowhere, asks for the second. The position must
    /// be by `approach` with a guard that is still there.
    #[inline(always)]
    pub fn look<S: Sight>(&self, from: Position, hash: u64, value: u64) -> (bool, Position) {
        debug_assert!(S::is_there());
        // SAFETY: the caller's promise: the slot is one of a mapping that lives as long as
        // the table, and its line holds what it held as long as the guard. `by_sight` has
        // asked the machine.
        let (is_there, open) = unsafe { line::look::<S>(from, value) };
        if open.is_none() & !is_there {
            self.prefetch_second(hash);
        }
        (is_there, Position { slot: open.map_or(from.slot, |open| open.slot), value: FROZEN })
    }

    /// Inserts an entry that stands for itself where `look` has not found it. The guard
    /// must be the same.
    #[inline(always)]
    pub fn insert_looked(&self, at: Position, hash: u64, value: u64, guard: &Guard) -> Inserted {
        // It may have been offered twice.
        let at = at.again();
        if at.entry() == Some(value) {
            return Inserted::Found(value);
        }
        if self.vacancy(at, hash).is_some_and(|vacancy| self.fill(vacancy, value)) {
            return Inserted::New(value);
        }
        self.insert_beyond(hash, value, guard)
    }

    #[inline(never)]
    fn insert_beyond(&self, hash: u64, value: u64, guard: &Guard) -> Inserted {
        self.insert_value(hash, value, guard)
    }

    /// Inserts an entry that stands for itself, if that can be done in the first
    /// line; if not, asks for the second one.
    #[inline(always)]
    pub fn insert_near(&self, hash: u64, value: u64, guard: &Guard) -> Option<Inserted> {
        let position = self.seek_value(self.first(hash, guard), hash, value)?;
        if position.entry().is_some() {
            return Some(Inserted::Found(value));
        }
        let is_put = self.vacancy(position, hash).is_some_and(|vacancy| self.fill(vacancy, value));
        is_put.then_some(Inserted::New(value))
    }

    /// Inserts an entry that stands for itself.
    #[inline(always)]
    pub fn insert_value(&self, hash: u64, value: u64, guard: &Guard) -> Inserted {
        loop {
            let (shard, tag) = (self.shard(hash), tag(hash));
            let first = shard.first(tag);
            let mut at = first;
            let slot = loop {
                // Relaxed: there is nothing behind the entry.
                let slot = shard.slot(at).load(Ordering::Relaxed);
                if slot == value {
                    return Inserted::Found(value);
                }
                if slot & !FROZEN == EMPTY {
                    break slot;
                }
                at = shard.next(at, first, tag);
                if at == first {
                    break FULL;
                }
            };
            if slot == EMPTY {
                match self.put_new(shard, at, &mut || Some(value), guard) {
                    Put::Done(_) => return Inserted::New(value),
                    Put::NoRoom => return Inserted::NoRoom,
                    Put::Lost | Put::Moved => {}
                }
            } else if slot == FROZEN {
                self.move_on(shard, guard);
            } else if self.grow(shard, shard.len, guard) != Room::Moved {
                return Inserted::NoRoom;
            }
        }
    }

    /// Puts a new entry into a slot that was free.
    #[inline(always)]
    fn put_new(
        &self,
        shard: &Shard,
        at: usize,
        make: &mut impl FnMut() -> Option<u64>,
        guard: &Guard,
    ) -> Put {
        match self.room(shard, guard) {
            Room::Moved => return Put::Moved,
            Room::None => return Put::NoRoom,
            Room::Enough => {}
        }
        let Some(new) = make() else { return Put::NoRoom };
        debug_assert!(new != EMPTY && new & FROZEN == 0);
        let slot = shard.slot(at);
        if self.put(slot, new) {
            match shard.share_of(slot) {
                0 => {}
                share => self.count(shard, share),
            }
            return Put::Done(new);
        }
        // The winner may be the same.
        Put::Lost
    }

    /// Puts an entry into a slot if it is free.
    #[inline(always)]
    fn put(&self, slot: &AtomicU64, new: u64) -> bool {
        // Release: what the entry points to is seen with it.
        slot.compare_exchange(EMPTY, new, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Counts an entry that was put into a slot that is counted, for all it stands for.
    /// Where several threads count at once some may be lost: then the shard gets
    /// fuller before it grows, if need be until no slot is free.
    #[inline(always)]
    fn count(&self, shard: &Shard, share: u32) {
        let count = self.count_of(shard);
        count.store(count.load(Ordering::Relaxed) + share, Ordering::Relaxed);
    }

    #[inline(always)]
    fn count_of(&self, shard: &Shard) -> &AtomicU32 {
        &self.counts[shard.number as usize]
    }

    /// Whether the state is there; other threads may be inserting it just now.
    pub fn find(&self, hash: u64, mut same: impl FnMut(u64) -> bool, guard: &Guard) -> bool {
        let mut spot = self.seek_first(hash);
        loop {
            let Spot { shard, at, value } = spot;
            if value == EMPTY || value == FULL {
                return false;
            } else if value == FROZEN {
                self.move_on(shard, guard);
                spot = self.seek_first(hash);
            } else if same(value) {
                return true;
            } else {
                spot = self.seek_behind(shard, tag(hash), at);
            }
        }
    }

    /// How many entries there are, about: by several threads rather too few.
    pub fn about(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(count.load(Ordering::Relaxed))).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.made().flat_map(Generation::taken).map(|pieces| pieces.len() as u64).sum()
    }

    fn made(&self) -> impl Iterator<Item = &Generation> {
        let there = self.generations.iter().map(|g| g.load(Ordering::Acquire));
        // A table may have begun with a later one.
        let there = there.skip_while(|g| g.is_null()).take_while(|g| !g.is_null());
        // SAFETY: generations are freed with the table.
        there.map(|g| unsafe { &*g })
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        let number = (hash >> (64 - SHARD_BITS)) as usize;
        // Acquire: the shard was filled before it was switched over.
        // SAFETY: set in `new`, and shards are freed with the table.
        unsafe { &*self.shards[number].load(Ordering::Acquire) }
    }
}

impl<E: Entry> Table<E> {
    /// All entries. Nobody may insert meanwhile. They come in an order in which
    /// they can be inserted again: from first slot to last they would pile up
    /// at the beginning of a table that is still small.
    pub fn entries(&self) -> impl Iterator<Item = u64> {
        self.all_shards().flat_map(|shard| {
            let len = shard.len;
            let stride = stride(len);
            let slots = (0..len).map(move |i| &shard.slots()[(i * stride % len) as usize]);
            slots.filter_map(entry)
        })
    }

    /// The same shard by shard, in no such order.
    pub fn entries_by_shard(&self) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        self.all_shards().map(|shard| shard.slots().iter().filter_map(entry))
    }

    fn all_shards(&self) -> impl Iterator<Item = &Shard> {
        (0..SHARDS as u64).map(|number| self.shard(number << REST_BITS))
    }
}

/// The entry in a slot, if there is one.
fn entry(slot: &AtomicU64) -> Option<u64> {
    // Acquire: what the entry points to is seen with it.
    let entry = slot.load(Ordering::Acquire) & !FROZEN;
    (entry != EMPTY).then_some(entry)
}

impl Table<Placed> {
    /// Looks for the tag of a hash in the first line, without looking at what
    /// entries stand for; `None` if the search goes on with `seek_beyond`, for
    /// which memory is asked for.
    #[inline(always)]
    pub fn seek<S: Sight>(&self, from: Position, hash: u64) -> Option<Position> {
        debug_assert!(S::is_there());
        // SAFETY: `by_sight` has asked the machine. `approach` or `first` has found the
        // first slot in a mapping that lives as long as the table, and shards consist of
        // whole lines; if its shard has moved on since, what it holds stays as long as
        // the guard.
        let position = unsafe { line::seek::<S, PLACE_BITS>(from, tag(hash)) };
        if position.is_none() {
            self.prefetch_second(hash);
        }
        position.map(Position::again)
    }
}

impl Table<Whole> {
    /// Writes all entries. Nobody may insert meanwhile.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        write_number(to, self.entries().count() as u64)?;
        self.entries().try_for_each(|entry| write_number(to, entry))
    }

    /// Reads what `save` has written.
    pub fn load(
        from: &mut dyn Read,
        budget: &Arc<Budget>,
        growth: Growth,
    ) -> Result<Table<Whole>, Trouble> {
        let table = Table::new(budget, growth).ok_or(Full)?;
        let n_entries = read_number(from)?;
        let guard = &mut crossbeam_epoch::pin();
        for i in 0..n_entries {
            if i % 1024 == 0 {
                guard.repin();
            }
            let entry = read_number(from)?;
            if entry & !FROZEN == EMPTY || entry & FROZEN != 0 {
                return Err(damaged().into());
            }
            // None is there twice, so none needs to be compared.
            if table.insert_value(mix(entry), entry, guard) == Inserted::NoRoom {
                return Err(Trouble::Full);
            }
        }
        Ok(table)
    }
}

impl Table<Rest> {
    /// All hashes that were inserted, shard by shard and so nearly in order. Nobody
    /// may insert meanwhile.
    pub fn hashes(&self) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        self.all_shards().map(|shard| {
            let start = u64::from(shard.number) << REST_BITS;
            let rests = shard.slots().iter().filter_map(entry);
            rests.map(move |rest| start | rest & ((1 << REST_BITS) - 1))
        })
    }
}

/// Steps of so many slots come by all of a shard, far from each other.
fn stride(len: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let golden = (len as f64 * 0.618) as u64;
    (golden.max(1)..).find(|stride| gcd(*stride, len) == 1).unwrap_or(1)
}

impl<E> Drop for Table<E> {
    fn drop(&mut self) {
        for place in &self.generations {
            let there = place.load(Ordering::Acquire);
            if !there.is_null() {
                // SAFETY: made by `Box::into_raw`, and `&mut self` is the last user.
                let generation = unsafe { Box::from_raw(there) };
                for pieces in generation.taken() {
                    self.budget.give(pieces.len() as u64);
                    self.budget.keep(generation.map.clone(), pieces);
                }
            }
        }
    }
}
