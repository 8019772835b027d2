//! Exact store: every state is kept in full.
//!
//! A table of entries points to records. An entry holds 26 bits of the state's
//! hash and the record's place, so that a record is looked at only if it is
//! very likely the right one. Rows of states go through three passes, so that
//! neither the table nor the records keep the search waiting: the first hashes
//! states and asks for slots, the second reads slots and asks for records, the
//! third compares and inserts.
//!
//! Guarantee: a state that was new once is found for ever after, and no other
//! state is taken for it: states are compared byte by byte.

use super::packed::{Aim, Form, Known, PackedStore};
use super::records::{Chunk, Place, Records};
use super::shape::shapes;
use super::table::{Growth, Inserted, PLACE_BITS, Placed, Position, Sight, Table, by_sight, tag};
use super::tree::{MOST_SHAPES, TreeStore};
use super::{Full, MOST_BYTES, SAMPLE, States, Store, Token, Writer, fill};
use crate::blocks::damaged;
use crate::bytes::{equal, hash};
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, HEAD, Row, Rows};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Twice the slots at two thirds full, four times as many up to some 16 MiB:
/// fuller tables have longer searches.
pub(super) const GROWTH: Growth =
    Growth { quick: 8192, eighths: 16, full: 44, pieces: 1, ahead: 64 };

pub struct ExactStore {
    table: Table<Placed>,
    records: Records,
    /// Bytes in front of a state that do not count.
    hidden: usize,
}

impl ExactStore {
    /// `None` if not even an empty store fits in the budget. `passing` if its
    /// states are to be packed or folded soon.
    pub fn new(hidden: usize, passing: bool, budget: &Arc<Budget>) -> Option<ExactStore> {
        let quick = if passing { 0 } else { GROWTH.quick };
        Some(ExactStore {
            table: Table::new(budget, Growth { quick, ..GROWTH })?,
            records: Records::new(budget, passing)?,
            hidden,
        })
    }

    #[inline(always)]
    fn hash(&self, state: &[u8]) -> u64 {
        hash(&state[self.hidden..])
    }

    #[inline(always)]
    fn is(&self, entry: u64, state: &[u8]) -> bool {
        let stored = self.records.state(Place(Placed::place(entry)));
        match self.hidden {
            0 => equal(stored, state),
            hidden => equal(&stored[hidden..], &state[hidden..]),
        }
    }
}

impl ExactStore {
    /// Inserts a row, if it is not there, wherever it belongs; its token, mark
    /// and cause if it is new.
    #[cold]
    #[inline(never)]
    fn insert(
        &self,
        rows: &Rows,
        row: &Hashed,
        chunk: &mut Chunk,
        guard: &Guard,
    ) -> Result<Option<(Token, u32, Cause)>, Full> {
        let (Row { state, mark, origin, cause }, _) = rows.row(row.at as usize - HEAD);
        let mut written = false;
        let write = || {
            let Place(place) = self.records.write(chunk, state, Place(origin))?;
            written = true;
            Some(tag(row.hash) << PLACE_BITS | place)
        };
        let inserted = self.table.insert(row.hash, |entry| self.is(entry, state), write, guard);
        if let Inserted::New(entry) = inserted {
            Records::keep(chunk, state.len());
            return Ok(Some((Placed::place(entry), mark, cause)));
        }
        if written {
            // Another thread was faster, or memory is full.
            self.records.drop_written(chunk);
        }
        if inserted == Inserted::NoRoom { Err(Full) } else { Ok(None) }
    }

    /// All states. Nobody may be searching.
    pub fn states(&self) -> impl Iterator<Item = &[u8]> {
        self.records.chunks().flatten().map(|place| self.records.state(place))
    }

    /// The state of this name.
    pub fn state(&self, token: Token) -> &[u8] {
        self.records.state(Place(token))
    }

