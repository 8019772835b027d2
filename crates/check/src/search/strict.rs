//! Depth-first search by one thread in strict order: a state is marked when it
//! is taken, and its first successor is taken next. For precision on demand.
//!
//! Precision on demand (Melatti, Palmer and Gopalakrishnan): a lossy store may
//! take a new state for a visited one. Before a state counts as visited, the
//! chain of its first successors is looked up; one that is not visited proves
//! the state new.
//!
//! Invariant: after a state was taken, those of its chain are taken one after
//! the other, before anything else, until one counts as visited. So whenever a
//! state that was taken is met again, its whole chain is marked:
//! - If a link counted as visited, its own chain was marked: a lookup said so.
//! - If the state is met while its chain is being taken, the chain is a cycle,
//!   and all of it is on the stack and marked.
//! - A state without successors proves nothing: it counts as what its mark says.
//!   (As printed, the algorithm takes it for new every time.)
//! - A limit of depth would cut chains, so there is none here.
//!
//! So no state is counted twice, whatever collides, as long as successors come
//! in the same order every time, which `Model` promises.

use super::Maker;
use super::run::{Run, Witness};
use crate::bytes::Fingerprint;
use crate::outcome::Stop;
use crate::store::{Filter, LossyStore, SlabDesk};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::rows::Rows;
use std::sync::atomic::Ordering;

/// Expansions between two reports and looks at the clock.
const REPORT_EXPANSIONS: u64 = 512;
/// Bytes of successors that are passed on at once.
const MOST_BYTES: usize = 16 << 10;
/// Memory is taken from the budget in pieces of so many bytes.
const PIECE: u64 = 1 << 20;

/// The successors of a state on the way, each with its fingerprint.
struct Frame {
    /// Where its rows begin, that of the one taken last, and that of the next.
    start: usize,
    taken: usize,
    next: usize,
    end: usize,
    /// Where its fingerprints begin, and the next of them.
    first_print: usize,
    next_print: usize,
}

/// What is on the way and beside it.
struct Way<'r, F> {
    run: &'r Run<'r>,
    store: &'r LossyStore<F>,
    frames: Vec<Frame>,
    /// Rows of all frames.
    pending: Rows,
    prints: Vec<Fingerprint>,
    /// What an expansion writes to.
    fresh: Rows,
    desk: SlabDesk,
    transitions: u64,
    /// Bytes taken from the budget.
    memory: u64,
}

/// Searches from the initial states until all is seen or a limit is met.
pub(super) fn search<F: Filter>(make: &Maker, run: &Run, store: &LossyStore<F>) {
    let mut model = make();
    let mut way = Way {
        run,
        store,
        frames: Vec::new(),
        pending: Rows::new(0),
        prints: Vec::new(),
        fresh: Rows::new(MOST_BYTES),
        desk: SlabDesk::default(),
        transitions: 0,
        memory: 0,
    };
    way.expand(|sink| model.initial(sink));
    let (mut state, mut chain) = (Vec::new(), Chain::default());
    let (mut states, mut expansions) = (0, 0u64);
    while !run.is_stopped()
        && let Some(print) = way.take(&mut state)
    {
        let precision = run.options.precision;
        let visited = store.filter.contains(print);
        if visited && !(precision > 0 && chain.proves_new(&mut *model, &state, store, precision)) {
            continue;
        }
        if store.mark(print).is_err() {
            run.stop(Stop::Memory);
            break;
        }
        states += 1;
        expansions += 1;
        way.expand(|sink| model.expand(&state, sink));
        if expansions.is_multiple_of(REPORT_EXPANSIONS) {
            way.report(&mut states);
            run.look_at_clock();
        }
    }
    way.report(&mut states);
    run.budget.give(way.memory);
    run.add_reached(model.reached());
}

