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
mod colours;
mod model;

pub use model::{Symmetric, straighten};

use super::{Multiset, Rules, Symmetry, multisets, sort_multisets};
use cells::Cells;
use colours::Colours;

/// Finds canonical states.
pub struct Canon {
    cells: Cells,
    multisets: Vec<Multiset>,
    exact: bool,
    colours: Colours,
    /// The elements of each scalarset, counted in it, in the order in which
    /// they get new names.
    order: Vec<u8>,
    /// New names by element.
    names: Vec<u8>,
    work: Vec<u8>,
    best: Vec<u8>,
}

impl Canon {
    /// `None` if there is nothing to permute, or if it is not wanted.
    pub fn new(rules: &Rules) -> Option<Canon> {
        let cells = Cells::new(rules);
        if rules.symmetry == Symmetry::Off || cells.sets.iter().all(|set| set.count < 2) {
            return None;
        }
        Some(Canon {
            colours: Colours::new(&cells),
            multisets: multisets(rules),
            exact: rules.symmetry == Symmetry::Canonical,
            order: vec![0; cells.n_elements],
            names: vec![0; cells.n_elements],
            cells,
            work: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Replaces a state by the canonical one.
    pub fn canonicalise(&mut self, state: &mut [u8]) {
        self.colours.find(&self.cells, state);
        let mut tied = false;
        for set in &self.cells.sets {
            let elements = set.first..set.first + set.count;
            let colours = &self.colours.colours[elements.clone()];
            tied |= sort_by_colour(&mut self.order[elements], colours);
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
        for set in &self.cells.sets {
            for name in 0..set.count {
                let element = self.order[set.first + name] as usize;
                self.names[set.first + element] = name as u8;
                moved |= element != name;
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

    fn has_same_colour(&self, set: usize, a: u8, b: u8) -> bool {
        let first = self.cells.sets[set].first;
        let colours = &self.colours.colours[first..];
        colours[a as usize] == colours[b as usize]
    }

    /// Whether elements of one colour can be renamed in any way: then
    /// exchanging two neighbours changes nothing.
    fn ties_are_harmless(&mut self, state: &[u8]) -> bool {
        for set in 0..self.cells.sets.len() {
            let first = self.cells.sets[set].first;
            for i in 1..self.cells.sets[set].count {
                let (a, b) = (self.order[first + i - 1], self.order[first + i]);
                if self.has_same_colour(set, a, b) && !self.exchangeable(state, set, a, b) {
                    return false;
                }
            }
        }
        true
    }

    fn exchangeable(&mut self, state: &[u8], set: usize, a: u8, b: u8) -> bool {
        let first = self.cells.sets[set].first;
        let (a, b) = (first + a as usize, first + b as usize);
        if self.multisets.is_empty() {
            return self.cells.exchangeable(state, a, b);
        }
        for set in &self.cells.sets {
            for i in 0..set.count {
                self.names[set.first + i] = i as u8;
            }
        }
        self.names.swap(a, b);
        self.apply(state);
        self.work == state
    }

    /// Tries all orders of elements with the same colour, from the one at
    /// place `at` of scalarset `set` on; keeps the least state in `best`.
    fn try_all(&mut self, state: &[u8], set: usize, at: usize) {
        let Some(&cells::Set { first, count }) = self.cells.sets.get(set) else {
            let moved = self.rename(state);
            let found: &[u8] = if moved { &self.work } else { state };
            if self.best.is_empty() || *found < self.best[..] {
                self.best.clear();
                self.best.extend_from_slice(found);
            }
            return;
        };
        if at + 1 >= count {
            return self.try_all(state, set + 1, 0);
        }
        let leader = self.order[first + at];
        let mut tried: Vec<u8> = Vec::new();
        for i in at..count {
            let element = self.order[first + i];
            if !self.has_same_colour(set, leader, element) {
                break;
            }
            // What can be exchanged for something that was tried leads to the same.
            if tried.iter().any(|t| self.exchangeable(state, set, *t, element)) {
                continue;
            }
            tried.push(element);
            self.order[first + at..=first + i].rotate_right(1);
            self.try_all(state, set, at + 1);
            self.order[first + at..=first + i].rotate_left(1);
        }
    }
}

/// Sorts elements by their colours; returns whether two have the same.
fn sort_by_colour(order: &mut [u8], colours: &[u64]) -> bool {
    let mut tied = false;
    for i in 0..order.len() {
        // Insertion: there are few elements.
        let mut j = i;
        while j > 0 && colours[order[j - 1] as usize] > colours[i] {
            order[j] = order[j - 1];
            j -= 1;
        }
        tied |= j > 0 && colours[order[j - 1] as usize] == colours[i];
        order[j] = i as u8;
    }
    tied
}
