//! The way to a violation: from parent to parent back to an initial state,
//! then forward again, as the steps between two states are found by expanding
//! the first.

use super::run::Witness;
use crate::outcome::Found;
use crate::store::{Filter, LossyStore, SlabDesk, Store, Token, Writer};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

pub(super) fn found<S: Store>(model: &mut dyn Model, store: &S, witness: Witness) -> Found {
    let Witness { fault, from, steps: last, depth } = witness;
    let mut tokens = Vec::new();
    let mut at = from;
    while let Some(token) = at {
        tokens.push(token);
        at = store.parent(token);
    }
    tokens.reverse();
    let mut steps = steps(model, &mut store.writer(), &tokens);
    steps.extend(last);
    Found { fault, depth, steps }
}

/// A violation at the end of a way whose states are kept now, one after the
/// other; `None` if there is no memory for them.
pub(super) fn witness<'s, F: Filter>(
    fault: Fault,
    steps: &[Step],
    way: impl ExactSizeIterator<Item = &'s [u8]>,
    store: &LossyStore<'_, F>,
    desk: &mut SlabDesk,
) -> Option<Witness> {
    // A deadlock has no step of its own.
    let depth = way.len().saturating_sub(1) + !steps.is_empty() as usize;
    let mut from = None;
    for state in way {
        from = Some(store.keep_state(state, from, desk)?);
    }
    Some(Witness { fault, from, steps: steps.to_vec(), depth })
}

/// The steps to the first of these states, which is an initial one, and from
/// there to the last.
pub(super) fn steps(model: &mut dyn Model, writer: &mut impl Writer, way: &[Token]) -> Vec<Step> {
    let mut steps = Vec::new();
    let [mut here, mut there] = [Vec::new(), Vec::new()];
    if let Some(first) = way.first() {
        let to = writer.read(*first, &mut there);
        model.initial(&mut Between { to, steps: &mut steps });
    }
    for pair in way.windows(2) {
        let from = writer.read(pair[0], &mut here);
        let to = writer.read(pair[1], &mut there);
        model.expand(from, &mut Between { to, steps: &mut steps });
    }
    steps
}

/// Keeps the steps that lead to a successor.
struct Between<'a> {
    to: &'a [u8],
    steps: &'a mut Vec<Step>,
}

impl Sink for Between<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if state != self.to {
            return Flow::Continue;
        }
        self.steps.extend_from_slice(steps);
        Flow::Stop
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }
}
