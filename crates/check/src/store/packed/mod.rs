//! Packed store: of each state the bits that vary, without loss.
//!
//! Which bits vary is learnt from the first states (`form.rs`). If they fit in a
//! word, that is the entry of the table of visited states, and the name of the
//! state: one look at memory tells whether a state is new.
//!
//! A state that does not fit stops the search like one for which there is no
//! memory; then the store is made anew, in a form that has room for it
//! (`PackedStore::widen`).
//!
//! What it does not keep is the state from which one was found, unless it is
//! told to, from then on: new states have a record then, with the word and the
//! place of that of the parent, and the record's place is their name.
//!
//! Guarantee: equal words are equal states, byte by byte; nothing is hashed
//! away.

mod bits;
mod form;

use form::by_form;
pub use form::{Form, Known};

use super::exact::{self, ExactStore};
use super::records::{Chunk, Place, Records};
use super::shape::shapes;
use super::table::{Growth, Inserted, Position, Sight, Table, Whole, by_sight, mix};
use super::tree::{self, MOST_SHAPES, TreeStore};
use super::{Full, MOST_BYTES, Name, SAMPLE, States, Store, Token, Writer, fill, keep_missing};
use crate::blocks::damaged;
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, HEAD, Rows};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Words that are put into a new table together.
const BLOCK: usize = 32;
/// Bytes of a packed state.
const WORD: usize = 8;

/// What states are packed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    Memory,
    /// With a table that is less full.
    Speed,
}

impl Aim {
    fn growth(self) -> Growth {
        match self {
            Aim::Memory => tree::GROWTH,
            Aim::Speed => exact::GROWTH,
        }
    }

    /// A table that so many entries are put into, with others to come.
    fn table(self, n: u64, budget: &Arc<Budget>) -> Option<Table<Whole>> {
        let n = if self == Aim::Speed { 2 * n } else { n };
        // Where memory is short it begins small: what is moved there gives its own back
        // on the way.
        let small = || Table::new(budget, self.growth());
        Table::for_entries(n, budget, self.growth()).or_else(small)
    }
}

pub struct PackedStore {
    form: Form,
    aim: Aim,
    table: Table<Whole>,
    /// From where states were found, if that is kept.
    ways: Option<Records>,
    /// States that did not fit.
    misfits: Mutex<Vec<Vec<u8>>>,
}

impl PackedStore {
    /// For so many states at first. `None` if there is no memory for it.
    pub fn new(form: Form, aim: Aim, states: u64, budget: &Arc<Budget>) -> Option<PackedStore> {
        let table = aim.table(states, budget)?;
        Some(PackedStore { form, aim, table, ways: None, misfits: Mutex::default() })
    }

    /// Whether it may save time to pack states of this length.
    pub fn saves_time(len: usize) -> bool {
        len.div_ceil(WORD) <= form::FEW_WORDS
    }

    pub fn known(&self) -> &Known {
        self.form.known()
    }

    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// Whether it is kept from where new states are found.
    pub fn keeps_ways(&self) -> bool {
        self.ways.is_some()
    }

