//! `Model`: what can be checked. Anything with states, successors and faults.

use crate::fault::{Fault, FaultKind};
use crate::rows::{Cause, Head, Rows};
use crate::system::ActionIdx;
use serde::{Deserialize, Serialize};

/// One action of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    pub process: u8,
    pub action: ActionIdx,
}

impl Step {
    /// An action of a model that has no processes.
    pub fn of(action: usize) -> Step {
        Step { process: 0, action: ActionIdx(action as u32) }
    }
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Stop,
}

/// A state that is expanded, as one of a bundle. Native code relies on the order.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Found<'s> {
    pub state: &'s [u8],
    /// As in `Model::expand_found`.
    pub cause: Cause,
    /// Of the rows of its successors.
    pub head: Head,
}

impl Found<'_> {
    pub const NONE: Found<'static> = Found { state: &[], cause: 0, head: Head::NONE };
}

/// Takes what an expansion finds, in order.
pub trait Sink {
    /// A successor and the steps that lead to it: one, or all of an atomic sequence.
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow;

    /// Something is wrong after these steps; without steps, in the state itself.
    /// Where the step is well defined all the same, the successor follows.
    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow;

    /// Where successors may be written instead of telling of each, if the sink
    /// does not need the steps; `None` if it does. Those written come before
    /// those told of later. While it is told of a fault, the sink leaves the
    /// memory of its rows where it is.
    fn rows(&mut self) -> Option<&mut Rows> {
        None
    }

    /// The rows are full: makes room.
    fn make_room(&mut self) -> Flow {
        Flow::Continue
    }

    /// What it is told from now on is about this state of the bundle.
    fn turn_to(&mut self, _number: usize) {}

    /// Whether faults of this kind matter. A model may leave out those that do
    /// not, unless the step that has one leads nowhere else.
    fn wants(&self, _kind: FaultKind) -> bool {
        true
    }

    /// Called now and then inside long expansions, with the bytes they take,
    /// so that limits hold.
    fn tick(&mut self, _bytes: u64) -> Flow {
        Flow::Continue
    }
}

/// A transition system over byte vectors.
pub trait Model {
    /// The initial states, in order.
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow;

    /// All successors of `state`, in a fixed order; a deadlock is a fault.
    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow;

    /// The same for a state that is expanded once, when it was found by a row
    /// with this cause, in a search that keeps every state, or can do without some.
    /// Successors that are found another way may be left out of the rows, and only
    /// counted.
    fn expand_found(&mut self, state: &[u8], _cause: Cause, sink: &mut dyn Sink) -> Flow {
        self.expand(state, sink)
    }

    /// The same for many states, one after the other. The sink is told which one
    /// it is before it is told anything about it, but rows need not come state
    /// by state. A model that stands for another one must pass this on: the other
    /// may tell the sink that it turns to the only state of `expand_found`.
    fn expand_all(&mut self, bundle: &[Found], sink: &mut dyn Sink) -> Flow {
        for (number, found) in bundle.iter().enumerate() {
            sink.turn_to(number);
            if self.expand_found(found.state, found.cause, sink) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Bytes at the front of a state that do not count for equality.
    fn hidden(&self) -> usize {
        0
    }

    /// For each action, whether some expansion has run it.
    fn reached(&mut self) -> &[bool] {
        &[]
    }
}
