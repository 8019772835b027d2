//! Chains of first successors, as the model has them.

use super::way::Way;
use crate::bytes::Fingerprint;
use crate::store::Filter;
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};

#[derive(Default)]
pub struct Chain {
    link: Vec<u8>,
    /// Fingerprints of the state and of the links before the last.
    passed: Vec<Fingerprint>,
    first: First,
}

impl Chain {
    /// Whether a state of which the store says that it is visited is new, as
    /// one of its chain is. Few are, so the way is asked only then.
    pub fn proves_new<F: Filter>(
        &mut self,
        model: &mut dyn Model,
        state: &[u8],
        print: Fingerprint,
        way: &mut Way<'_, F>,
    ) -> bool {
        self.link.clear();
        self.link.extend_from_slice(state);
        self.passed.clear();
        self.passed.push(print);
        for _ in 0..way.run.options.precision {
            self.first.found = false;
            model.expand(&self.link, &mut self.first);
            if !self.first.found {
                return false;
            }
            std::mem::swap(&mut self.link, &mut self.first.state);
            let print = way.store.fingerprint(&self.link);
            if !way.store.filter.contains(print) {
                return !self.passed.iter().any(|&passed| way.leads_by(passed));
            }
            self.passed.push(print);
        }
        false
    }
}

/// Takes the first successor and no more.
#[derive(Default)]
struct First {
    state: Vec<u8>,
    found: bool,
}

impl Sink for First {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.found = true;
        Flow::Stop
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }

    fn wants(&self, _kind: FaultKind) -> bool {
        false
    }
}