    pub fn has_misfits(&self) -> bool {
        !self.misfits.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The state of this name, packed.
    #[inline(always)]
    fn word(&self, token: Token) -> u64 {
        match &self.ways {
            Some(ways) => ways.word(Place(token)),
            None => token,
        }
    }

    /// What `look` says of each state, part by part. Nobody may be searching.
    pub fn parts<T>(
        &self,
        look: impl Fn(&[u8]) -> T + Copy,
    ) -> impl Iterator<Item = impl Iterator<Item = T>> {
        self.table.entries_by_shard().map(move |words| {
            let mut space = Vec::new();
            words.map(move |word| look(self.form.state(word, &mut space)))
        })
    }

    /// The state of this name.
    pub fn state<'b>(&self, token: Token, space: &'b mut Vec<u8>) -> &'b [u8] {
        self.form.state(self.word(token), space)
    }

    /// How many states there are, about.
    pub fn about(&self) -> u64 {
        self.table.about()
    }

    /// Bytes of most states.
    pub fn state_len(&self) -> usize {
        self.form.most().packer::<0>().len
    }

    /// Makes room for the states that did not fit; false if there is no form for
    /// them. Has `rename` name the states that wait anew. If there is no memory,
    /// all is as it was.
    pub(crate) fn widen<E: From<Full>>(
        &mut self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut Name) -> Result<(), E>,
    ) -> Result<bool, E> {
        let [mut space, mut other] = [const { Vec::new() }; 2];
        let misfits = self.misfits.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.form.known().again(|add| {
            misfits.iter().try_for_each(|state| add(state))?;
            let mut bounds = self.form.bounds(self.table.entries_by_shard().flatten());
            bounds.try_for_each(|word| add(self.form.state(word, &mut space)))
        });
        drop(misfits);
        let Some(form) = known.and_then(Form::new) else { return Ok(false) };
        let mut again = |word: u64| {
            let packed = form.pack_one(self.form.state(word, &mut space), &mut other);
            packed.expect("a form with room for all")
        };
        let words = self.table.entries().map(&mut again);
        let table = self.aim.table(self.about(), budget).and_then(|table| filled(table, words));
        let table = table.ok_or(Full)?;
        match &mut self.ways {
            Some(ways) => ways.change_words(again),
            None => rename(&mut |word| Ok(again(word)))?,
        }
        (self.form, self.table, self.misfits) = (form, table, Mutex::default());
        Ok(true)
    }

    /// Keeps from where states are found from now on, and has `rename` name the
    /// states that wait anew, as if each were an initial one.
    pub(crate) fn keep_ways<E: From<Full>>(
        &mut self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut Name) -> Result<(), E>,
    ) -> Result<(), E> {
        let ways = self.ways.insert(Records::new(budget, false).ok_or(Full)?);
        let mut chunk = Chunk::NONE;
        rename(&mut |word| note(ways, &mut chunk, word, 0))?;
        ways.leave(chunk);
        Ok(())
    }

    /// Takes less memory from now on: forgets ways, and fills the table.
    pub(crate) fn shrink<E: From<Full>>(
        &mut self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut Name) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.ways.is_some() {
            rename(&mut |token| Ok(self.word(token)))?;
        }
        (self.ways, self.aim) = (None, Aim::Memory);
        // There may be no memory for two.
        let table = self.aim.table(self.about(), budget);
        if let Some(table) = table.and_then(|table| filled(table, self.table.entries())) {
            self.table = table;
        }
        Ok(())
    }

    /// Moves all states to a store that keeps them in full, as if each were an
    /// initial one, and has `rename` name the states that wait anew. If there is
    /// no memory, all is as it was.
    pub(crate) fn unpack<E: From<Full>>(
        &self,
        budget: &Arc<Budget>,
        rename: impl FnOnce(&mut Name) -> Result<(), E>,
    ) -> Result<ExactStore, E> {
        let store = ExactStore::new(0, false, budget).ok_or(Full)?;
        let (mut writer, mut space) = (store.writer(), Vec::new());
        for word in self.table.entries() {
            writer.rows().push(self.form.state(word, &mut space));
            if writer.rows().is_full() {
                writer.settle(|_, _, _| {})?;
            }
        }
        writer.settle(|_, _, _| {})?;
        rename(&mut |token| {
            let state = self.form.state(self.word(token), &mut space);
            Ok(writer.find(state).expect("all states"))
        })?;
        drop(writer);
        Ok(store)
    }

    /// Moves all states to a tree instead.
    pub(crate) fn fold<E: From<Full>>(
        &self,
        budget: &Arc<Budget>,
        mut rename: impl FnMut(&mut Name) -> Result<(), E>,
    ) -> Result<TreeStore, E> {
        let mut space = Vec::new();
        // States that wait side by side are neighbours; so are those that did
        // not fit and what they were found from.
        let mut sample = self.misfits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        rename(&mut |token| {
            if sample.len() < SAMPLE {
                sample.push(self.form.state(self.word(token), &mut space).to_vec());
            }
            Ok(token)
        })?;
        let shapes = shapes(sample.iter().map(Vec::as_slice), MOST_SHAPES);
        let tree = TreeStore::new(shapes, budget).ok_or(Full)?;
        let mut writer = tree.writer();
        for word in self.table.entries() {
            let token = writer.name(self.form.state(word, &mut space))?;
            writer.insert(token)?;
        }
        rename(&mut |token| writer.name(self.form.state(self.word(token), &mut space)))?;
        drop(writer);
        Ok(tree)
    }

    /// Writes all states but not the form. Nobody may be searching.
    pub(crate) fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.table.save(to)?;
        self.ways.as_ref().map_or(Ok(()), |ways| ways.save(to))
    }

    /// Reads what `save` has written; all states have the names they had.
    pub(crate) fn load(
        known: Known,
        aim: Aim,
        keeps_ways: bool,
        from: &mut dyn Read,
        budget: &Arc<Budget>,
    ) -> Result<PackedStore, Trouble> {
        let form = Form::new(known).ok_or_else(damaged)?;
        let table: Table<Whole> = Table::load(from, budget, aim.growth())?;
        let ways = if keeps_ways { Some(Records::load(from, budget)?) } else { None };
        let noted = |ways: &Records, place| match ways.state(place).len() {
            WORD => form.is_packed(ways.word(place)),
            _ => false,
        };
        let are_noted = |ways: &Records| ways.chunks().flatten().all(|place| noted(ways, place));
        if !table.entries().all(|word| form.is_packed(word)) || !ways.iter().all(are_noted) {
            return Err(damaged().into());
        }
        Ok(PackedStore { form, aim, table, ways, misfits: Mutex::default() })
    }
}

