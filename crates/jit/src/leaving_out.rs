//! The interpreter, with what native code leaves out left out: a search makes
//! the same successors whichever of them is at work, so it finds states in the
//! same order every time.

use crate::diamonds::Diamonds;
use crate::facts::Facts;
use ir::fault::{Fault, FaultKind};
use ir::interpret::Interpreter;
use ir::model::{Flow, Model, Sink, Step};
use ir::rows::{Cause, Rows};

/// Stands between the interpreter and a sink that takes rows.
pub struct LeavingOut<'a> {
    pub diamonds: &'a Diamonds,
    /// Of the state that is expanded.
    pub cause: Cause,
    pub sink: &'a mut dyn Sink,
}

impl Sink for LeavingOut<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let (Some(rows), Some(first)) = (self.sink.rows(), steps.first()) else {
            return self.sink.successor(state, steps);
        };
        if self.diamonds.leaves_out(self.cause, *first) {
            rows.leave_out();
            return Flow::Continue;
        }
        rows.push_found(state, self.diamonds.cause(*first));
        if rows.is_full() { self.sink.make_room() } else { Flow::Continue }
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        let is_left_out = |step: &Step| self.diamonds.leaves_out(self.cause, *step);
        if !steps.first().is_some_and(is_left_out) {
            return self.sink.fault(fault, steps);
        }
        // It was told of where the step was possible first. Native code counts the
        // step without a look at what it does; if a successor follows, that is counted.
        if !fault.kind.goes_on()
            && let Some(rows) = self.sink.rows()
        {
            rows.leave_out();
        }
        Flow::Continue
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        self.sink.rows()
    }

    fn make_room(&mut self) -> Flow {
        self.sink.make_room()
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.sink.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.sink.tick(bytes)
    }
}

/// What searches begin with until native code is ready.
pub struct Interpreted<'s> {
    interpreter: Interpreter<'s>,
    diamonds: &'s Diamonds,
}

impl<'s> Interpreted<'s> {
    pub fn new(facts: &'s Facts) -> Interpreted<'s> {
        let waits = facts.rendezvous.then_some(&*facts.waits);
        let interpreter = Interpreter::new(facts.system, facts.layout).knowing(waits);
        Interpreted { interpreter, diamonds: &facts.diamonds }
    }
}

impl Model for Interpreted<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        self.interpreter.initial(sink)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.interpreter.expand(state, sink)
    }

    fn expand_found(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Flow {
        let diamonds = self.diamonds;
        self.interpreter.expand(state, &mut LeavingOut { diamonds, cause, sink })
    }

    fn hidden(&self) -> usize {
        self.interpreter.hidden()
    }

    fn reached(&mut self) -> &[bool] {
        self.interpreter.reached()
    }
}
