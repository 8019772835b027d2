//! Where things are in a state.
//!
//! A state is a flat byte vector:
//!
//! ```text
//! globals (hidden cells first) | processes u8 | last u8? | global channels | process ...
//! process: location u8 or u16 | type u8? | priority u8? | locals | its channels
//! channel: length u8 or u16 | slots
//! ```
//!
//! Global rendezvous channels lie in the same place: only one of them holds a
//! message at a time, in passing, and none in a state that is handed out.
//!
//! Invariant: equal states are equal bytes from `hidden` on. So bytes that mean
//! nothing (free slots of a channel) are zero.

use crate::interpret::MAX_PROCESSES;
use crate::system::{Chan, ChanIdx, Expr, Frame, Init, Node, Op, ProcIdx, System};
use crate::visit::look::{Visitor, visit_expr, visit_op, visit_system};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Bytes in front that do not count for equality.
    pub hidden: usize,
    /// Where the number of processes is.
    pub count_at: usize,
    /// Where the process that ran last is, if the model asks for it.
    pub last_at: Option<usize>,
    pub global_queues: Vec<QueueLayout>,
    /// Where the first process begins.
    pub procs_at: usize,
    pub wide_locations: bool,
    /// If no process is ever started: the types of all processes, which the state
    /// does not tell then.
    pub fixed: Option<Vec<ProcIdx>>,
    /// Where the type is in a process otherwise.
    pub type_at: usize,
    /// Where the priority is in a process, if there are priorities.
    pub priority_at: Option<usize>,
    /// Where the locals begin in a process.
    pub locals_at: usize,
    pub procs: Vec<ProcLayout>,
    pub chans: Vec<ChanLayout>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcLayout {
    /// Bytes of a process with its channels.
    pub size: usize,
    /// Bytes without its channels.
    pub own_size: usize,
    pub queues: Vec<QueueLayout>,
}

/// A channel at a fixed place in the globals' part or in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLayout {
    pub offset: usize,
    pub chan: ChanIdx,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChanLayout {
    pub len_size: usize,
    pub field_offsets: Vec<usize>,
    pub message_size: usize,
    /// Bytes of the whole channel.
    pub size: usize,
    /// Messages it can hold, at least 1: a rendezvous holds one in passing.
    pub capacity: usize,
    /// It is a rendezvous.
    pub passes: bool,
}

impl ChanLayout {
    fn new(chan: &Chan) -> ChanLayout {
        let capacity = chan.slots.max(1) as usize;
        let len_size = if capacity > 255 { 2 } else { 1 };
        let mut message_size = 0;
        let field_offsets = chan
            .fields
            .iter()
            .map(|f| {
                let at = message_size;
                message_size += f.repr.size() as usize;
                at
            })
            .collect();
        let size = len_size + capacity * message_size;
        ChanLayout {
            len_size,
            field_offsets,
            message_size,
            size,
            capacity,
            passes: chan.slots == 0,
        }
    }

    pub fn len(&self, bytes: &[u8], at: usize) -> usize {
        match self.len_size {
            1 => bytes[at] as usize,
            _ => u16::from_le_bytes([bytes[at], bytes[at + 1]]) as usize,
        }
    }

    pub fn set_len(&self, bytes: &mut [u8], at: usize, len: usize) {
        bytes[at] = len as u8;
        if self.len_size == 2 {
            bytes[at + 1] = (len >> 8) as u8;
        }
    }

    /// Where message number `slot` of the channel at `at` begins.
    pub fn slot(&self, at: usize, slot: usize) -> usize {
        at + self.len_size + slot * self.message_size
    }
}

impl Layout {
    pub fn new(system: &System) -> Layout {
        let chans: Vec<ChanLayout> = system.chans.iter().map(ChanLayout::new).collect();
        let hidden = system.globals.cells.iter().filter(|c| c.hidden);
        let hidden = hidden.map(|c| c.offset + c.ty.repr.size()).max().unwrap_or(0) as usize;
        let count_at = system.globals.size as usize;
        let mut at = count_at + 1;
        let last_at = system.uses.last.then(|| {
            at += 1;
            at - 1
        });
        let share = !asks_in_passing(system);
        let (global_queues, procs_at) = queues(&system.globals, &chans, at, share);
        let wide_locations = system.procs.iter().any(|p| p.locations.len() > 256);
        let type_at = if wide_locations { 2 } else { 1 };
        let fixed = (!starts_processes(system) && system.start.len() <= MAX_PROCESSES)
            .then(|| system.start.iter().map(|start| start.proc).collect());
        let mut locals_at = type_at + if fixed.is_some() { 0 } else { 1 };
        let priority_at = system.uses.priority.then(|| {
            locals_at += 1;
            locals_at - 1
        });
        let procs = system
            .procs
            .iter()
            .map(|p| {
                let own_size = locals_at + p.frame.size as usize;
                let (queues, size) = queues(&p.frame, &chans, own_size, false);
                ProcLayout { size, own_size, queues }
            })
            .collect();
        Layout {
            hidden,
            count_at,
            last_at,
            global_queues,
            procs_at,
            wide_locations,
            fixed,
            type_at,
            priority_at,
            locals_at,
            procs,
            chans,
        }
    }

