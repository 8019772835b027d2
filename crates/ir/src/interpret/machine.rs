//! The machine: one state being worked on, and the evaluation of expressions.

use crate::fault::{Fault, FaultKind};
use crate::layout::{Layout, QueueLayout, Shape};
use crate::source::Span;
use crate::system::{
    Binary, ChanIdx, Expr, Field, Index, Op, Place, ProcIdx, Receive, Space, System,
};

/// Most processes, and most channels, that can exist at one time (as in Spin).
pub const MAX_PROCESSES: usize = 255;
pub const MAX_CHANNELS: usize = 255;

pub type Eval<T> = Result<T, Box<Fault>>;

pub struct Machine<'s> {
    pub system: &'s System,
    pub layout: &'s Layout,
    pub state: Vec<u8>,
    pub shape: Shape,
    /// Number of the process that executes, and where it is.
    pub pid: usize,
    pub at: usize,
    /// Nothing is enabled without `timeout`.
    pub timeout: bool,
    /// Some action of the process has run at this location: no `else`.
    pub ran: bool,
    /// The rendezvous channel (number from 0) that waits for its receive.
    pub handshake: Option<usize>,
    /// Span of the statement being executed, for faults.
    pub span: Span,
    /// Processes that wait for the answer whether another one is enabled.
    asking: Vec<usize>,
    /// What an operation that went on all the same has found wrong.
    pub failure: Option<Box<Fault>>,
    /// What statements do besides changing variables, if someone wants to know.
    pub events: Option<Vec<Event>>,
    /// Statements of blocks that were run, until someone takes note of it.
    pub n_in_blocks: usize,
}

/// What a step does that people want to see, besides changing variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Channel numbers count from 0.
    Sent {
        queue: usize,
        chan: ChanIdx,
        values: Vec<i32>,
    },
    Received {
        queue: usize,
        chan: ChanIdx,
        values: Vec<i32>,
    },
    Printed(String),
}