impl<F: Filter> Way<'_, F> {
    /// Expands the state that was taken last.
    fn expand(&mut self, expand: impl FnOnce(&mut dyn Sink) -> Flow) {
        let (start, first_print) = (self.pending.used(), self.prints.len());
        expand(self);
        self.pass_on();
        let end = self.pending.used();
        if end > start {
            let (taken, next) = (start, start);
            let next_print = first_print;
            self.frames.push(Frame { start, taken, next, end, first_print, next_print });
            self.run.depth.fetch_max(self.frames.len() - 1, Ordering::Relaxed);
        }
        self.take_memory();
    }

    /// Moves successors to the pending ones, and asks for their marks.
    fn pass_on(&mut self) {
        let mut at = 0;
        while at < self.fresh.used() {
            let (row, next) = self.fresh.row(at);
            let print = self.store.fingerprint(row.state);
            self.store.filter.prefetch(print);
            self.prints.push(print);
            self.pending.push(row.state);
            at = next;
        }
        self.fresh.clear();
        self.transitions += self.fresh.take_count();
    }

    /// The next state of the topmost frame that has one.
    fn take(&mut self, state: &mut Vec<u8>) -> Option<Fingerprint> {
        loop {
            let frame = self.frames.last_mut()?;
            if frame.next == frame.end {
                self.pending.truncate(frame.start);
                self.prints.truncate(frame.first_print);
                self.frames.pop();
                continue;
            }
            let (row, next) = self.pending.row(frame.next);
            state.clear();
            state.extend_from_slice(row.state);
            (frame.taken, frame.next) = (frame.next, next);
            frame.next_print += 1;
            return Some(self.prints[frame.next_print - 1]);
        }
    }

    /// Takes what the way needs from the budget.
    fn take_memory(&mut self) {
        let frames = self.frames.capacity() * size_of::<Frame>();
        let prints = self.prints.capacity() * size_of::<Fingerprint>();
        let needed = (self.pending.bytes().len() + frames + prints) as u64;
        if needed > self.memory {
            let more = (needed - self.memory).next_multiple_of(PIECE);
            if self.run.budget.take(more) {
                self.memory += more;
            } else {
                self.run.stop(Stop::Memory);
            }
        }
    }

    fn report(&mut self, states: &mut u64) {
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
        self.take_memory();
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.run.ignores(&fault) {
            return Flow::Continue;
        }
        let mut from = None;
        for frame in &self.frames {
            let (row, _) = self.pending.row(frame.taken);
            from = self.store.keep_state(row.state, from, &mut self.desk);
        }
        // A deadlock has no step of its own.
        let depth = self.frames.len().saturating_sub(1) + !steps.is_empty() as usize;
        self.run.report(Witness { fault, from, steps: steps.to_vec(), depth });
        self.flow()
    }

    fn wants(&self, kind: FaultKind) -> bool {
        !self.run.options.ignore.contains(&kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.look_at_clock();
        if bytes > self.run.budget.left() {
            self.run.stop(Stop::Memory);
        }
        self.flow()
    }
}

/// Finds chains of first successors.
#[derive(Default)]
struct Chain {
    link: Vec<u8>,
    first: First,
}

impl Chain {
    /// Whether a state of which the store says that it is visited is new, as
    /// one of its chain is.
    fn proves_new<F: Filter>(
        &mut self,
        model: &mut dyn Model,
        state: &[u8],
        store: &LossyStore<F>,
        precision: u32,
    ) -> bool {
        self.link.clear();
        self.link.extend_from_slice(state);
        for _ in 0..precision {
            self.first.found = false;
            model.expand(&self.link, &mut self.first);
            if !self.first.found {
                return false;
            }
            std::mem::swap(&mut self.link, &mut self.first.state);
            if !store.filter.contains(store.fingerprint(&self.link)) {
                return true;
            }
        }
        false
    }
}

/// Takes the first successor and no more.
#[derive(Default)]
struct First {
    state: Vec<u8>,
    found: bool,
}

impl Sink for First {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.found = true;
        Flow::Stop
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }

    fn wants(&self, _kind: FaultKind) -> bool {
        false
    }
}
