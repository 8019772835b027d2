//! Lossy stores: they remember less of a state than would tell it from all
//! others, so a new state may be taken for one that was visited, and what is
//! behind it may be missed.
//!
//! A *filter* remembers which states were visited, by their fingerprints. The
//! states themselves are kept only as long as somebody may ask for them: those
//! that wait, and those on the way to them (`Slab`).
//!
//! Guarantee: a state that is called new was never offered before, except that
//! two threads that offer it at the same moment may both be told so.

mod bitstate;
mod collector;
mod compact;
mod fingerprints;
mod near;
#[cfg(test)]
mod real;
mod slab;
#[cfg(test)]
mod tests;

pub use bitstate::{Bitstate, Layout};
use collector::Teller;
pub use collector::{Collect, Collector, Hashes, Wanted};
pub use compact::Compact;
pub use fingerprints::Fingerprints;
pub use near::Marker;

use super::table::{Sight, by_sight};
use super::{Full, MOST_BYTES, PackedStore, States, Store, Token, Writer, fill, keep_missing};
use crate::bytes::{Fingerprint, Keys, fingerprint};
use crate::crc::Crc;
use crate::dice::Dice;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, HEAD, Row, Rows};
pub use slab::Desk as SlabDesk;
use slab::Desk;
pub use slab::Slab;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// In place of what a collector would be told: nobody wants it.
const UNTOLD: u64 = u64::MAX;

/// What became of a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    New,
    Seen,
    /// There is no room for it, and it is to be passed over.
    Dropped,
    /// There is no room for it.
    NoRoom,
}

/// Remembers fingerprints, more or less. For many threads at once.
pub trait Filter: Sync + Send {
    /// Whether a new state may be taken for another.
    const LOSES: bool = true;

    /// Where a fingerprint is, or may be put.
    type Place: Copy;

    /// Whether it pays to `look` for all fingerprints of a bundle before one is marked:
    /// not where bits stand for them.
    const LOOKS: bool = false;

    /// Where to begin looking for a fingerprint; asks for that memory.
    fn approach(&self, state: Fingerprint, guard: &Guard) -> Self::Place;

    /// Whether it is there, as far as a first look can tell, and where it may be put;
    /// without a branch on that.
    fn look<S: Sight>(&self, from: Self::Place, _state: Fingerprint) -> (bool, Self::Place) {
        (false, from)
    }

    /// Remembers a fingerprint, and tells whether it was there. Counts the bits
    /// that are set for it, if it is remembered by bits. The guard must be the one of
    /// `approach`.
    fn mark(&self, at: Self::Place, state: Fingerprint, set: &mut u64, guard: &Guard) -> Marked;

    /// The same for one that is not one of many.
    fn mark_one(&self, state: Fingerprint, set: &mut u64) -> Marked {
        let guard = &crossbeam_epoch::pin();
        self.mark(self.approach(state, guard), state, set, guard)
    }

    fn contains(&self, state: Fingerprint) -> bool;

    /// Nothing more can be remembered.
    fn is_full(&self) -> bool;

    fn bytes(&self) -> u64;

    /// As `Store::provide`.
    fn provide(&self) -> bool;
}

pub struct LossyStore<'c, F> {
    pub filter: F,
    pub collector: Option<&'c dyn Collect>,
    /// If hash functions are remainders.
    pub polynomials: Option<Crc>,
    slab: Slab,
    /// Bytes in front of a state that do not count.
    hidden: usize,
    seed: u64,
    keys: Keys,
    /// Of all values of a die, those at which a new state is not stored.
    unlucky: u64,
    /// Times that a state was new but not stored.
    unstored: AtomicU64,
    /// Bits that were set, but for those that writers have not told of yet.
    set: AtomicU64,
}

