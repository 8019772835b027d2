//! A lock-free hash table of 64-bit entries that only grows: the index of all
//! exact stores.
//!
//! The table is cut into shards by the highest bits of a hash; the next bits,
//! the tag, give the place in the shard, from where slots are tried one after
//! the other. Shards grow one at a time, each when it is full: its entries are
//! moved to the same shard of a larger *generation*, a mapping that holds all
//! shards of one size. Threads that meet a shard on the move help, so none
//! waits for another, and the search goes on everywhere else.
//!
//! Moving (after Click's table, simpler as entries never change or go): each
//! slot of the old shard is frozen by setting a bit, so nothing can be added
//! to it any more; then its entry is put into the new shard. Putting an entry
//! twice is harmless. Who has moved all slots switches the shard over.
//!
//! Invariant: an entry that was inserted is found by every later insert, in
//! the old shard until all of it is moved, in the new one after that. A search
//! that ends at a frozen free slot does not know, and goes to the new shard.

use crate::memory::{Budget, Mapping, prefetch};
use crossbeam_epoch::Guard;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

const SHARD_BITS: u32 = 10;
pub const SHARDS: usize = 1 << SHARD_BITS;
pub const TAG_BITS: u32 = 26;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
/// Set in slots of a shard that is being moved.
const FROZEN: u64 = 1 << 63;
const EMPTY: u64 = 0;
/// Slots of a shard at first: one cache line and a half of room.
const FIRST_SLOTS: u64 = 16;
const GENERATIONS: usize = 64;
/// Slots that `peek` looks at.
const PEEK_SLOTS: usize = 8;

/// What the table must know of its entries. An entry is not 0 and has bit 63
/// clear.
pub trait Entry {
    /// The tag that was in the hash the entry was inserted with.
    fn tag(entry: u64) -> u64;
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
    /// A full shard grows to so many quarters of its size.
    pub quarters: u64,
    /// A shard with more entries than so many of 16 slots is full.
    pub full: u64,
}

pub struct Table<E> {
    /// The generation each shard is in.
    shards: Box<[AtomicU8]>,
    /// Entries of each shard.
    counts: Box<[AtomicU32]>,
    generations: Box<[AtomicPtr<Generation>]>,
    /// Slots of a shard in each generation.
    sizes: Box<[u64]>,
    full: u64,
    budget: Arc<Budget>,
    entry: PhantomData<E>,
}

/// All shards of one size.
struct Generation {
    map: Mapping,
    /// Shards that have not been moved on.
    left: AtomicU32,
    budget: Arc<Budget>,
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.budget.give(self.map.len() as u64);
    }
}

/// Stands for a generation that all shards have left.
const GONE: *mut Generation = std::ptr::without_provenance_mut(1);

/// Where a search in a shard ends.
enum Probe {
    Found(u64),
    Free(usize),
    /// At a frozen free slot.
    Moving,
    Full,
}

enum Room {
    Enough,
    /// The shard is in a larger generation now.
    Moved,
    None,
}

/// One shard at one time.
#[derive(Clone, Copy)]
struct Shard<'t> {
    slots: &'t [AtomicU64],
    generation: usize,
    number: usize,
}

impl<E: Entry> Table<E> {
    /// `None` if not even a small table fits.
    pub fn new(budget: &Arc<Budget>, growth: Growth) -> Option<Table<E>> {
        let mut size = FIRST_SLOTS;
        let sizes = (0..GENERATIONS).map(|_| {
            let this = size;
            size = (size * growth.quarters / 4).min(1 << 40);
            this
        });
        let table = Table {
            shards: (0..SHARDS).map(|_| AtomicU8::new(0)).collect(),
            counts: (0..SHARDS).map(|_| AtomicU32::new(0)).collect(),
            generations: (0..GENERATIONS).map(|_| AtomicPtr::default()).collect(),
            sizes: sizes.collect(),
            full: growth.full,
            budget: budget.clone(),
            entry: PhantomData,
        };
        table.generation(0).map(|_| ()).map(|()| table)
    }