impl<'s> Machine<'s> {
    pub fn new(system: &'s System, layout: &'s Layout) -> Machine<'s> {
        Machine {
            system,
            layout,
            state: Vec::new(),
            shape: Shape::default(),
            pid: 0,
            at: 0,
            timeout: false,
            ran: false,
            handshake: None,
            span: Span::NONE,
            asking: Vec::new(),
            failure: None,
            events: None,
            n_in_blocks: 0,
        }
    }

    pub fn load(&mut self, state: &[u8]) {
        let same_shape = self.has_shape_of(state);
        self.state.clear();
        self.state.extend_from_slice(state);
        if !same_shape {
            self.shape.read(self.layout, &self.state);
        }
    }

    /// Whether processes and channels are where they are in another state: as each
    /// type has its size, if processes have the same types.
    fn has_shape_of(&self, other: &[u8]) -> bool {
        let layout = self.layout;
        let mut procs = self.shape.procs.iter().enumerate();
        let type_of = |state: &[u8], pid, at| layout.proc_type(state, pid, at);
        self.state.len() == other.len()
            && self.state[layout.count_at] == other[layout.count_at]
            && (layout.fixed.is_some()
                || procs
                    .all(|(pid, at)| type_of(&self.state, pid, *at) == type_of(other, pid, *at)))
    }

    pub fn enter(&mut self, pid: usize) {
        self.pid = pid;
        self.at = self.shape.procs[pid];
    }

    pub fn location(&self) -> u32 {
        self.layout.location(&self.state, self.at)
    }

    pub fn proc(&self) -> ProcIdx {
        self.layout.proc_type(&self.state, self.pid, self.at)
    }

    #[cold]
    pub fn fault<T>(&self, kind: FaultKind, message: impl Into<String>) -> Eval<T> {
        Err(Box::new(Fault { kind, message: message.into(), span: self.span }))
    }

    pub fn eval(&mut self, expr: &Expr) -> Eval<i32> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Load(place) => {
                let at = self.address(place)?;
                place.ty.repr.load(&self.state, at)
            }
            Expr::Binary(op, a, b) => return self.binary(*op, a, b),
            Expr::Unary(op, e) => op.apply(self.eval(e)?),
            Expr::Cond(c, a, b) => {
                if self.eval(c)? != 0 {
                    self.eval(a)?
                } else {
                    self.eval(b)?
                }
            }
            Expr::Timeout => self.timeout as i32,
            Expr::Pid => self.pid as i32,
            Expr::ProcessCount => self.state[self.layout.count_at] as i32,
            Expr::Last => self.layout.last_at.map_or(0, |at| self.state[at] as i32),
            Expr::Len(c) => self.queue_len(c)? as i32,
            Expr::Full(c) => self.queue_full(c)? as i32,
            Expr::NotFull(c) => !self.queue_full(c)? as i32,
            Expr::Empty(c) => (self.queue_len(c)? == 0) as i32,
            Expr::NotEmpty(c) => (self.queue_len(c)? != 0) as i32,
            Expr::Poll(receive) => self.poll(receive)? as i32,
            Expr::Run { proc, args, priority } => self.run(*proc, args, *priority)?,
            _ => return self.eval_other_process(expr),
        })
    }

    fn binary(&mut self, op: Binary, a: &Expr, b: &Expr) -> Eval<i32> {
        let a = self.eval(a)?;
        match op {
            Binary::And if a == 0 => return Ok(0),
            Binary::Or if a != 0 => return Ok(1),
            _ => {}
        }
        let b = self.eval(b)?;
        match op.apply(a, b) {
            Some(value) => Ok(value),
            None => self.fault(FaultKind::DivisionByZero, "division by zero"),
        }
    }

    /// Expressions that look at processes by number.
    fn eval_other_process(&mut self, expr: &Expr) -> Eval<i32> {
        match expr {
            Expr::Remote { pid, place } => {
                let Some(at) = self.process_at(pid)? else { return Ok(0) };
                // The indices belong to the process that asks.
                let offset = self.index_offset(&place.indices)?;
                let at = at + self.layout.locals_at + place.offset as usize + offset;
                if at + place.ty.repr.size() as usize > self.state.len() {
                    return Ok(0);
                }
                Ok(place.ty.repr.load(&self.state, at))
            }
            Expr::At { pid, loc } => Ok(match self.process_at(pid)? {
                Some(at) => (self.layout.location(&self.state, at) == loc.0) as i32,
                None => 0,
            }),
            Expr::PcValue(pid) => Ok(match self.process_at(pid)? {
                Some(at) => self.layout.location(&self.state, at) as i32,
                None => 0,
            }),
            Expr::Priority(pid) => Ok(match (self.process_at(pid)?, self.layout.priority_at) {
                (Some(at), Some(priority)) => self.state[at + priority] as i32,
                (Some(_), None) => 1,
                (None, _) => 0,
            }),
            Expr::TheProcess(proc) => {
                let mut procs = self.shape.procs.iter().enumerate();
                let is = |(pid, at): (usize, &usize)| {
                    self.layout.proc_type(&self.state, pid, *at) == *proc
                };
                Ok(procs.position(is).map_or(-1, |p| p as i32))
            }
            Expr::NonProgress => Ok(!self.at_progress() as i32),
            Expr::Enabled(pid) => {
                let pid = self.eval(pid)?;
                if pid == self.pid as i32 {
                    return self.fault(FaultKind::EnabledSelf, "'enabled' of the process itself");
                }
                let Some(pid) = usize::try_from(pid).ok().filter(|p| *p < self.shape.procs.len())
                else {
                    return Ok(0);
                };
                if self.asking.contains(&pid) {
                    let message = "'enabled' of a process that asks whether this one is";
                    return self.fault(FaultKind::EnabledSelf, message);
                }
                self.asking.push(self.pid);
                let enabled = self.process_enabled(pid);
                self.asking.pop();
                Ok(enabled? as i32)
            }
            _ => unreachable!("eval handles the other expressions"),
        }
    }

    fn at_progress(&self) -> bool {
        self.shape.procs.iter().enumerate().any(|(pid, &at)| {
            let proc = self.system.proc(self.layout.proc_type(&self.state, pid, at));
            proc.locations[self.layout.location(&self.state, at) as usize].progress
        })
    }

    fn process_at(&mut self, pid: &Expr) -> Eval<Option<usize>> {
        let pid = self.eval(pid)?;
        Ok(usize::try_from(pid).ok().and_then(|p| self.shape.procs.get(p).copied()))
    }

    /// Whether some action of process `pid` is enabled.
    pub fn process_enabled(&mut self, pid: usize) -> Eval<bool> {
        let (old_pid, old_at, old_ran, old_span) = (self.pid, self.at, self.ran, self.span);
        self.enter(pid);
        self.ran = false;
        let system = self.system;
        let location = &system.proc(self.proc()).locations[self.location() as usize];
        let mut enabled = Ok(false);
        for action in &location.actions {
            self.span = system.action(*action).span;
            enabled = self.test(&system.action(*action).ops[0]);
            if !matches!(enabled, Ok(false)) {
                break;
            }
        }
        (self.pid, self.at, self.ran, self.span) = (old_pid, old_at, old_ran, old_span);
        enabled
    }

    /// Whether process `pid` may execute: its `provided` clause holds and no
    /// process of a higher priority is enabled.
    pub fn may_execute(&mut self, pid: usize) -> Eval<bool> {
        if !self.is_provided(pid)? {
            return Ok(false);
        }
        let Some(priority_at) = self.layout.priority_at else { return Ok(true) };
        let own = self.state[self.shape.procs[pid] + priority_at];
        for other in 0..self.shape.procs.len() {
            let higher = self.state[self.shape.procs[other] + priority_at] > own;
            if other != pid && higher && self.is_provided(other)? && self.process_enabled(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_provided(&mut self, pid: usize) -> Eval<bool> {
        let system = self.system;
        let at = self.shape.procs[pid];
        let proc = system.proc(self.layout.proc_type(&self.state, pid, at));
        match &proc.provided {
            None => Ok(true),
            Some(clause) => {
                // No statement is being executed: a fault is the process's.
                self.span = proc.span;
                let (old_pid, old_at) = (self.pid, self.at);
                self.enter(pid);
                let value = self.eval(clause);
                (self.pid, self.at) = (old_pid, old_at);
                Ok(value? != 0)
            }
        }
    }

    pub fn address(&mut self, place: &Place) -> Eval<usize> {
        let base = match place.space {
            Space::Global => 0,
            Space::Local => self.at + self.layout.locals_at,
        };
        let mut at = base + place.offset as usize;
        if !place.indices.is_empty() {
            at += self.index_offset(&place.indices)?;
        }
        Ok(at)
    }

    fn index_offset(&mut self, indices: &[Index]) -> Eval<usize> {
        let mut offset = 0;
        for index in indices {
            let value = self.eval(&index.expr)?;
            if value < 0 || value as u32 >= index.bound {
                let range = index.bound as i64 - 1;
                return self.fault(
                    FaultKind::ArrayIndex,
                    format!("array index {value} is out of range 0..{range}"),
                );
            }
            offset += value as usize * index.stride as usize;
        }
        Ok(offset)
    }

    pub fn assign(&mut self, place: &Place, value: i32) -> Eval<()> {
        let at = self.address(place)?;
        place.ty.repr.store(&mut self.state, at, value);
        Ok(())
    }

    /// The channel an expression names: its number from 0 and its place.
    pub fn queue(&mut self, chan: &Expr) -> Eval<(usize, QueueLayout)> {
        let id = self.eval(chan)?;
        if id == 0 {
            return self.fault(
                FaultKind::UninitialisedChannel,
                "use of a channel variable that holds no channel",
            );
        }
        match usize::try_from(id - 1).ok().and_then(|i| self.shape.queues.get(i).map(|q| (i, *q))) {
            Some(found) => Ok(found),
            None => self.fault(
                FaultKind::UninitialisedChannel,
                format!("there is no channel number {id}: its process has ended"),
            ),
        }
    }

    fn queue_len(&mut self, chan: &Expr) -> Eval<usize> {
        let (_, queue) = self.queue(chan)?;
        Ok(self.layout.chans[queue.chan.idx()].len(&self.state, queue.offset))
    }

    fn queue_full(&mut self, chan: &Expr) -> Eval<bool> {
        let (_, queue) = self.queue(chan)?;
        let chan = &self.layout.chans[queue.chan.idx()];
        Ok(chan.len(&self.state, queue.offset) >= chan.capacity)
    }

    /// Whether `c?[...]` holds. On a rendezvous channel it never could.
    fn poll(&mut self, receive: &Receive) -> Eval<bool> {
        let (_, queue) = self.queue(&receive.chan)?;
        if self.system.chans[queue.chan.idx()].slots == 0 {
            return self.fault(FaultKind::PollOnRendezvous, "poll of a rendezvous channel");
        }
        Ok(self.find_message(receive, queue)?.is_some())
    }

    /// The slot of the message that the receive would take.
    pub fn find_message(&mut self, receive: &Receive, queue: QueueLayout) -> Eval<Option<usize>> {
        let layout = self.layout;
        let chan = &layout.chans[queue.chan.idx()];
        let len = chan.len(&self.state, queue.offset);
        if len == 0 {
            return Ok(None);
        }
        if receive.fields.len() > chan.field_offsets.len() {
            return self.fault(
                FaultKind::MessageFields,
                format!(
                    "receive of {} fields from a channel of {}",
                    receive.fields.len(),
                    chan.field_offsets.len()
                ),
            );
        }
        let last = if receive.random { len } else { 1 };
        'slots: for slot in 0..last {
            for (i, field) in receive.fields.iter().enumerate() {
                if let Field::Match(expr) = field {
                    let value = self.eval(expr)?;
                    if self.message_field(queue, slot, i) != value {
                        continue 'slots;
                    }
                }
            }
            return Ok(Some(slot));
        }
        Ok(None)
    }

    pub fn message_field(&self, queue: QueueLayout, slot: usize, field: usize) -> i32 {
        let chan = &self.layout.chans[queue.chan.idx()];
        let at = chan.slot(queue.offset, slot) + chan.field_offsets[field];
        self.system.chans[queue.chan.idx()].fields[field].repr.load(&self.state, at)
    }

    /// Whether an operation would run now, without running it.
    pub fn test(&mut self, op: &Op) -> Eval<bool> {
        match op {
            Op::Cond(Expr::Run { .. }) => Ok(self.shape.procs.len() < MAX_PROCESSES),
            Op::Cond(expr) => Ok(self.handshake.is_none() && self.eval(expr)? != 0),
            Op::Else => Ok(self.handshake.is_none() && !self.ran),
            Op::Send { chan, .. } => Ok(self.handshake.is_none() && !self.queue_full(chan)?),
            Op::Receive(receive) => Ok(self.receivable(receive)?.is_some()),
            Op::Exit => Ok(self.handshake.is_none() && self.pid + 1 == self.shape.procs.len()),
            Op::Block(block) => {
                if block.guards.is_empty() {
                    return Ok(self.handshake.is_none());
                }
                for guard in &block.guards {
                    if self.test(guard)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Op::Skip | Op::Assign(..) | Op::Assert(_) | Op::Print { .. } => {
                Ok(self.handshake.is_none())
            }
            Op::SetPriority { .. } => Ok(self.handshake.is_none()),
        }
    }

    /// The channel, with its number, and the slot a receive would take its message from.
    pub fn receivable(&mut self, receive: &Receive) -> Eval<Option<(usize, QueueLayout, usize)>> {
        let (id, queue) = self.queue(&receive.chan)?;
        let rendezvous = self.system.chans[queue.chan.idx()].slots == 0;
        if rendezvous && receive.keep {
            return self.fault(FaultKind::PollOnRendezvous, "poll of a rendezvous channel");
        }
        if self.handshake != rendezvous.then_some(id) {
            return Ok(None);
        }
        Ok(self.find_message(receive, queue)?.map(|slot| (id, queue, slot)))
    }
}
