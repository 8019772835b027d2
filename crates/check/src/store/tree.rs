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

use super::dictionaries::{Desks, Dictionaries, Leaf};
use super::shape::{LEAF, Shape};
use super::table::{Growth, Inserted, Table, Whole, mix};
use super::words::{NUMBER_BITS, same};
use super::{Full, Store, Token, Writer, push_reserved};
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use ir::rows::{Cause, HEAD, ORIGIN_MASK, Rows, stride};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// A fuller table that grows in smaller steps.
pub(super) const GROWTH: Growth =
    Growth { quick: 0, eighths: 11, full: 62, pieces: 256, ahead: 16 };
/// Bytes of rows that are taken at once at the latest.
const MOST_BYTES: usize = 16 << 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// Lengths of states that have a shape with a number of its own.
pub const MOST_SHAPES: usize = 7;
/// Lengths of states for which a thread keeps memory at hand: there may be hundreds.
const MOST_BATCHES: usize = 16;
/// The number in roots of states of another length. There the left node joins
/// the length and the left node proper.
const OTHER: u64 = 7;

pub struct TreeStore {
    roots: Table<Whole>,
    dictionaries: Dictionaries,
    shapes: Vec<Arc<Shape>>,
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
            batches: self.shapes.iter().cloned().zip(0..).map(|(s, n)| Batch::new(s, n)).collect(),
            current: 0,
            desks: Desks::default(),
            guard: None,
            offered: Vec::new(),
            beyond: Vec::new(),
            full: false,
            padded: Vec::new(),
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
struct Batch {
    shape: Arc<Shape>,
    /// The number of the shape in a root.
    number: u64,
    /// Where each leaf begins, and which bits of the words there are its own.
    windows: Vec<(usize, Leaf)>,
    states: Vec<Waiting>,
    leaves: Vec<Leaf>,
    /// The numbers of leaves and nodes; 0 if not known yet.
    nodes: Vec<u32>,
    /// What rows of their successors have for an origin.
    parents: Vec<u64>,
    parent_leaves: Vec<Leaf>,
    parent_nodes: Vec<u32>,
    /// The parent of the last row.
    last: usize,
}

struct Waiting {
    /// Which of the parents; `NONE` if it has another shape.
    parent: u32,
    /// Where its state begins in the rows.
    at: u32,
}

const NONE: u32 = u32::MAX;

/// Bytes behind a state that are read with it.
const SLACK: usize = LEAF;

impl Batch {
    fn new(shape: Arc<Shape>, number: u64) -> Batch {
        let bits = |size: usize, i: usize| match size.saturating_sub(8 * i) {
            0 => 0,
            left => u64::MAX >> (64 - 8 * left.min(8)),
        };
        let window = |&(at, size): &(usize, usize)| (at, std::array::from_fn(|i| bits(size, i)));
        Batch {
            windows: shape.leaves.iter().map(window).collect(),
            shape,
            number,
            states: Vec::new(),
            leaves: Vec::new(),
            nodes: Vec::new(),
            parents: Vec::new(),
            parent_leaves: Vec::new(),
            parent_nodes: Vec::new(),
            last: 0,
        }
    }

    fn forget_states(&mut self) {
        self.states.clear();
        self.leaves.clear();
        self.nodes.clear();
    }

    fn forget_parents(&mut self) {
        self.parents.clear();
        self.parent_leaves.clear();
        self.parent_nodes.clear();
        self.last = 0;
    }

    /// The parent of a row. Rows come in the order of their parents, as a rule.
    #[inline(always)]
    fn parent(&mut self, origin: u64) -> Option<usize> {
        if self.parents.get(self.last) == Some(&origin) {
            return Some(self.last);
        }
        let (before, rest) = self.parents.split_at_checked(self.last)?;
        let is = |parent: &u64| *parent == origin;
        let later = rest.iter().position(is).map(|distance| self.last + distance);
        self.last = later.or_else(|| before.iter().position(is))?;
        Some(self.last)
    }