    /// The type of the process with this number, at this place.
    pub fn proc_type(&self, state: &[u8], pid: usize, at: usize) -> ProcIdx {
        match &self.fixed {
            Some(types) => types[pid],
            None => ProcIdx(state[at + self.type_at] as u32),
        }
    }

    pub fn set_type(&self, state: &mut [u8], at: usize, proc: ProcIdx) {
        if self.fixed.is_none() {
            state[at + self.type_at] = proc.0 as u8;
        }
    }

    pub fn location(&self, state: &[u8], at: usize) -> u32 {
        if self.wide_locations {
            u16::from_le_bytes([state[at], state[at + 1]]) as u32
        } else {
            state[at] as u32
        }
    }

    pub fn set_location(&self, state: &mut [u8], at: usize, location: u32) {
        state[at] = location as u8;
        if self.wide_locations {
            state[at + 1] = (location >> 8) as u8;
        }
    }
}

/// The channels that a frame creates, from `at` on; and where they end. If they
/// `share`, all rendezvous channels lie at the beginning.
fn queues(
    frame: &Frame,
    chans: &[ChanLayout],
    at: usize,
    share: bool,
) -> (Vec<QueueLayout>, usize) {
    let created = frame.init.iter().flat_map(|init| match init {
        Init::Channels { count, chan, .. } => std::iter::repeat_n(*chan, *count as usize),
        Init::Assign(..) => std::iter::repeat_n(ChanIdx(0), 0),
    });
    let shares = |chan: ChanIdx| share && chans[chan.idx()].passes;
    let shared = created.clone().filter(|chan| shares(*chan));
    let mut next = at + shared.map(|chan| chans[chan.idx()].size).max().unwrap_or(0);
    let place = |chan: ChanIdx| {
        let offset = if shares(chan) { at } else { next };
        next += if shares(chan) { 0 } else { chans[chan.idx()].size };
        QueueLayout { offset, chan }
    };
    let queues = created.map(place).collect();
    (queues, next)
}

/// Whether the model may ask how full channels are while a message passes: in
/// what decides if it is received.
fn asks_in_passing(system: &System) -> bool {
    let mut asks = Asks(false);
    for clause in system.procs.iter().filter_map(|proc| proc.provided.as_ref()) {
        visit_expr(clause, &mut asks);
    }
    for op in system.actions.iter().flat_map(|action| &action.ops) {
        visit_receives(op, &mut asks);
    }
    asks.0
}

fn visit_receives(op: &Op, asks: &mut Asks) {
    match op {
        Op::Receive(_) => visit_op(op, asks),
        Op::Block(block) => {
            block.guards.iter().for_each(|guard| visit_receives(guard, asks));
            for node in &block.nodes {
                if let Node::Do { op, .. } = node {
                    visit_receives(op, asks);
                }
            }
        }
        _ => {}
    }
}

/// Looks for expressions that depend on how full a channel is.
struct Asks(bool);

impl Visitor for Asks {
    fn expr(&mut self, expr: &Expr) {
        use Expr::{Empty, Full, Len, NotEmpty, NotFull};
        self.0 |= matches!(expr, Len(_) | Full(_) | Empty(_) | NotFull(_) | NotEmpty(_));
    }
}

/// Whether some action starts a process.
fn starts_processes(system: &System) -> bool {
    let mut starts = Starts(false);
    visit_system(system, &mut starts);
    starts.0
}

struct Starts(bool);

impl Visitor for Starts {
    fn expr(&mut self, expr: &Expr) {
        self.0 |= matches!(expr, Expr::Run { .. });
    }
}

/// Where the processes and channels of one state are, found by walking it.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    pub procs: Vec<usize>,
    pub queues: Vec<QueueLayout>,
}

impl Shape {
    pub fn read(&mut self, layout: &Layout, state: &[u8]) {
        self.procs.clear();
        self.queues.clear();
        self.queues.extend_from_slice(&layout.global_queues);
        let mut at = layout.procs_at;
        for pid in 0..state[layout.count_at] as usize {
            self.procs.push(at);
            let proc = &layout.procs[layout.proc_type(state, pid, at).idx()];
            let moved = |q: &QueueLayout| QueueLayout { offset: at + q.offset, chan: q.chan };
            self.queues.extend(proc.queues.iter().map(moved));
            at += proc.size;
        }
    }
}
