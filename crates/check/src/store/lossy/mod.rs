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
mod compact;
mod slab;
#[cfg(test)]
mod tests;

pub use bitstate::{Bitstate, Layout};
pub use compact::Compact;

use super::{Full, Store, Token, Writer};
use crate::bytes::{Fingerprint, copy, fingerprint};
use crate::memory::Budget;
use ir::rows::{Row, Rows, stride};
pub use slab::Desk as SlabDesk;
use slab::{Desk, Slab};
use std::sync::Arc;

/// Rows that make a pass together.
const BLOCK: usize = 32;
/// Bytes of rows that are settled at once at the latest.
const MOST_BYTES: usize = 32 << 10;

/// What became of a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    New,
    Seen,
    /// There is no room for it.
    NoRoom,
}

/// Remembers fingerprints, more or less. For many threads at once.
pub trait Filter: Sync + Send {
    /// Asks for the memory that `mark` will need.
    fn prefetch(&self, state: Fingerprint);

    /// Remembers a fingerprint, and tells whether it was there.
    fn mark(&self, state: Fingerprint) -> Marked;

    fn contains(&self, state: Fingerprint) -> bool;

    fn bytes(&self) -> u64;

    /// As `Store::provide`.
    fn provide(&self) -> bool;
}

pub struct LossyStore<F> {
    pub filter: F,
    slab: Slab,
    /// Bytes in front of a state that do not count.
    hidden: usize,
    seed: u64,
}

impl<F: Filter> LossyStore<F> {
    /// `None` if there is no room for any state.
    pub fn new(filter: F, hidden: usize, seed: u64, budget: &Arc<Budget>) -> Option<Self> {
        Some(LossyStore { filter, slab: Slab::new(budget)?, hidden, seed })
    }

    #[inline(always)]
    pub fn fingerprint(&self, state: &[u8]) -> Fingerprint {
        fingerprint(&state[self.hidden..], self.seed)
    }

    /// Remembers a fingerprint.
    pub fn mark(&self, state: Fingerprint) -> Result<(), Full> {
        if self.filter.mark(state) == Marked::NoRoom { Err(Full) } else { Ok(()) }
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

impl<F: Filter> Store for LossyStore<F> {
    type Writer<'s>
        = LossyWriter<'s, F>
    where
        F: 's;

    fn writer(&self) -> LossyWriter<'_, F> {
        LossyWriter {
            store: self,
            rows: Rows::new(MOST_BYTES),
            read: 0,
            hashed: Vec::new(),
            n_settled: 0,
            desk: Desk::default(),
            entered: Vec::new(),
            last_len: 0,
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

pub struct LossyWriter<'s, F> {
    store: &'s LossyStore<F>,
    rows: Rows,
    /// Bytes of the rows that were hashed.
    read: usize,
    /// The rows that were hashed, each with the place where it begins, and how
    /// many of them are settled.
    hashed: Vec<(Fingerprint, u32)>,
    n_settled: usize,
    desk: Desk,
    /// States that were read since the last `finish`.
    entered: Vec<Token>,
    last_len: usize,
}

impl<F: Filter> LossyWriter<'_, F> {
    fn hash_until(&mut self, end: usize) {
        while self.read < end {
            let (row, next) = self.rows.row(self.read);
            let state = self.store.fingerprint(row.state);
            self.store.filter.prefetch(state);
            self.hashed.push((state, self.read as u32));
            self.read = next;
        }
    }

    fn settle_hashed(&mut self, mut new: impl FnMut(Token, u32)) -> Result<(), Full> {
        let LossyStore { filter, slab, .. } = self.store;
        while let Some(&(state, at)) = self.hashed.get(self.n_settled) {
            match filter.mark(state) {
                Marked::New => {
                    let (Row { state, mark, origin }, _) = self.rows.row(at as usize);
                    new(slab.add(state, origin, &mut self.desk).ok_or(Full)?, mark);
                }
                Marked::Seen => {}
                Marked::NoRoom => return Err(Full),
            }
            self.n_settled += 1;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.hashed.clear();
        (self.read, self.n_settled) = (0, 0);
    }
}

impl<F: Filter> Writer for LossyWriter<'_, F> {
    fn prefetch(&self, token: Token) {
        self.store.slab.prefetch(token);
    }

    fn read(&mut self, token: Token, state: &mut Vec<u8>) {
        let kept = self.store.slab.state(token);
        self.last_len = kept.len();
        state.resize(kept.len(), 0);
        copy(kept, state);
        self.entered.push(token);
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn advance(&mut self, new: impl FnMut(Token, u32)) -> Result<(), Full> {
        if self.rows.used() - self.read < BLOCK * stride(self.last_len) {
            return Ok(());
        }
        self.settle_hashed(new)?;
        self.hash_until(self.rows.used());
        Ok(())
    }

    fn settle(&mut self, new: impl FnMut(Token, u32)) -> Result<(), Full> {
        self.hash_until(self.rows.used());
        let result = self.settle_hashed(new);
        self.clear();
        result
    }

    fn finish(&mut self, expanded: bool) {
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
