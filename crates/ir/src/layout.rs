//! Where things are in a state.
//!
//! A state is a flat byte vector:
//!
//! ```text
//! globals (hidden cells first) | processes u8 | last u8? | global channels | process ...
//! process: type u8 | location u8 or u16 | priority u8? | locals | its channels
//! channel: length u8 or u16 | slots
//! ```
//!
//! Invariant: equal states are equal bytes from `hidden` on. So bytes that mean
//! nothing (free slots of a channel) are zero.

use crate::system::{Chan, ChanIdx, Frame, Init, ProcIdx, System};

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
        ChanLayout { len_size, field_offsets, message_size, size, capacity }
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
        let (global_queues, procs_at) = queues(&system.globals, &chans, at);
        let wide_locations = system.procs.iter().any(|p| p.locations.len() > 256);
        let mut locals_at = if wide_locations { 3 } else { 2 };
        let priority_at = system.uses.priority.then(|| {
            locals_at += 1;
            locals_at - 1
        });
        let procs = system
            .procs
            .iter()
            .map(|p| {
                let own_size = locals_at + p.frame.size as usize;
                let (queues, size) = queues(&p.frame, &chans, own_size);
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
            priority_at,
            locals_at,
            procs,
            chans,
        }
    }

    pub fn proc_type(&self, state: &[u8], at: usize) -> ProcIdx {
        ProcIdx(state[at] as u32)
    }

    pub fn location(&self, state: &[u8], at: usize) -> u32 {
        if self.wide_locations {
            u16::from_le_bytes([state[at + 1], state[at + 2]]) as u32
        } else {
            state[at + 1] as u32
        }
    }

    pub fn set_location(&self, state: &mut [u8], at: usize, location: u32) {
        state[at + 1] = location as u8;
        if self.wide_locations {
            state[at + 2] = (location >> 8) as u8;
        }
    }
}

/// The channels that a frame creates, from `at` on; and where they end.
fn queues(frame: &Frame, chans: &[ChanLayout], mut at: usize) -> (Vec<QueueLayout>, usize) {
    let mut queues = Vec::new();
    for init in &frame.init {
        if let Init::Channels { count, chan, .. } = init {
            for _ in 0..*count {
                queues.push(QueueLayout { offset: at, chan: *chan });
                at += chans[chan.idx()].size;
            }
        }
    }
    (queues, at)
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
        for _ in 0..state[layout.count_at] {
            self.procs.push(at);
            let proc = &layout.procs[layout.proc_type(state, at).idx()];
            let moved = |q: &QueueLayout| QueueLayout { offset: at + q.offset, chan: q.chan };
            self.queues.extend(proc.queues.iter().map(moved));
            at += proc.size;
        }
    }
}
