//! A walk through a model, step by step, with everything that changes.
//!
//! A walk takes steps on trust: `trace::replay` first lets the interpreter
//! confirm that they are successors.

use super::machine::{Event, Machine};
use crate::layout::Layout;
use crate::model::Step;
use crate::scalar::Scalar;
use crate::system::{Action, Frame, System};
use crate::trace::{Change, Message};

/// What one step did.
#[derive(Debug, Default)]
pub struct Taken {
    pub changes: Vec<Change>,
    pub sent: Vec<Message>,
    pub received: Vec<Message>,
    pub printed: String,
}

pub struct Walk<'s> {
    machine: Machine<'s>,
}

impl<'s> Walk<'s> {
    pub fn new(system: &'s System, layout: &'s Layout, state: &[u8]) -> Walk<'s> {
        let mut machine = Machine::new(system, layout);
        machine.load(state);
        Walk { machine }
    }

    pub fn state(&self) -> &[u8] {
        &self.machine.state
    }

    /// Takes a step; `None` if it is not possible.
    pub fn take(&mut self, step: Step) -> Option<(&'s Action, Taken)> {
        let system = self.machine.system;
        let action = system.actions.get(step.action.idx())?;
        if usize::from(step.process) >= self.machine.shape.procs.len() {
            return None;
        }
        let before = self.variables();
        let machine = &mut self.machine;
        machine.enter(step.process as usize);
        if machine.proc() != action.proc {
            return None;
        }
        machine.events = Some(Vec::new());
        (machine.timeout, machine.ran, machine.span) = (true, false, action.span);
        for op in &action.ops {
            // A fault ends the walk, but what happened until then is shown.
            if machine.execute(op).is_err() {
                break;
            }
        }
        let exists = usize::from(step.process) < machine.shape.procs.len();
        if let (Some(target), true) = (action.target, exists) {
            machine.layout.set_location(&mut machine.state, machine.at, target.0);
        }
        if let Some(at) = machine.layout.last_at {
            machine.state[at] = step.process;
        }
        let events = machine.events.take().unwrap_or_default();
        let mut taken = Taken { changes: changes(&before, &self.variables()), ..Taken::default() };
        for event in events {
            match event {
                Event::Sent { queue, chan, values } => {
                    taken.sent.push(self.message(queue, chan.idx(), &values));
                }
                Event::Received { queue, chan, values } => {
                    taken.received.push(self.message(queue, chan.idx(), &values));
                }
                Event::Printed(text) => taken.printed.push_str(&text),
            }
        }
        Some((action, taken))
    }

    fn message(&self, queue: usize, chan: usize, values: &[i32]) -> Message {
        let chan = &self.machine.system.chans[chan];
        let show = |(ty, value): (&Scalar, &i32)| self.machine.system.show_value(ty, *value);
        Message {
            channel: self.channel_name(queue),
            values: chan.fields.iter().zip(values).map(show).collect(),
            rendezvous: chan.slots == 0,
        }
    }

    /// The name of the variable a channel was made for.
    fn channel_name(&self, queue: usize) -> String {
        let Machine { system, layout, .. } = self.machine;
        let created = |frame: &Frame, nth: usize| -> String {
            let offset = frame.channel_cells().nth(nth);
            let cell = frame.cells.iter().find(|c| Some(c.offset) == offset);
            cell.map_or_else(|| format!("channel {queue}"), |c| c.name.clone())
        };
        let mut first = layout.global_queues.len();
        if queue < first {
            return created(&system.globals, queue);
        }
        for (pid, &at) in self.machine.shape.procs.iter().enumerate() {
            let idx = layout.proc_type(&self.machine.state, pid, at);
            let n = layout.procs[idx.idx()].queues.len();
            if queue < first + n {
                let proc = system.proc(idx);
                let name = created(&proc.frame, queue - first);
                return format!("{}({pid}):{name}", proc.name);
            }
            first += n;
        }
        format!("channel {queue}")
    }

    /// All variables with their values; those of process 2 as `name(2):x`.
    pub fn variables(&self) -> Vec<(String, String)> {
        let machine = &self.machine;
        let mut out = Vec::new();
        let mut add = |prefix: &str, frame: &Frame, at: usize| {
            for cell in &frame.cells {
                let value = if cell.offset < frame.size {
                    cell.ty.repr.load(&machine.state, at + cell.offset as usize)
                } else {
                    let nth = frame.channel_cells().position(|offset| offset == cell.offset);
                    nth.map_or(0, |nth| nth as i32 + 1)
                };
                let name = format!("{prefix}{}", cell.name);
                out.push((name, machine.system.show_value(&cell.ty, value)));
            }
        };
        add("", &machine.system.globals, 0);
        for (pid, &at) in machine.shape.procs.iter().enumerate() {
            let proc = machine.system.proc(machine.layout.proc_type(&machine.state, pid, at));
            let prefix = format!("{}({pid}):", proc.name);
            add(&prefix, &proc.frame, at + machine.layout.locals_at);
        }
        out
    }

    /// The messages in each channel, as `name: [1,2] [3,4]`. One that passes
    /// through a rendezvous channel counts for that channel alone.
    pub fn channels(&self) -> Vec<(String, Vec<Message>)> {
        let machine = &self.machine;
        let mut out = Vec::new();
        for (id, queue) in machine.shape.queues.iter().enumerate() {
            let chan = &machine.layout.chans[queue.chan.idx()];
            let fields = machine.system.chans[queue.chan.idx()].fields.len();
            let elsewhere = chan.passes && machine.handshake != Some(id);
            let len = if elsewhere { 0 } else { chan.len(&machine.state, queue.offset) };
            let messages = (0..len).map(|slot| {
                let values: Vec<i32> =
                    (0..fields).map(|f| machine.message_field(*queue, slot, f)).collect();
                self.message(id, queue.chan.idx(), &values)
            });
            out.push((self.channel_name(id), messages.collect()));
        }
        out
    }

    /// The processes: name and the statement each would run next.
    pub fn processes(&self) -> Vec<(String, Option<&'s Action>)> {
        let machine = &self.machine;
        let at = |(pid, &at): (usize, &usize)| {
            let proc = machine.system.proc(machine.layout.proc_type(&machine.state, pid, at));
            let location = &proc.locations[machine.layout.location(&machine.state, at) as usize];
            let next = location.actions.first().map(|a| machine.system.action(*a));
            (proc.name.clone(), next)
        };
        machine.shape.procs.iter().enumerate().map(at).collect()
    }
}

/// Variables that differ; those of processes that come or go are left out
/// unless they start with another value than 0.
fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<Change> {
    let mut out = Vec::new();
    for (i, (name, to)) in after.iter().enumerate() {
        // Globals and older processes keep their place in the list.
        let from = before.get(i).filter(|(old_name, _)| old_name == name).map(|(_, from)| from);
        let changed = match from {
            Some(from) => from != to,
            None => to != "0" && to != "false",
        };
        if changed {
            let from = from.cloned().unwrap_or_default();
            out.push(Change { name: name.clone(), from, to: to.clone() });
        }
    }
    out
}
