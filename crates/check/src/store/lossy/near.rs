//! States marked in an arena that the processor has at hand, by a thread that is
//! alone with it.
//!
//! There is no memory to wait for, so a row is hashed and marked at once. Nobody
//! foresees whether it is new, so no branch depends on it.

use super::{Bitstate, LossyStore, States, Teller};
use crate::bytes::{Fingerprint, fingerprint};
use ir::rows::{HEAD, Rows};
use std::sync::atomic::Ordering;

pub struct Marker<'s> {
    store: &'s LossyStore<'s, Bitstate>,
    teller: Teller<'s>,
    /// Bits that were set.
    set: u64,
    /// The places of rows that are new, and room for more.
    fresh: Vec<u32>,
}

impl Drop for Marker<'_> {
    fn drop(&mut self) {
        // Relaxed: as in `LossyWriter`.
        self.store.set.fetch_add(self.set, Ordering::Relaxed);
    }
}

impl LossyStore<'_, Bitstate> {
    /// Access for a thread that is alone. Hash functions must be the default ones,
    /// and every state be stored.
    pub fn marker(&self) -> Marker<'_> {
        debug_assert!(self.polynomials.is_none() && self.unlucky == 0);
        let teller = Teller::new(self.collector);
        Marker { store: self, teller, set: 0, fresh: Vec::new() }
    }
}

impl Marker<'_> {
    /// Marks the states of all rows; the places of those rows that are new.
    pub fn mark(&mut self, rows: &Rows) -> &mut [u32] {
        let n_fresh = match (self.store.collector, self.store.filter.has_one_bit()) {
            (None, _) => self.mark_and(rows, Bitstate::put, |_, _, _| {}),
            (Some(_), false) => self.mark_and(rows, Bitstate::put, note),
            (Some(_), true) => self.mark_and(rows, Bitstate::put_one, note),
        };
        self.teller.tell();
        &mut self.fresh[..n_fresh]
    }

    /// The same for how many there are.
    #[inline(always)]
    fn mark_and(
        &mut self,
        rows: &Rows,
        put: impl Fn(&Bitstate, Fingerprint) -> u64,
        note: impl Fn(&mut Teller, bool, Fingerprint),
    ) -> usize {
        let LossyStore { filter, keys, hidden, .. } = self.store;
        let (keys, hidden) = (*keys, *hidden);
        let most = rows.used() / HEAD;
        if self.fresh.len() < most {
            self.fresh.resize(most, 0);
        }
        let (fresh, mut n_fresh, mut set) = (&mut self.fresh[..most], 0, 0);
        let mut states = States::of(rows);
        while let Some((at, state)) = states.next() {
            let print = fingerprint(&state[hidden..]);
            let n_set = put(filter, keys.turn_wide(print));
            let is_new = n_set > 0;
            set += n_set;
            fresh[n_fresh] = (at - HEAD) as u32;
            n_fresh += is_new as usize;
            note(&mut self.teller, is_new, print);
        }
        self.set += set;
        n_fresh
    }
}

#[inline(always)]
fn note(teller: &mut Teller, is_new: bool, print: Fingerprint) {
    teller.note(is_new, print.fixed());
}