/// Writes the record of a packed state that was found from another.
#[inline(always)]
fn note(ways: &Records, chunk: &mut Chunk, packed: u64, origin: u64) -> Result<Token, Full> {
    let Place(place) = ways.write(chunk, &packed.to_le_bytes(), Place(origin)).ok_or(Full)?;
    Records::keep(chunk, WORD);
    Ok(place)
}

/// The table with all these words, which are different; `None` if there is no memory
/// for them.
fn filled(table: Table<Whole>, words: impl Iterator<Item = u64>) -> Option<Table<Whole>> {
    let mut block = Vec::with_capacity(BLOCK);
    let mut words = words.peekable();
    while words.peek().is_some() {
        block.clear();
        block.extend(words.by_ref().take(BLOCK));
        block.iter().for_each(|word| table.prefetch(mix(*word)));
        let guard = &crossbeam_epoch::pin();
        let put = |word: &u64| table.insert_value(mix(*word), *word, guard);
        if block.iter().any(|word| put(word) == Inserted::NoRoom) {
            return None;
        }
    }
    Some(table)
}

impl Store for PackedStore {
    type Writer<'s> = PackedWriter<'s>;

    fn writer(&self) -> PackedWriter<'_> {
        PackedWriter {
            store: self,
            chunk: Chunk::NONE,
            rows: Rows::new(MOST_BYTES),
            offered: Vec::new(),
            padded: Vec::new(),
        }
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.ways.as_ref().map_or(0, Records::bytes)
    }

    fn provide(&self) -> bool {
        self.table.provide() | self.ways.as_ref().is_some_and(Records::provide)
    }

    fn parent(&self, token: Token) -> Option<Token> {
        let Place(parent) = self.ways.as_ref()?.parent(Place(token));
        (parent != 0).then_some(parent)
    }
}

/// A row that was packed.
#[derive(Clone, Copy)]
struct Offered {
    packed: u64,
    /// Where the search for it begins.
    position: Position,
    /// Where its state begins in the rows.
    at: usize,
}

pub struct PackedWriter<'s> {
    store: &'s PackedStore,
    chunk: Chunk,
    rows: Rows,
    /// The rows, while they are settled.
    offered: Vec<Offered>,
    /// A state with room behind it.
    padded: Vec<u8>,
}

impl Drop for PackedWriter<'_> {
    fn drop(&mut self) {
        if let Some(ways) = &self.store.ways {
            ways.leave(std::mem::replace(&mut self.chunk, Chunk::NONE));
        }
    }
}

