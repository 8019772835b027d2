//! Exact store: every state is kept in full.
//!
//! A table of entries points to records. An entry holds 26 bits of the state's
//! hash and the record's place, so that a record is looked at only if it is
//! very likely the right one. A batch of states is settled in three passes, so
//! that neither the table nor the records keep the search waiting: the first
//! hashes states and asks for slots, the second reads slots and asks for
//! records, the third compares and inserts.
//!
//! Guarantee: a state that was new once is found for ever after, and no other
//! state is taken for it: states are compared byte by byte.

use super::records::{Chunk, Place, Records};
use super::shape::shapes;
use super::table::{Growth, Inserted, PLACE_BITS, Placed, Position, Table, tag};
use super::tree::{MOST_SHAPES, TreeStore};
use super::{Full, Store, Token, Writer};
use crate::blocks::damaged;
use crate::bytes::{copy, equal};
use crate::files::Trouble;
use crate::memory::Budget;
use rapidhash::v3::{DEFAULT_RAPID_SECRETS, rapidhash_v3_micro_inline};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Twice the slots at two thirds full: fuller tables have longer searches.
const GROWTH: Growth = Growth { eighths: 16, full: 11 };
/// States, and bytes of them, in a batch: enough to hide the latency of memory,
/// few enough for the first cache.
const MOST_OFFERED: usize = 128;
const MOST_BYTES: usize = 16 << 10;

pub struct ExactStore {
    table: Table<Placed>,
    records: Records,
    /// Bytes in front of a state that do not count.
    hidden: usize,
}

impl ExactStore {
    /// `None` if not even an empty store fits in the budget.
    pub fn new(hidden: usize, budget: &Arc<Budget>) -> Option<ExactStore> {
        Some(ExactStore {
            table: Table::new(budget, GROWTH)?,
            records: Records::new(budget)?,
            hidden,
        })
    }

    #[inline]
    fn hash(&self, state: &[u8]) -> u64 {
        rapidhash_v3_micro_inline::<true, false>(&state[self.hidden..], &DEFAULT_RAPID_SECRETS)
    }

    #[inline]
    fn is(&self, entry: u64, state: &[u8]) -> bool {
        let stored = self.records.state(Place(Placed::place(entry)));
        match self.hidden {
            0 => equal(stored, state),
            hidden => equal(&stored[hidden..], &state[hidden..]),
        }
    }
}

/// States of which a tree's shapes are learnt.
const SAMPLE: usize = 32_768;

impl ExactStore {
    /// Moves all states to a compact store, giving memory back on the way, and
    /// has `rename` name the states that wait anew. The states from which they
    /// were found are forgotten.
    pub(crate) fn fold<E: From<Full>>(
        self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut dyn FnMut(Token) -> Result<Token, Full>) -> Result<(), E>,
    ) -> Result<TreeStore, E> {
        let ExactStore { table, records, .. } = self;
        // Its memory is needed now.
        drop(table);
        // Neighbours: of states from all over nearly every part is different,
        // wherever it is cut. (szymanski.5: 11 bytes a state, not 47.)
        let sample: Vec<Place> = records.chunks().flatten().take(SAMPLE).collect();
        let shapes = shapes(&sample, |place| records.state(place).to_vec(), MOST_SHAPES);
        let tree = TreeStore::new(shapes, budget).ok_or(Full)?;
        let mut writer = tree.writer();
        rename(&mut |token| writer.name(records.state(Place(token))))?;
        for (number, places) in records.chunks().enumerate() {
            for place in places {
                let token = writer.name(records.state(place))?;
                writer.insert(token)?;
            }
            records.release(number);
        }
        drop(writer);
        Ok(tree)
    }

    /// Writes all states. Nobody may be searching.
    pub(crate) fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.records.save(to)
    }

    /// Reads what `save` has written; all states have the names they had.
    pub(crate) fn load(
        hidden: usize,
        from: &mut dyn Read,
        budget: &Arc<Budget>,
    ) -> Result<ExactStore, Trouble> {
        let table = Table::new(budget, GROWTH).ok_or(Full)?;
        let store = ExactStore { table, records: Records::load(from, budget)?, hidden };
        for places in store.records.chunks() {
            let guard = &crossbeam_epoch::pin();
            for place in places {
                let state = store.records.state(place);
                if state.len() < hidden {
                    return Err(damaged().into());
                }
                let hash = store.hash(state);
                let entry = tag(hash) << PLACE_BITS | place.0;
                // No state is there twice, so none needs to be compared.
                if store.table.insert_value(hash, entry, guard) == Inserted::NoRoom {
                    return Err(Trouble::Full);
                }
            }
        }
        Ok(store)
    }
}

