//! Packed store: of each state the bits that vary, without loss.
//!
//! Which bits vary is learnt from the first states (`form.rs`). If they fit in a
//! word, that is the entry of the table of visited states, and the name of the
//! state: one look at memory tells whether a state is new, and none is needed
//! to read one that waits.
//!
//! A state that does not fit stops the search like one for which there is no
//! memory; then the store is made anew, in a form that has room for it
//! (`PackedStore::widen`).
//!
//! Guarantee: equal words are equal states, byte by byte; nothing is hashed
//! away. What it does not keep is the state from which one was found.

mod bits;
mod form;

pub use form::{Form, Known};

use super::shape::shapes;
use super::table::{Inserted, Table, Whole, mix};
use super::tree::{GROWTH, MOST_SHAPES, TreeStore};
use super::{Full, SAMPLE, States, Store, Token, Writer, push_reserved};
use crate::blocks::damaged;
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, HEAD, Rows, stride};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of rows that are settled at once at the latest.
const MOST_BYTES: usize = 32 << 10;
/// Rows that make a pass together.
const BLOCK: usize = 32;

pub struct PackedStore {
    form: Form,
    table: Table<Whole>,
    /// States that did not fit.
    misfits: Mutex<Vec<Vec<u8>>>,
}

impl PackedStore {
    /// `None` if not even an empty store fits in the budget.
    pub fn new(form: Form, budget: &Arc<Budget>) -> Option<PackedStore> {
        let table = Table::new(budget, GROWTH)?;
        Some(PackedStore { form, table, misfits: Mutex::default() })
    }

    pub fn known(&self) -> &Known {
        self.form.known()
    }

    pub fn has_misfits(&self) -> bool {
        !self.misfits.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Moves all states to a store that has room for those that did not fit, and
    /// has `rename` name the states that wait anew. `None` if there is no form
    /// for them.
    pub(crate) fn widen<E: From<Full>>(
        &self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut dyn FnMut(Token) -> Result<Token, Full>) -> Result<(), E>,
    ) -> Result<Option<PackedStore>, E> {
        let (mut reader, mut space) = (self.writer(), Vec::new());
        let misfits = self.misfits.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.form.known().again(|add| {
            misfits.iter().try_for_each(|state| add(state))?;
            self.table.entries().try_for_each(|packed| add(reader.read(packed, &mut space)))
        });
        drop(misfits);
        let Some(form) = known.and_then(Form::new) else { return Ok(None) };
        let wider = PackedStore::new(form, budget).ok_or(Full)?;
        let mut writer = wider.writer();
        // If there is no room, all is as it was.
        for packed in self.table.entries() {
            writer.insert(reader.read(packed, &mut space))?;
        }
        writer.settle(|_, _, _| {})?;
        rename(&mut |token| writer.name(reader.read(token, &mut space)))?;
        drop(writer);
        Ok(Some(wider))
    }

    /// Moves all states to a tree instead.
    pub(crate) fn fold<E: From<Full>>(
        &self,
        budget: &Arc<Budget>,
        mut rename: impl FnMut(&mut dyn FnMut(Token) -> Result<Token, Full>) -> Result<(), E>,
    ) -> Result<TreeStore, E> {
        let (mut reader, mut space) = (self.writer(), Vec::new());
        // States that wait side by side are neighbours; so are those that did
        // not fit and what they were found from.
        let mut sample = self.misfits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        rename(&mut |token| {
            if sample.len() < SAMPLE {
                sample.push(reader.read(token, &mut space).to_vec());
            }
            Ok(token)
        })?;
        let shapes = shapes(sample.iter().map(Vec::as_slice), MOST_SHAPES);
        let tree = TreeStore::new(shapes, budget).ok_or(Full)?;
        let mut writer = tree.writer();
        for packed in self.table.entries() {
            let token = writer.name(reader.read(packed, &mut space))?;
            writer.insert(token)?;
        }
        rename(&mut |token| writer.name(reader.read(token, &mut space)))?;
        drop(writer);
        Ok(tree)
    }

    /// Writes all states but not the form. Nobody may be searching.
    pub(crate) fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.table.save(to)
    }

    /// Reads what `save` has written; all states have the names they had.
    pub(crate) fn load(
        known: Known,
        from: &mut dyn Read,
        budget: &Arc<Budget>,
    ) -> Result<PackedStore, Trouble> {
        let form = Form::new(known).ok_or_else(damaged)?;
        let table = Table::load(from, budget, GROWTH)?;
        Ok(PackedStore { form, table, misfits: Mutex::default() })
    }
}

impl Store for PackedStore {
    type Writer<'s> = PackedWriter<'s>;

    fn writer(&self) -> PackedWriter<'_> {
        PackedWriter {
            store: self,
            rows: Rows::new(MOST_BYTES),
            there: 0,
            taken: 0,
            offered: Vec::new(),
            n_settled: 0,
            beyond: Vec::new(),
            padded: Vec::new(),
            guard: None,
            last_len: 0,
        }
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn provide(&self) -> bool {
        self.table.provide()
    }

    fn parent(&self, _token: Token) -> Option<Token> {
        None
    }
}

