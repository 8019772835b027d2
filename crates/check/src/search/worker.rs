//! The expansion loop of one thread: read a state, expand it, offer its
//! successors, settle which are new. Orders decide what is expanded next.

use super::Options;
use super::run::{Run, Witness};
use crate::outcome::Stop;
use crate::store::{Token, Writer};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Found, Model, Sink, Step};
use ir::rows::{Cause, Head, Rows};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Expansions between two reports of a thread to the others; to begin with it
/// reports at once.
const REPORT_EXPANSIONS: u64 = 512;
const REPORTS_AT_ONCE: u64 = 4096;
/// Expansions after which a thread looks whether they take so long that limits must
/// be looked at more often.
const LOOK_EXPANSIONS: u64 = 128;
const LONG: Duration = Duration::from_millis(20);

/// Bytes of successors between two looks at the clock, at most: states may be large.
const LOOK_BYTES: usize = 16 << 20;

/// States that are expanded together.
pub(super) const BUNDLE: usize = 64;

/// A state that waits to be expanded, with its depth and what it was found by.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(2))]
pub(super) struct Waiting {
    pub token: Token,
    pub depth: u32,
    pub cause: Cause,
}

impl Waiting {
    /// Of the rows of its successors.
    #[inline(always)]
    fn head(self) -> Head {
        Head::new(self.depth + 1, self.token)
    }
}

pub(super) struct Worker<'r, W> {
    model: Box<dyn Model + 'r>,
    /// For states of a bundle that have to be put together.
    spaces: [Vec<u8>; BUNDLE],
    /// The model may leave out successors that are found another way.
    leaves_out: bool,
    /// States expanded, and how many of them at the last report.
    pub expanded: u64,
    reported: u64,
    /// The same at the last look at the clock, and when that was.
    looked: u64,
    looked_at: Instant,
    pub finds: Finds<'r, W>,
}

/// What a worker finds.
pub(super) struct Finds<'r, W> {
    run: &'r Run<'r>,
    writer: W,
    /// The states that are expanded together, if they are.
    bundle: Vec<Waiting>,
    /// The state being expanded; none before there are states.
    parent: Option<Token>,
    depth: u32,
    /// Successors of this state would be too deep.
    at_limit: bool,
    /// Transitions of expansions that are done.
    counted: u64,
    /// New states that were not reported yet, and the depth of the deepest.
    found: u64,
    deepest: u32,
    /// The expansion under way was given up.
    aborted: bool,
    /// Bytes of successors that were settled since the last look at the clock.
    unlooked: usize,
    /// New states since they were last taken, in the order of discovery.
    pub fresh: Vec<Waiting>,
}

/// Whether what is found another way may be left out: if it makes no difference at
/// what depth that is. An exact search must also end with a step that leads nowhere, as
/// that would count as one that leads somewhere; to sparing ones it does not matter, as
/// the step was told of where it was possible first. Other searches that may lose
/// states make all successors: that a state is met in several ways saves it.
pub(super) fn may_leave_out(options: &Options, loses: bool) -> bool {
    if options.depth.is_some() || options.target.is_some() {
        return false;
    }
    match loses {
        true => options.sparing,
        false => options.max_violations <= 1 && options.ignore.iter().all(|kind| kind.goes_on()),
    }
}

