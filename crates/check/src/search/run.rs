//! A search under way, as all its threads see it: counts, limits, and what
//! was found.

use super::spill::Space;
use super::{Options, Order};
use crate::files::{Error, Trouble};
use crate::memory::Budget;
use crate::outcome::{Progress, Stop};
use crate::store::{Full, Name, Token};
use ir::fault::{Fault, FaultKind};
use ir::model::Step;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// In the place of a `Stop`: the search will go on.
const PAUSED: u8 = 255;

/// A violation and where it was met.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Witness {
    pub fault: Fault,
    /// The state that was being expanded; none if there is no initial state.
    pub from: Option<Token>,
    /// From that state into the fault.
    pub steps: Vec<Step>,
    /// Transitions to the fault.
    pub depth: usize,
}

/// Keeps what changes often away from what all threads read all the time: two
/// cache lines, as they are fetched in pairs.
#[repr(align(128))]
struct Apart<T>(T);
/// What made a search return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// There are as many states as `pause_at` was told.
    Enough,
    /// A checkpoint is due.
    Checkpoint,
    /// Memory is full.
    Full,
    /// All was seen, or a limit was met.
    End,
}

/// What a search has counted and found: all that a later run must know of it
/// besides its states.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    pub states: u64,
    pub transitions: u64,
    pub depth: usize,
    pub n_violations: u64,
    pub cut: bool,
    pub elapsed: Duration,
    pub found: Vec<Witness>,
    pub reached: Vec<bool>,
}

pub(crate) struct Run<'a> {
    pub options: &'a Options<'a>,
    pub budget: Arc<Budget>,
    pub space: Arc<Space>,
    started: Instant,
    /// What runs before this one took.
    earlier: Duration,
    next_progress: Mutex<Duration>,
    // Relaxed for all of these: sums and flags on their own. Results are read
    // when the threads have been joined.
    pub states: AtomicU64,
    pub transitions: AtomicU64,
    pub depth: AtomicUsize,
    pub n_violations: AtomicU64,
    /// Some path was cut at the depth limit.
    pub cut: AtomicBool,
    /// As many violations as asked for were found.
    enough: AtomicBool,
    /// A `Stop` as a number, 0 if there is none.
    stop: Apart<AtomicU8>,
    found: Mutex<Vec<Witness>>,
    /// For each action, whether it was ever run.
    reached: Mutex<Vec<bool>>,
    /// States at which to pause.
    pause_at: AtomicU64,
    /// Milliseconds of this run at which to pause for a checkpoint.
    checkpoint_at: AtomicU64,
    /// What went wrong on disk.
    trouble: Mutex<Option<String>>,
}

