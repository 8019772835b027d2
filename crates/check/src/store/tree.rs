//! Compact store: states folded into trees, without loss.
//!
//! A state is cut into leaves of up to 32 bytes. These are replaced by their
//! numbers in a dictionary, two numbers again by one, until two are left: the root,
//! which fits in an entry of the table of visited states. States that differ
//! in one variable share all nodes but those above it, so nodes are few and a
//! state takes little more than its root (Laarman, van de Pol, Weber: Parallel
//! recursive state compression for free, 2011). A successor is folded along
//! its parent: only what has changed is looked up. Where to cut is learnt from
//! a sample of states (`shape.rs`).
//!
//! Guarantee: equal roots are equal states, byte by byte; nothing is hashed
//! away. What it does not keep is the state from which one was found.

use super::shape::{LEAF, Shape};
use super::table::{Entry, Growth, Inserted, Table, tag};
use super::words::{Desk, NUMBER_BITS, Words, mix, same};
use super::{Full, Store, Token, Writer};
use crate::blocks::{damaged, read_number, write_number};
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, Row, Rows};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// A fuller table that grows in smaller steps.
const GROWTH: Growth = Growth { eighths: 11, full: 62, pieces: 256 };
/// States of a batch.
const MOST_OFFERED: usize = 128;
/// Bytes of rows that are taken at once at the latest.
const MOST_BYTES: usize = 16 << 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// Lengths of states that have a shape with a number of its own.
pub const MOST_SHAPES: usize = 7;
/// The number in roots of states of another length. There the left node joins
/// the length and the left node proper.
const OTHER: u64 = 7;

struct Root;

impl Entry for Root {
    #[inline]
    fn tag(entry: u64) -> u64 {
        tag(mix(entry))
    }
}

pub struct TreeStore {
    roots: Table<Root>,
    dictionaries: Dictionaries,
    shapes: Vec<Arc<Shape>>,
}

/// One dictionary for each length of leaves in words; the first also has the
/// nodes, which are two numbers in a word.
struct Dictionaries {
    one: Words<1>,
    two: Words<2>,
    three: Words<3>,
    four: Words<4>,
}

#[derive(Default)]
struct Desks {
    one: Desk<1>,
    two: Desk<2>,
    three: Desk<3>,
    four: Desk<4>,
}

/// Words of a leaf.
const WORDS: usize = LEAF / 8;
type Leaf = [u64; WORDS];

impl Dictionaries {
    fn new(budget: &Arc<Budget>) -> Option<Dictionaries> {
        Some(Dictionaries {
            one: Words::new(budget)?,
            two: Words::new(budget)?,
            three: Words::new(budget)?,
            four: Words::new(budget)?,
        })
    }

    fn bytes(&self) -> u64 {
        self.one.bytes() + self.two.bytes() + self.three.bytes() + self.four.bytes()
    }

    /// The number of a leaf of so many bytes, if it is known at once.
    #[inline(always)]
    fn ask(&self, leaf: &Leaf, size: usize, mark: u32, desks: &mut Desks) -> Option<u32> {
        let [a, b, c, d] = *leaf;
        match size.div_ceil(8) {
            0 | 1 => self.one.ask(&[a], mark, &mut desks.one),
            2 => self.two.ask(&[a, b], mark, &mut desks.two),
            3 => self.three.ask(&[a, b, c], mark, &mut desks.three),
            _ => self.four.ask(&[a, b, c, d], mark, &mut desks.four),
        }
    }

    /// Tells the numbers of leaves that were asked for.
    fn resolve(
        &self,
        size: usize,
        desks: &mut Desks,
        guard: &Guard,
        tell: impl FnMut(u32, u32),
    ) -> Result<(), Full> {
        match size.div_ceil(8) {
            0 | 1 => self.one.resolve(&mut desks.one, guard, tell),
            2 => self.two.resolve(&mut desks.two, guard, tell),
            3 => self.three.resolve(&mut desks.three, guard, tell),
            _ => self.four.resolve(&mut desks.four, guard, tell),
        }
    }