    /// Moves all states to a packed store, giving memory back on the way, and has
    /// `rename` name the states that wait anew. The states from which they were
    /// found are forgotten. If there is no form for them, all is as it was.
    pub(crate) fn pack<E: From<Full>>(
        self,
        aim: Aim,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut dyn FnMut(Token) -> Result<Token, Full>) -> Result<(), E>,
    ) -> Result<Result<PackedStore, ExactStore>, E> {
        let places = self.records.chunks().flatten();
        let known = Known::of(places.map(|place| self.records.state(place)));
        let form = known.and_then(Form::new).filter(|form| form.is_worth_it(aim));
        let Some(form) = form else { return Ok(Err(self)) };
        let ExactStore { table, records, .. } = self;
        let n_states = table.about();
        // Its memory is needed now.
        drop(table);
        let packed = PackedStore::new(form, aim, n_states, budget).ok_or(Full)?;
        let mut writer = packed.writer();
        rename(&mut |token| writer.name(records.state(Place(token))))?;
        for (number, places) in records.chunks().enumerate() {
            places.into_iter().try_for_each(|place| writer.insert(records.state(place)))?;
            records.release(number);
        }
        writer.settle(|_, _, _| {})?;
        drop(writer);
        Ok(Ok(packed))
    }

    /// Moves all states to a compact store, giving memory back on the way, and
    /// has `rename` name the states that wait anew. The states from which they
    /// were found are forgotten. Ends early if `go_on` says so.
    pub(crate) fn fold<E: From<Full>>(
        self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut dyn FnMut(Token) -> Result<Token, Full>) -> Result<(), E>,
        go_on: impl Fn() -> Result<(), E>,
    ) -> Result<TreeStore, E> {
        let ExactStore { table, records, .. } = self;
        // Its memory is needed now.
        drop(table);
        // Neighbours: of states from all over nearly every part is different,
        // wherever it is cut. (szymanski.5: 11 bytes a state, not 47.)
        let sample = records.chunks().flatten().take(SAMPLE).map(|place| records.state(place));
        let shapes = shapes(sample, MOST_SHAPES);
        let tree = TreeStore::new(shapes, budget).ok_or(Full)?;
        let mut writer = tree.writer();
        rename(&mut |token| writer.name(records.state(Place(token))))?;
        for (number, places) in records.chunks().enumerate() {
            go_on()?;
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
            rows: Rows::new(MOST_BYTES),
            hashed: Vec::new(),
            there: Vec::new(),
            missing: Vec::new(),
            beyond: Vec::new(),
            last_len: 0,
        }
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.records.bytes()
    }

    fn provide(&self) -> bool {
        self.records.provide() | self.table.provide()
    }

    fn parent(&self, token: Token) -> Option<Token> {
        let Place(parent) = self.records.parent(Place(token));
        (parent != 0).then_some(parent)
    }
}

/// A row on its way through the store.
#[derive(Clone, Copy)]
struct Hashed {
    hash: u64,
    /// Where the search for it begins, or has ended.
    position: Position,
    /// Where its state begins in the rows, and how long it is.
    at: u32,
    len: u32,
}

impl Hashed {
    #[inline(always)]
    fn state<'b>(&self, rows: &'b [u8]) -> &'b [u8] {
        let (at, len) = (self.at as usize, self.len as usize);
        debug_assert!(at + len <= rows.len());
        // SAFETY: `States` has checked it, and rows are never cut short.
        unsafe { rows.get_unchecked(at..at + len) }
    }
}

pub struct ExactWriter<'s> {
    store: &'s ExactStore,
    chunk: Chunk,
    rows: Rows,
    /// The rows, while they are settled.
    hashed: Vec<Hashed>,
    /// Numbers of those whose tags are there, of those that are to be inserted, as far
    /// as is known, and of those that are sought beyond their first line.
    there: Vec<u32>,
    missing: Vec<u32>,
    beyond: Vec<u32>,
    last_len: usize,
}

impl Drop for ExactWriter<'_> {
    fn drop(&mut self) {
        self.store.records.leave(std::mem::replace(&mut self.chunk, Chunk::NONE));
    }
}

