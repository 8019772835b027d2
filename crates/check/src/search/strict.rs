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
//! - A limit of depth would cut chains, so there is none here. States of which
//!   some bytes do not count have no chain of their own, so they are refused.
//!
//! So no state is counted twice, whatever collides, as long as successors come
//! in the same order every time, which `Model` promises.

use super::run::{Run, Witness};
use super::{Maker, Turns};
use crate::bytes::Fingerprint;
use crate::dice::Dice;
use crate::outcome::Stop;
use crate::store::{Filter, LossyStore, Marked, SlabDesk};
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

/// A state on the way, by its successors.
struct Frame {
    /// Where its rows begin.
    start: usize,
    /// Where its successors begin, and how many of them were taken.
    first: usize,
    taken: usize,
}

/// A successor: its fingerprint, and where its row begins.
type Successor = (Fingerprint, usize);

/// What is on the way and beside it.
struct Way<'r, F> {
    run: &'r Run<'r>,
    store: &'r LossyStore<'r, F>,
    frames: Vec<Frame>,
    /// Rows of all frames, and their successors in the order they are taken.
    pending: Rows,
    successors: Vec<Successor>,
    /// What an expansion writes to.
    fresh: Rows,
    desk: SlabDesk,
    transitions: u64,
    /// Bytes taken from the budget.
    memory: u64,
}

/// Searches from the initial states until all is seen or a limit is met.
pub(super) fn search<F: Filter>(make: &Maker, run: &Run, store: &LossyStore<'_, F>) {
    let mut model = make();
    let mut way = Way {
        run,
        store,
        frames: Vec::new(),
        pending: Rows::new(0),
        successors: Vec::new(),
        fresh: Rows::new(MOST_BYTES),
        desk: SlabDesk::default(),
        transitions: 0,
        memory: 0,
    };
    way.expand(Fingerprint(0, 0), |sink| model.initial(sink));
    let (mut state, mut chain) = (Vec::new(), Chain::new());
    let mut dice = Dice(run.options.seed);
    let (mut states, mut expansions) = (0, 0u64);
    while !run.is_stopped()
        && let Some(print) = way.take(&mut state)
    {
        let visited = store.filter.contains(print);
        if visited && !chain.proves_new(&mut *model, &state, store, run) {
            continue;
        }
        match store.mark(print, &mut dice) {
            Marked::New | Marked::Seen => states += 1,
            Marked::Dropped => continue,
            Marked::NoRoom => {
                run.stop(Stop::Memory);
                continue;
            }
        }
        store.collect(&state);
        expansions += 1;
        way.expand(print, |sink| model.expand(&state, sink));
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
    fn expand(&mut self, print: Fingerprint, expand: impl FnOnce(&mut dyn Sink) -> Flow) {
        let (start, first) = (self.pending.used(), self.successors.len());
        expand(self);
        self.pass_on();
        if self.successors.len() > first {
            let options = self.run.options;
            options.turns.arrange(&mut self.successors[first..], &mut dice(options.seed, print));
            self.frames.push(Frame { start, first, taken: 0 });
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
            self.successors.push((print, self.pending.used()));
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
            let Some(&(print, at)) = self.successors.get(frame.first + frame.taken) else {
                self.pending.truncate(frame.start);
                self.successors.truncate(frame.first);
                self.frames.pop();
                continue;
            };
            frame.taken += 1;
            state.clear();
            state.extend_from_slice(self.pending.row(at).0.state);
            return Some(print);
        }
    }

    /// Takes what the way needs from the budget.
    fn take_memory(&mut self) {
        let frames = self.frames.capacity() * size_of::<Frame>();
        let successors = self.successors.capacity() * size_of::<Successor>();
        let needed = (self.pending.bytes().len() + frames + successors) as u64;
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
        let Way { run, store, frames, pending, successors, desk, .. } = self;
        run.report(fault, |fault| {
            let mut from = None;
            for frame in frames.iter() {
                let (_, at) = successors[frame.first + frame.taken - 1];
                from = Some(store.keep_state(pending.row(at).0.state, from, desk)?);
            }
            // A deadlock has no step of its own.
            let depth = frames.len().saturating_sub(1) + !steps.is_empty() as usize;
            Some(Witness { fault, from, steps: steps.to_vec(), depth })
        });
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

/// What arranges the successors of a state: for the same state the same.
fn dice(seed: u64, Fingerprint(a, _): Fingerprint) -> Dice {
    Dice(seed ^ a)
}

/// Finds chains of first successors.
struct Chain {
    link: Vec<u8>,
    first: First,
    all: All,
}

impl Chain {
    fn new() -> Chain {
        let all = All { rows: Rows::new(MOST_BYTES), states: Vec::new() };
        Chain { link: Vec::new(), first: First::default(), all }
    }

    /// Whether a state of which the store says that it is visited is new, as
    /// one of its chain is.
    fn proves_new<F: Filter>(
        &mut self,
        model: &mut dyn Model,
        state: &[u8],
        store: &LossyStore<'_, F>,
        run: &Run,
    ) -> bool {
        self.link.clear();
        self.link.extend_from_slice(state);
        for _ in 0..run.options.precision {
            if !self.go_on(model, store, run) {
                return false;
            }
            if !store.filter.contains(store.fingerprint(&self.link)) {
                return true;
            }
        }
        false
    }

    /// Goes to the first successor; false if there is none.
    fn go_on<F: Filter>(
        &mut self,
        model: &mut dyn Model,
        store: &LossyStore<'_, F>,
        run: &Run,
    ) -> bool {
        let options = run.options;
        if options.turns == Turns::Forward {
            self.first.found = false;
            model.expand(&self.link, &mut self.first);
            std::mem::swap(&mut self.link, &mut self.first.state);
            return self.first.found;
        }
        self.all.states.clear();
        model.expand(&self.link, &mut self.all);
        self.all.make_room();
        let print = store.fingerprint(&self.link);
        options.turns.arrange(&mut self.all.states, &mut dice(options.seed, print));
        let Some(first) = self.all.states.first_mut() else { return false };
        std::mem::swap(&mut self.link, first);
        true
    }
}

/// Takes all successors.
struct All {
    rows: Rows,
    states: Vec<Vec<u8>>,
}

impl Sink for All {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.make_room();
        self.states.push(state.to_vec());
        Flow::Continue
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        Some(&mut self.rows)
    }

    fn make_room(&mut self) -> Flow {
        let mut at = 0;
        while at < self.rows.used() {
            let (row, next) = self.rows.row(at);
            self.states.push(row.state.to_vec());
            at = next;
        }
        self.rows.clear();
        Flow::Continue
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }

    fn wants(&self, _kind: FaultKind) -> bool {
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