    /// Takes a state, which has `SLACK` bytes behind it, with the parent's numbers
    /// where nothing has changed.
    #[inline(always)]
    fn add(&mut self, state: &[u8], parent: Option<usize>, at: u32) {
        let (n_leaves, n_nodes) = (self.windows.len(), self.shape.n_nodes());
        let state = &state[..self.shape.len + SLACK];
        self.leaves.reserve(n_leaves);
        self.nodes.reserve(n_nodes);
        let leaves = self.windows.iter().map(|(at, bits)| leaf(state, *at, bits));
        if let Some(parent) = parent {
            let olds = &self.parent_leaves[parent * n_leaves..][..n_leaves];
            let numbers = &self.parent_nodes[parent * n_nodes..][..n_leaves];
            for ((leaf, old), number) in leaves.zip(olds).zip(numbers) {
                push_reserved(&mut self.nodes, if same(&leaf, old) { *number } else { 0 });
                push_reserved(&mut self.leaves, leaf);
            }
        } else {
            self.leaves.extend(leaves);
            (0..n_leaves).for_each(|_| push_reserved(&mut self.nodes, 0));
        }
        (n_leaves..n_nodes).for_each(|_| push_reserved(&mut self.nodes, 0));
        let parent = parent.map_or(NONE, |parent| parent as u32);
        self.states.push(Waiting { parent, at });
    }
}

/// Up to `LEAF` bytes as words, each in one load: states were written just now,
/// piece by piece, and a copy of a copy would have to wait for that.
#[inline(always)]
fn leaf(state: &[u8], at: usize, bits: &Leaf) -> Leaf {
    let words: &[u8; LEAF] = state[at..].first_chunk().expect("there is slack behind a state");
    std::array::from_fn(|i| {
        let word = words[8 * i..].first_chunk().expect("a leaf has so many words");
        u64::from_le_bytes(*word) & bits[i]
    })
}

#[inline]
fn join(left: u32, right: u32) -> u64 {
    left as u64 | (right as u64) << 32
}

struct Offered {
    root: u64,
    /// Where its state begins in the rows.
    at: u32,
    is_new: bool,
}

pub struct TreeWriter<'s> {
    store: &'s TreeStore,
    rows: Rows,
    /// One for each shape that has a number, then those of other lengths.
    batches: Vec<Batch>,
    /// The batch that was last in use.
    current: usize,
    desks: Desks,
    /// From the first state that is offered until all are settled.
    guard: Option<Guard>,
    /// States whose roots are known.
    offered: Vec<Offered>,
    /// Numbers of those that have no place in their first line.
    beyond: Vec<usize>,
    /// There was no room for a node.
    full: bool,
    /// A state with slack behind it.
    padded: Vec<u8>,
}

