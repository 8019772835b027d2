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
use super::words::{NUMBER_BITS, Recent, Words, mix, same};
use super::{Full, Store, Token, Writer};
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use std::collections::HashMap;
use std::sync::Arc;

/// A fuller table that grows in smaller steps.
const GROWTH: Growth = Growth { eighths: 11, full: 14 };
/// States of a batch.
const MOST_OFFERED: usize = 128;
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

    /// A root is compared as fast as a tag.
    #[inline]
    fn has_tag(_entry: u64, _tag: u64) -> bool {
        true
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
struct Recents {
    one: Recent<1>,
    two: Recent<2>,
    three: Recent<3>,
    four: Recent<4>,
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

    /// The number of a leaf of so many bytes.
    #[inline]
    fn number(
        &self,
        leaf: &Leaf,
        size: usize,
        r: &mut Recents,
        guard: &Guard,
    ) -> Result<u32, Full> {
        let [a, b, c, d] = *leaf;
        match size.div_ceil(8) {
            0 | 1 => self.one.number(&[a], &mut r.one, guard),
            2 => self.two.number(&[a, b], &mut r.two, guard),
            3 => self.three.number(&[a, b, c], &mut r.three, guard),
            _ => self.four.number(&[a, b, c, d], &mut r.four, guard),
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
            others: HashMap::new(),
            parent: Fold::default(),
            child: Fold::default(),
            recents: Recents::default(),
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

/// The tree of one state.
#[derive(Default)]
struct Fold {
    /// None before there is a state.
    shape: Option<Arc<Shape>>,
    /// The number of the shape in a root.
    number: u64,
    leaves: Vec<Leaf>,
    /// The numbers of leaves and nodes.
    nodes: Vec<u32>,
}

impl Fold {
    fn len(&self) -> Option<usize> {
        self.shape.as_ref().map(|s| s.len)
    }

    fn set_shape(&mut self, (number, shape): (u64, Arc<Shape>)) {
        self.leaves.resize(shape.leaves.len(), [0; WORDS]);
        self.nodes.resize(shape.n_nodes(), 0);
        self.number = number;
        self.shape = Some(shape);
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
}

pub struct TreeWriter<'s> {
    store: &'s TreeStore,
    /// Shapes of lengths that have no number.
    others: HashMap<usize, Arc<Shape>>,
    parent: Fold,
    child: Fold,
    recents: Recents,
    /// From the first state that is offered until all are settled.
    guard: Option<Guard>,
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
    #[inline]
    fn fold(&mut self, state: &[u8]) -> Result<u64, Full> {
        if self.child.len() != Some(state.len()) {
            let shape = self.shape(state.len());
            self.child.set_shape(shape);
        }
        let guard = self.guard.get_or_insert_with(crossbeam_epoch::pin);
        let known = self.parent.len() == Some(state.len());
        let TreeWriter { store, parent, child, recents, .. } = self;
        let Some(shape) = &child.shape else { return Err(Full) };
        let (words, nodes) = (&store.dictionaries, &mut child.nodes[..]);
        for (i, &(at, size)) in shape.leaves.iter().enumerate() {
            let leaf = leaf(state, at, size);
            nodes[i] = if known && same(&leaf, &parent.leaves[i]) {
                parent.nodes[i]
            } else {
                words.number(&leaf, size, recents, guard)?
            };
        }
        for (i, &(a, b)) in shape.joins.iter().enumerate() {
            let at = shape.leaves.len() + i;
            let same = known && nodes[a] == parent.nodes[a] && nodes[b] == parent.nodes[b];
            nodes[at] = if same {
                parent.nodes[at]
            } else {
                words.one.number(&[join(nodes[a], nodes[b])], &mut recents.one, guard)?
            };
        }
        let (mut left, right) = (nodes[shape.root.0], nodes[shape.root.1]);
        if child.number == OTHER {
            left = words.one.number(&[join(shape.len as u32, left)], &mut recents.one, guard)?;
        }
        Ok(child.number << (2 * NUMBER_BITS) | (left as u64) << NUMBER_BITS | right as u64)
    }

    /// Makes the state of a root the parent.
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
        if self.parent.len() != Some(len) {
            let shape = self.shape(len);
            self.parent.set_shape(shape);
        }
        let TreeWriter { store, parent, .. } = self;
        let Some(shape) = &parent.shape else { return };
        (parent.nodes[shape.root.0], parent.nodes[shape.root.1]) = (left, right);
        for (i, &(a, b)) in shape.joins.iter().enumerate().rev() {
            let word = store.dictionaries.join(parent.nodes[shape.leaves.len() + i]);
            (parent.nodes[a], parent.nodes[b]) = (word as u32, (word >> 32) as u32);
        }
        state.clear();
        for (i, &(_, size)) in shape.leaves.iter().enumerate() {
            let leaf = store.dictionaries.leaf(parent.nodes[i], size);
            parent.leaves[i] = leaf;
            let mut bytes = [0; LEAF];
            for (eight, word) in bytes.chunks_exact_mut(8).zip(leaf) {
                eight.copy_from_slice(&word.to_le_bytes());
            }
            state.extend_from_slice(&bytes[..size]);
        }
    }

    /// The token that a state has or would have, without marking it.
    pub fn name(&mut self, state: &[u8]) -> Result<Token, Full> {
        self.fold(state)
    }

    /// Marks a state; whether it is new.
    pub fn insert(&mut self, token: Token) -> Result<bool, Full> {
        let guard = &self.guard.take().unwrap_or_else(crossbeam_epoch::pin);
        match self.store.roots.insert(mix(token), |e| e == token, || Some(token), guard) {
            Inserted::NoRoom => Err(Full),
            Inserted::New(_) => Ok(true),
            Inserted::Found(_) => Ok(false),
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
        let Ok(root) = self.fold(state) else {
            self.full = true;
            return true;
        };
        self.store.roots.prefetch(mix(root));
        self.offered.push(Offered { root, mark });
        self.offered.len() >= MOST_OFFERED
    }

    fn settle(&mut self, mut new: impl FnMut(Token, u32)) -> Result<(), Full> {
        let guard = &self.guard.take().unwrap_or_else(crossbeam_epoch::pin);
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
        let Ok(root) = self.fold(state) else { return false };
        let guard = &crossbeam_epoch::pin();
        self.store.roots.find(mix(root), |entry| entry == root, guard)
    }
}
