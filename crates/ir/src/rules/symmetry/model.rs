//! A model whose states are canonical, and the way back to real ones.

use super::Canon;
use crate::fault::{Fault, FaultKind};
use crate::model::{Flow, Model, Sink, Step};
use crate::rows::Rows;
use crate::rules::{Interpreter, Rules};

/// Bytes of successors that are canonicalised at once.
const BATCH: usize = 1 << 16;

/// Hands out canonical states for those of another model.
pub struct Symmetric<'r> {
    inner: Box<dyn Model + 'r>,
    canon: Canon,
    rows: Rows,
}

impl<'r> Symmetric<'r> {
    pub fn new(inner: Box<dyn Model + 'r>, canon: Canon) -> Symmetric<'r> {
        Symmetric { inner, canon, rows: Rows::new(BATCH) }
    }
}

/// Stands between the other model and the sink.
struct Between<'a> {
    canon: &'a mut Canon,
    rows: &'a mut Rows,
    sink: &'a mut dyn Sink,
    state: Vec<u8>,
    /// The sink takes rows.
    in_rows: bool,
}

impl Between<'_> {
    /// Passes on what was written to the rows.
    fn pass_on(&mut self) -> Flow {
        let mut at = 0;
        let mut flow = Flow::Continue;
        while at < self.rows.used() && flow == Flow::Continue {
            let (row, next) = self.rows.row(at);
            self.state.clear();
            self.state.extend_from_slice(row.state);
            self.canon.canonicalise(&mut self.state);
            flow = match self.sink.rows() {
                Some(rows) => {
                    rows.push(&self.state);
                    if rows.is_full() { self.sink.make_room() } else { Flow::Continue }
                }
                None => self.sink.successor(&self.state, &[]),
            };
            at = next;
        }
        self.rows.clear();
        flow
    }
}

impl Sink for Between<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.pass_on() == Flow::Stop {
            return Flow::Stop;
        }
        self.state.clear();
        self.state.extend_from_slice(state);
        self.canon.canonicalise(&mut self.state);
        self.sink.successor(&self.state, steps)
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.pass_on() == Flow::Stop {
            return Flow::Stop;
        }
        self.sink.fault(fault, steps)
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        self.in_rows.then_some(&mut *self.rows)
    }

    fn make_room(&mut self) -> Flow {
        self.pass_on()
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.sink.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.sink.tick(bytes)
    }
}

impl Model for Symmetric<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        let Symmetric { inner, canon, rows } = self;
        let mut between = Between { canon, rows, sink, state: Vec::new(), in_rows: false };
        inner.initial(&mut between)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let Symmetric { inner, canon, rows } = self;
        let in_rows = sink.rows().is_some();
        let mut between = Between { canon, rows, sink, state: Vec::new(), in_rows };
        let flow = inner.expand(state, &mut between);
        match between.pass_on() {
            Flow::Stop => Flow::Stop,
            Flow::Continue => flow,
        }
    }

    fn reached(&mut self) -> &[bool] {
        self.inner.reached()
    }
}

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
