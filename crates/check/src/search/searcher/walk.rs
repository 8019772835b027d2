//! Random walks: from an initial state always on to any of the successors,
//! until there is none or the walk is long enough; then again. The store only
//! tells which states are new.

use super::super::run::Run;
use super::super::{Maker, path};
use crate::dice::Dice;
use crate::store::{Filter, LossyStore, Marked, SlabDesk};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::rows::Rows;
use std::sync::atomic::Ordering;

/// Steps between two reports.
const REPORT_STEPS: u64 = 512;
/// The longest walk.
const LONGEST: usize = 10_000;

struct Walk<'r, F> {
    run: &'r Run<'r>,
    store: &'r LossyStore<'r, F>,
    /// The states on the way, and where each begins.
    way: Rows,
    begins: Vec<usize>,
    /// The successors of the last of them, and where each begins.
    next: Rows,
    starts: Vec<usize>,
    desk: SlabDesk,
}

pub(super) fn search<F: Filter>(make: &Maker, run: &Run, store: &LossyStore<'_, F>, steps: u64) {
    let mut model = make();
    let mut dice = Dice(run.options.seed);
    let mut walk = Walk {
        run,
        store,
        way: Rows::new(0),
        begins: Vec::new(),
        next: Rows::new(0),
        starts: Vec::new(),
        desk: SlabDesk::default(),
    };
    let longest = run.options.depth.map_or(LONGEST, |depth| depth.min(LONGEST));
    let mut state = Vec::new();
    for step in 0..steps {
        if run.is_stopped() {
            break;
        }
        if walk.begins.len() > longest {
            walk.begins.clear();
        }
        walk.expand(&mut *model, &mut state);
        if !walk.go_on(&mut dice) {
            if walk.begins.is_empty() {
                // There is no initial state.
                break;
            }
            walk.begins.clear();
        }
        if step % REPORT_STEPS == 0 {
            run.look_at_clock();
        }
    }
    run.add_reached(model.reached());
}

impl<F: Filter> Walk<'_, F> {
    /// Finds the successors of the last state, or the initial states.
    fn expand(&mut self, model: &mut dyn Model, state: &mut Vec<u8>) {
        self.next.clear();
        match self.begins.last() {
            None => {
                self.way.clear();
                model.initial(self);
            }
            Some(&at) => {
                state.clear();
                state.extend_from_slice(self.way.row(at).0.state);
                model.expand(state, self);
            }
        }
        self.run.transitions.fetch_add(self.next.take_count(), Ordering::Relaxed);
    }

    /// Goes on to any successor; false if there is none.
    fn go_on(&mut self, dice: &mut Dice) -> bool {
        self.starts.clear();
        let mut at = 0;
        while at < self.next.used() {
            self.starts.push(at);
            at = self.next.row(at).1;
        }
        if self.starts.is_empty() {
            return false;
        }
        let state = self.next.row(self.starts[dice.below(self.starts.len())]).0.state;
        if self.store.mark(self.store.fingerprint(state), dice) == Marked::New {
            self.store.collect(state);
            self.run.add_states(1);
        }
        self.begins.push(self.way.used());
        self.way.push(state);
        self.run.depth.fetch_max(self.begins.len() - 1, Ordering::Relaxed);
        true
    }

    fn flow(&self) -> Flow {
        if self.run.is_stopped() { Flow::Stop } else { Flow::Continue }
    }
}

impl<F: Filter> Sink for Walk<'_, F> {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.next.push(state);
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.run.ignores(&fault) {
            return Flow::Continue;
        }
        let Walk { run, store, way, begins, desk, .. } = self;
        let way = begins.iter().map(|at| way.row(*at).0.state);
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