impl<F: Filter> LossyStore<'_, F> {
    /// `None` if there is no room for any state. New states are stored with
    /// this probability.
    pub fn new(
        filter: F,
        hidden: usize,
        seed: u64,
        probability: f64,
        budget: &Arc<Budget>,
    ) -> Option<Self> {
        Some(Self::in_slab(filter, Slab::new(budget)?, hidden, seed, probability))
    }

    /// The same with a slab that is there already and holds nothing.
    pub fn in_slab(filter: F, slab: Slab, hidden: usize, seed: u64, probability: f64) -> Self {
        let unlucky = ((1.0 - probability.clamp(0.0, 1.0)) * u64::MAX as f64) as u64;
        let (unstored, set) = (AtomicU64::new(0), AtomicU64::new(0));
        let (collector, polynomials) = (None, None);
        let keys = if F::LOSES { Keys::new(seed) } else { Keys::narrow(seed) };
        LossyStore {
            filter,
            collector,
            polynomials,
            slab,
            hidden,
            seed,
            keys,
            unlucky,
            unstored,
            set,
        }
    }

    /// One thread alone will use it.
    pub fn be_alone(&mut self) {
        self.slab.be_alone();
    }

    /// Its memory, for another store.
    pub fn into_parts(self) -> (F, Slab) {
        (self.filter, self.slab)
    }

    /// Times that a state was called new but not stored.
    pub fn n_unstored(&self) -> u64 {
        self.unstored.load(Ordering::Relaxed)
    }

    /// Bits of the filter that are set. Nobody may be searching.
    pub fn n_set(&self) -> u64 {
        self.set.load(Ordering::Relaxed)
    }

    /// Whether chance wants a new state not to be stored. In a filter that is
    /// full it would never be stored, and come again and again.
    #[inline(always)]
    fn is_unlucky(&self, dice: &mut Dice) -> bool {
        self.unlucky > 0 && dice.roll() < self.unlucky && !self.filter.is_full()
    }

    pub fn fingerprint(&self, state: &[u8]) -> Fingerprint {
        self.looks(state).0
    }

    /// The fingerprint of a state in this search, and what a collector is told of
    /// it: the same in all searches.
    #[inline(always)]
    fn looks(&self, state: &[u8]) -> (Fingerprint, u64) {
        let state = &state[self.hidden..];
        let print = fingerprint(state);
        let own = match &self.polynomials {
            None => self.keys.turn(print),
            Some(polynomials) => polynomials.fingerprint(state),
        };
        (own, print.fixed())
    }

    pub fn polynomial_tries(&self) -> Option<u32> {
        self.polynomials.as_ref().map(Crc::tries)
    }

    /// Tells the collector, if there is one, of a new state.
    pub fn collect(&self, state: &[u8]) {
        if let Some(collector) = self.collector {
            collector.collect(&[self.looks(state).1], &[]);
        }
    }

    /// Remembers a fingerprint that is new, if chance wants it; `Seen` if it
    /// looks like others.
    pub(crate) fn mark(&self, state: Fingerprint, dice: &mut Dice) -> Marked {
        if self.is_unlucky(dice) {
            self.unstored.fetch_add(1, Ordering::Relaxed);
            return Marked::New;
        }
        let mut set = 0;
        let marked = self.filter.mark_one(state, &mut set);
        if set > 0 {
            self.set.fetch_add(set, Ordering::Relaxed);
        }
        marked
    }

    /// Keeps a state for good, so that it is on the way to a violation; `None`
    /// if memory is full.
    pub fn keep_state(
        &self,
        state: &[u8],
        parent: Option<Token>,
        desk: &mut SlabDesk,
    ) -> Option<Token> {
        self.slab.add(state, parent.unwrap_or(0), desk)
    }
}

impl<'c> LossyStore<'c, Fingerprints> {
    /// Goes over to bits. Nobody may be searching; states that wait keep their
    /// tokens.
    pub fn pour(self) -> LossyStore<'c, Bitstate> {
        let keys = self.keys;
        self.pour_as(|filter| filter.pour(keys))
    }

    /// The same with states that were packed instead.
    pub fn pour_packed(self, packed: &PackedStore) -> LossyStore<'c, Bitstate> {
        let keys = self.keys;
        let print = |state: &[u8]| keys.turn(fingerprint(state));
        self.pour_as(|filter| filter.pour_others(packed.parts(print)))
    }

    fn pour_as(
        self,
        pour: impl FnOnce(Fingerprints) -> (Bitstate, u64),
    ) -> LossyStore<'c, Bitstate> {
        let Self {
            filter,
            collector,
            polynomials,
            slab,
            hidden,
            seed,
            keys,
            unlucky,
            unstored,
            ..
        } = self;
        let (filter, set) = pour(filter);
        let set = AtomicU64::new(set);
        LossyStore {
            filter,
            collector,
            polynomials,
            slab,
            hidden,
            seed,
            keys,
            unlucky,
            unstored,
            set,
        }
    }

    /// Remembers a state that was kept in another way.
    pub fn take_over(&self, state: &[u8]) -> Result<(), Full> {
        match self.filter.mark_one(self.fingerprint(state), &mut 0) {
            Marked::NoRoom => Err(Full),
            _ => Ok(()),
        }
    }
}

impl<F: Filter> Store for LossyStore<'_, F> {
    type Writer<'s>
        = LossyWriter<'s, F>
    where
        Self: 's;

    fn writer(&self) -> LossyWriter<'_, F> {
        LossyWriter {
            store: self,
            rows: Rows::new(MOST_BYTES),
            hashed: Vec::new(),
            desk: Desk::default(),
            entered: Vec::new(),
            teller: Teller::new(self.collector),
            dice: Dice(self.seed),
            set: 0,
        }
    }

    fn bytes(&self) -> u64 {
        self.filter.bytes()
    }

    fn provide(&self) -> bool {
        self.filter.provide()
    }

    fn parent(&self, token: Token) -> Option<Token> {
        self.slab.parent(token)
    }
}

