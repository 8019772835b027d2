//! Compact store: states folded into trees, without loss.
//!
//! A state is cut into leaves of up to eight bytes. These are replaced by
//! numbers of nodes, two numbers again by one, until two are left: the root,
//! which fits in an entry of the table of visited states. States that differ
//! in one variable share all nodes but those above it, so nodes are few and a
//! state takes little more than its root (Laarman, van de Pol, Weber: Parallel
//! recursive state compression for free, 2011). A successor is folded along
//! its parent: only what has changed is looked up. Where to cut is learnt from
//! a sample of states (`shape.rs`).
//!
//! Guarantee: equal roots are equal states, byte by byte; nothing is hashed
//! away. What it does not keep is the state from which one was found.

use super::nodes::{NODE_BITS, Nodes, Numbers, mix};
use super::shape::Shape;
use super::table::{Entry, Growth, Inserted, Table, tag};
use super::{Full, Store, Token, Writer};
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use std::collections::HashMap;
use std::sync::Arc;

/// A fuller table that grows in smaller steps.
const GROWTH: Growth = Growth { quarters: 5, full: 14 };
/// States of a batch.
const MOST_OFFERED: usize = 128;
const NODE_MASK: u64 = (1 << NODE_BITS) - 1;
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
    nodes: Nodes,
    shapes: Vec<Arc<Shape>>,
}

impl TreeStore {
    /// `None` if not even an empty store fits in the budget.
    pub fn new(shapes: Vec<Shape>, budget: &Arc<Budget>) -> Option<TreeStore> {
        debug_assert!(shapes.len() <= MOST_SHAPES);
        Some(TreeStore {
            roots: Table::new(budget, GROWTH)?,
            nodes: Nodes::new(budget)?,
            shapes: shapes.into_iter().map(Arc::new).collect(),
        })
    }
}

impl Store for TreeStore {
    type Writer<'s> = TreeWriter<'s>;

    fn writer(&self) -> TreeWriter<'_> {
        TreeWriter {
            store: self,
            others: HashMap::new(),
            parent: Fold::default(),
            child: Fold::default(),
            numbers: Numbers::new(),
            offered: Vec::new(),
            full: false,
        }
    }

    fn bytes(&self) -> u64 {
        self.roots.bytes() + self.nodes.bytes()
    }

    fn parent(&self, _token: Token) -> Option<Token> {
        None
    }
}

/// The tree of one state.
#[derive(Default)]
struct Fold {
    /// None before there is a state.
    shape: Option<Arc<Shape>>,
    /// The number of the shape in a root.
    number: u64,
    /// What each node stands for: the bytes of a leaf, or two nodes.
    words: Vec<u64>,
    nodes: Vec<u32>,
}

impl Fold {
    fn len(&self) -> Option<usize> {
        self.shape.as_ref().map(|s| s.len)
    }

    fn set_shape(&mut self, (number, shape): (u64, Arc<Shape>)) {
        self.words.resize(shape.n_nodes(), 0);
        self.nodes.resize(shape.n_nodes(), 0);
        self.number = number;
        self.shape = Some(shape);
    }
}

/// Up to eight bytes as a word.
#[inline]
fn leaf(state: &[u8], at: usize, size: usize) -> u64 {
    if let Some(eight) = state.get(at..at + 8) {
        let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        return if size == 8 { word } else { word & ((1 << (8 * size)) - 1) };
    }
    state[at..at + size].iter().rev().fold(0, |word, byte| word << 8 | *byte as u64)
}

#[inline]
fn join(left: u32, right: u32) -> u64 {
    left as u64 | (right as u64) << 32
}

struct Offered {
    root: u64,
    mark: u32,
}

pub struct TreeWriter<'s> {
    store: &'s TreeStore,
    /// Shapes of lengths that have no number.
    others: HashMap<usize, Arc<Shape>>,
    parent: Fold,
    child: Fold,
    numbers: Numbers,
    offered: Vec<Offered>,
    /// There was no room for a node.
    full: bool,
}