    /// Asks for the first slots that a hash leads to.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if let Some(shard) = self.shard(hash) {
            prefetch((&raw const shard.slots[shard.first(tag(hash))]).cast());
        }
    }

    /// The first entry with the tag of this hash, if it is near.
    #[inline]
    pub fn peek(&self, hash: u64, _guard: &Guard) -> Option<u64> {
        let shard = self.shard(hash)?;
        let tag = tag(hash);
        let mut at = shard.first(tag);
        for _ in 0..PEEK_SLOTS {
            // Relaxed: what the entry points to is only asked for, not read.
            let entry = shard.slots[at].load(Ordering::Relaxed) & !FROZEN;
            if entry == EMPTY {
                return None;
            }
            if E::tag(entry) == tag {
                return Some(entry);
            }
            at = shard.next(at);
        }
        None
    }

    /// Finds the entry that is the `same`, or inserts the one that `make`
    /// gives. `make` may be called again after a lost race, and then must give
    /// an entry that means the same.
    #[inline]
    pub fn insert(
        &self,
        hash: u64,
        mut same: impl FnMut(u64) -> bool,
        mut make: impl FnMut() -> Option<u64>,
        guard: &Guard,
    ) -> Inserted {
        let tag = tag(hash);
        loop {
            let Some(shard) = self.shard(hash) else { continue };
            let free = match self.probe(shard, tag, &mut same) {
                Probe::Found(entry) => return Inserted::Found(entry),
                Probe::Moving => {
                    self.move_on(shard, guard);
                    continue;
                }
                Probe::Free(at) => Some(at),
                Probe::Full => None,
            };
            match self.room(shard, guard) {
                Room::Moved => continue,
                Room::None => return Inserted::NoRoom,
                Room::Enough => {}
            }
            let Some(at) = free else { return Inserted::NoRoom };
            let Some(new) = make() else { return Inserted::NoRoom };
            debug_assert!(new != EMPTY && new & FROZEN == 0 && E::tag(new) == tag);
            // Release: what the entry points to is seen with it. After a lost
            // race the search starts over, as the winner may be the same.
            if shard.slots[at]
                .compare_exchange(EMPTY, new, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                self.counts[shard.number].fetch_add(1, Ordering::Relaxed);
                return Inserted::New(new);
            }
        }
    }

    /// Whether the state is there; other threads may be inserting it just now.
    pub fn find(&self, hash: u64, mut same: impl FnMut(u64) -> bool, guard: &Guard) -> bool {
        loop {
            let Some(shard) = self.shard(hash) else { continue };
            match self.probe(shard, tag(hash), &mut same) {
                Probe::Found(_) => return true,
                Probe::Moving => self.move_on(shard, guard),
                Probe::Free(_) | Probe::Full => return false,
            }
        }
    }

    #[inline]
    fn probe(&self, shard: Shard, tag: u64, same: &mut impl FnMut(u64) -> bool) -> Probe {
        let first = shard.first(tag);
        let mut at = first;
        loop {
            // Acquire: what an entry points to was written before the entry.
            let entry = shard.slots[at].load(Ordering::Acquire);
            if entry == EMPTY {
                return Probe::Free(at);
            }
            if entry == FROZEN {
                return Probe::Moving;
            }
            let entry = entry & !FROZEN;
            if E::tag(entry) == tag && same(entry) {
                return Probe::Found(entry);
            }
            at = shard.next(at);
            if at == first {
                return Probe::Full;
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        let bytes = |g: usize| {
            let place = self.generations[g].load(Ordering::Relaxed);
            if place.is_null() || place == GONE { 0 } else { self.generation_bytes(g) }
        };
        (0..GENERATIONS).map(bytes).sum()
    }

    fn generation_bytes(&self, generation: usize) -> u64 {
        self.sizes[generation] * SHARDS as u64 * 8
    }

    /// The shard of a hash; `None` if it has just been moved on: try again.
    #[inline]
    fn shard(&self, hash: u64) -> Option<Shard<'_>> {
        let number = (hash >> (64 - SHARD_BITS)) as usize;
        // Acquire: the shard was filled before it was switched over.
        let generation = self.shards[number].load(Ordering::Acquire) as usize;
        let base = self.generations[generation].load(Ordering::Acquire);
        if base == GONE {
            return None;
        }
        // SAFETY: the generation of a shard was made before the shard went
        // there. A generation is freed when every thread that could have seen
        // it has unpinned its epoch, and all callers but `prefetch`, which
        // reads no slot, hold a guard.
        let map = unsafe { &(*base).map };
        Some(self.shard_in(map, generation, number))
    }

    #[inline]
    fn shard_in<'t>(&self, map: &'t Mapping, generation: usize, number: usize) -> Shard<'t> {
        let size = self.sizes[generation] as usize;
        let first = map.start().cast::<AtomicU64>();
        // SAFETY: the mapping has SHARDS * size zeroed words, page-aligned, and
        // is only used as such.
        let slots = unsafe { std::slice::from_raw_parts(first.add(number * size), size) };
        Shard { slots, generation, number }
    }

    /// Makes room in a shard that is full.
    #[inline]
    fn room(&self, shard: Shard, guard: &Guard) -> Room {
        let count = self.counts[shard.number].load(Ordering::Relaxed) as u64 + 1;
        if count * 16 <= shard.slots.len() as u64 * self.full {
            return Room::Enough;
        }
        self.grow(shard, count, guard)
    }

    #[cold]
    fn grow(&self, shard: Shard, count: u64, guard: &Guard) -> Room {
        if self.generation(shard.generation + 1).is_some() {
            self.move_on(shard, guard);
            return Room::Moved;
        }
        // No memory, or all shards have gone further already. Without memory
        // the shard is filled, all but some slots that keep searches short.
        if self.has_moved(shard) {
            Room::Moved
        } else if count * 16 <= shard.slots.len() as u64 * 15 {
            Room::Enough
        } else {
            Room::None
        }
    }

    fn has_moved(&self, shard: Shard) -> bool {
        self.shards[shard.number].load(Ordering::Acquire) as usize != shard.generation
    }

    /// The generation, made if need be; `None` if there is no memory for it,
    /// or if it has been and gone.
    fn generation(&self, number: usize) -> Option<&Generation> {
        let place = self.generations.get(number)?;
        let there = place.load(Ordering::Acquire);
        if !there.is_null() {
            // SAFETY: callers hold a guard (see `shard`).
            return (there != GONE).then(|| unsafe { &*there });
        }
        let bytes = self.generation_bytes(number);
        if !self.budget.take(bytes) {
            return None;
        }
        let Some(map) = usize::try_from(bytes).ok().and_then(Mapping::new) else {
            self.budget.give(bytes);
            return None;
        };
        let left = AtomicU32::new(SHARDS as u32);
        let made = Box::into_raw(Box::new(Generation { map, left, budget: self.budget.clone() }));
        // Release: others see what it holds. Who comes second takes the first's.
        match place.compare_exchange(
            std::ptr::null_mut(),
            made,
            Ordering::Release,
            Ordering::Acquire,
        ) {
            // SAFETY: just made, and now shared.
            Ok(_) => Some(unsafe { &*made }),
            Err(first) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: callers hold a guard (see `shard`).
                (first != GONE).then(|| unsafe { &*first })
            }
        }
    }

    /// Moves all entries of a shard to the next generation.
    #[cold]
    fn move_on(&self, shard: Shard, guard: &Guard) {
        if self.has_moved(shard) {
            return;
        }
        let Some(next) = self.generation(shard.generation + 1) else { return };
        let new = self.shard_in(&next.map, shard.generation + 1, shard.number);
        for slot in shard.slots {
            // AcqRel: the entry's record is seen, and the entry is where it was
            // for all who find the slot frozen.
            let entry = slot.fetch_or(FROZEN, Ordering::AcqRel) & !FROZEN;
            if entry != EMPTY {
                new.put(entry, E::tag(entry));
            }
        }
        let (from, to) = (shard.generation as u8, shard.generation as u8 + 1);
        // Release: the new shard is complete. Only one thread switches it over.
        let switched = self.shards[shard.number].compare_exchange(
            from,
            to,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if switched.is_ok() {
            self.leave(shard.generation, guard);
        }
    }

    /// One shard fewer is in this generation; the last one frees it.
    fn leave(&self, generation: usize, guard: &Guard) {
        let place = &self.generations[generation];
        let there = place.load(Ordering::Acquire);
        // SAFETY: it is freed below, once, when the last shard leaves, and this
        // shard is the last or another has yet to leave.
        let left = unsafe { &(*there).left };
        // AcqRel: all uses by those who left come before the end.
        if left.fetch_sub(1, Ordering::AcqRel) == 1 {
            place.store(GONE, Ordering::Release);
            let there = there as usize;
            // SAFETY: no new reference can be had, and old ones end with their
            // guards; then the box is dropped once.
            unsafe {
                guard.defer_unchecked(move || drop(Box::from_raw(there as *mut Generation)));
            }
            guard.flush();
        }
    }
}

impl Shard<'_> {
    #[inline]
    fn first(&self, tag: u64) -> usize {
        ((tag * self.slots.len() as u64) >> TAG_BITS) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Puts in an entry that is moved, unless another thread has.
    fn put(&self, entry: u64, tag: u64) {
        let mut at = self.first(tag);
        loop {
            let mut found = self.slots[at].load(Ordering::Acquire);
            if found == EMPTY {
                // Release: the record behind the entry is seen with it.
                match self.slots[at].compare_exchange(
                    EMPTY,
                    entry,
                    Ordering::Release,
                    Ordering::Acquire,
                ) {
                    Ok(_) => return,
                    Err(winner) => found = winner,
                }
            }
            // Met frozen, this shard is complete and has the entry further on.
            if found & !FROZEN == entry {
                return;
            }
            at = self.next(at);
        }
    }
}

impl<E> Drop for Table<E> {
    fn drop(&mut self) {
        for place in &self.generations {
            let there = place.load(Ordering::Acquire);
            if !there.is_null() && there != GONE {
                // SAFETY: made by `Box::into_raw`, and `&mut self` is the last user.
                drop(unsafe { Box::from_raw(there) });
            }
        }
    }
}