/// A row that was packed.
#[derive(Clone, Copy)]
struct Offered {
    packed: u64,
    /// Where its state begins in the rows.
    at: usize,
}

pub struct PackedWriter<'s> {
    store: &'s PackedStore,
    rows: Rows,
    /// Bytes of the rows that were there when the writer last advanced: they
    /// can be read without waiting for the stores that have written them.
    there: usize,
    /// Bytes of the rows that were packed.
    taken: usize,
    offered: Vec<Offered>,
    n_settled: usize,
    /// Rows that have no place in their first line.
    beyond: Vec<Offered>,
    /// A state with room behind it.
    padded: Vec<u8>,
    /// From the first row to the last.
    guard: Option<Guard>,
    last_len: usize,
}

impl PackedWriter<'_> {
    /// Packs rows up to a place, and asks for their slots.
    #[inline(always)]
    fn take_until(&mut self, end: usize) -> Result<(), Full> {
        if self.taken >= end {
            return Ok(());
        }
        match self.store.form.is_fast() {
            true => self.take::<true>(end),
            false => self.take::<false>(end),
        }
    }

    fn take<const FAST: bool>(&mut self, end: usize) -> Result<(), Full> {
        let PackedWriter { store, offered, rows, .. } = self;
        offered.reserve((end - self.taken) / HEAD);
        let mut states = States::of(rows, self.taken, end);
        let mut result = Ok(());
        while let Some((at, state)) = states.next() {
            let Some(packed) = store.form.pack::<FAST>(rows.bytes(), at, state.len()) else {
                // The others tell what else there must be room for.
                result = Err(store.note_misfit(state));
                continue;
            };
            store.table.prefetch(mix(packed));
            push_reserved(offered, Offered { packed, at });
        }
        self.taken = states.at;
        result
    }

    /// Inserts all that was offered.
    #[inline(always)]
    fn settle_offered(&mut self, mut new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let PackedWriter { store, offered, beyond, rows, .. } = self;
        if self.n_settled == offered.len() {
            return Ok(());
        }
        let guard = self.guard.get_or_insert_with(crossbeam_epoch::pin);
        for row in &offered[self.n_settled..] {
            match store.table.insert_near(mix(row.packed), row.packed, guard) {
                Some(Inserted::New(_)) => {
                    let (mark, _, cause) = rows.found(row.at);
                    new(row.packed, mark, cause);
                }
                Some(_) => {}
                None => beyond.push(*row),
            }
        }
        self.n_settled = offered.len();
        let mut result = Ok(());
        for Offered { packed, at } in beyond.drain(..) {
            match store.table.insert_value(mix(packed), packed, guard) {
                Inserted::New(_) => {
                    let (mark, _, cause) = rows.found(at);
                    new(packed, mark, cause);
                }
                Inserted::Found(_) => {}
                Inserted::NoRoom => result = Err(Full),
            }
        }
        result
    }

    fn settle_all(&mut self, mut new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        self.settle_offered(&mut new)?;
        let taken = self.take_until(self.rows.used());
        // Those beside a misfit are as good as any.
        self.settle_offered(&mut new).and(taken)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.rows.set_due(BLOCK * stride(self.last_len));
        self.offered.clear();
        (self.there, self.taken, self.n_settled) = (0, 0, 0);
        self.guard = None;
    }

    /// Marks a state, at the latest when all is settled.
    pub fn insert(&mut self, state: &[u8]) -> Result<(), Full> {
        self.rows.push(state);
        if self.rows.is_full() { self.settle(|_, _, _| {}) } else { Ok(()) }
    }

    /// The token that a state has or would have, without marking it; full if it
    /// does not fit.
    pub fn name(&mut self, state: &[u8]) -> Result<Token, Full> {
        let (store, padded) = (self.store, &mut self.padded);
        padded.clear();
        padded.extend_from_slice(state);
        padded.extend_from_slice(&[0; size_of::<u64>()]);
        store.form.pack::<false>(padded, 0, state.len()).ok_or(Full)
    }
}

impl PackedStore {
    #[cold]
    fn note_misfit(&self, state: &[u8]) -> Full {
        self.misfits.lock().unwrap_or_else(PoisonError::into_inner).push(state.to_vec());
        Full
    }
}

impl Writer for PackedWriter<'_> {
    fn prefetch(&self, _token: Token) {}

    fn read<'b>(&mut self, token: Token, space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b,
    {
        let form = &self.store.form;
        self.last_len = match form.is_fast() {
            true => form.unpack::<true>(token, space),
            false => form.unpack::<false>(token, space),
        };
        &space[..self.last_len]
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    #[inline(always)]
    fn advance(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        if self.rows.used() < self.rows.due() {
            return Ok(());
        }
        self.settle_offered(new)?;
        self.take_until(self.there)?;
        self.there = self.rows.used();
        self.rows.set_due(self.there + BLOCK * stride(self.last_len));
        Ok(())
    }

    fn settle(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let result = self.settle_all(new);
        self.clear();
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        // One that does not fit is not there.
        let Ok(packed) = self.name(state) else { return false };
        let guard = &crossbeam_epoch::pin();
        self.store.table.find(mix(packed), |entry| entry == packed, guard)
    }
}
