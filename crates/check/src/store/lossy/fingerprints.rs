//! Fingerprints of 64 bits in a table that grows: what a bitstate search begins
//! with if its states cannot be packed. As long as there are few states they
//! take less memory than the pages of a large arena that their bits are spread
//! over, and no state is lost but by an accident that nobody lives to see. When
//! there are many, their bits are set in the arena, and the table is given up.
//! (The idea, to make the best of the memory at each number of states, is that of
//! P. Dillinger and P. Manolios: Fast, all-purpose state storage. SPIN 2009.)
//!
//! Invariant: the first half of a fingerprint tells all of it (`Keys::narrow`).

use super::{Bitstate, Filter, Marked};
use crate::bytes::{Fingerprint, Keys};
use crate::memory::Budget;
use crate::store::exact::GROWTH;
use crate::store::table::{Inserted, Position, Rest, Sight, Table};
use crossbeam_epoch::Guard;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, scope};

/// Bits of an arena that is worth waiting for.
const LARGE: u64 = 1 << 27;
/// With fewer bits of the arena for each state, these are set.
const BITS_A_STATE: u64 = 512;
/// The same while states are packed, which take as much memory in a table.
const BITS_A_PACKED_STATE: u64 = 192;
/// What else the search needs may take this part of an arena.
const ROOM: u64 = 2;

pub struct Fingerprints {
    table: Table<Rest>,
    /// Where the bits will be; not written yet.
    arena: Bitstate,
    /// Threads that search.
    threads: usize,
}

impl Fingerprints {
    /// Whether a search with such an arena begins with fingerprints.
    pub fn are_worth_it(bits: u64, budget: &Budget) -> bool {
        let bytes = bits / 8;
        bits >= LARGE && budget.left() >= bytes.saturating_add(bytes / ROOM)
    }

    /// `None` if there is no memory.
    pub fn before(arena: Bitstate, threads: usize, budget: &Arc<Budget>) -> Option<Fingerprints> {
        Some(Fingerprints { table: Table::new(budget, GROWTH)?, arena, threads })
    }

    /// States up to which the arena has no bits.
    pub fn most(&self) -> u64 {
        self.arena.bits() / BITS_A_STATE
    }

    /// The same while they are packed instead.
    pub fn most_packed(&self) -> u64 {
        self.arena.bits() / BITS_A_PACKED_STATE
    }

    /// Provides memory of the arena if there will soon be too many states; whether there
    /// may be more to do.
    pub fn provide_for(&self, n_states: u64, most: u64) -> bool {
        n_states >= most / 8 * 7 && self.arena.provide()
    }

    pub fn arena(&self) -> &Bitstate {
        &self.arena
    }

    /// The arena with the bits of all states, and how many bits that are.
    pub fn pour(self, keys: Keys) -> (Bitstate, u64) {
        let Fingerprints { table, arena, threads, .. } = self;
        let widen = |hash| keys.widen(hash);
        let set = set_all(&arena, threads, table.hashes().map(|hashes| hashes.map(widen)));
        drop(table);
        (arena, set)
    }

    /// The same with states that were kept in another way instead.
    pub fn pour_others<I: Iterator<Item = Fingerprint>>(
        self,
        parts: impl Iterator<Item = I> + Send,
    ) -> (Bitstate, u64) {
        let Fingerprints { arena, threads, .. } = self;
        let set = set_all(&arena, threads, parts);
        (arena, set)
    }
}

/// Sets the bits of states by so many threads; how many were not set.
fn set_all<I: Iterator<Item = Fingerprint>>(
    arena: &Bitstate,
    threads: usize,
    parts: impl Iterator<Item = I> + Send,
) -> u64 {
    let (parts, set) = (Mutex::new(parts), AtomicU64::new(0));
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let help = || {
        // Memory that is read first would be provided twice.
        while arena.provide() {}
        let mut its = 0;
        while let Some(prints) = next() {
            its += arena.mark_all(prints, threads == 1);
        }
        // Relaxed: a sum that is read when all threads are done.
        set.fetch_add(its, Ordering::Relaxed);
    };
    scope(|scope| {
        for _ in 1..threads {
            // Those there are do it all.
            let _ = Builder::new().spawn_scoped(scope, help);
        }
        help();
    });
    set.into_inner()
}

impl Filter for Fingerprints {
    const LOSES: bool = false;

    type Place = Position;

    const LOOKS: bool = true;

    #[inline(always)]
    fn approach(&self, state: Fingerprint, guard: &Guard) -> Position {
        self.table.approach(state.0, guard)
    }

    #[inline(always)]
    fn look<S: Sight>(&self, from: Position, state: Fingerprint) -> (bool, Position) {
        self.table.look::<S>(from, state.0, Rest::of(state.0))
    }

    #[inline(always)]
    fn mark(
        &self,
        at: Position,
        Fingerprint(hash, _): Fingerprint,
        _set: &mut u64,
        guard: &Guard,
    ) -> Marked {
        match self.table.insert_looked(at, hash, Rest::of(hash), guard) {
            Inserted::New(_) => Marked::New,
            Inserted::Found(_) => Marked::Seen,
            Inserted::NoRoom => Marked::NoRoom,
        }
    }

    fn contains(&self, Fingerprint(hash, _): Fingerprint) -> bool {
        let entry = Rest::of(hash);
        self.table.find(hash, |there| there == entry, &crossbeam_epoch::pin())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn provide(&self) -> bool {
        self.table.provide() || self.provide_for(self.table.about(), self.most())
    }
}
