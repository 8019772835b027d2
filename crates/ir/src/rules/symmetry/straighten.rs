//! The way back from canonical states to real ones.

use super::Canon;
use crate::fault::Fault;
use crate::model::{Flow, Model, Sink, Step};
use crate::rules::{Interpreter, Rules};

/// A path of real states for one of canonical states: in each state a step
/// is taken that leads to a state with the next canonical one. `None` if
/// the steps are not those of a path of canonical states.
pub fn straighten(rules: &Rules, steps: &[Step], fault: &Fault) -> Option<Vec<Step>> {
    let mut canon = Canon::new(rules)?;
    let mut model = Interpreter::new(rules);
    let mut path = Vec::new();
    let (mut real, mut canonical): (Option<Vec<u8>>, Option<Vec<u8>>) = (None, None);
    for (i, step) in steps.iter().enumerate() {
        let mut all = All::default();
        expand(&mut model, canonical.as_deref(), &mut all);
        let next = all.successors.into_iter().find(|(_, s)| s == step);
        let mut here = All::default();
        expand(&mut model, real.as_deref(), &mut here);
        match next {
            Some((mut next, _)) => {
                canon.canonicalise(&mut next);
                let (state, step) = here.successors.into_iter().find(|(state, _)| {
                    let mut state = state.clone();
                    canon.canonicalise(&mut state);
                    state == next
                })?;
                path.push(step);
                (real, canonical) = (Some(state), Some(next));
            }
            None if i + 1 == steps.len() => {
                let same = |f: &Fault| (f.kind, f.span) == (fault.kind, fault.span);
                let (_, step) = here.faults.into_iter().find(|(f, _)| same(f))?;
                path.push(step);
            }
            None => return None,
        }
    }
    Some(path)
}

fn expand(model: &mut Interpreter, state: Option<&[u8]>, sink: &mut All) {
    match state {
        Some(state) => model.expand(state, sink),
        None => model.initial(sink),
    };
}

/// Keeps all that is found by one step.
#[derive(Default)]
struct All {
    successors: Vec<(Vec<u8>, Step)>,
    faults: Vec<(Fault, Step)>,
}

impl Sink for All {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.successors.extend(steps.first().map(|step| (state.to_vec(), *step)));
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        self.faults.extend(steps.first().map(|step| (fault, *step)));
        Flow::Continue
    }
}