impl Store for ExactStore {
    type Writer<'s> = ExactWriter<'s>;

    fn writer(&self) -> ExactWriter<'_> {
        ExactWriter {
            store: self,
            chunk: Chunk::NONE,
            parent: Place(0),
            bytes: Vec::new(),
            used: 0,
            last_len: 0,
            offered: Vec::with_capacity(MOST_OFFERED),
            looked: Vec::with_capacity(MOST_OFFERED),
        }
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.records.bytes()
    }

    fn parent(&self, token: Token) -> Option<Token> {
        let Place(parent) = self.records.parent(Place(token));
        (parent != 0).then_some(parent)
    }
}

struct Offered {
    /// Where its bytes begin in the batch, and how many there are.
    at: u32,
    len: u32,
    parent: Place,
    mark: u32,
}

impl Offered {
    #[inline(always)]
    fn state<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        debug_assert!(self.at as usize + self.len as usize <= bytes.len());
        // SAFETY: `offer` has put the state there, and the batch only grows
        // until it is settled.
        unsafe { bytes.get_unchecked(self.at as usize..self.at as usize + self.len as usize) }
    }
}

pub struct ExactWriter<'s> {
    store: &'s ExactStore,
    chunk: Chunk,
    parent: Place,
    bytes: Vec<u8>,
    /// Bytes of the batch.
    used: usize,
    last_len: usize,
    offered: Vec<Offered>,
    /// The hash of each of them, and where the search for it has come to.
    looked: Vec<(u64, Position)>,
}

impl Writer for ExactWriter<'_> {
    fn prefetch(&self, token: Token) {
        // Most states of a model are as long as the last one.
        self.store.records.prefetch(Place(token), self.last_len);
    }

    fn read(&mut self, token: Token, state: &mut Vec<u8>) {
        self.parent = Place(token);
        state.clear();
        state.extend_from_slice(self.store.records.state(self.parent));
    }

    /// Only copies: to look at bytes that were written just now would mean to
    /// wait for them.
    #[inline(always)]
    fn offer(&mut self, state: &[u8], mark: u32) -> bool {
        let (at, len) = (self.used, state.len());
        if self.bytes.len() < at + len {
            self.bytes.resize(at + len.max(MOST_BYTES), 0);
        }
        copy(state, &mut self.bytes[at..at + len]);
        self.used = at + len;
        self.last_len = len;
        let (at, len) = (at as u32, len as u32);
        self.offered.push(Offered { at, len, parent: self.parent, mark });
        self.offered.len() >= MOST_OFFERED || self.used >= MOST_BYTES
    }

    fn settle(&mut self, mut new: impl FnMut(Token, u32)) -> Result<(), Full> {
        let guard = &crossbeam_epoch::pin();
        let store = self.store;
        self.looked.clear();
        for offered in &self.offered {
            let hash = store.hash(offered.state(&self.bytes));
            store.table.prefetch(hash);
            self.looked.push((hash, Position::NONE));
        }
        for ((hash, position), offered) in self.looked.iter_mut().zip(&self.offered) {
            *position = store.table.seek(*hash, guard);
            if let Some(entry) = position.entry() {
                store.records.prefetch(Place(Placed::place(entry)), offered.len as usize);
            }
        }
        let mut result = Ok(());
        for ((hash, position), offered) in self.looked.iter().zip(&self.offered) {
            let state = offered.state(&self.bytes);
            let chunk = &mut self.chunk;
            let mut written = false;
            let write = || {
                let Place(place) = store.records.write(chunk, state, offered.parent)?;
                written = true;
                Some(tag(*hash) << PLACE_BITS | place)
            };
            let is = |entry| store.is(entry, state);
            match store.table.insert_at(*position, *hash, is, write, guard) {
                Inserted::New(entry) => {
                    Records::keep(&mut self.chunk, state.len());
                    new(Placed::place(entry), offered.mark);
                }
                // Another thread was faster.
                Inserted::Found(_) if written => store.records.drop_written(&self.chunk),
                Inserted::Found(_) => {}
                Inserted::NoRoom => {
                    if written {
                        store.records.drop_written(&self.chunk);
                    }
                    result = Err(Full);
                    break;
                }
            }
        }
        self.offered.clear();
        self.used = 0;
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        let guard = &crossbeam_epoch::pin();
        let hash = self.store.hash(state);
        self.store.table.find(hash, |e| self.store.is(e, state), guard)
    }
}