impl ExactWriter<'_> {
    /// Hashes all rows, and asks for their slots.
    fn hash(&mut self, guard: &Guard) {
        let ExactWriter { store, rows, hashed, .. } = self;
        let ExactStore { table, hidden, .. } = store;
        let mut states = States::of(rows);
        fill(hashed, rows.used() / HEAD, || {
            let (at, state) = states.next()?;
            let hash = hash(&state[*hidden..]);
            let position = table.approach(hash, guard);
            Some(Hashed { hash, position, at: at as u32, len: state.len() as u32 })
        });
    }

    /// Looks for their tags, and asks for the records that have them. Whether a tag is
    /// there nobody can foresee, so there is no branch on it.
    fn seek<S: Sight>(&mut self) {
        let ExactWriter { store, hashed, there, missing, beyond, last_len, .. } = self;
        let ExactStore { table, records, .. } = store;
        let last_len = *last_len;
        let ask = |position: Position| {
            let entry = position.entry().unwrap_or(0);
            records.prefetch(Place(Placed::place(entry)), last_len);
        };
        there.resize(hashed.len(), 0);
        missing.resize(hashed.len(), 0);
        let (those_there, those_missing) = (there.as_mut_slice(), missing.as_mut_slice());
        let (mut n_there, mut n_missing) = (0, 0);
        for (i, row) in (0..).zip(hashed.iter_mut()) {
            (those_there[n_there], those_missing[n_missing]) = (i, i);
            let Some(position) = table.seek::<S>(row.position, row.hash) else {
                beyond.push(i);
                n_missing += 1;
                continue;
            };
            row.position = position;
            ask(position);
            let is_there = position.entry().is_some();
            n_there += is_there as usize;
            n_missing += !is_there as usize;
        }
        there.truncate(n_there);
        missing.truncate(n_missing);
        for i in beyond.drain(..) {
            let row = &mut hashed[i as usize];
            row.position = table.seek_beyond(row.hash);
            ask(row.position);
        }
    }

    /// Compares those whose tags are there: other states are missing too.
    fn compare(&mut self) {
        let ExactWriter { store, rows, hashed, there, missing, .. } = self;
        let (store, bytes, hashed) = (*store, rows.bytes(), hashed.as_slice());
        let n_missing = missing.len();
        for i in there.iter().copied() {
            let row = &hashed[i as usize];
            if !row.position.entry().is_some_and(|entry| store.is(entry, row.state(bytes))) {
                missing.push(i);
            }
        }
        if missing.len() > n_missing {
            missing.sort_unstable();
        }
    }

    /// Inserts those that are missing, in their order.
    fn insert_missing(
        &mut self,
        guard: &Guard,
        mut new: impl FnMut(Token, u32, Cause),
    ) -> Result<(), Full> {
        let ExactWriter { store, chunk, rows, hashed, missing, .. } = self;
        let (store, rows, hashed) = (*store, &*rows, hashed.as_slice());
        for i in missing.iter().copied() {
            let row = &hashed[i as usize];
            let mut position = row.position;
            let state = row.state(rows.bytes());
            if position.is_free() {
                // Many a state is found twice in a row.
                position = position.again();
            }
            if let Some(entry) = position.entry() {
                if store.is(entry, state) {
                    continue;
                }
            } else if let Some(vacancy) = store.table.vacancy(position, row.hash) {
                let (mark, origin, cause) = rows.found(row.at as usize);
                let place = store.records.write(chunk, state, Place(origin));
                let Some(Place(place)) = place else { return Err(Full) };
                if store.table.fill(vacancy, tag(row.hash) << PLACE_BITS | place) {
                    Records::keep(chunk, state.len());
                    new(place, mark, cause);
                    continue;
                }
                store.records.drop_written(chunk);
            }
            if let Some((token, mark, cause)) = store.insert(rows, row, chunk, guard)? {
                new(token, mark, cause);
            }
        }
        Ok(())
    }

    /// The name of a state, if it is there.
    pub fn find(&self, state: &[u8]) -> Option<Token> {
        let mut found = None;
        let is = |entry| {
            found = Some(Placed::place(entry));
            self.store.is(entry, state)
        };
        let is_there = self.store.table.find(self.store.hash(state), is, &crossbeam_epoch::pin());
        found.filter(|_| is_there)
    }
}

impl Writer for ExactWriter<'_> {
    fn prefetch(&self, token: Token) {
        // Most states of a model are as long as the last one.
        self.store.records.prefetch(Place(token), self.last_len);
    }

    fn read<'b>(&mut self, token: Token, _space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b,
    {
        let stored = self.store.records.state(Place(token));
        self.last_len = stored.len();
        stored
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn settle(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let guard = &crossbeam_epoch::pin();
        self.hash(guard);
        by_sight!(S => self.seek::<S>());
        self.compare();
        let result = self.insert_missing(guard, new);
        self.rows.clear();
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        self.find(state).is_some()
    }
}