    #[inline(always)]
    fn prefetch(&self, number: u32, size: usize) {
        match size.div_ceil(8) {
            0 | 1 => self.one.prefetch(number),
            2 => self.two.prefetch(number),
            3 => self.three.prefetch(number),
            _ => self.four.prefetch(number),
        }
    }

    #[inline]
    fn leaf(&self, number: u32, size: usize) -> Leaf {
        match size.div_ceil(8) {
            0 | 1 => {
                let [a] = self.one.row(number);
                [a, 0, 0, 0]
            }
            2 => {
                let [a, b] = self.two.row(number);
                [a, b, 0, 0]
            }
            3 => {
                let [a, b, c] = self.three.row(number);
                [a, b, c, 0]
            }
            _ => self.four.row(number),
        }
    }

    #[inline]
    fn join(&self, number: u32) -> u64 {
        self.one.row(number)[0]
    }
}

impl TreeStore {
    pub fn shapes(&self) -> Vec<Shape> {
        self.shapes.iter().map(|s| Shape::clone(s)).collect()
    }

    /// `None` if not even an empty store fits in the budget.
    pub fn new(shapes: Vec<Shape>, budget: &Arc<Budget>) -> Option<TreeStore> {
        debug_assert!(shapes.len() <= MOST_SHAPES);
        Some(TreeStore {
            roots: Table::new(budget, GROWTH)?,
            dictionaries: Dictionaries::new(budget)?,
            shapes: shapes.into_iter().map(Arc::new).collect(),
        })
    }
}

impl Store for TreeStore {
    type Writer<'s> = TreeWriter<'s>;

    fn writer(&self) -> TreeWriter<'_> {
        TreeWriter {
            store: self,
            rows: Rows::new(MOST_BYTES),
            others: HashMap::new(),
            batch: Batch::default(),
            desks: Desks::default(),
            guard: None,
            offered: Vec::new(),
            full: false,
        }
    }

    fn bytes(&self) -> u64 {
        self.roots.bytes() + self.dictionaries.bytes()
    }

    fn parent(&self, _token: Token) -> Option<Token> {
        None
    }
}

/// States of one shape that wait to be folded, with their parents. Rows of
/// leaves and of nodes lie one behind the other.
#[derive(Default)]
struct Batch {
    /// None before there is a state.
    shape: Option<Arc<Shape>>,
    /// The number of the shape in a root.
    number: u64,
    states: Vec<Waiting>,
    leaves: Vec<Leaf>,
    /// The numbers of leaves and nodes; 0 if not known yet.
    nodes: Vec<u32>,
    n_parents: usize,
    parent_leaves: Vec<Leaf>,
    parent_nodes: Vec<u32>,
}

struct Waiting {
    /// Which of the parents; `NONE` if it has another shape.
    parent: u32,
    mark: u32,
    cause: Cause,
}

const NONE: u32 = u32::MAX;

impl Batch {
    fn len(&self) -> Option<usize> {
        self.shape.as_ref().map(|s| s.len)
    }

    /// Forgets all states and parents.
    fn clear(&mut self) {
        self.states.clear();
        self.leaves.clear();
        self.nodes.clear();
        self.n_parents = 0;
        self.parent_leaves.clear();
        self.parent_nodes.clear();
    }

    /// Takes a state, with the parent's numbers where nothing has changed.
    #[inline(always)]
    fn add(&mut self, Row { state, mark, cause, .. }: Row) {
        let Some(shape) = &self.shape else { return };
        let n_leaves = shape.leaves.len();
        let first = self.nodes.len();
        self.nodes.resize(first + shape.n_nodes(), 0);
        let nodes = &mut self.nodes[first..];
        let parent = self.n_parents.checked_sub(1);
        if let Some(parent) = parent {
            let leaves = &self.parent_leaves[parent * n_leaves..][..n_leaves];
            let numbers = &self.parent_nodes[parent * shape.n_nodes()..][..n_leaves];
            for (i, &(at, size)) in shape.leaves.iter().enumerate() {
                let leaf = leaf(state, at, size);
                nodes[i] = if same(&leaf, &leaves[i]) { numbers[i] } else { 0 };
                self.leaves.push(leaf);
            }
        } else {
            self.leaves.extend(shape.leaves.iter().map(|&(at, size)| leaf(state, at, size)));
        }
        let parent = parent.map_or(NONE, |p| p as u32);
        self.states.push(Waiting { parent, mark, cause });
    }
}

