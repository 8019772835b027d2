//! Depth first along paths on which the process that acts changes a bounded
//! number of times (Holzmann and Florian's bounded context switching): many
//! errors need few changes.
//!
//! A state that was first met after many changes is not searched again when
//! it is met after fewer, so some states within the bound are missed.

use super::super::Maker;
use super::super::run::{Run, Witness};
use crate::dice::Dice;
use crate::outcome::Stop;
use crate::store::{Filter, LossyStore, Store, Token, Writer};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Sink, Step};
use ir::rows::Head;
use std::sync::atomic::Ordering;

/// Expansions between two reports.
const REPORT_EXPANSIONS: u64 = 512;

/// Who acted last, and how often that has changed.
#[derive(Debug, Clone, Copy)]
struct History {
    process: Option<u8>,
    switches: u32,
}

impl History {
    fn after(self, steps: &[Step]) -> History {
        let process = steps.first().map(|step| step.process);
        let switched = self.process.is_some() && process != self.process;
        History { process: process.or(self.process), switches: self.switches + switched as u32 }
    }

    /// As the mark of a row.
    fn mark(self) -> u32 {
        self.switches << 9 | self.process.map_or(0, |p| p as u32 + 1)
    }

    fn of_mark(mark: u32) -> History {
        let process = (mark & 511).checked_sub(1).map(|p| p as u8);
        History { process, switches: mark >> 9 }
    }
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    token: Token,
    depth: usize,
    history: History,
}

struct Expansion<'r, W> {
    run: &'r Run<'r>,
    writer: W,
    /// Most changes.
    limit: u32,
    /// The state being expanded; none before there are states.
    parent: Option<Waiting>,
    fresh: Vec<(Token, u32)>,
}

pub(super) fn search<F: Filter>(make: &Maker, run: &Run, store: &LossyStore<'_, F>, limit: u32) {
    let mut model = make();
    let (writer, fresh) = (store.writer(), Vec::new());
    let mut at = Expansion { run, writer, limit, parent: None, fresh };
    let mut stack = Vec::new();
    let mut dice = Dice(run.options.seed);
    model.initial(&mut at);
    at.settle(&mut stack, &mut dice);
    let (mut space, mut expansions) = (Vec::new(), 0u64);
    while !run.is_stopped()
        && let Some(waiting) = stack.pop()
    {
        at.parent = Some(waiting);
        let state = at.writer.read(waiting.token, &mut space);
        model.expand(state, &mut at);
        at.settle(&mut stack, &mut dice);
        expansions += 1;
        if expansions.is_multiple_of(REPORT_EXPANSIONS) {
            run.look_at_clock();
        }
        if (stack.capacity() * size_of::<Waiting>()) as u64 > run.budget.left() {
            run.stop(Stop::Memory);
        }
    }
    run.add_reached(model.reached());
}

impl<W: Writer> Expansion<'_, W> {
    /// Stores the successors; the new ones go on top.
    fn settle(&mut self, stack: &mut Vec<Waiting>, dice: &mut Dice) {
        let Expansion { run, writer, fresh, .. } = self;
        if writer.settle(|token, mark, _| fresh.push((token, mark))).is_err() {
            run.stop(Stop::Memory);
        }
        run.transitions.fetch_add(writer.rows().take_count(), Ordering::Relaxed);
        writer.finish(true);
        run.add_states(fresh.len() as u64);
        let depth = self.parent.map_or(0, |p| p.depth + 1);
        if !fresh.is_empty() {
            run.depth.fetch_max(depth, Ordering::Relaxed);
        }
        run.options.turns.arrange(fresh, dice);
        let waiting = |(token, mark)| Waiting { token, depth, history: History::of_mark(mark) };
        stack.extend(fresh.drain(..).rev().map(waiting));
    }

    fn flow(&self) -> Flow {
        if self.run.is_stopped() { Flow::Stop } else { Flow::Continue }
    }
}

impl<W: Writer> Sink for Expansion<'_, W> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let history = match self.parent {
            None => History { process: None, switches: 0 },
            Some(parent) => parent.history.after(steps),
        };
        let too_deep = |limit| self.parent.is_some_and(|parent: Waiting| parent.depth >= limit);
        if history.switches > self.limit || self.run.options.depth.is_some_and(too_deep) {
            self.run.cut.store(true, Ordering::Relaxed);
            return self.flow();
        }
        let origin = self.parent.map_or(0, |parent| parent.token);
        self.writer.rows().set_head(Head::new(history.mark(), origin));
        self.writer.rows().push(state);
        if self.writer.rows().is_full() { self.make_room() } else { Flow::Continue }
    }

    fn make_room(&mut self) -> Flow {
        let Expansion { writer, fresh, .. } = self;
        if writer.settle(|token, mark, _| fresh.push((token, mark))).is_err() {
            self.run.stop(Stop::Memory);
        }
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if !self.run.ignores(&fault) {
            let Expansion { run, writer, parent, .. } = self;
            let depth = parent.map_or(0, |p| p.depth) + !steps.is_empty() as usize;
            let from = parent.map(|p| p.token);
            run.report(fault, |fault| {
                from.into_iter().for_each(|token| writer.keep(token));
                Some(Witness { fault, from, steps: steps.to_vec(), depth })
            });
        }
        self.flow()
    }

    fn wants(&self, kind: FaultKind) -> bool {
        self.run.wants(kind)
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.tick(bytes);
        self.flow()
    }
}
