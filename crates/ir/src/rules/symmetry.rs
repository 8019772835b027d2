//! Symmetry: states that differ only in the names of scalarset values are
//! searched once, as one of them, the canonical one.
//!
//! A permutation of the values of the scalarsets moves elements of arrays that
//! are indexed by them and changes values of them. Which of all permutations
//! leads to the canonical state is found by colours: the colour of a scalarset
//! value is a hash of all that a state says about it without naming other
//! values, then again with the colours of the others in place of their names,
//! until no more values can be told apart. Values are renamed in the order of
//! their colours. Values of one colour are mostly interchangeable, so that it
//! does not matter how they are renamed; where they are not, all ways are tried
//! and the least state wins. With `Symmetry::Heuristic` the first way is taken.
//!
//! Invariant: colours depend on nothing that a permutation changes. So all
//! states that permutations lead to have the same canonical state. That
//! different values may have the same hash costs time only.

mod cells;
mod model;

pub use model::{Symmetric, straighten};

use super::{Multiset, Rules, Symmetry, multisets, sort_multisets};
use cells::{Cells, Colours};

/// Finds canonical states.
pub struct Canon {
    cells: Cells,
    multisets: Vec<Multiset>,
    exact: bool,
    colours: Colours,
    /// By scalarset, its values in the order in which they get new names.
    order: Vec<Vec<u8>>,
    /// New names by scalarset and value.
    names: Vec<Vec<u8>>,
    work: Vec<u8>,
    best: Vec<u8>,
}

impl Canon {
    /// `None` if there is nothing to permute, or if it is not wanted.
    pub fn new(rules: &Rules) -> Option<Canon> {
        let cells = Cells::new(rules);
        if rules.symmetry == Symmetry::Off || cells.sets.iter().all(|n| *n < 2) {
            return None;
        }
        let identity: Vec<Vec<u8>> = cells.sets.iter().map(|n| (0..*n).collect()).collect();
        Some(Canon {
            colours: Colours::new(&cells),
            multisets: multisets(rules),
            exact: rules.symmetry == Symmetry::Canonical,
            order: identity.clone(),
            names: identity,
            cells,
            work: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Replaces a state by the canonical one.
    pub fn canonicalise(&mut self, state: &mut [u8]) {
        self.colours.find(&self.cells, state);
        let mut tied = false;
        for (set, order) in self.order.iter_mut().enumerate() {
            let colours = self.colours.of(set);
            sort_by_colour(order, colours);
            tied |= order.windows(2).any(|w| colours[w[0] as usize] == colours[w[1] as usize]);
        }
        if tied && self.exact && !self.ties_are_harmless(state) {
            self.best.clear();
            self.try_all(state, 0, 0);
            state.copy_from_slice(&self.best);
            return;
        }
        if self.rename(state) {
            state.copy_from_slice(&self.work);
        }
    }

    /// Makes the state with the names of the current order in `work`; false if
    /// nothing is renamed.
    fn rename(&mut self, state: &[u8]) -> bool {
        let mut moved = false;
        for (names, order) in self.names.iter_mut().zip(&self.order) {
            for (name, value) in order.iter().enumerate() {
                names[*value as usize] = name as u8;
                moved |= *value as usize != name;
            }
        }
        if moved {
            self.apply(state);
        }
        moved
    }

    /// The state under the permutation in `names`, to `work`.
    fn apply(&mut self, state: &[u8]) {
        self.work.clear();
        self.work.extend_from_slice(state);
        self.cells.permute(state, &self.names, &mut self.work);
        sort_multisets(&self.multisets, &mut self.work);
    }

    /// Whether values of one colour can be renamed in any way: then exchanging
    /// two neighbours changes nothing.
    fn ties_are_harmless(&mut self, state: &[u8]) -> bool {
        for set in 0..self.order.len() {
            for i in 1..self.order[set].len() {
                let (a, b) = (self.order[set][i - 1], self.order[set][i]);
                let colours = self.colours.of(set);
                if colours[a as usize] == colours[b as usize]
                    && !self.exchangeable(state, set, a, b)
                {
                    return false;
                }
            }
        }
        true
    }

    fn exchangeable(&mut self, state: &[u8], set: usize, a: u8, b: u8) -> bool {
        if self.multisets.is_empty() {
            return self.cells.exchangeable(state, set, a, b);
        }
        for names in &mut self.names {
            names.iter_mut().enumerate().for_each(|(value, name)| *name = value as u8);
        }
        self.names[set].swap(a as usize, b as usize);
        self.apply(state);
        self.work == state
    }

    /// Tries all orders of values with the same colour, from the value at place
    /// `at` of scalarset `set` on; keeps the least state in `best`.
    fn try_all(&mut self, state: &[u8], set: usize, at: usize) {
        if set == self.order.len() {
            let moved = self.rename(state);
            let found: &[u8] = if moved { &self.work } else { state };
            if self.best.is_empty() || *found < self.best[..] {
                self.best.clear();
                self.best.extend_from_slice(found);
            }
            return;
        }
        if at + 1 >= self.order[set].len() {
            return self.try_all(state, set + 1, 0);
        }
        let first = self.order[set][at];
        let mut tried: Vec<u8> = Vec::new();
        for i in at..self.order[set].len() {
            let value = self.order[set][i];
            let colours = self.colours.of(set);
            if colours[value as usize] != colours[first as usize] {
                break;
            }
            // What can be exchanged for something that was tried leads to the same.
            if tried.iter().any(|t| self.exchangeable(state, set, *t, value)) {
                continue;
            }
            tried.push(value);
            self.order[set][at..=i].rotate_right(1);
            self.try_all(state, set, at + 1);
            self.order[set][at..=i].rotate_left(1);
        }
    }
}

/// Insertion: there are few values.
fn sort_by_colour(order: &mut [u8], colours: &[u64]) {
    order.iter_mut().enumerate().for_each(|(i, value)| *value = i as u8);
    for i in 1..order.len() {
        let mut j = i;
        while j > 0 && colours[order[j - 1] as usize] > colours[order[j] as usize] {
            order.swap(j - 1, j);
            j -= 1;
        }
    }
}
