//! A sink that does not pass on what the real one has seen already.
//!
//! Invariant: events of a process come in the order in which native code had
//! them when it gave up, so the first `seen` of them are those it has handed out.

use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Sink, Step};

pub struct Resume<'a> {
    pub seen: u64,
    pub sink: &'a mut dyn Sink,
}

impl Resume<'_> {
    fn is_new(&mut self) -> bool {
        let new = self.seen == 0;
        self.seen = self.seen.saturating_sub(1);
        new
    }
}

impl Sink for Resume<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.is_new() { self.sink.successor(state, steps) } else { Flow::Continue }
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.is_new() { self.sink.fault(fault, steps) } else { Flow::Continue }
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.sink.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.sink.tick(bytes)
    }
}
