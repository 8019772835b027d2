//! The way to a violation: from parent to parent back to an initial state,
//! then forward again, as the steps between two states are found by expanding
//! the first.

use super::run::Witness;
use crate::outcome::Found;
use crate::store::{Filter, LossyStore, SlabDesk, Store, Token, Writer};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// A violation and the way to it, or what is kept of that.
pub(super) struct Way {
    pub found: Found,
    /// The state that it begins with, if that is not an initial one.
    pub begins_with: Option<Vec<u8>>,
}

pub(super) fn way<S: Store>(model: &mut dyn Model, store: &S, witness: Witness) -> Way {
    let Witness { fault, from, steps: last, .. } = witness;
    let tokens = tokens(store, from);
    let writer = &mut store.writer();
    let (mut steps, is_whole) = steps(model, writer, &tokens);
    // A deadlock has no step of its own.
    let depth = tokens.len().saturating_sub(1) + !last.is_empty() as usize;
    steps.extend(last);
    let mut space = Vec::new();
    let first = tokens.first().filter(|_| !is_whole);
    let begins_with = first.map(|first| writer.read(*first, &mut space).to_vec());
    Way { found: Found { fault, depth, steps }, begins_with }
}

/// The steps to a state of which the whole way is kept, and its depth on it.
pub(super) fn steps_to<S: Store>(
    model: &mut dyn Model,
    store: &S,
    token: Token,
) -> (Vec<Step>, usize) {
    let tokens = tokens(store, Some(token));
    (steps(model, &mut store.writer(), &tokens).0, tokens.len() - 1)
}

/// The states on the way to one, as far as they are kept.
fn tokens<S: Store>(store: &S, mut at: Option<Token>) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(token) = at {
        tokens.push(token);
        at = store.parent(token);
    }
    tokens.reverse();
    tokens
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

/// The steps to the first of these states, if it is an initial one, and from
/// there to the last; whether it is.
pub(super) fn steps(
    model: &mut dyn Model,
    writer: &mut impl Writer,
    way: &[Token],
) -> (Vec<Step>, bool) {
    let (mut steps, mut is_whole) = (Vec::new(), true);
    let [mut here, mut there] = [Vec::new(), Vec::new()];
    if let Some(first) = way.first() {
        let to = writer.read(*first, &mut there);
        let begin = &mut Between { to, steps: &mut steps, met: false };
        model.initial(begin);
        is_whole = begin.met;
    }
    for pair in way.windows(2) {
        let from = writer.read(pair[0], &mut here);
        let to = writer.read(pair[1], &mut there);
        model.expand(from, &mut Between { to, steps: &mut steps, met: false });
    }
    (steps, is_whole)
}

/// Keeps the steps that lead to a successor.
struct Between<'a> {
    to: &'a [u8],
    steps: &'a mut Vec<Step>,
    met: bool,
}

impl Sink for Between<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if state != self.to {
            return Flow::Continue;
        }
        self.steps.extend_from_slice(steps);
        self.met = true;
        Flow::Stop
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }
}
