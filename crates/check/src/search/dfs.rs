//! Depth-first search in the model's order, as Spin does it.
//!
//! A state is expanded at once; successors that are known already are dropped,
//! the others wait on a stack of bytes, the first on top. Whether one of these
//! is new is decided when it is taken, not before: so the order of discovery
//! is that of a search that generates one successor at a time. Faults wait in
//! line with the successors for the same reason.

use super::{Run, reserve};
use crate::outcome::Stop;
use crate::store::{ExactStore, Insert};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// Bytes behind each waiting state: its length and its edge number.
const TAIL: usize = 8;
/// Marks a fault among waiting states.
const FAULT: u32 = u32::MAX;

struct Level {
    /// Where the waiting successors of this level begin.
    bottom: usize,
    /// The edge by which the level was reached.
    edge: u32,
}

struct Dfs<'r, 'a> {
    run: &'r mut Run<'a>,
    store: ExactStore,
    /// Successors of the state that is being expanded, as on the stack.
    batch: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    edges: u32,
    waiting: Vec<u8>,
    faults: Vec<Fault>,
    levels: Vec<Level>,
    hidden: usize,
}

/// Returns the bytes of the store.
pub(super) fn search(model: &mut dyn Model, run: &mut Run) -> u64 {
    let hidden = model.hidden();
    let store = ExactStore::new(hidden, run.options.memory);
    let mut dfs = Dfs {
        run,
        store,
        batch: Vec::new(),
        ends: Vec::new(),
        edges: 0,
        waiting: Vec::new(),
        faults: Vec::new(),
        levels: Vec::new(),
        hidden,
    };
    model.initial(&mut dfs);
    dfs.push_batch(0);
    let mut state = Vec::new();
    while dfs.run.stop.is_none() && dfs.take(&mut state) {
        dfs.run.tick();
        if dfs.run.stop.is_none() {
            model.expand(&state, &mut dfs);
        }
    }
    let bytes = dfs.store.bytes();
    dfs.run.memory = bytes + dfs.stack_bytes();
    bytes
}

impl Dfs<'_, '_> {
    /// Moves on to the next new state, which becomes a level; false at the end.
    fn take(&mut self, state: &mut Vec<u8>) -> bool {
        if !self.ends.is_empty() || self.edges > 0 {
            self.push_batch_of_last();
        }
        while let Some(level) = self.levels.last() {
            if self.run.stop.is_some() {
                return false;
            }
            if self.waiting.len() == level.bottom {
                self.levels.pop();
                continue;
            }
            let (len, edge) = self.pop_tail();
            if len == FAULT {
                let fault = self.faults.pop().expect("a fault waits for each mark");
                let path = self.path(edge);
                self.run.report(fault, path);
                continue;
            }
            let start = self.waiting.len() - len as usize;
            match self.store.insert(&self.waiting[start..]) {
                Insert::Visited => self.waiting.truncate(start),
                Insert::NoRoom => {
                    self.run.stop = Some(Stop::Memory);
                    return false;
                }
                Insert::New => {
                    state.clear();
                    state.extend_from_slice(&self.waiting[start..]);
                    self.waiting.truncate(start);
                    self.enter(edge);
                    return true;
                }
            }
        }
        false
    }

    fn enter(&mut self, edge: u32) {
        self.run.states = self.store.len();
        let budget = self.left() + (self.levels.capacity() * size_of::<Level>()) as u64;
        if !reserve(&mut self.levels, 1, budget) {
            self.run.stop = self.run.stop.or(Some(Stop::Memory));
        }
        self.levels.push(Level { bottom: self.waiting.len(), edge });
        // The first level is in front of the initial states.
        self.run.depth = self.run.depth.max(self.levels.len() - 2);
        self.edges = 0;
    }

    fn stack_bytes(&self) -> u64 {
        let levels = self.levels.capacity() * size_of::<Level>();
        (self.waiting.capacity() + self.batch.capacity() + levels) as u64
    }

    fn pop_tail(&mut self) -> (u32, u32) {
        let at = self.waiting.len() - TAIL;
        let tail: [u8; TAIL] = self.waiting[at..].try_into().expect("a tail has eight bytes");
        self.waiting.truncate(at);
        let number = u64::from_le_bytes(tail);
        (number as u32, (number >> 32) as u32)
    }

    fn path(&self, last: u32) -> Vec<u32> {
        self.levels.iter().skip(1).map(|l| l.edge).chain([last]).collect()
    }

    /// Puts the initial states in place, on a level of their own.
    fn push_batch(&mut self, edge: u32) {
        self.levels.push(Level { bottom: self.waiting.len(), edge });
        self.push_batch_of_last();
    }

    /// Memory that is not in use.
    fn left(&self) -> u64 {
        self.run.options.memory.saturating_sub(self.store.bytes() + self.stack_bytes())
    }

    /// Puts the successors of the last level's state in place, first on top.
    fn push_batch_of_last(&mut self) {
        let budget = self.left() + self.waiting.capacity() as u64;
        if !reserve(&mut self.waiting, self.batch.len(), budget) {
            self.run.stop = self.run.stop.or(Some(Stop::Memory));
            self.batch.clear();
            self.ends.clear();
            return;
        }
        let n_faults = self.faults.len();
        let mut end = self.batch.len();
        let mut marks = 0;
        while let Some(start) = self.ends.pop() {
            let is_fault =
                end - start == TAIL && self.batch[start..start + 4] == FAULT.to_le_bytes();
            marks += is_fault as usize;
            self.waiting.extend_from_slice(&self.batch[start..end]);
            end = start;
        }
        // Faults are taken from the end, so the first must be last.
        self.faults[n_faults - marks..].reverse();
        self.batch.clear();
        self.edges = 0;
        self.run.memory = self.store.bytes() + self.stack_bytes();
        self.store.set_limit(self.run.options.memory.saturating_sub(self.stack_bytes()));
    }

    fn add_tail(&mut self, len: u32) {
        let number = len as u64 | (self.edges as u64) << 32;
        self.batch.extend_from_slice(&number.to_le_bytes());
        self.edges += 1;
    }

    fn at_depth_limit(&self) -> bool {
        // Levels: one in front, then the initial state at depth 0.
        self.run.options.depth.is_some_and(|limit| self.levels.len() > limit + 1)
    }
}

impl Sink for Dfs<'_, '_> {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        debug_assert!(state.len() >= self.hidden);
        if self.store.contains(state) {
            self.run.transitions += 1;
            self.edges += 1;
            return Flow::Continue;
        }
        if self.at_depth_limit() {
            self.run.cut = true;
            return Flow::Stop;
        }
        self.run.transitions += 1;
        self.ends.push(self.batch.len());
        self.batch.extend_from_slice(state);
        self.add_tail(state.len() as u32);
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, _steps: &[Step]) -> Flow {
        if self.run.ignores(&fault) {
            self.edges += 1;
            return Flow::Continue;
        }
        self.ends.push(self.batch.len());
        self.add_tail(FAULT);
        self.faults.push(fault);
        Flow::Continue
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.look_at_clock();
        if self.run.memory.saturating_add(bytes) > self.run.options.memory {
            self.run.stop = self.run.stop.or(Some(Stop::Memory));
        }
        if self.run.stop.is_some() { Flow::Stop } else { Flow::Continue }
    }
}
