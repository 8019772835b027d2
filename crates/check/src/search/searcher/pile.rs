//! Depth first, with states in full on a pile: for arenas and states that the
//! processor has at hand, so that it counts what is done for each state. It comes
//! by the same states in the same order as `dfs`.
//!
//! Nothing is kept of how a state was found. A search that meets violations is
//! to be done over by `dfs`, as far as it takes to tell the ways, and so is one whose
//! states need much memory.

use super::super::Maker;
use super::super::run::Run;
use super::super::worker::{BUNDLE, may_leave_out};
use crate::dice::Dice;
use crate::memory::Budget;
use crate::store::Marker;
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Found, Model, Sink, Step};
use ir::rows::{Head, Row, Rows};
use ir::source::Span;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bundles between two reports.
const REPORT_BUNDLES: u64 = 8;
/// Bytes of successors of a bundle, at most: with more it is done over.
const MOST_BYTES: usize = 256 << 10;
/// What room for them takes, and for those of the bundle before.
const SUCCESSORS: u64 = 4 * MOST_BYTES as u64;
/// Bytes of the pile, at most.
const MOST_PILED: usize = 16 << 20;

/// What became of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// It came to its end, and has met so many different violations.
    Met(usize),
    /// It has met as many as were to be found.
    Enough,
    /// It takes too much memory.
    Full,
}

/// States that wait.
pub(super) struct Pile {
    rows: Rows,
    /// Where each begins.
    starts: Vec<usize>,
    /// Room for the successors of a bundle, and of the one before.
    successors: [Rows; 2],
    /// Bytes taken from the budget.
    taken: u64,
    budget: Arc<Budget>,
}

impl Drop for Pile {
    fn drop(&mut self) {
        self.budget.give(self.taken);
    }
}

impl Pile {
    /// `None` if there is no memory for it.
    pub fn new(budget: &Arc<Budget>) -> Option<Pile> {
        let (rows, successors) = (Rows::new(0), [(); 2].map(|()| Rows::new(MOST_BYTES)));
        let (starts, taken) = (Vec::new(), SUCCESSORS);
        let pile = || Pile { rows, starts, successors, taken, budget: budget.clone() };
        budget.take(taken).then(pile)
    }

    /// Forgets all states; their memory is used again.
    pub fn clear(&mut self) {
        self.pop(self.starts.len());
    }

    /// Puts a row of others on top; false if there is no memory.
    #[inline(always)]
    fn push(&mut self, rows: &Rows, at: u32) -> bool {
        let at = at as usize;
        let has_room =
            self.starts.len() < self.starts.capacity() && self.rows.has_room_for(rows, at);
        if !has_room && !self.grow(rows, at) {
            return false;
        }
        self.starts.push(self.rows.used());
        self.rows.push_row(rows, at);
        true
    }

    /// Takes memory for one more. As long as it is copied there, what there was is
    /// taken too.
    #[cold]
    fn grow(&mut self, rows: &Rows, at: usize) -> bool {
        let n = self.starts.capacity().max((self.starts.len() + 1).next_power_of_two());
        let needed = self.rows.bytes_with(rows, at) + n * size_of::<usize>();
        let taken = SUCCESSORS + needed as u64;
        if needed > MOST_PILED || !self.budget.take(taken) {
            return false;
        }
        self.starts.reserve_exact(n - self.starts.len());
        self.rows.make_room_for(rows, at);
        self.budget.give(std::mem::replace(&mut self.taken, taken));
        true
    }

    /// Takes `n` states from the top.
    fn pop(&mut self, n: usize) {
        let rest = self.starts.len() - n;
        if let Some(start) = self.starts.get(rest) {
            self.rows.truncate(*start);
        }
        self.starts.truncate(rest);
    }
}

/// Searches as far as that can be done.
pub(super) fn search(make: &Maker, run: &Run, marker: Marker, pile: &mut Pile) -> End {
    let mut model = make();
    let mut finds = Finds::new(run, pile);
    model.initial(&mut finds);
    let end = explore(&mut *model, &mut finds, marker, pile);
    pile.successors = [finds.rows, finds.before];
    run.add_reached(model.reached());
    match (end, finds.violations.len()) {
        (End::Done, n @ 1..) => End::Met(n),
        (end, _) => end,
    }
}