/// Up to `LEAF` bytes as words.
#[inline(always)]
fn leaf(state: &[u8], at: usize, size: usize) -> Leaf {
    std::array::from_fn(|i| {
        let size = size.saturating_sub(8 * i);
        if size == 0 { 0 } else { word(state, at + 8 * i, size) }
    })
}

/// Up to eight bytes as a word, in one load: states were written just now,
/// piece by piece, and a copy of a copy would have to wait for that.
#[inline(always)]
fn word(state: &[u8], at: usize, size: usize) -> u64 {
    let load = |at: usize| {
        let eight = state.get(at..at + 8)?;
        Some(u64::from_le_bytes(eight.try_into().expect("eight bytes")))
    };
    let mask = u64::MAX >> (64 - 8 * size.min(8));
    if let Some(word) = load(at) {
        return word & mask;
    }
    // At the end of a state its last eight bytes are there.
    let last = state.len().checked_sub(8).and_then(|last| Some((last, load(last)?)));
    match last {
        Some((last, word)) => (word >> (8 * (at - last))) & mask,
        None => state[at..at + size].iter().rev().fold(0, |word, byte| word << 8 | *byte as u64),
    }
}

#[inline]
fn join(left: u32, right: u32) -> u64 {
    left as u64 | (right as u64) << 32
}

struct Offered {
    root: u64,
    mark: u32,
    cause: Cause,
}

pub struct TreeWriter<'s> {
    store: &'s TreeStore,
    rows: Rows,
    /// Shapes of lengths that have no number.
    others: HashMap<usize, Arc<Shape>>,
    batch: Batch,
    desks: Desks,
    /// From the first state that is offered until all are settled.
    guard: Option<Guard>,
    /// States whose roots are known.
    offered: Vec<Offered>,
    /// There was no room for a node.
    full: bool,
}

