//! Paths as the ordinals of their edges: small to keep, cheap to run again.
//!
//! Edge number n of a state is the n-th thing its expansion hands out,
//! successor or fault. A path starts with the number of its initial state.

use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// The steps along a path. The last edge may be a fault.
pub(crate) fn steps_of(model: &mut dyn Model, path: &[u32]) -> Vec<Step> {
    let mut steps = Vec::new();
    let Some((&first, rest)) = path.split_first() else { return steps };
    let mut pick = Pick { left: first, state: Vec::new(), steps: Vec::new() };
    model.initial(&mut pick);
    for &edge in rest {
        let state = std::mem::take(&mut pick.state);
        steps.append(&mut pick.steps);
        pick = Pick { left: edge, state: Vec::new(), steps: Vec::new() };
        model.expand(&state, &mut pick);
    }
    steps.append(&mut pick.steps);
    steps
}

/// Takes the edge that is `left` edges away.
struct Pick {
    left: u32,
    state: Vec<u8>,
    steps: Vec<Step>,
}

impl Pick {
    fn edge(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.left > 0 {
            self.left -= 1;
            return Flow::Continue;
        }
        self.state = state.to_vec();
        self.steps = steps.to_vec();
        Flow::Stop
    }
}

impl Sink for Pick {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.edge(state, steps)
    }

    fn fault(&mut self, _fault: Fault, steps: &[Step]) -> Flow {
        self.edge(&[], steps)
    }
}