impl TreeWriter<'_> {
    /// Makes the batch of states of this length the current one.
    #[inline(always)]
    fn turn_to(&mut self, len: usize) {
        if self.batches.get(self.current).is_none_or(|batch| batch.shape.len != len) {
            self.find_batch(len);
        }
    }

    #[cold]
    fn find_batch(&mut self, len: usize) {
        let known = self.batches.iter().position(|batch| batch.shape.len == len);
        self.current = known.unwrap_or(self.batches.len());
        if known.is_none() {
            self.batches.push(Batch::new(Arc::new(Shape::new(len, &[])), OTHER));
        }
    }

    /// Takes the successors that are in the rows.
    fn take_rows(&mut self) {
        let mut at = 0;
        while at < self.rows.used() {
            let state = at + HEAD;
            let len = self.rows.row(at).0.state.len();
            self.turn_to(len);
            let batch = &mut self.batches[self.current];
            let (_, origin, _) = self.rows.found(state);
            let parent = batch.parent(origin);
            batch.add(&self.rows.bytes()[state..], parent, state as u32);
            at += stride(len);
        }
    }

    /// Finds the roots of all states that wait. The parents stay.
    fn fold(&mut self) {
        for number in 0..self.batches.len() {
            if self.batches[number].states.is_empty() {
                continue;
            }
            self.current = number;
            if self.fold_leaves().and_then(|()| self.fold_joins()).is_err() {
                self.full = true;
            } else {
                self.fold_roots();
            }
            self.batches[number].forget_states();
        }
    }

    fn fold_leaves(&mut self) -> Result<(), Full> {
        let TreeWriter { store, batches, desks, guard, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let batch = &mut batches[self.current];
        let shape = &batch.shape;
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
        let TreeWriter { store, batches, desks, guard, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let batch = &mut batches[self.current];
        let shape = &batch.shape;
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
        let TreeWriter { store, batches, desks, guard, offered, full, .. } = self;
        let guard = guard.get_or_insert_with(crossbeam_epoch::pin);
        let batch = &batches[self.current];
        let shape = &batch.shape;
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
            offered.push(Offered { root, at: waiting.at, is_new: false });
        }
    }

    /// Makes the state of a root the parent of what comes; how long it is.
    fn unfold(&mut self, root: u64, state: &mut Vec<u8>) -> usize {
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
        let TreeWriter { store, batches, .. } = self;
        let batch = &mut batches[self.current];
        let shape = &batch.shape;
        let (first, n_nodes) = (batch.parent_nodes.len(), shape.n_nodes());
        batch.parent_nodes.reserve(n_nodes);
        (0..n_nodes).for_each(|_| push_reserved(&mut batch.parent_nodes, 0));
        batch.parents.push(root & ORIGIN_MASK);
        let nodes = &mut batch.parent_nodes[first..];
        (nodes[shape.root.0], nodes[shape.root.1]) = (left, right);
        for (i, &(a, b)) in shape.joins.iter().enumerate().rev() {
            let word = store.dictionaries.join(nodes[shape.leaves.len() + i]);
            (nodes[a], nodes[b]) = (word as u32, (word >> 32) as u32);
        }
        if state.len() != len + SLACK {
            state.resize(len + SLACK, 0);
        }
        // In order, so that what is written behind a leaf is written over.
        for (&(at, size), node) in shape.leaves.iter().zip(nodes) {
            let leaf = store.dictionaries.leaf(*node, size);
            batch.parent_leaves.push(leaf);
            let there = state[at..].first_chunk_mut::<LEAF>().expect("there is slack");
            for (there, word) in there.chunks_exact_mut(8).zip(leaf) {
                there.copy_from_slice(&word.to_le_bytes());
            }
        }
        len
    }

    /// The token that a state has or would have, without marking it. Nothing
    /// else may be waiting.
    pub fn name(&mut self, state: &[u8]) -> Result<Token, Full> {
        self.turn_to(state.len());
        self.padded.clear();
        self.padded.extend_from_slice(state);
        self.padded.resize(state.len() + SLACK, 0);
        let batch = &mut self.batches[self.current];
        // A successor of the state that was read last, if any was.
        let parent = batch.parents.len().checked_sub(1);
        batch.add(&self.padded, parent, 0);
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
        let len = self.unfold(token, space);
        &space[..len]
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn settle(&mut self, mut new: impl FnMut(Token, u32, Cause)) -> Result<(), Full> {
        self.take_rows();
        self.fold();
        let guard = &self.guard.take().unwrap_or_else(crossbeam_epoch::pin);
        let mut result = if std::mem::take(&mut self.full) { Err(Full) } else { Ok(()) };
        let TreeWriter { store, rows, offered, beyond, .. } = self;
        for (i, Offered { root, is_new, .. }) in offered.iter_mut().enumerate() {
            match store.roots.insert_near(mix(*root), *root, guard) {
                Some(inserted) => *is_new = matches!(inserted, Inserted::New(_)),
                None => beyond.push(i),
            }
        }
        for i in beyond.drain(..) {
            let Offered { root, is_new, .. } = &mut offered[i];
            match store.roots.insert_value(mix(*root), *root, guard) {
                Inserted::NoRoom => result = Err(Full),
                inserted => *is_new = matches!(inserted, Inserted::New(_)),
            }
        }
        // They come length by length.
        offered.sort_unstable_by_key(|row| row.at);
        for Offered { root, at, is_new } in offered.drain(..) {
            if is_new {
                let (mark, _, cause) = rows.found(at as usize);
                new(root, mark, cause);
            }
        }
        rows.clear();
        result
    }

    fn finish(&mut self, _expanded: bool) {
        self.batches.iter_mut().for_each(Batch::forget_parents);
        if self.batches.len() > MOST_BATCHES {
            self.batches.truncate(self.store.shapes.len());
        }
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
        self.dictionaries.save(to)?;
        self.roots.save(to)
    }

    /// Reads what `save` has written; all states have the names they had.
    pub(crate) fn load(
        shapes: Vec<Shape>,
        from: &mut dyn Read,
        budget: &Arc<Budget>,
    ) -> Result<TreeStore, Trouble> {
        let dictionaries = Dictionaries::load(from, budget)?;
        let roots = Table::<Whole>::load(from, budget, GROWTH)?;
        Ok(TreeStore { roots, dictionaries, shapes: shapes.into_iter().map(Arc::new).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_many_lengths_leave_no_memory_behind() {
        let store = TreeStore::new(Vec::new(), &Arc::new(Budget::new(64 << 20))).expect("room");
        let mut writer = store.writer();
        let mut n_new = 0;
        for len in (1..600usize).chain(1..600) {
            writer.rows().push(&vec![len as u8; len]);
            writer.settle(|_, _, _| n_new += 1).expect("room");
            writer.finish(true);
            assert!(writer.batches.len() <= MOST_BATCHES);
        }
        assert_eq!(n_new, 599);
    }
}