impl TreeWriter<'_> {
    /// Makes the batch one of states of this length.
    fn turn_to(&mut self, len: usize) {
        if self.batch.len() == Some(len) {
            return;
        }
        self.fold();
        self.batch.clear();
        let known = self.store.shapes.iter().position(|s| s.len == len);
        let (number, shape) = match known {
            Some(number) => (number as u64, self.store.shapes[number].clone()),
            None => {
                let new = || Arc::new(Shape::new(len, &[]));
                (OTHER, self.others.entry(len).or_insert_with(new).clone())
            }
        };
        self.batch.number = number;
        self.batch.shape = Some(shape);
    }

    /// Takes the successors of the state that was read last.
    fn take_rows(&mut self) {
        let mut at = 0;
        while at < self.rows.used() {
            let len = self.rows.row(at).0.state.len();
            if self.batch.len() != Some(len) {
                self.turn_to(len);
            }
            let (row, next) = self.rows.row(at);
            self.batch.add(row);
            at = next;
        }
        self.rows.clear();
    }

    /// Finds the roots of all states that wait. The parents stay.
    fn fold(&mut self) {
        if self.batch.states.is_empty() {
            return;
        }
        if self.fold_leaves().and_then(|()| self.fold_joins()).is_err() {
            self.full = true;
        } else {
            self.fold_roots();
        }
        self.batch.states.clear();
        self.batch.leaves.clear();
        self.batch.nodes.clear();
    }

    fn fold_leaves(&mut self) -> Result<(), Full> {
        let TreeWriter { store, batch, desks, guard, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let Some(shape) = &batch.shape else { return Ok(()) };
        let (words, n_leaves, n_nodes) = (&store.dictionaries, shape.leaves.len(), shape.n_nodes());
        for (i, &(_, size)) in shape.leaves.iter().enumerate() {
            for state in 0..batch.states.len() {
                let node = &mut batch.nodes[state * n_nodes + i];
                if *node == 0 {
                    let leaf = &batch.leaves[state * n_leaves + i];
                    *node = words.ask(leaf, size, state as u32, desks).unwrap_or(0);
                }
            }
            let nodes = &mut batch.nodes;
            let tell = |state: u32, number| nodes[state as usize * n_nodes + i] = number;
            words.resolve(size, desks, guard, tell)?;
        }
        Ok(())
    }

    fn fold_joins(&mut self) -> Result<(), Full> {
        let TreeWriter { store, batch, desks, guard, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let Some(shape) = &batch.shape else { return Ok(()) };
        let (words, n_nodes) = (&store.dictionaries.one, shape.n_nodes());
        for (i, &(a, b)) in shape.joins.iter().enumerate() {
            let i = shape.leaves.len() + i;
            for (state, waiting) in batch.states.iter().enumerate() {
                let nodes = &mut batch.nodes[state * n_nodes..][..n_nodes];
                let parent = batch.parent_nodes.get(waiting.parent as usize * n_nodes..);
                nodes[i] = match parent {
                    Some(p) if p.len() >= n_nodes && p[a] == nodes[a] && p[b] == nodes[b] => p[i],
                    _ => {
                        let row = [join(nodes[a], nodes[b])];
                        words.ask(&row, state as u32, &mut desks.one).unwrap_or(0)
                    }
                };
            }
            let nodes = &mut batch.nodes;
            let tell = |state: u32, number| nodes[state as usize * n_nodes + i] = number;
            words.resolve(&mut desks.one, guard, tell)?;
        }
        Ok(())
    }

    fn fold_roots(&mut self) {
        let TreeWriter { store, batch, desks, guard, offered, full, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let Some(shape) = &batch.shape else { return };
        for (waiting, nodes) in batch.states.iter().zip(batch.nodes.chunks_exact(shape.n_nodes())) {
            let (mut left, right) = (nodes[shape.root.0], nodes[shape.root.1]);
            if batch.number == OTHER {
                let words = &store.dictionaries.one;
                let known = words.ask(&[join(shape.len as u32, left)], 0, &mut desks.one);
                left = known.unwrap_or(0);
                *full |= words.resolve(&mut desks.one, guard, |_, number| left = number).is_err();
            }
            let root =
                batch.number << (2 * NUMBER_BITS) | (left as u64) << NUMBER_BITS | right as u64;
            store.roots.prefetch(mix(root));
            offered.push(Offered { root, mark: waiting.mark, cause: waiting.cause });
        }
    }

    /// Makes the state of a root the parent of what comes.
    fn unfold(&mut self, root: u64, state: &mut Vec<u8>) {
        let number = root >> (2 * NUMBER_BITS);
        let right = (root & NUMBER_MASK) as u32;
        let mut left = (root >> NUMBER_BITS & NUMBER_MASK) as u32;
        let len = if number == OTHER {
            let word = self.store.dictionaries.join(left);
            left = (word >> 32) as u32;
            word as u32 as usize
        } else {
            self.store.shapes[number as usize].len
        };
        self.turn_to(len);
        let TreeWriter { store, batch, .. } = self;
        if batch.states.is_empty() {
            batch.clear();
        }
        let Some(shape) = &batch.shape else { return };
        let first = batch.parent_nodes.len();
        batch.parent_nodes.resize(first + shape.n_nodes(), 0);
        batch.n_parents += 1;
        let nodes = &mut batch.parent_nodes[first..];
        (nodes[shape.root.0], nodes[shape.root.1]) = (left, right);
        for (i, &(a, b)) in shape.joins.iter().enumerate().rev() {
            let word = store.dictionaries.join(nodes[shape.leaves.len() + i]);
            (nodes[a], nodes[b]) = (word as u32, (word >> 32) as u32);
        }
        state.clear();
        for (i, &(_, size)) in shape.leaves.iter().enumerate() {
            let leaf = store.dictionaries.leaf(nodes[i], size);
            batch.parent_leaves.push(leaf);
            for (k, word) in leaf.iter().enumerate().take(size.div_ceil(8)) {
                state.extend_from_slice(&word.to_le_bytes()[..(size - 8 * k).min(8)]);
            }
        }
    }

    /// The token that a state has or would have, without marking it. Nothing
    /// else may be waiting.
    pub fn name(&mut self, state: &[u8]) -> Result<Token, Full> {
        self.turn_to(state.len());
        self.batch.add(Row { state, mark: 0, origin: 0, cause: 0 });
        self.fold();
        if std::mem::take(&mut self.full) {
            return Err(Full);
        }
        self.offered.pop().map(|offered| offered.root).ok_or(Full)
    }

    /// Marks a state; whether it is new.
    pub fn insert(&mut self, token: Token) -> Result<bool, Full> {
        let guard = &self.guard.take().unwrap_or_else(crossbeam_epoch::pin);
        match self.store.roots.insert_value(mix(token), token, guard) {
            Inserted::NoRoom => Err(Full),
            Inserted::New(_) => Ok(true),
            Inserted::Found(_) => Ok(false),
        }
    }
}

impl Writer for TreeWriter<'_> {
    fn prefetch(&self, token: Token) {
        let number = token >> (2 * NUMBER_BITS);
        if let Some(shape) = self.store.shapes.get(number as usize)
            && shape.joins.is_empty()
        {
            let words = &self.store.dictionaries;
            let (left, right) = (token >> NUMBER_BITS & NUMBER_MASK, token & NUMBER_MASK);
            words.prefetch(left as u32, shape.leaves[shape.root.0].1);
            words.prefetch(right as u32, shape.leaves[shape.root.1].1);
        }
    }

    fn read<'b>(&mut self, token: Token, space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b,
    {
        self.unfold(token, space);
        space
    }

    fn reads_ahead(&self) -> bool {
        false
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn advance(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        self.take_rows();
        match self.batch.states.len() + self.offered.len() {
            MOST_OFFERED.. => self.settle(new),
            _ => Ok(()),
        }
    }

    fn settle(&mut self, mut new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        self.take_rows();
        self.fold();
        let guard = &self.guard.take().unwrap_or_else(crossbeam_epoch::pin);
        let mut result = if std::mem::take(&mut self.full) { Err(Full) } else { Ok(()) };
        let roots = &self.store.roots;
        self.offered.retain(|Offered { root, mark, cause }| {
            let inserted = roots.insert_near(mix(*root), *root, guard);
            if let Some(Inserted::New(_)) = inserted {
                new(*root, *mark, *cause);
            }
            inserted.is_none()
        });
        for Offered { root, mark, cause } in self.offered.drain(..) {
            match roots.insert_value(mix(root), root, guard) {
                Inserted::New(_) => new(root, mark, cause),
                Inserted::Found(_) => {}
                Inserted::NoRoom => result = Err(Full),
            }
        }
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        let Ok(root) = self.name(state) else { return false };
        let guard = &crossbeam_epoch::pin();
        self.store.roots.find(mix(root), |entry| entry == root, guard)
    }
}

impl TreeStore {
    /// Writes all states but not the shapes. Nobody may be searching.
    pub(crate) fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Dictionaries { one, two, three, four } = &self.dictionaries;
        one.save(to)?;
        two.save(to)?;
        three.save(to)?;
        four.save(to)?;
        write_number(to, self.roots.entries().count() as u64)?;
        self.roots.entries().try_for_each(|root| write_number(to, root))
    }

    /// Reads what `save` has written; all states have the names they had.
    pub(crate) fn load(
        shapes: Vec<Shape>,
        from: &mut dyn Read,
        budget: &Arc<Budget>,
    ) -> Result<TreeStore, Trouble> {
        let dictionaries = Dictionaries {
            one: Words::load(from, budget)?,
            two: Words::load(from, budget)?,
            three: Words::load(from, budget)?,
            four: Words::load(from, budget)?,
        };
        let roots = Table::<Root>::new(budget, GROWTH).ok_or(Full)?;
        let n_roots = read_number(from)?;
        let guard = &mut crossbeam_epoch::pin();
        for i in 0..n_roots {
            if i % 1024 == 0 {
                guard.repin();
            }
            let root = read_number(from)?;
            if root == 0 || root >> 63 != 0 {
                return Err(damaged().into());
            }
            // No root is there twice, so none needs to be compared.
            if roots.insert_value(mix(root), root, guard) == Inserted::NoRoom {
                return Err(Trouble::Full);
            }
        }
        Ok(TreeStore { roots, dictionaries, shapes: shapes.into_iter().map(Arc::new).collect() })
    }
}
