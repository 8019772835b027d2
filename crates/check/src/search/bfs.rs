//! Breadth-first search: the store itself is the queue, as states lie in it in
//! the order in which they were found. So a first violation is a nearest one.

use super::{Run, reserve};
use crate::outcome::Stop;
use crate::store::{Cursor, ExactStore, Insert};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// How a state was found: from which state, by which edge.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    edge: u32,
}

/// The parent of initial states.
const NONE: u32 = u32::MAX;

struct Bfs<'r, 'a> {
    run: &'r mut Run<'a>,
    store: ExactStore,
    origins: Vec<Origin>,
    /// The state that is being expanded.
    parent: u32,
    edges: u32,
    /// Depth of the states that are being expanded.
    level: usize,
}

/// Returns the bytes of the store.
pub(super) fn search(model: &mut dyn Model, run: &mut Run) -> u64 {
    let store = ExactStore::new(model.hidden(), run.options.memory);
    let mut bfs = Bfs { run, store, origins: Vec::new(), parent: NONE, edges: 0, level: 0 };
    model.initial(&mut bfs);
    let mut cursor = Cursor::FIRST;
    let mut state = Vec::new();
    let mut next_level = bfs.store.len();
    for number in 0.. {
        if bfs.run.stop.is_some() {
            break;
        }
        if number == next_level {
            bfs.level += 1;
            next_level = bfs.store.len();
        }
        let Some((read, next)) = bfs.store.read(cursor) else { break };
        state.clear();
        state.extend_from_slice(read);
        cursor = next;
        bfs.run.depth = bfs.level;
        bfs.parent = number as u32;
        bfs.edges = 0;
        bfs.run.tick();
        model.expand(&state, &mut bfs);
        bfs.account();
    }
    bfs.store.bytes()
}

impl Bfs<'_, '_> {
    fn account(&mut self) {
        let origins = (self.origins.capacity() * size_of::<Origin>()) as u64;
        self.run.memory = self.store.bytes() + origins;
        self.store.set_limit(self.run.options.memory.saturating_sub(origins));
    }

    fn path(&self, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        let mut at = self.parent;
        while at != NONE {
            let origin = self.origins[at as usize];
            path.push(origin.edge);
            at = origin.parent;
        }
        path.reverse();
        path
    }

    fn flow(&self) -> Flow {
        if self.run.stop.is_some() { Flow::Stop } else { Flow::Continue }
    }
}

impl Sink for Bfs<'_, '_> {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        let at_limit =
            self.parent != NONE && self.run.options.depth.is_some_and(|l| self.level >= l);
        if at_limit && !self.store.contains(state) {
            self.run.cut = true;
            return Flow::Stop;
        }
        self.run.transitions += 1;
        let budget = self.run.options.memory.saturating_sub(self.store.bytes());
        if !reserve(&mut self.origins, 1, budget) {
            self.run.stop = Some(Stop::Memory);
            return Flow::Stop;
        }
        match self.store.insert(state) {
            Insert::New => self.origins.push(Origin { parent: self.parent, edge: self.edges }),
            Insert::Visited => {}
            Insert::NoRoom => self.run.stop = Some(Stop::Memory),
        }
        if self.store.len() >= NONE as u64 {
            self.run.stop = Some(Stop::Memory);
        }
        self.run.states = self.store.len();
        self.edges += 1;
        self.flow()
    }

    fn fault(&mut self, fault: Fault, _steps: &[Step]) -> Flow {
        if !self.run.ignores(&fault) {
            let path = self.path(self.edges);
            self.run.report(fault, path);
        }
        self.edges += 1;
        self.flow()
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.look_at_clock();
        if self.run.memory.saturating_add(bytes) > self.run.options.memory {
            self.run.stop = self.run.stop.or(Some(Stop::Memory));
        }
        self.flow()
    }
}