impl PackedWriter<'_> {
    /// Packs all rows, and asks for their slots.
    #[inline(never)]
    fn take<const FAST: bool, const N: usize>(&mut self, guard: &Guard) -> Result<(), Full> {
        let PackedWriter { store, rows, offered, .. } = self;
        let PackedStore { form, table, .. } = store;
        let (packer, bytes) = (form.most().packer::<N>(), rows.bytes());
        let mut states = States::of(rows);
        let mut result = Ok(());
        fill(offered, rows.used() / HEAD, || {
            loop {
                let (at, state) = states.next()?;
                let packed = match state.len() == packer.len {
                    true => packer.pack::<FAST>(bytes, at),
                    false => form.pack(bytes, at, state.len()),
                };
                let Some(packed) = packed else {
                    // The others tell what else there must be room for.
                    result = Err(store.note_misfit(state));
                    continue;
                };
                let position = table.approach(mix(packed), guard);
                return Some(Offered { packed, position, at });
            }
        });
        result
    }

    /// As `Writer::read_all`.
    #[inline(never)]
    fn read_as<'b, const FAST: bool, const N: usize>(
        &self,
        tokens: impl Iterator<Item = Token>,
        spaces: &'b mut [Vec<u8>],
        mut each: impl FnMut(usize, &'b [u8]),
    ) {
        let PackedStore { form, .. } = self.store;
        let unpacker = form.most().unpacker::<N>();
        for ((number, token), space) in tokens.enumerate().zip(spaces) {
            let word = self.store.word(token);
            let state = match form.is_one_of_most(word) {
                true => unpacker.unpack::<FAST>(word, space),
                false => form.state(word, space),
            };
            each(number, state);
        }
    }

    /// Inserts all that is left, in its order. If memory ends on the way the rest is
    /// forgotten: all that was expanded is expanded again then.
    fn insert_offered(
        &mut self,
        guard: &Guard,
        mut new: impl FnMut(Token, u32, Cause),
    ) -> Result<(), Full> {
        for i in 0..self.offered.len() {
            let row = self.offered[i];
            self.store.reserve(&mut self.chunk)?;
            let table = &self.store.table;
            match table.insert_looked(row.position, mix(row.packed), row.packed, guard) {
                Inserted::New(_) => self.note(row, &mut new)?,
                Inserted::Found(_) => {}
                Inserted::NoRoom => return Err(Full),
            }
        }
        Ok(())
    }

    /// Passes over what is in its first line.
    fn look<S: Sight>(&mut self) {
        let table = &self.store.table;
        keep_missing(&mut self.offered, |row| {
            let hash = mix(row.packed);
            let (is_there, position) = table.look::<S>(row.position, hash, row.packed);
            (is_there, Offered { position, ..row })
        });
    }

    /// A row was put into the table.
    #[inline(always)]
    fn note(&mut self, row: Offered, new: &mut impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let (mark, origin, cause) = self.rows.found(row.at);
        new(self.store.note(&mut self.chunk, row.packed, origin)?, mark, cause);
        Ok(())
    }

    /// Marks a state, at the latest when all is settled.
    pub fn insert(&mut self, state: &[u8]) -> Result<(), Full> {
        self.rows.push(state);
        if self.rows.is_full() { self.settle(|_, _, _| {}) } else { Ok(()) }
    }

    /// The token that a state has or would have where ways are not kept, without
    /// marking it; full if it does not fit.
    pub fn name(&mut self, state: &[u8]) -> Result<Token, Full> {
        self.store.form.pack_one(state, &mut self.padded).ok_or(Full)
    }
}

impl PackedStore {
    /// Makes sure that a new state can be given a name.
    #[inline(always)]
    fn reserve(&self, chunk: &mut Chunk) -> Result<(), Full> {
        match &self.ways {
            Some(ways) => ways.reserve(chunk, WORD).ok_or(Full),
            None => Ok(()),
        }
    }

    /// The name of a new state that was found from another.
    #[inline(always)]
    fn note(&self, chunk: &mut Chunk, packed: u64, origin: u64) -> Result<Token, Full> {
        match &self.ways {
            Some(ways) => note(ways, chunk, packed, origin),
            None => Ok(packed),
        }
    }

    #[cold]
    fn note_misfit(&self, state: &[u8]) -> Full {
        self.misfits.lock().unwrap_or_else(PoisonError::into_inner).push(state.to_vec());
        Full
    }
}

impl Writer for PackedWriter<'_> {
    fn prefetch(&self, token: Token) {
        if let Some(ways) = &self.store.ways {
            ways.prefetch_first(Place(token));
        }
    }

    fn read<'b>(&mut self, token: Token, space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b,
    {
        self.store.form.state(self.store.word(token), space)
    }

    fn read_all<'b>(
        &mut self,
        tokens: impl Iterator<Item = Token>,
        spaces: &'b mut [Vec<u8>],
        each: impl FnMut(usize, &'b [u8]),
    ) where
        Self: 'b,
    {
        by_form!(self.store.form, FAST, N => self.read_as::<FAST, N>(tokens, spaces, each))
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn settle(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        let guard = &crossbeam_epoch::pin();
        let taken = by_form!(self.store.form, FAST, N => self.take::<FAST, N>(guard));
        by_sight!(S => self.look::<S>());
        // Those beside a misfit are as good as any.
        let result = self.insert_offered(guard, new).and(taken);
        self.rows.clear();
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        // One that does not fit is not there.
        let Ok(packed) = self.name(state) else { return false };
        let guard = &crossbeam_epoch::pin();
        self.store.table.find(mix(packed), |entry| entry == packed, guard)
    }
}
