//! Kinds of states, where processes are started: those of a kind have the same
//! processes at the same places. What is known of a kind need not be found again.

use crate::code::Code;
use crate::rounds::{Rounds, RoundsFn};
use crate::runtime::{Context, Process, Queue};

/// Bytes that are compared at once.
const STEP: usize = 16;
/// States of a kind after which it is worth a function that makes rounds; in tests
/// fewer.
const WORTH_ROUNDS: usize = if cfg!(debug_assertions) { 64 } else { 8192 };
/// Kinds that are remembered.
const MOST_KINDS: usize = 16;

#[derive(Default)]
struct Kind {
    /// A state, and a mask of the bytes that tell which processes it has, all of
    /// them behind a place: as each type has its size, by their types.
    state: Vec<u8>,
    mask: Vec<u8>,
    procs_at: usize,
    procs: Vec<Process>,
    /// The channels of processes.
    queues: Vec<Queue>,
    /// States that were expanded before there was a function that makes rounds.
    n_states: usize,
    rounds: Option<RoundsFn>,
}

impl Kind {
    /// Becomes the kind of a state: finds its processes and channels. False, and it
    /// is no kind, if native code cannot take it.
    fn become_that_of(&mut self, state: &[u8], code: &Code) -> bool {
        let layout = &code.layout;
        (self.procs_at, self.n_states, self.rounds) = (layout.procs_at, 0, None);
        self.state.clear();
        self.mask.clear();
        self.procs.clear();
        self.queues.clear();
        let Some(&n_procs) = state.get(layout.count_at) else { return false };
        self.mask.resize(state.len(), 0);
        let mut at = layout.procs_at;
        for pid in 0..n_procs as usize {
            if at + layout.locals_at > state.len() {
                return false;
            }
            let ty = layout.proc_type(state, pid, at).idx();
            let Some(proc) = layout.procs.get(ty) else { return false };
            self.procs.push(Process { at: at as u32, ..code.processes[ty] });
            self.queues.extend(proc.queues.iter().map(|q| code.queue(q, at)));
            self.mask[at + layout.type_at] = u8::MAX;
            at += proc.size;
        }
        if at == state.len() {
            self.state.extend_from_slice(state);
            self.rounds = code.functions.known_rounds_of(&self.types());
        }
        at == state.len()
    }

    /// Those of its processes.
    fn types(&self) -> Vec<u8> {
        self.procs.iter().map(|process| process.proc as u8).collect()
    }

    /// Whether a state is of this kind.
    #[inline(always)]
    fn has(&self, state: &[u8]) -> bool {
        let len = state.len();
        if len != self.state.len() || len < STEP {
            let mut bytes = state.iter().zip(&self.state).zip(&self.mask);
            return len == self.state.len() && bytes.all(|((a, b), mask)| (a ^ b) & mask == 0);
        }
        let differ = |at: usize| {
            debug_assert!(at + STEP <= len && len == self.mask.len());
            let word = |bytes: &[u8]| {
                // SAFETY: below, `at` is at most `len - STEP`, and all are `len` long.
                unsafe { bytes.as_ptr().add(at).cast::<u128>().read_unaligned() }
            };
            (word(state) ^ word(&self.state)) & word(&self.mask)
        };
        let mut differences = differ(len - STEP);
        let mut at = self.procs_at;
        while at + STEP < len {
            differences |= differ(at);
            at += STEP;
        }
        differences == 0
    }
}

/// The kinds that were met, and the one that the context is for.
#[derive(Default)]
pub struct Kinds {
    all: Vec<Kind>,
    current: Option<usize>,
    /// The current one is another than when this was last asked.
    has_turned: bool,
}

impl Kinds {
    /// Whether a state is of the current kind.
    #[inline(always)]
    pub fn has(&self, state: &[u8]) -> bool {
        self.current.is_some_and(|current| self.all[current].has(state))
    }

    /// Makes the kind of a state the current one, and gets the context ready for it;
    /// false if native code cannot take it.
    #[cold]
    #[inline(never)]
    pub fn turn_to(&mut self, state: &[u8], code: &Code, context: &mut Context) -> bool {
        self.current = self.all.iter().position(|kind| kind.has(state));
        let current = self.current.unwrap_or(self.all.len().min(MOST_KINDS - 1));
        if self.current.is_none() {
            if current == self.all.len() {
                self.all.push(Kind::default());
            }
            // One of too many takes the place of another.
            if !self.all[current].become_that_of(state, code) {
                return false;
            }
        }
        let kind = &self.all[current];
        let is_set = context.set_processes(&kind.procs, &kind.queues);
        (self.current, self.has_turned) = (is_set.then_some(current), true);
        is_set
    }

    /// Whether the current kind is another than when this was last asked.
    #[inline(always)]
    pub fn has_turned(&mut self) -> bool {
        std::mem::take(&mut self.has_turned)
    }

    /// The function that makes rounds for states of the current kind.
    #[inline(always)]
    pub fn rounds(&self) -> Option<RoundsFn> {
        self.all[self.current?].rounds
    }

    /// States were expanded, the last of them of the current kind. If there are many
    /// it is worth a function that makes rounds.
    pub fn count(&mut self, n_states: usize, code: &Code) {
        let Some(current) = self.current else { return };
        let kind = &mut self.all[current];
        if kind.n_states >= WORTH_ROUNDS {
            return;
        }
        kind.n_states += n_states;
        if kind.n_states >= WORTH_ROUNDS {
            let rounds = || Rounds::of_kind(code, &kind.procs, kind.state.len());
            kind.rounds = code.functions.rounds_of(&kind.types(), &code.isa, rounds);
        }
    }
}
