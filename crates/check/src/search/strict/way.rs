//! The states on the way of a search in strict order, and those beside it.
//!
//! Invariant: memory is taken from the budget before it is used.

use crate::bytes::Fingerprint;
use crate::dice::Dice;
use crate::outcome::Stop;
use crate::search::path;
use crate::search::run::Run;
use crate::store::{Filter, LossyStore, SlabDesk};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Sink, Step};
use ir::rows::Rows;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::Ordering;

/// Bytes of successors that are passed on at once.
const MOST_BYTES: usize = 16 << 10;
/// Bytes by which memory grows at least.
const PIECE: usize = 1 << 20;

/// A state on the way, by its successors.
struct Frame {
    /// Where their bytes begin.
    start: usize,
    /// Where they begin, and how many of them were taken.
    first: usize,
    taken: usize,
}

/// What a state of the way takes in the set of them, while that grows.
const INDEX_BYTES: usize = 32;

/// A successor: its fingerprint, and where it begins.
type Successor = (Fingerprint, usize);

/// Bytes in front of a successor: its length.
const HEAD: usize = 4;

pub struct Way<'r, F> {
    pub run: &'r Run<'r>,
    pub store: &'r LossyStore<'r, F>,
    frames: Pile<Frame>,
    /// Successors of all frames in the order they are taken.
    successors: Pile<Successor>,
    states: Pile<u8>,
    /// Fingerprints of the states that the first so many frames belong to.
    index: HashSet<u64, BuildHasherDefault<AsItIs>>,
    n_indexed: usize,
    /// What an expansion writes to.
    fresh: Rows,
    desk: SlabDesk,
    transitions: u64,
}

impl<'r, F: Filter> Way<'r, F> {
    pub fn new(run: &'r Run<'r>, store: &'r LossyStore<'r, F>) -> Way<'r, F> {
        Way {
            run,
            store,
            frames: Pile::new(size_of::<Frame>() + INDEX_BYTES),
            successors: Pile::new(size_of::<Successor>()),
            states: Pile::new(1),
            index: HashSet::default(),
            n_indexed: 0,
            fresh: Rows::new(MOST_BYTES),
            desk: SlabDesk::default(),
            transitions: 0,
        }
    }

    /// Expands the state that was taken last.
    pub fn expand(&mut self, print: Fingerprint, expand: impl FnOnce(&mut dyn Sink) -> Flow) {
        let (start, first) = (self.states.items.len(), self.successors.items.len());
        expand(self);
        self.pass_on();
        if self.successors.items.len() > first && self.frames.room(1, self.run) {
            let options = self.run.options;
            // For the same state the same order.
            let mut dice = Dice(options.seed ^ print.0);
            options.turns.arrange(&mut self.successors.items[first..], &mut dice);
            self.frames.items.push(Frame { start, first, taken: 0 });
            self.run.depth.fetch_max(self.frames.items.len() - 1, Ordering::Relaxed);
        }
    }

    /// Keeps fresh successors, and asks for their marks.
    fn pass_on(&mut self) {
        let (bytes, n) = (self.fresh.used(), self.fresh.take_count());
        self.transitions += n;
        // Rows are longer than states by more than a head.
        if self.states.room(bytes, self.run) && self.successors.room(n as usize, self.run) {
            let (states, guard) = (&mut self.states.items, &crossbeam_epoch::pin());
            let mut at = 0;
            while at < bytes {
                let (row, next) = self.fresh.row(at);
                let print = self.store.fingerprint(row.state);
                self.store.filter.approach(print, guard);
                self.successors.items.push((print, states.len()));
                states.extend_from_slice(&(row.state.len() as u32).to_le_bytes());
                states.extend_from_slice(row.state);
                at = next;
            }
        }
        self.fresh.clear();
    }

    /// The next state of the topmost frame that has one.
    pub fn take(&mut self, state: &mut Vec<u8>) -> Option<Fingerprint> {
        loop {
            let frame = self.frames.items.last_mut()?;
            let Some(&(print, at)) = self.successors.items.get(frame.first + frame.taken) else {
                self.leave();
                continue;
            };
            frame.taken += 1;
            state.clear();
            state.extend_from_slice(bytes_at(&self.states.items, at));
            return Some(print);
        }
    }

    /// Leaves the state that the topmost frame belongs to.
    fn leave(&mut self) {
        if self.n_indexed == self.frames.items.len() {
            self.n_indexed -= 1;
            if let Some(Fingerprint(a, _)) = self.print(self.n_indexed) {
                self.index.remove(&a);
            }
        }
        if let Some(frame) = self.frames.items.pop() {
            self.states.items.truncate(frame.start);
            self.successors.items.truncate(frame.first);
        }
    }

    /// Whether a state is on the way. Frames come and go far more often than
    /// this is asked, so only those that are there then are put into the set.
    pub fn leads_by(&mut self, Fingerprint(a, _): Fingerprint) -> bool {
        for frame in self.n_indexed..self.frames.items.len() {
            self.index.extend(self.print(frame).map(|print| print.0));
        }
        self.n_indexed = self.frames.items.len();
        self.index.contains(&a)
    }

    /// The fingerprint of the state that a frame belongs to; the first belongs
    /// to none.
    fn print(&self, frame: usize) -> Option<Fingerprint> {
        let before = self.frames.items.get(frame.checked_sub(1)?)?;
        Some(self.successors.items[before.first + before.taken - 1].0)
    }

    /// Gives its memory back to the budget.
    pub fn give_back(self) {
        let Way { run, frames, successors, states, .. } = self;
        run.budget.give(frames.taken + successors.taken + states.taken);
    }

    pub fn report(&mut self, states: &mut u64) {
        let transitions = std::mem::take(&mut self.transitions);
        self.run.transitions.fetch_add(transitions, Ordering::Relaxed);
        self.run.add_states(std::mem::take(states));
    }

    fn flow(&self) -> Flow {
        if self.run.is_stopped() { Flow::Stop } else { Flow::Continue }
    }
}