/// A row that was hashed.
#[derive(Clone, Copy)]
struct Hashed<P> {
    print: Fingerprint,
    /// Where to look for it, or to put it.
    place: P,
    /// What a collector is told of its state.
    fixed: u64,
    /// Where its state begins in the rows.
    at: u32,
}

pub struct LossyWriter<'s, F: Filter> {
    store: &'s LossyStore<'s, F>,
    rows: Rows,
    /// The rows, while they are settled.
    hashed: Vec<Hashed<F::Place>>,
    desk: Desk,
    /// States that were read since the last `finish`.
    entered: Vec<Token>,
    teller: Teller<'s>,
    dice: Dice,
    /// Bits that were set.
    set: u64,
}

impl<F: Filter> Drop for LossyWriter<'_, F> {
    fn drop(&mut self) {
        // Relaxed: a sum that is read when the search is over.
        self.store.set.fetch_add(self.set, Ordering::Relaxed);
    }
}

impl<F: Filter> LossyWriter<'_, F> {
    /// Hashes all rows, and asks for the memory that their marks will need.
    fn hash(&mut self, guard: &Guard) {
        let LossyStore { polynomials, keys, collector, .. } = self.store;
        let keys = *keys;
        match (polynomials, collector) {
            (None, None) => self.hash_rows(guard, |_, print| (keys.turn(print), UNTOLD)),
            (None, Some(_)) => self.hash_rows(guard, |_, print| (keys.turn(print), print.fixed())),
            (Some(polynomials), _) => self
                .hash_rows(guard, |state, print| (polynomials.fingerprint(state), print.fixed())),
        }
    }

    /// `looks` makes the fingerprint of this search and what a collector is told,
    /// from the state and the fingerprint that is the same in all.
    #[inline(always)]
    fn hash_rows(
        &mut self,
        guard: &Guard,
        looks: impl Fn(&[u8], Fingerprint) -> (Fingerprint, u64),
    ) {
        let LossyWriter { store, rows, hashed, .. } = self;
        let LossyStore { filter, hidden, .. } = store;
        let mut states = States::of(rows);
        fill(hashed, rows.used() / HEAD, || {
            let (at, state) = states.next()?;
            let state = &state[*hidden..];
            let (print, fixed) = looks(state, fingerprint(state));
            let place = filter.approach(print, guard);
            Some(Hashed { print, place, fixed, at: at as u32 })
        });
    }

    /// Passes over those that are there.
    fn look<S: Sight>(&mut self) {
        let LossyWriter { store, hashed, teller, .. } = self;
        keep_missing(hashed, |row| {
            let (is_there, place) = store.filter.look::<S>(row.place, row.print);
            teller.note_if(is_there, false, row.fixed);
            (is_there, Hashed { place, ..row })
        });
    }

    /// Marks those that are left, and keeps what is new.
    fn mark(&mut self, guard: &Guard, mut new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let LossyWriter { store, rows, hashed, desk, teller, dice, set, .. } = self;
        let LossyStore { filter, slab, .. } = store;
        for Hashed { print, place, fixed, at } in hashed.iter().copied() {
            // What is marked must be kept where the search may go on in spite of all.
            if !F::LOSES && !slab.make_ready(rows.len_of(at as usize), desk) {
                return Err(Full);
            }
            let unlucky = store.unlucky > 0 && !filter.contains(print) && store.is_unlucky(dice);
            match if unlucky { Marked::New } else { filter.mark(place, print, set, guard) } {
                Marked::New => {
                    let (row, _) = rows.row(at as usize - HEAD);
                    let Row { state, mark, origin, cause } = row;
                    let token = slab.add(state, origin, desk).ok_or(Full)?;
                    if unlucky {
                        store.unstored.fetch_add(1, Ordering::Relaxed);
                    }
                    teller.note(true, fixed);
                    new(token, mark, cause);
                }
                Marked::Seen | Marked::Dropped => teller.note(false, fixed),
                Marked::NoRoom => return Err(Full),
            }
        }
        Ok(())
    }
}

impl<F: Filter> Writer for LossyWriter<'_, F> {
    fn prefetch(&self, token: Token) {
        self.store.slab.prefetch(token);
    }

    fn read<'b>(&mut self, token: Token, _space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b,
    {
        let kept = self.store.slab.state(token);
        self.entered.push(token);
        kept
    }

    fn loses(&self) -> bool {
        F::LOSES
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn settle(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let guard = &crossbeam_epoch::pin();
        self.hash(guard);
        if F::LOOKS {
            by_sight!(S => self.look::<S>());
        }
        let result = self.mark(guard, new);
        self.rows.clear();
        result
    }

    fn finish(&mut self, expanded: bool) {
        self.teller.tell();
        for token in self.entered.drain(..) {
            if expanded {
                self.store.slab.release(token, &mut self.desk);
            }
        }
    }

    fn keep(&mut self, token: Token) {
        self.store.slab.hold(token);
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        self.store.filter.contains(self.store.fingerprint(state))
    }
}