impl<'r, W: Writer> Worker<'r, W> {
    pub fn new(run: &'r Run<'r>, model: Box<dyn Model + 'r>, writer: W) -> Worker<'r, W> {
        let finds = Finds {
            run,
            writer,
            bundle: Vec::with_capacity(BUNDLE),
            parent: None,
            depth: 0,
            at_limit: false,
            counted: 0,
            found: 0,
            deepest: 0,
            aborted: false,
            unlooked: 0,
            fresh: Vec::new(),
        };
        let leaves_out = may_leave_out(run.options, finds.writer.loses());
        Worker {
            model,
            spaces: [const { Vec::new() }; BUNDLE],
            leaves_out,
            expanded: 0,
            reported: 0,
            looked: 0,
            looked_at: Instant::now(),
            finds,
        }
    }

    /// Finds the initial states.
    pub fn start(&mut self) {
        self.model.initial(&mut self.finds);
        self.finish();
    }

    /// Expands states; what is new is in `finds.fresh` then. If the search is
    /// stopped half-way the answer is false: the states count as not expanded,
    /// and must be expanded again if the search is to go on.
    pub fn expand(&mut self, states: &[Waiting]) -> bool {
        for waiting in states {
            self.finds.writer.prefetch(waiting.token);
        }
        for bundle in states.chunks(BUNDLE) {
            let at_limit = bundle.iter().any(|waiting| self.finds.is_at_limit(*waiting));
            if !at_limit {
                self.expand_bundle::<BUNDLE>(bundle);
            } else {
                bundle.chunks(1).for_each(|alone| self.expand_bundle::<1>(alone));
            }
        }
        self.expanded += states.len() as u64;
        self.finish()
    }

    /// Expands up to `N` states together; a state at the limit is alone.
    fn expand_bundle<const N: usize>(&mut self, states: &[Waiting]) {
        let Worker { model, spaces, leaves_out, finds, .. } = self;
        if finds.aborted {
            return;
        }
        finds.bundle.clear();
        finds.bundle.extend_from_slice(states);
        if states.len() == 1 && finds.is_at_limit(states[0]) {
            // To know what is visited, nothing may be left open.
            finds.settle();
        }
        let mut bundle = [Found::NONE; N];
        let tokens = states.iter().map(|waiting| waiting.token);
        finds.writer.read_all(tokens, spaces, |number, state| {
            let waiting = states[number];
            let cause = if *leaves_out { waiting.cause } else { 0 };
            bundle[number] = Found { state, cause, head: waiting.head() };
        });
        model.expand_all(&bundle[..states.len()], finds);
    }

    /// Settles what was offered and counts it.
    fn finish(&mut self) -> bool {
        self.finds.settle();
        let finds = &mut self.finds;
        let transitions = finds.writer.rows().take_count();
        let done = !std::mem::take(&mut finds.aborted);
        if done {
            finds.counted += transitions;
        }
        finds.writer.finish(done);
        let report_at = self.reported + REPORT_EXPANSIONS;
        let is_due = self.expanded >= report_at || self.expanded < REPORTS_AT_ONCE;
        if is_due || !done {
            self.report();
        }
        if self.takes_long() {
            self.finds.run.look_at_clock();
        }
        done
    }

    /// Whether states are slow to expand.
    fn takes_long(&mut self) -> bool {
        if self.expanded < self.looked + LOOK_EXPANSIONS {
            return false;
        }
        self.looked = self.expanded;
        let now = Instant::now();
        now - std::mem::replace(&mut self.looked_at, now) >= LONG
    }

    /// Passes the counts on to all threads and looks at the clock. Seldom, as
    /// these are words for which threads would get in each other's way.
    pub fn report(&mut self) {
        let Finds { run, counted, found, deepest, .. } = &mut self.finds;
        run.transitions.fetch_add(std::mem::take(counted), Ordering::Relaxed);
        run.depth.fetch_max(*deepest as usize, Ordering::Relaxed);
        run.add_states(std::mem::take(found));
        if self.expanded >= self.reported + REPORT_EXPANSIONS {
            self.reported = self.expanded;
            run.look_at_clock();
        }
    }

    pub fn reached(&mut self) -> &[bool] {
        self.model.reached()
    }
}

impl<W: Writer> Finds<'_, W> {
    fn is_at_limit(&self, waiting: Waiting) -> bool {
        self.run.options.depth.is_some_and(|limit| waiting.depth as usize >= limit)
    }

    fn settle(&mut self) {
        let Finds { fresh, deepest, .. } = self;
        let n_before = fresh.len();
        let settled = self.writer.settle(|token, depth, cause| {
            fresh.push(Waiting { token, depth, cause });
            *deepest = depth.max(*deepest);
        });
        self.found += (self.fresh.len() - n_before) as u64;
        if settled.is_err() {
            self.run.stop(Stop::Memory);
            self.aborted = true;
        }
    }

    fn flow(&mut self) -> Flow {
        self.aborted |= self.run.is_stopped();
        if self.aborted { Flow::Stop } else { Flow::Continue }
    }
}

impl<W: Writer> Sink for Finds<'_, W> {
    fn turn_to(&mut self, number: usize) {
        let waiting = self.bundle[number];
        self.depth = waiting.depth;
        self.parent = Some(waiting.token);
        self.at_limit = self.is_at_limit(waiting);
        self.writer.rows().set_head(waiting.head());
    }

    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        if self.at_limit && !self.writer.contains(state) {
            self.run.cut.store(true, Ordering::Relaxed);
            return Flow::Stop;
        }
        self.writer.rows().push(state);
        if self.writer.rows().is_full() { self.make_room() } else { Flow::Continue }
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        // At the limit each successor has to be looked at.
        (!self.at_limit).then(|| self.writer.rows())
    }

    fn make_room(&mut self) -> Flow {
        self.unlooked += self.writer.rows().used();
        if self.unlooked >= LOOK_BYTES {
            self.unlooked = 0;
            self.run.look_at_clock();
        }
        self.settle();
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if !self.run.ignores(&fault) {
            // A deadlock has no step of its own.
            let depth = self.depth as usize + !steps.is_empty() as usize;
            let Finds { run, writer, parent: from, .. } = self;
            run.report(fault, |fault| {
                if let Some(parent) = *from {
                    writer.keep(parent);
                }
                Some(Witness { fault, from: *from, steps: steps.to_vec(), depth })
            });
        }
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
