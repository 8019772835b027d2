//! A model whose states are as stores want them: canonical, and packed.

use super::packing::Packing;
use super::symmetry::Canon;
use crate::fault::{Fault, FaultKind};
use crate::model::{Flow, Model, Sink, Step};
use crate::rows::{HEAD, Rows, SLACK, stride};
use crate::rules::Rules;

/// Bytes of successors that are passed on at once, and how many where each may take
/// long.
const BATCH: usize = 1 << 16;
const FEW: usize = 16;
/// Elements set apart between two calls of `Sink::tick`.
const TICK_SET_APART: usize = 1 << 10;

/// Hands out stored states for those of another model.
pub struct Stored<'r> {
    inner: Box<dyn Model + 'r>,
    form: Form,
    /// The state that is expanded, and room behind it.
    state: Vec<u8>,
    rows: Rows,
}

/// What becomes of a state before it is stored.
struct Form {
    canon: Option<Canon>,
    packing: Option<Packing>,
    /// A state on the way, and one as it is stored, and room behind them.
    work: Vec<u8>,
    stored: Vec<u8>,
    size: usize,
}

impl<'r> Stored<'r> {
    /// The model itself if nothing is to be done.
    pub fn of(inner: Box<dyn Model + 'r>, rules: &Rules) -> Box<dyn Model + 'r> {
        let (canon, packing) = (Canon::new(rules), Packing::new(rules));
        if canon.is_none() && packing.is_none() {
            return inner;
        }
        let size = rules.size as usize;
        let space = vec![0; size + SLACK];
        let form = Form { canon, packing, work: space.clone(), stored: space.clone(), size };
        Box::new(Stored { inner, form, state: space, rows: Rows::new(BATCH) })
    }
}

impl Form {
    /// Whether canonical states were so slow to find that limits are to be looked at.
    fn took_long(&mut self) -> bool {
        let Some(canon) = &mut self.canon else { return false };
        let is_long = canon.n_set_apart >= TICK_SET_APART;
        if is_long {
            canon.n_set_apart = 0;
        }
        is_long
    }

    fn stored_size(&self) -> usize {
        self.packing.as_ref().map_or(self.size, |packing| packing.packed_size)
    }

    /// Writes the form in which a state is stored. Both slices go on behind it.
    #[inline(always)]
    fn write(&mut self, state: &[u8], to: &mut [u8]) {
        if self.canon.is_some() {
            self.work[..self.size].copy_from_slice(&state[..self.size]);
            self.finish(to);
        } else if let Some(packing) = &self.packing {
            packing.pack(state, to);
        }
    }

    /// The same for the state in `work`.
    fn finish(&mut self, to: &mut [u8]) {
        if let Some(canon) = &mut self.canon {
            canon.canonicalise(&mut self.work[..self.size]);
        }
        match &self.packing {
            Some(packing) => packing.pack(&self.work, to),
            None => to[..self.size].copy_from_slice(&self.work[..self.size]),
        }
    }

    /// Tells the sink of a successor.
    fn tell(&mut self, sink: &mut dyn Sink, state: &[u8], steps: &[Step]) -> Flow {
        self.work[..self.size].copy_from_slice(state);
        let mut stored = std::mem::take(&mut self.stored);
        self.finish(&mut stored);
        let flow = sink.successor(&stored[..self.stored_size()], steps);
        self.stored = stored;
        flow
    }
}

/// Stands between the other model and the sink.
struct Between<'a> {
    form: &'a mut Form,
    rows: &'a mut Rows,
    sink: &'a mut dyn Sink,
    /// The sink takes rows.
    in_rows: bool,
}

impl Between<'_> {
    /// Passes on what was written to the rows.
    fn pass_on(&mut self) -> Flow {
        let Between { form, rows: from, sink, .. } = self;
        let (mut at, used) = (0, from.used());
        let stride = stride(form.size);
        let stored_size = form.stored_size();
        let mut flow = Flow::Continue;
        while at < used && flow == Flow::Continue {
            let Some(rows) = sink.rows() else {
                flow = form.tell(*sink, from.row(at).0.state, &[]);
                at += stride;
                continue;
            };
            let most = if form.canon.is_some() { FEW } else { usize::MAX };
            let n_left = ((used - at) / stride).min(most);
            rows.push_many(stored_size, n_left, |to| {
                form.write(&from.bytes()[at + HEAD..], to);
                at += stride;
            });
            if rows.is_full() {
                flow = sink.make_room();
            } else if form.took_long() {
                flow = sink.tick(0);
            }
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
        self.form.tell(self.sink, state, steps)
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

impl Model for Stored<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        let Stored { inner, form, rows, .. } = self;
        inner.initial(&mut Between { form, rows, sink, in_rows: false })
    }

    fn expand(&mut self, stored: &[u8], sink: &mut dyn Sink) -> Flow {
        let Stored { inner, form, state, rows } = self;
        let size = form.size;
        let in_rows = sink.rows().is_some();
        let mut between = Between { form, rows, sink, in_rows };
        let state = match &between.form.packing {
            None => stored,
            Some(packing) => {
                assert_eq!(stored.len(), packing.packed_size, "a state of another model");
                packing.unpack(stored, state);
                &state[..size]
            }
        };
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
