//! Execution of operations on the machine's state.

use super::expand::one_line;
use super::machine::{Eval, Event, MAX_CHANNELS, MAX_PROCESSES, Machine};
use crate::fault::{Fault, FaultKind};
use crate::layout::QueueLayout;
use crate::scalar::{Kind, Scalar};
use crate::source::Span;
use crate::system::{
    Block, Expr, Field, Frame, Init, Node, Op, Proc, ProcIdx, Receive, Space, System,
};

/// A `d_step` that runs longer than this is taken for endless.
const MAX_BLOCK_NODES: usize = 10_000_000;
/// Behind this many statements it is watched for repetition.
const WATCH_BLOCK_FROM: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing has changed.
    Blocked,
    Done,
}

impl Machine<'_> {
    /// Runs the operations of an action; only the first can block.
    pub fn execute_all(&mut self, ops: &[Op]) -> Eval<Outcome> {
        if self.execute(&ops[0])? == Outcome::Blocked {
            return Ok(Outcome::Blocked);
        }
        // What a reduction has added concerns the process alone, so it need not
        // wait for the other half of a rendezvous.
        let handshake = self.handshake.take();
        for op in &ops[1..] {
            self.execute(op)?;
        }
        self.handshake = handshake;
        Ok(Outcome::Done)
    }

    pub fn execute(&mut self, op: &Op) -> Eval<Outcome> {
        // During a handshake only the receive on that channel can run, on its
        // own or as the start of a block.
        if self.handshake.is_some() && !matches!(op, Op::Receive(_) | Op::Block(_)) {
            return Ok(Outcome::Blocked);
        }
        match op {
            Op::Skip => {}
            Op::Else => {
                if self.ran {
                    return Ok(Outcome::Blocked);
                }
            }
            Op::Cond(expr) => {
                if self.eval(expr)? == 0 {
                    return Ok(Outcome::Blocked);
                }
            }
            Op::Assign(place, expr) => {
                let value = self.eval(expr)?;
                self.assign(place, value)?;
            }
            Op::Send { chan, sorted, args } => return self.send(chan, *sorted, args),
            Op::Receive(receive) => return self.receive(receive),
            Op::Assert(expr) => {
                if self.eval(expr)? == 0 {
                    let fault = failed_assertion(self.system, self.span);
                    self.failure.get_or_insert_with(|| Box::new(fault));
                }
            }
            Op::Print { format, args } => self.print(format, args)?,
            Op::SetPriority { pid, priority } => self.set_priority(pid, priority)?,
            Op::Exit => return Ok(self.exit()),
            Op::Block(block) => return self.block(block),
        }
        Ok(Outcome::Done)
    }

    /// Notes what is wrong; execution goes on. The first failure counts.
    fn fail(&mut self, kind: FaultKind, message: String) {
        let span = self.span;
        self.failure.get_or_insert_with(|| Box::new(Fault { kind, message, span }));
    }

    /// Whether another process has claimed the channel for itself.
    fn check_claims(&mut self, id: usize, receive: bool) -> Eval<()> {
        let me = (self.pid, self.at);
        for pid in 0..self.shape.procs.len() {
            let at = self.shape.procs[pid];
            let proc = self.system.proc(self.layout.proc_type(&self.state, pid, at));
            if pid == me.0 || proc.claims.is_empty() {
                continue;
            }
            for claim in proc.claims.iter().filter(|c| c.receive == receive) {
                (self.pid, self.at) = (pid, at);
                let claimed = self.eval(&claim.chan);
                (self.pid, self.at) = me;
                if claimed? == id as i32 + 1 {
                    let word = if receive { "xr" } else { "xs" };
                    let message =
                        format!("{} ({pid}) has claimed this channel by '{word}'", proc.name);
                    self.fail(FaultKind::ExclusiveChannel, message);
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, chan: &Expr, sorted: bool, args: &[Expr]) -> Eval<Outcome> {
        let (id, queue) = self.queue(chan)?;
        let layout = self.layout;
        let chan = &layout.chans[queue.chan.idx()];
        let len = chan.len(&self.state, queue.offset);
        if len >= chan.capacity {
            return Ok(Outcome::Blocked);
        }
        if args.len() != chan.field_offsets.len() {
            let expected = chan.field_offsets.len();
            return self.fault(
                FaultKind::MessageFields,
                format!("send of {} fields to a channel of {expected}", args.len()),
            );
        }
        if self.system.uses.claims {
            self.check_claims(id, false)?;
        }
        let mut values = [0; 16];
        let mut long_values = Vec::new();
        let values = if args.len() <= values.len() {
            &mut values[..args.len()]
        } else {
            long_values.resize(args.len(), 0);
            &mut long_values[..]
        };
        for (value, arg) in values.iter_mut().zip(args) {
            *value = self.eval(arg)?;
        }
        let slot = if sorted { self.insertion_slot(queue, len, values) } else { len };
        let (from, end) = (chan.slot(queue.offset, slot), chan.slot(queue.offset, len));
        self.state.copy_within(from..end, from + chan.message_size);
        chan.set_len(&mut self.state, queue.offset, len + 1);
        let system = self.system;
        let fields = &system.chans[queue.chan.idx()].fields;
        for ((value, field), offset) in values.iter().zip(fields).zip(&chan.field_offsets) {
            field.repr.store(&mut self.state, from + offset, *value);
        }
        if let Some(events) = &mut self.events {
            events.push(Event::Sent { queue: id, chan: queue.chan, values: values.to_vec() });
        }
        if system.chans[queue.chan.idx()].slots == 0 {
            self.handshake = Some(id);
        }
        Ok(Outcome::Done)
    }

    /// Arguments are evaluated for their faults even if nobody looks.
    fn print(&mut self, format: &str, args: &[Expr]) -> Eval<()> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg)?);
        }
        if let Some(events) = &mut self.events {
            events.push(Event::Printed(format_values(self.system, format, args, &values)));
        }
        Ok(())
    }

    /// Where a message goes in a sorted channel: behind all that are not greater.
    fn insertion_slot(&self, queue: QueueLayout, len: usize, values: &[i32]) -> usize {
        (0..len)
            .find(|&slot| {
                let stored = (0..values.len()).map(|f| self.message_field(queue, slot, f));
                values.iter().copied().lt(stored)
            })
            .unwrap_or(len)
    }

    fn receive(&mut self, receive: &Receive) -> Eval<Outcome> {
        let Some((id, queue, slot)) = self.receivable(receive)? else {
            return Ok(Outcome::Blocked);
        };
        let expected = self.layout.chans[queue.chan.idx()].field_offsets.len();
        if receive.fields.len() != expected && !receive.keep {
            return self.fault(
                FaultKind::MessageFields,
                format!("receive of {} fields from a channel of {expected}", receive.fields.len()),
            );
        }
        if self.system.uses.claims {
            self.check_claims(id, true)?;
        }
        if self.events.is_some() {
            let values = (0..expected).map(|f| self.message_field(queue, slot, f)).collect();
            let event = Event::Received { queue: id, chan: queue.chan, values };
            self.events.get_or_insert_default().push(event);
        }
        for (i, field) in receive.fields.iter().enumerate() {
            if let Field::Bind(place) = field {
                let value = self.message_field(queue, slot, i);
                self.assign(place, value)?;
            }
        }
        if !receive.keep {
            self.remove_message(queue, slot);
        }
        // Only the receive that completes it can run during a handshake.
        self.handshake = None;
        Ok(Outcome::Done)
    }

    fn remove_message(&mut self, queue: QueueLayout, slot: usize) {
        let chan = &self.layout.chans[queue.chan.idx()];
        let len = chan.len(&self.state, queue.offset);
        let (from, end) = (chan.slot(queue.offset, slot), chan.slot(queue.offset, len));
        self.state.copy_within(from + chan.message_size..end, from);
        self.state[end - chan.message_size..end].fill(0);
        chan.set_len(&mut self.state, queue.offset, len - 1);
    }

    fn set_priority(&mut self, pid: &Expr, priority: &Expr) -> Eval<()> {
        let (pid, priority) = (self.eval(pid)?, self.eval(priority)?);
        if !(1..=255).contains(&priority) {
            return self
                .fault(FaultKind::PriorityRange, format!("priority {priority} is not in 1..255"));
        }
        let at = usize::try_from(pid).ok().and_then(|p| self.shape.procs.get(p));
        if let (Some(at), Some(offset)) = (at, self.layout.priority_at) {
            self.state[at + offset] = priority as u8;
        }
        Ok(())
    }

    /// The process ends if it is the youngest; its channels go with it.
    fn exit(&mut self) -> Outcome {
        if self.pid + 1 != self.shape.procs.len() {
            return Outcome::Blocked;
        }
        self.state.truncate(self.at);
        self.state[self.layout.count_at] -= 1;
        self.refresh_shape();
        Outcome::Done
    }

    pub fn refresh_shape(&mut self) {
        self.shape.read(self.layout, &self.state);
    }

    /// Starts a process and returns its number.
    pub fn run(&mut self, idx: ProcIdx, args: &[Expr], priority: u8) -> Eval<i32> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg)?);
        }
        let pid = self.shape.procs.len();
        if pid >= MAX_PROCESSES {
            return self.fault(
                FaultKind::TooManyProcesses,
                format!("more than {MAX_PROCESSES} processes at a time"),
            );
        }
        let system = self.system;
        let proc = system.proc(idx);
        let caller = (self.pid, self.at);
        let at = self.state.len();
        let n_queues = self.shape.queues.len();
        self.state.resize(at + self.layout.procs[idx.idx()].size, 0);
        self.state[self.layout.count_at] += 1;
        let layout = self.layout;
        layout.set_type(&mut self.state, at, idx);
        layout.set_location(&mut self.state, at, proc.initial.0);
        if let Some(priority_at) = layout.priority_at {
            self.state[at + priority_at] = priority;
        }
        self.refresh_shape();
        if self.shape.queues.len() > MAX_CHANNELS {
            return self.fault(
                FaultKind::TooManyChannels,
                format!("more than {MAX_CHANNELS} channels at a time"),
            );
        }
        (self.pid, self.at) = (pid, at);
        let started = self.start(proc, &values, n_queues);
        (self.pid, self.at) = caller;
        started.map(|()| pid as i32)
    }

    fn start(&mut self, proc: &Proc, values: &[i32], n_queues: usize) -> Eval<()> {
        for (place, value) in proc.params.iter().zip(values) {
            self.assign(place, *value)?;
        }
        self.init(&proc.frame, Space::Local, n_queues)
    }

    /// Runs a frame's initialisers; its channels are numbered from `n_queues` on.
    pub fn init(&mut self, frame: &Frame, space: Space, mut n_queues: usize) -> Eval<()> {
        let base = match space {
            Space::Global => 0,
            Space::Local => self.at + self.layout.locals_at,
        };
        for init in &frame.init {
            match init {
                Init::Assign(place, expr) => {
                    let value = self.eval(expr)?;
                    self.assign(place, value)?;
                }
                Init::Channels { offset, stride, count, .. } => {
                    for cell in (0..*count).map(|i| offset + i * stride) {
                        n_queues += 1;
                        if cell < frame.size {
                            self.state[base + cell as usize] = n_queues as u8;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Eval<Outcome> {
        let mut enabled = block.guards.is_empty() && self.handshake.is_none();
        for guard in &block.guards {
            enabled = enabled || self.test(guard)?;
        }
        if !enabled {
            return Ok(Outcome::Blocked);
        }
        let mut at = block.entry;
        // Brent's way to find a cycle: compare with a place remembered at
        // distances that double.
        let mut remembered = None;
        let mut remember_at = WATCH_BLOCK_FROM;
        for n in 0..MAX_BLOCK_NODES {
            self.n_in_blocks += 1;
            at = match self.block_node(block, at)? {
                Some(next) => next,
                None => return Ok(Outcome::Done),
            };
            if remembered.as_ref().is_some_and(|(node, state)| *node == at && *state == self.state)
            {
                return self.fault(FaultKind::EndlessDstep, "this d_step never ends");
            }
            if n == remember_at {
                remembered = Some((at, self.state.clone()));
                remember_at *= 2;
            }
        }
        self.fault(
            FaultKind::EndlessDstep,
            format!("d_step did not end within {MAX_BLOCK_NODES} statements"),
        )
    }

    /// Runs one node; returns the next, or none at the end.
    fn block_node(&mut self, block: &Block, at: u32) -> Eval<Option<u32>> {
        match &block.nodes[at as usize] {
            Node::Done => Ok(None),
            Node::Do { op, next, span } => {
                self.span = *span;
                if self.block_op(op)? {
                    return Ok(Some(*next));
                }
                self.fault(FaultKind::BlockedDstep, "statement blocks inside a d_step")
            }
            Node::Select { options, span } => {
                for option in options {
                    match &block.nodes[*option as usize] {
                        Node::Do { op, next, span } => {
                            self.span = *span;
                            if self.block_op(op)? {
                                return Ok(Some(*next));
                            }
                        }
                        _ => return Ok(Some(*option)),
                    }
                }
                self.span = *span;
                self.fault(FaultKind::BlockedDstep, "no option can run inside a d_step")
            }
        }
    }

    fn block_op(&mut self, op: &Op) -> Eval<bool> {
        // Options are tried in order and `else` comes last.
        if matches!(op, Op::Else) {
            return Ok(true);
        }
        if self.execute(op)? == Outcome::Blocked {
            return Ok(false);
        }
        if self.handshake.is_some() {
            self.handshake = None;
            return self.fault(FaultKind::RendezvousInDstep, "rendezvous inside a d_step");
        }
        Ok(true)
    }
}

/// What is reported for an assertion that does not hold.
pub fn failed_assertion(system: &System, span: Span) -> Fault {
    let message = format!("assertion does not hold: {}", one_line(system.sources.text(span)));
    Fault { kind: FaultKind::Assertion, message, span }
}

/// What a `printf` prints: `%d %c %x %o %u %e` and the usual escapes.
fn format_values(system: &System, format: &str, args: &[Expr], values: &[i32]) -> String {
    let mut out = String::new();
    let mut args = args.iter().zip(values);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            }
            continue;
        }
        if c != '%' {
            out.push(c);
            continue;
        }
        match (chars.next(), args.next()) {
            (Some('c'), Some((_, value))) => out.push(*value as u8 as char),
            (Some('x'), Some((_, value))) => out.push_str(&format!("{value:x}")),
            (Some('o'), Some((_, value))) => out.push_str(&format!("{value:o}")),
            (Some('u'), Some((_, value))) => out.push_str(&(*value as u32).to_string()),
            (Some('e'), Some((expr, value))) => out.push_str(&show_enum(system, expr, *value)),
            (Some(_), Some((_, value))) => out.push_str(&value.to_string()),
            (Some(directive), None) => {
                out.push('%');
                out.push(directive);
            }
            (None, _) => out.push('%'),
        }
    }
    out
}

fn show_enum(system: &System, expr: &Expr, value: i32) -> String {
    let by_name = |e: usize| system.show_value(&Scalar::new(Kind::Enum(e)), value);
    match expr {
        Expr::Load(place) => match place.ty.kind {
            Kind::Enum(e) => by_name(e),
            _ => by_name(0),
        },
        _ => by_name(0),
    }
}