impl<'a> Run<'a> {
    pub fn new(options: &'a Options<'a>) -> Run<'a> {
        Run::beside(options, &Arc::new(Budget::new(options.memory)))
    }

    /// A search beside what another one has kept: all of it is within its memory.
    pub fn beside(options: &'a Options<'a>, budget: &Arc<Budget>) -> Run<'a> {
        // Depth first each thread has a stack, breadth first each level.
        let space = Arc::new(Space::new(budget, options.threads.max(2)));
        Run::within(options, budget, &space)
    }

    /// A search that shares its memory with others.
    pub fn within(options: &'a Options<'a>, budget: &Arc<Budget>, space: &Arc<Space>) -> Run<'a> {
        Run {
            options,
            budget: budget.clone(),
            space: space.clone(),
            started: Instant::now(),
            earlier: Duration::ZERO,
            next_progress: Mutex::new(PROGRESS_EVERY),
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            depth: AtomicUsize::new(0),
            n_violations: AtomicU64::new(0),
            cut: AtomicBool::new(false),
            enough: AtomicBool::new(false),
            stop: Apart(AtomicU8::new(0)),
            found: Mutex::new(Vec::new()),
            reached: Mutex::new(Vec::new()),
            pause_at: AtomicU64::new(u64::MAX),
            checkpoint_at: AtomicU64::new(u64::MAX),
            trouble: Mutex::new(None),
        }
    }

    /// Has stacks go to disk if the options say so.
    pub fn open_spill(&mut self) -> Result<(), Error> {
        let Some(dir) = self.options.files.and_then(|f| f.spill.as_deref()) else { return Ok(()) };
        let mut space = Space::new(&self.budget, self.options.threads.max(2));
        space.open_spill(dir).map_err(|error| Error::write(dir, error))?;
        self.space = Arc::new(space);
        Ok(())
    }

    /// Goes on with what earlier runs have counted and found. The time that it
    /// took to read it is not that of a search.
    pub fn continue_from(&mut self, tally: Tally) {
        self.started = Instant::now();
        self.states = AtomicU64::new(tally.states);
        self.transitions = AtomicU64::new(tally.transitions);
        self.depth = AtomicUsize::new(tally.depth);
        self.n_violations = AtomicU64::new(tally.n_violations);
        self.cut = AtomicBool::new(tally.cut);
        self.earlier = tally.elapsed;
        self.reached = Mutex::new(tally.reached);
        let enough = tally.found.len() >= self.options.max_violations;
        self.found = Mutex::new(tally.found);
        self.enough = AtomicBool::new(enough);
        if enough && self.options.order == Order::Dfs {
            self.stop(Stop::Violations);
        }
    }

    /// What was counted and found so far. Nobody may be searching.
    pub fn tally(&self) -> Tally {
        Tally {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            n_violations: self.n_violations.load(Ordering::Relaxed),
            cut: self.cut.load(Ordering::Relaxed),
            elapsed: self.elapsed(),
            found: self.found.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            reached: self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Time that the search has taken, in earlier runs too.
    pub fn elapsed(&self) -> Duration {
        self.earlier + self.spent()
    }

    /// Time that this run has taken.
    pub fn spent(&self) -> Duration {
        self.started.elapsed()
    }

    /// Ends the search because of a stack.
    pub fn trouble(&self, trouble: Trouble) {
        match trouble {
            Trouble::Full => self.stop(Stop::Memory),
            Trouble::Limit(stop) => self.stop(stop),
            Trouble::Disk(error) => {
                let mut noted = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
                noted.get_or_insert(error.to_string());
                self.stop(Stop::Disk);
            }
        }
    }

    pub fn take_trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn ignores(&self, fault: &Fault) -> bool {
        self.options.ignore.contains(&fault.kind)
            || self.options.target.is_some_and(|target| !target.matches(fault))
    }

    /// Notes a violation, with the way to it if there was none like it; the
    /// search may be over then. Breadth first, it ends
    /// with the level, so that the nearest violations are found at any number
    /// of threads.
    pub fn report(&self, fault: Fault, witness: impl FnOnce(Fault) -> Option<Witness>) {
        self.n_violations.fetch_add(1, Ordering::Relaxed);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |w: &Witness| w.fault.kind == fault.kind && w.fault.span == fault.span;
        if found.iter().any(same) {
            return;
        }
        match witness(fault) {
            Some(witness) => found.push(witness),
            // There is no memory to keep the way.
            None => self.stop(Stop::Way),
        }
        if found.len() >= self.options.max_violations {
            self.enough.store(true, Ordering::Relaxed);
            if self.options.order == Order::Dfs {
                self.stop(Stop::Violations);
            }
        }
    }

    /// Names the states anew from which violations were met.
    pub fn rename_found(&self, name: &mut Name) -> Result<(), Full> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tokens = found.iter_mut().filter_map(|witness| witness.from.as_mut());
        tokens.try_for_each(|token| name(*token).map(|new| *token = new))
    }

    /// Called between levels: ends the search if enough was found.
    pub fn end_level(&self) {
        if self.enough.load(Ordering::Relaxed) {
            self.stop(Stop::Violations);
        }
    }

    /// Ends the search; the first reason counts.
    pub fn stop(&self, why: Stop) {
        let _ = self.stop.0.compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn pause(&self) {
        let _ = self.stop.0.compare_exchange(0, PAUSED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Counts new states; the search pauses when there are enough.
    pub fn add_states(&self, n: u64) {
        let before = self.states.fetch_add(n, Ordering::Relaxed);
        if before + n >= self.pause_at.load(Ordering::Relaxed) {
            self.pause();
        }
    }

    /// Has the search pause when there are so many states.
    pub fn pause_at(&self, states: u64) {
        self.pause_at.store(states, Ordering::Relaxed);
    }

    /// Has the search pause for a checkpoint when so much time has passed.
    pub fn checkpoint_in(&self, time: Duration) {
        let at = self.spent().saturating_add(time).as_millis();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        self.checkpoint_at.store(at, Ordering::Relaxed);
    }

    /// Why the search has returned.
    pub fn event(&self) -> Event {
        let states = self.states.load(Ordering::Relaxed);
        match self.stop.0.load(Ordering::Relaxed) {
            PAUSED if states >= self.pause_at.load(Ordering::Relaxed) => Event::Enough,
            PAUSED => Event::Checkpoint,
            number if number == Stop::Memory as u8 => Event::Full,
            _ => Event::End,
        }
    }

    pub fn has_states(&self, n: u64) -> bool {
        self.states.load(Ordering::Relaxed) >= n
    }

    /// Lets a search go on that has paused, or that has memory again.
    pub fn go_on(&self) {
        if self.event() != Event::End {
            self.stop.0.store(0, Ordering::Relaxed);
        }
        // Found while another thread had paused the search.
        if self.options.order == Order::Dfs {
            self.end_level();
        }
    }

    /// Adds what a thread has reached.
    pub fn add_reached(&self, its: &[bool]) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let len = reached.len().max(its.len());
        reached.resize(len, false);
        reached.iter_mut().zip(its).for_each(|(a, b)| *a |= b);
    }

    pub fn take_reached(&self) -> Vec<bool> {
        std::mem::take(&mut self.reached.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.0.load(Ordering::Relaxed) != 0
    }

    pub fn stopped_by(&self) -> Option<Stop> {
        let number = self.stop.0.load(Ordering::Relaxed);
        let cut = self.cut.load(Ordering::Relaxed).then_some(Stop::Depth);
        Stop::ALL.into_iter().find(|s| *s as u8 == number).or(cut)
    }

    /// What was found, nearest first after a breadth-first search.
    pub fn take_found(&self) -> Vec<Witness> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = std::mem::take(&mut *found);
        if self.options.order == Order::Bfs {
            found.sort_by_key(|w| (w.depth, w.fault.span, w.fault.kind.name()));
        }
        found.truncate(self.options.max_violations);
        found
    }

    pub fn wants(&self, kind: FaultKind) -> bool {
        !self.options.ignore.contains(&kind)
    }

    /// Holds the limits inside a long expansion that takes so many bytes.
    pub fn tick(&self, bytes: u64) {
        self.look_at_clock();
        if bytes > self.budget.left() {
            self.stop(Stop::Memory);
        }
    }

    /// The limit that is met, if it is one of time; whether the search runs or
    /// pauses.
    pub fn limit(&self) -> Option<Stop> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Some(Stop::Interrupt);
        }
        let is_over = self.options.time.is_some_and(|limit| self.spent() >= limit);
        is_over.then_some(Stop::Time)
    }

    /// Looks at the clock; called now and then by every thread.
    pub fn look_at_clock(&self) {
        let spent = self.spent();
        if let Some(stop) = self.limit() {
            self.stop(stop);
        }
        if spent.as_millis() >= self.checkpoint_at.load(Ordering::Relaxed) as u128 {
            self.pause();
        }
        let Some(progress) = self.options.progress else { return };
        // Whoever does not get the lock need not show anything.
        let Ok(mut next) = self.next_progress.try_lock() else { return };
        if spent < *next {
            return;
        }
        *next = spent + PROGRESS_EVERY;
        progress(&Progress {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            memory: self.budget.used(),
            elapsed: self.earlier + spent,
        });
    }
}