impl TreeWriter<'_> {
    fn shape(&mut self, len: usize) -> (u64, Arc<Shape>) {
        if let Some(number) = self.store.shapes.iter().position(|s| s.len == len) {
            return (number as u64, self.store.shapes[number].clone());
        }
        let shape = self.others.entry(len).or_insert_with(|| Arc::new(Shape::new(len, &[])));
        (OTHER, shape.clone())
    }

    /// The root of a state, with the parent's nodes where nothing has changed.
    pub fn fold(&mut self, state: &[u8], guard: &Guard) -> Result<u64, Full> {
        if self.child.len() != Some(state.len()) {
            let shape = self.shape(state.len());
            self.child.set_shape(shape);
        }
        let known = self.parent.len() == Some(state.len());
        let TreeWriter { store, parent, child, numbers, .. } = self;
        let Some(shape) = &child.shape else { return Err(Full) };
        let mut set = |i: usize, word: u64, nodes: &mut [u32]| {
            child.words[i] = word;
            nodes[i] = if known && word == parent.words[i] {
                parent.nodes[i]
            } else {
                store.nodes.number(word, numbers, guard)?
            };
            Ok(())
        };
        let nodes = &mut child.nodes[..];
        for (i, &(at, size)) in shape.leaves.iter().enumerate() {
            set(i, leaf(state, at, size), nodes)?;
        }
        for (i, &(a, b)) in shape.joins.iter().enumerate() {
            set(shape.leaves.len() + i, join(nodes[a], nodes[b]), nodes)?;
        }
        let (mut left, right) = (nodes[shape.root.0], nodes[shape.root.1]);
        if child.number == OTHER {
            left = store.nodes.number(join(shape.len as u32, left), numbers, guard)?;
        }
        Ok(child.number << (2 * NODE_BITS) | (left as u64) << NODE_BITS | right as u64)
    }

    /// Makes the state of a root the parent.
    fn unfold(&mut self, root: u64, state: &mut Vec<u8>) {
        let number = root >> (2 * NODE_BITS);
        let (mut left, right) = ((root >> NODE_BITS & NODE_MASK) as u32, (root & NODE_MASK) as u32);
        let len = if number == OTHER {
            let word = self.store.nodes.pair(left);
            left = (word >> 32) as u32;
            word as u32 as usize
        } else {
            self.store.shapes[number as usize].len
        };
        if self.parent.len() != Some(len) {
            let shape = self.shape(len);
            self.parent.set_shape(shape);
        }
        let TreeWriter { store, parent, .. } = self;
        let Some(shape) = &parent.shape else { return };
        (parent.nodes[shape.root.0], parent.nodes[shape.root.1]) = (left, right);
        for (i, &(a, b)) in shape.joins.iter().enumerate().rev() {
            let word = store.nodes.pair(parent.nodes[shape.leaves.len() + i]);
            parent.words[shape.leaves.len() + i] = word;
            (parent.nodes[a], parent.nodes[b]) = (word as u32, (word >> 32) as u32);
        }
        state.clear();
        for (i, &(_, size)) in shape.leaves.iter().enumerate() {
            let word = store.nodes.pair(parent.nodes[i]);
            parent.words[i] = word;
            state.extend_from_slice(&word.to_le_bytes()[..size]);
        }
    }

    /// Takes a state that is known to be new, such as one of another store.
    pub fn adopt(&mut self, state: &[u8]) -> Result<Token, Full> {
        let guard = &crossbeam_epoch::pin();
        let root = self.fold(state, guard)?;
        match self.store.roots.insert(mix(root), |e| e == root, || Some(root), guard) {
            Inserted::NoRoom => Err(Full),
            Inserted::New(_) | Inserted::Found(_) => Ok(root),
        }
    }
}

impl Writer for TreeWriter<'_> {
    fn prefetch(&self, _token: Token) {}

    fn read(&mut self, token: Token, state: &mut Vec<u8>) {
        self.unfold(token, state);
    }

    #[inline]
    fn offer(&mut self, state: &[u8], mark: u32) -> bool {
        let guard = &crossbeam_epoch::pin();
        let Ok(root) = self.fold(state, guard) else {
            self.full = true;
            return true;
        };
        self.store.roots.prefetch(mix(root));
        self.offered.push(Offered { root, mark });
        self.offered.len() >= MOST_OFFERED
    }

    fn settle(&mut self, mut new: impl FnMut(Token, u32)) -> Result<(), Full> {
        let guard = &crossbeam_epoch::pin();
        let mut result = if std::mem::take(&mut self.full) { Err(Full) } else { Ok(()) };
        for Offered { root, mark } in self.offered.drain(..) {
            let is = |entry| entry == root;
            match self.store.roots.insert(mix(root), is, || Some(root), guard) {
                Inserted::New(_) => new(root, mark),
                Inserted::Found(_) => {}
                Inserted::NoRoom => result = Err(Full),
            }
        }
        result
    }

    fn contains(&mut self, state: &[u8]) -> bool {
        let guard = &crossbeam_epoch::pin();
        let Ok(root) = self.fold(state, guard) else { return false };
        self.store.roots.find(mix(root), |entry| entry == root, guard)
    }
}