impl<F: Filter> Sink for Way<'_, F> {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.fresh.push(state);
        if self.fresh.is_full() { self.make_room() } else { Flow::Continue }
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        Some(&mut self.fresh)
    }

    fn make_room(&mut self) -> Flow {
        self.pass_on();
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.run.ignores(&fault) {
            return Flow::Continue;
        }
        let Way { run, store, frames, successors, states, desk, .. } = self;
        let frames = &frames.items;
        let way = frames.iter().map(|frame| {
            let (_, at) = successors.items[frame.first + frame.taken - 1];
            bytes_at(&states.items, at)
        });
        run.report(fault, |fault| path::witness(fault, steps, way, store, desk));
        self.flow()
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.run.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.tick(bytes);
        self.flow()
    }
}

/// The state that begins at a place, behind its length.
fn bytes_at(states: &[u8], at: usize) -> &[u8] {
    let (head, rest) = states[at..].split_first_chunk::<HEAD>().expect("a length is in front");
    &rest[..u32::from_le_bytes(*head) as usize]
}

/// A stack within the budget.
struct Pile<T> {
    items: Vec<T>,
    /// Bytes that an item takes, here and elsewhere.
    unit: usize,
    /// Bytes taken from the budget.
    taken: u64,
}

impl<T> Pile<T> {
    fn new(unit: usize) -> Pile<T> {
        Pile { items: Vec::new(), unit, taken: 0 }
    }

    /// Makes room for more items; if there is none left, the search ends. It
    /// grows by an eighth: the system moves large pieces without copying them.
    #[inline(always)]
    fn room(&mut self, more: usize, run: &Run) -> bool {
        self.items.capacity() - self.items.len() >= more || self.grow(more, run)
    }

    #[cold]
    fn grow(&mut self, more: usize, run: &Run) -> bool {
        let more = more.max(self.items.len() / 8).max(PIECE / self.unit);
        let needed = ((self.items.len() + more) * self.unit) as u64;
        if !run.budget.take(needed.saturating_sub(self.taken)) {
            run.stop(Stop::Memory);
            return false;
        }
        self.taken = self.taken.max(needed);
        self.items.reserve_exact(more);
        true
    }
}

/// A fingerprint is a hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Options;

    #[test]
    fn a_pile_has_no_more_than_it_has_asked_for() {
        let limit = 10 << 20;
        let options = Options { memory: limit, ..Options::default() };
        let run = Run::new(&options);
        let mut pile: Pile<u64> = Pile::new(40);
        while pile.room(3, &run) {
            pile.items.extend([7; 3]);
            let taken = pile.items.capacity() as u64 * 40;
            assert!(taken <= run.budget.used() && run.budget.used() <= limit);
        }
        assert_eq!(run.stopped_by(), Some(Stop::Memory));
        // It did not give up long before.
        assert!(pile.items.len() as u64 * 40 > limit / 10 * 8, "{}", pile.items.len());
    }
}