fn explore(model: &mut dyn Model, finds: &mut Finds, mut marker: Marker, pile: &mut Pile) -> End {
    let run = finds.run;
    let mut dice = Dice(run.options.seed);
    for n_bundles in 0.. {
        if finds.gave_up != End::Done {
            return finds.gave_up;
        }
        finds.count();
        let fresh = marker.mark(&finds.rows);
        finds.note(fresh);
        if n_bundles > 0 {
            run.options.turns.arrange(fresh, &mut dice);
        } else {
            // The last one of the initial states comes on top.
            fresh.reverse();
        }
        let (next, rest) = fresh.split_at(fresh.len().min(BUNDLE));
        if !finds.put_aside(rest, pile) {
            return End::Full;
        }
        if n_bundles % REPORT_BUNDLES == 0 {
            run.look_at_clock();
        }
        if (next.is_empty() && pile.starts.is_empty()) || run.is_stopped() {
            break;
        }
        finds.expand(model, next, pile);
    }
    End::Done
}

/// What a bundle leads to.
struct Finds<'r> {
    run: &'r Run<'r>,
    rows: Rows,
    /// Those of the bundle before: many of them are the bundle now.
    before: Rows,
    /// The model may leave out successors that are found another way.
    leaves_out: bool,
    /// What successors of each state of the bundle have in their heads.
    heads: [Head; BUNDLE],
    /// Different violations, as `Run::report` tells them apart.
    violations: Vec<(FaultKind, Span)>,
    /// Why the search is to be done over, if it is.
    gave_up: End,
    /// The expansion under way was given up.
    aborted: bool,
}

impl<'r> Finds<'r> {
    fn new(run: &'r Run<'r>, pile: &mut Pile) -> Finds<'r> {
        let none = [(); 2].map(|()| Rows::new(MOST_BYTES));
        let [mut rows, before] = std::mem::replace(&mut pile.successors, none);
        rows.clear();
        rows.set_head(Head::NONE);
        rows.take_count();
        Finds {
            run,
            rows,
            before,
            leaves_out: may_leave_out(run.options, true),
            heads: [Head::NONE; BUNDLE],
            violations: Vec::new(),
            gave_up: End::Done,
            aborted: false,
        }
    }

    /// Counts transitions, unless some may be missing.
    fn count(&mut self) {
        let transitions = self.rows.take_count();
        if !self.aborted {
            self.run.transitions.fetch_add(transitions, Ordering::Relaxed);
        }
    }

    /// Counts rows that are new.
    fn note(&self, fresh: &[u32]) {
        let marks = fresh.iter().map(|at| self.rows.row(*at as usize).0.mark);
        self.run.depth.fetch_max(marks.max().unwrap_or(0) as usize, Ordering::Relaxed);
        self.run.add_states(fresh.len() as u64);
    }

    /// Puts rows on the pile, the first on top; false if there is no memory.
    fn put_aside(&self, rows: &[u32], pile: &mut Pile) -> bool {
        rows.iter().rev().all(|at| pile.push(&self.rows, *at))
    }

    /// Expands these rows, and as many states from the top of the pile as there is
    /// room for in a bundle.
    fn expand(&mut self, model: &mut dyn Model, next: &[u32], pile: &mut Pile) {
        std::mem::swap(&mut self.rows, &mut self.before);
        self.rows.clear();
        let before = std::mem::replace(&mut self.before, Rows::new(MOST_BYTES));
        let found = next.iter().map(|at| before.row(*at as usize).0);
        let piled = pile.starts.iter().rev().map(|start| pile.rows.row(*start).0);
        let mut bundle = [Found::NONE; BUNDLE];
        let mut n = 0;
        for (to, row) in bundle.iter_mut().zip(found.chain(piled)) {
            let Row { state, mark, cause, .. } = row;
            let head = Head::new(mark + 1, 0);
            *to = Found { state, cause: if self.leaves_out { cause } else { 0 }, head };
            self.heads[n] = head;
            n += 1;
        }
        model.expand_all(&bundle[..n], self);
        pile.pop(n - next.len());
        self.before = before;
    }

    fn give_up(&mut self, why: End) -> Flow {
        self.gave_up = why;
        Flow::Stop
    }
}

impl Sink for Finds<'_> {
    fn turn_to(&mut self, number: usize) {
        self.rows.set_head(self.heads[number]);
    }

    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.rows.push(state);
        if self.rows.is_full() { self.give_up(End::Full) } else { Flow::Continue }
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        Some(&mut self.rows)
    }

    fn make_room(&mut self) -> Flow {
        self.give_up(End::Full)
    }

    fn fault(&mut self, fault: Fault, _steps: &[Step]) -> Flow {
        if self.run.ignores(&fault) {
            return Flow::Continue;
        }
        self.run.n_violations.fetch_add(1, Ordering::Relaxed);
        let violation = (fault.kind, fault.span);
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
        let is_enough = self.violations.len() >= self.run.options.max_violations;
        if is_enough { self.give_up(End::Enough) } else { Flow::Continue }
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.run.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.tick(bytes);
        self.aborted = self.run.is_stopped();
        if self.aborted { Flow::Stop } else { Flow::Continue }
    }
}
