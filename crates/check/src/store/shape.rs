//! Shapes of trees: which bytes of a state are a leaf, and which nodes are
//! joined.
//!
//! A tree is small if both halves of a state take few values, at every node.
//! So a state is cut where a sample of states says that this is so; where a
//! state has bytes that rarely change it hardly matters. Only the size of the
//! store depends on the shape, never what it holds.

use serde::{Deserialize, Serialize};

/// Most bytes of a leaf.
pub const LEAF: usize = 32;
/// States of a sample that are looked at, and bytes of all of them.
const SAMPLE: usize = 8192;
const SAMPLE_BYTES: usize = 4 << 20;
/// Levels that are cut where it is best: below them, in the middle.
const LEVELS: usize = 64;
const SAMPLE_BITS: usize = 1 << 16;

/// A binary tree over the bytes of states of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Bytes of a state.
    pub len: usize,
    /// Begin and size of each leaf, in order.
    pub leaves: Vec<(usize, usize)>,
    /// Nodes above the leaves, each after the two it joins: leaves are
    /// numbered first, then these. The root is not among them.
    pub joins: Vec<(usize, usize)>,
    /// The two that the root joins.
    pub root: (usize, usize),
}

impl Shape {
    /// A shape for states of this length, of which some are given.
    pub fn new(len: usize, sample: &[&[u8]]) -> Shape {
        let mut shape = Shape { len, leaves: Vec::new(), joins: Vec::new(), root: (0, 0) };
        let most = SAMPLE.min(SAMPLE_BYTES / len.max(1)).max(1);
        let step = sample.len().div_ceil(most).max(1);
        let sample: Vec<&[u8]> = sample.iter().step_by(step).copied().collect();
        let columns = columns(&sample, len);
        // A root needs two: a state of one byte gets an empty one.
        let cut = if len > 1 { best_cut(&columns, 0, len) } else { len };
        let mut tree = Vec::new();
        let left = grow(&mut tree, &columns, 0, cut, LEVELS);
        let right = grow(&mut tree, &columns, cut, len, LEVELS);
        shape.number(&tree, left, right);
        shape
    }

    pub fn n_nodes(&self) -> usize {
        self.leaves.len() + self.joins.len()
    }

    /// Numbers the leaves first and then the joins, children before parents.
    fn number(&mut self, tree: &[Part], left: usize, right: usize) {
        let n_leaves = tree.iter().filter(|p| matches!(p, Part::Leaf(..))).count();
        let mut numbers = Vec::with_capacity(tree.len());
        for part in tree {
            match *part {
                Part::Leaf(at, size) => {
                    numbers.push(self.leaves.len());
                    self.leaves.push((at, size));
                }
                Part::Join(a, b) => {
                    numbers.push(n_leaves + self.joins.len());
                    self.joins.push((numbers[a], numbers[b]));
                }
            }
        }
        self.root = (numbers[left], numbers[right]);
    }
}

enum Part {
    Leaf(usize, usize),
    Join(usize, usize),
}

/// What a byte is in each state of a sample; empty if it is the same in all.
type Column = Vec<u8>;

fn columns(sample: &[&[u8]], len: usize) -> Vec<Column> {
    let mut varies = vec![false; len];
    for state in sample {
        for ((varies, byte), first) in varies.iter_mut().zip(*state).zip(sample[0]) {
            *varies |= byte != first;
        }
    }
    let column = |at: usize| sample.iter().map(|state| state[at]).collect();
    varies.iter().enumerate().map(|(at, v)| if *v { column(at) } else { Vec::new() }).collect()
}

/// Adds the tree over these bytes, children first; returns its place.
fn grow(tree: &mut Vec<Part>, columns: &[Column], from: usize, to: usize, levels: usize) -> usize {
    if to - from <= LEAF {
        tree.push(Part::Leaf(from, to - from));
    } else {
        let cut = if levels > 0 { best_cut(columns, from, to) } else { (from + to) / 2 };
        let levels = levels.saturating_sub(1);
        let left = grow(tree, columns, from, cut, levels);
        let right = grow(tree, columns, cut, to, levels);
        tree.push(Part::Join(left, right));
    }
    tree.len() - 1
}

/// Where to cut so that both sides together have the fewest different values.
/// Of equal cuts the middle one, so that trees stay flat.
fn best_cut(columns: &[Column], from: usize, to: usize) -> usize {
    let forward = prefixes(columns, from..to);
    let mut backward = prefixes(columns, (from..to).rev());
    backward.reverse();
    let values = |cut: usize| forward[cut - from - 1] + backward[cut - from];
    let cuts = from + 1..to;
    let best = cuts.clone().map(values).min().unwrap_or(0);
    let good: Vec<usize> = cuts.filter(|cut| values(*cut) <= best + best / 50).collect();
    let middle = (from + to) / 2;
    good.into_iter().min_by_key(|cut| cut.abs_diff(middle)).unwrap_or(middle.max(from + 1))
}

/// About how many different values the first, the first two, the first three
/// ... of these bytes take together.
fn prefixes(columns: &[Column], bytes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut hashes = vec![0u64; columns.iter().map(Vec::len).max().unwrap_or(0)];
    let mut seen = vec![0u64; SAMPLE_BITS / 64];
    let mut last = 1;
    let mut out = Vec::new();
    for at in bytes {
        if !columns[at].is_empty() {
            seen.fill(0);
            for (hash, byte) in hashes.iter_mut().zip(&columns[at]) {
                *hash = (*hash ^ *byte as u64 ^ (at as u64) << 8)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .rotate_left(23);
                let bit = (*hash as usize) % SAMPLE_BITS;
                seen[bit / 64] |= 1 << (bit % 64);
            }
            last = seen.iter().map(|w| w.count_ones() as usize).sum();
        }
        out.push(last);
    }
    out
}

/// The shapes of the most frequent lengths among some states.
pub fn shapes<'s>(states: impl Iterator<Item = &'s [u8]>, most: usize) -> Vec<Shape> {
    let mut by_length: std::collections::BTreeMap<usize, Vec<&[u8]>> = Default::default();
    for state in states {
        by_length.entry(state.len()).or_default().push(state);
    }
    let mut lengths: Vec<_> = by_length.into_iter().collect();
    lengths.sort_by_key(|(_, states)| std::cmp::Reverse(states.len()));
    lengths.truncate(most);
    lengths.iter().map(|(len, states)| Shape::new(*len, states)).collect()
}
