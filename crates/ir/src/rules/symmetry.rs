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
//! does not matter how they are renamed. Where they are not, each of them is set
//! apart in turn, which gives others new colours, and so on; of all states that
//! this leads to the least wins (as in McKay's search for canonical graphs).
//! With `Symmetry::Heuristic` values of one colour keep their order.
//!
//! Invariant: colours depend on nothing that a permutation changes. So all
//! states that permutations lead to have the same canonical state. That
//! different values may have the same hash costs time only.

mod cells;
mod colours;
mod straighten;

pub use straighten::straighten;

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
    /// Elements that were set apart, with their scalarsets.
    chosen: Vec<(usize, u8)>,
    work: Vec<u8>,
    best: Vec<u8>,
    /// Elements that were set apart, until someone takes note of it: that takes time.
    pub(super) n_set_apart: usize,
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
            chosen: Vec::new(),
            work: Vec::new(),
            best: Vec::new(),
            n_set_apart: 0,
        })
    }

    /// Replaces a state by the canonical one.
    pub fn canonicalise(&mut self, state: &mut [u8]) {
        self.colours.find(&self.cells, state);
        let tied = self.sort();
        let tie = if tied && self.exact { self.tie(state) } else { None };
        match tie {
            Some(tie) => {
                self.best.clear();
                self.break_tie(state, tie);
                state.copy_from_slice(&self.best);
            }
            None => {
                if self.rename(state) {
                    state.copy_from_slice(&self.work);
                }
            }
        }
    }

    /// Sorts the elements of all scalarsets by their colours; returns whether
    /// two have the same.
    fn sort(&mut self) -> bool {
        let mut tied = false;
        for set in &self.cells.sets {
            let elements = set.first..set.first + set.count;
            let colours = &self.colours.colours[elements.clone()];
            tied |= sort_by_colour(&mut self.order[elements], colours);
        }
        tied
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

    /// The first elements of one colour of which it matters how they are
    /// renamed: exchanging two neighbours changes something.
    fn tie(&mut self, state: &[u8]) -> Option<Tie> {
        for set in 0..self.cells.sets.len() {
            let cells::Set { first, count } = self.cells.sets[set];
            let mut start = 0;
            while start < count {
                let leader = self.order[first + start];
                let alike = |i: &usize| self.has_same_colour(set, leader, self.order[first + i]);
                let end = start + (start..count).take_while(alike).count();
                let neighbours = (start + 1)..end;
                for i in neighbours {
                    let (a, b) = (self.order[first + i - 1], self.order[first + i]);
                    if !self.exchangeable(state, set, a, b) {
                        return Some(Tie { set, start, end });
                    }
                }
                start = end;
            }
        }
        None
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

    /// Lets each element of a tie come first in turn, which tells others apart,
    /// until no tie is left; keeps the least state in `best`.
    fn break_tie(&mut self, state: &[u8], tie: Tie) {
        let first = self.cells.sets[tie.set].first;
        let members = self.order[first + tie.start..first + tie.end].to_vec();
        let colours = self.colours.colours.clone();
        let mut tried: Vec<Tried> = Vec::new();
        for element in members {
            // What can be exchanged for something that was tried leads to the same.
            if tried.iter().any(|t| self.exchangeable(state, tie.set, t.element, element)) {
                continue;
            }
            self.colours.colours.copy_from_slice(&colours);
            self.set_apart(state, first + element as usize);
            let apart = self.colours.colours.clone();
            let leaf = self.first_leaf(state, element);
            // So does what looks the same in the end: a permutation that leaves
            // the state as it is leads from one to the other.
            if tried.iter().any(|t| self.is_image(t, &leaf, tie.set)) {
                continue;
            }
            tried.push(leaf);
            self.colours.colours.copy_from_slice(&apart);
            self.sort();
            self.chosen.push((tie.set, element));
            match self.tie(state) {
                Some(tie) => self.break_tie(state, tie),
                None => self.offer(state),
            }
            self.chosen.pop();
        }
    }

    fn set_apart(&mut self, state: &[u8], element: usize) {
        self.n_set_apart += 1;
        self.colours.set_apart(element);
        self.colours.settle(&self.cells, state);
    }

    /// Breaks all ties from here on in favour of the first element.
    fn first_leaf(&mut self, state: &[u8], element: u8) -> Tried {
        self.sort();
        while let Some(tie) = self.tie(state) {
            let first = self.cells.sets[tie.set].first;
            self.set_apart(state, first + self.order[first + tie.start] as usize);
            self.sort();
        }
        let leaf = if self.rename(state) { self.work.clone() } else { state.to_vec() };
        Tried { element, order: self.order.clone(), leaf }
    }

    /// Whether a permutation that changes nothing in the state, and no element
    /// that was chosen before, leads from what was tried to another leaf.
    fn is_image(&self, tried: &Tried, other: &Tried, set: usize) -> bool {
        let same_place = |set: usize, from: u8, to: u8| {
            let cells::Set { first, count } = self.cells.sets[set];
            let elements = first..first + count;
            let place = tried.order[elements.clone()].iter().position(|e| *e == from);
            place.is_some_and(|place| other.order[elements][place] == to)
        };
        tried.leaf == other.leaf
            && same_place(set, tried.element, other.element)
            && self.chosen.iter().all(|(set, element)| same_place(*set, *element, *element))
    }

    /// Renames by the current order, and keeps the state if it is the least.
    fn offer(&mut self, state: &[u8]) {
        let moved = self.rename(state);
        let found: &[u8] = if moved { &self.work } else { state };
        if self.best.is_empty() || *found < self.best[..] {
            self.best.clear();
            self.best.extend_from_slice(found);
        }
    }
}

/// An element of a tie that was set apart, and the first state it led to.
struct Tried {
    element: u8,
    order: Vec<u8>,
    leaf: Vec<u8>,
}

/// Elements of one colour, by their places in the order of a scalarset.
#[derive(Debug, Clone, Copy)]
struct Tie {
    set: usize,
    start: usize,
    end: usize,
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
