//! How a table grows: shard by shard, while all threads go on.

use super::shard::{Generation, Shard};
use super::{EMPTY, Entry, FROZEN, SHARDS, Table};
use crossbeam_epoch::Guard;
use std::sync::atomic::{AtomicU64, Ordering};

const LARGEST_PIECE: u64 = 2 << 20;
pub(super) const SMALLEST_PIECE: u64 = 16 << 10;

#[derive(PartialEq, Eq)]
pub(super) enum Room {
    Enough,
    /// The shard is in a larger generation now.
    Moved,
    None,
}

impl<E: Entry> Table<E> {
    /// Makes room in a shard that is full.
    #[inline]
    pub(super) fn room(&self, shard: &Shard, guard: &Guard) -> Room {
        let count = self.count_of(shard).load(Ordering::Relaxed);
        if count < shard.most {
            return Room::Enough;
        }
        self.grow(shard, count as u64 + 1, guard)
    }

    #[cold]
    pub(super) fn grow(&self, shard: &Shard, count: u64, guard: &Guard) -> Room {
        if self.move_on(shard, guard) {
            Room::Moved
        } else if count * 16 <= shard.len * 15 {
            // No memory: the shard is filled, all but some slots that keep
            // searches short.
            Room::Enough
        } else {
            Room::None
        }
    }

    fn has_moved(&self, shard: &Shard) -> bool {
        !std::ptr::eq(self.shards[shard.number as usize].load(Ordering::Acquire), shard)
    }

    /// Bytes that are given back at once, a power of two: of a huge page, or
    /// less if memory is short.
    fn piece(&self) -> usize {
        1 << (self.budget.limit() / 64).clamp(SMALLEST_PIECE, LARGEST_PIECE).ilog2()
    }

    /// The generation, made if need be; `None` if there is no address space.
    pub(super) fn generation(&self, number: usize) -> Option<&Generation> {
        let place = self.generations.get(number)?;
        let there = place.load(Ordering::Acquire);
        if !there.is_null() {
            // SAFETY: generations are freed with the table.
            return Some(unsafe { &*there });
        }
        let made = Box::into_raw(Box::new(Generation::new(number, self.growth, self.piece())?));
        // Release: others see what it holds. Who comes second takes the first's.
        let first = place.compare_exchange(
            std::ptr::null_mut(),
            made,
            Ordering::Release,
            Ordering::Acquire,
        );
        let Err(first) = first else {
            // SAFETY: just made, and freed with the table.
            return Some(unsafe { &*made });
        };
        // SAFETY: nobody else has seen it.
        drop(unsafe { Box::from_raw(made) });
        // SAFETY: as above.
        Some(unsafe { &*first })
    }

    /// Moves all entries of a shard to the next generation; false if there is
    /// no memory for it.
    #[cold]
    pub(super) fn move_on(&self, shard: &Shard, guard: &Guard) -> bool {
        if self.has_moved(shard) {
            return true;
        }
        let Some(next) = self.generation(shard.generation + 1) else { return false };
        let new = &next.shards[shard.number as usize];
        if next.take(new, &self.budget).is_none() {
            return self.has_moved(shard);
        }
        // Nobody waits for another thread: what others have begun and not
        // finished is moved once more.
        while let Some(part) = shard.begin_part().or_else(|| shard.unmoved_part()) {
            move_slots::<E>(shard.part(part), new);
            shard.end_part(part);
        }
        // Release: the new shard is complete. Only one thread switches it over.
        let switched = self.shards[shard.number as usize].compare_exchange(
            (&raw const *shard).cast_mut(),
            (&raw const *new).cast_mut(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if switched.is_ok() {
            self.leave(shard, guard);
        }
        true
    }

    /// Gives back the memory of a shard that has moved on, as soon as nobody
    /// can be reading it.
    fn leave(&self, shard: &Shard, guard: &Guard) {
        let Some(generation) = self.generation(shard.generation) else { return };
        let free = generation.leave(shard);
        if free.is_empty() {
            return;
        }
        free.iter().for_each(|bytes| self.budget.give(bytes.len() as u64));
        let (map, budget) = (generation.map.clone(), self.budget.clone());
        // What is kept takes memory, which is not to be had where it is taken by the
        // small piece.
        let keeps = self.growth.pieces == 1;
        // Nobody finds the shard any more, and those who have it hold guards.
        guard.defer(move || {
            free.into_iter().for_each(|bytes| match keeps {
                true => budget.keep(map.clone(), bytes),
                false => map.release(bytes.start, bytes.len()),
            });
        });
        guard.flush();
    }

    /// Provides memory for shards that will be moved on soon: the smaller ones
    /// come first. False if there is enough for now.
    pub fn provide(&self) -> bool {
        let Some([last, new]) = self.made().collect::<Vec<_>>().last_chunk().copied() else {
            return false;
        };
        // Relaxed: whatever the order, memory is provided twice or not at all.
        let moved = SHARDS - last.left.load(Ordering::Relaxed) as usize;
        let Some(shard) = new.shards.get((moved + self.growth.ahead).min(SHARDS - 1)) else {
            return false;
        };
        new.take(shard, &self.budget).is_some_and(|n_taken| n_taken > 0)
    }
}

/// Freezes slots that are free, and puts the entries of the others into the new
/// shard.
fn move_slots<E: Entry>(slots: &[AtomicU64], new: &Shard) {
    for slot in slots {
        // Acquire: what the entry stands for is seen before it is passed
        // on. An entry never changes, so only free slots must be frozen.
        let mut entry = slot.load(Ordering::Acquire);
        if entry == EMPTY {
            let frozen = slot.compare_exchange(EMPTY, FROZEN, Ordering::AcqRel, Ordering::Acquire);
            entry = frozen.err().unwrap_or(FROZEN);
        }
        if entry != FROZEN {
            new.put(entry, E::tag(entry));
        }
    }
}
