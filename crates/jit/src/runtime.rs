//! What native code and Rust share while a state is expanded: the context,
//! and the functions native code calls.
//!
//! A frame is a state whose moves are being tried, as in the interpreter: the
//! state that is expanded, and states inside an atomic sequence or a
//! rendezvous. Frame `n` has its state in buffer `n` and makes successors in
//! buffer `n + 1`.
//!
//! Invariant: while native code runs, nobody holds a reference to the context;
//! each callback makes one of the pointer for as long as it does not call back.

use ir::interpret::failed_assertion;
use ir::model::{Flow, Sink, Step};
use ir::source::Span;
use ir::system::{ActionIdx, ChanIdx, System};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What native functions and callbacks return.
pub type Status = i32;
/// No action ran; from callbacks: go on.
pub const STILL: Status = 0;
/// Some action ran.
pub const MOVED: Status = 1;
/// Leave everything at once: native code gave up, or the sink wants no more.
pub const UNWIND: Status = 2;

/// Tries the actions of one location.
pub type LocationFn =
    unsafe extern "C" fn(*mut Context, *const u8, *mut u8, usize, u32, u32) -> Status;

/// Frames that native code uses; deeper sequences are left to the interpreter.
pub const MAX_FRAMES: usize = 64;
/// Steps between two calls of `Sink::tick`, as in the interpreter.
const TICK_STEPS: u32 = 4096;
/// What the interpreter keeps per frame besides the state, roughly.
const FRAME_BYTES: usize = 88;
/// Bytes behind a state that may be read and written: copies are made in large pieces.
pub const SLACK: usize = 64;

/// A process: where it is in the state, and its part of the tables.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Process {
    pub at: u32,
    pub table: u32,
    pub locations: u32,
    pub proc: u32,
}

/// A channel, found by its number.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    pub offset: u32,
    /// The first channel type that looks the same.
    pub class: u16,
    pub capacity: u16,
}

/// Functions by location: `Process::table` plus the location number.
#[derive(Debug, Default)]
pub struct Tables {
    pub moves: Vec<Option<LocationFn>>,
    /// Only the receives that can complete a rendezvous.
    pub receives: Vec<Option<LocationFn>>,
    /// The rendezvous channels these are on, as in `Facts::waits`.
    pub waits: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The process whose atomic sequence this is.
    only: Option<u32>,
}

/// What the frame around a new one had.
struct Outer {
    timeout: i32,
    waiting: u64,
}

/// Native code reads the first fields; their order is of no importance, their
/// types are.
#[repr(C)]
pub struct Context {
    pub timeout: i32,
    pub n_procs: u32,
    pub n_queues: u32,
    /// The rendezvous channels that some process waits at, and maybe more.
    pub waiting: u64,
    /// Bytes of the state of the current frame.
    pub len: usize,
    /// The start of `reached`.
    pub reached_at: *mut bool,
    pub procs: [Process; 256],
    pub queues: [Queue; 256],
    pub tables: *const Tables,
    pub sink: Option<*mut (dyn Sink + 'static)>,
    /// Successors that the sink has got in this expansion, and faults.
    pub successors: u64,
    pub faults: u64,
    /// An assertion that the current action has found not to hold: the first.
    pub failure: Option<Span>,
    pub system: *const System,
    pub stopped: bool,
    pub panic: Option<Box<dyn Any + Send>>,
    pub reached: Vec<bool>,
    pub buffers: Vec<u8>,
    /// Distance between two buffers.
    pub stride: usize,
    pub wide_locations: bool,
    frames: [Frame; MAX_FRAMES],
    depth: usize,
    steps: [Step; MAX_FRAMES + 1],
    ticks: u32,
}

impl Context {
    /// The system and the tables must outlive the context.
    pub fn new(system: &System, tables: &Tables, wide_locations: bool) -> Context {
        Context {
            timeout: 0,
            n_procs: 0,
            n_queues: 0,
            waiting: 0,
            len: 0,
            reached_at: std::ptr::null_mut(),
            procs: [Process::default(); 256],
            queues: [Queue::default(); 256],
            tables,
            sink: None,
            successors: 0,
            faults: 0,
            failure: None,
            system,
            stopped: false,
            panic: None,
            reached: vec![false; system.actions.len()],
            buffers: Vec::new(),
            stride: 0,
            wide_locations,
            frames: [Frame { only: None }; MAX_FRAMES],
            depth: 0,
            steps: [Step { process: 0, action: ActionIdx(0) }; MAX_FRAMES + 1],
            ticks: 0,
        }
    }

    /// Starts the expansion of `state`.
    pub fn load(&mut self, state: &[u8]) {
        let needed = state.len() + SLACK;
        if self.stride < needed {
            self.stride = needed.next_multiple_of(64);
            self.buffers.resize(self.stride * (MAX_FRAMES + 1), 0);
        }
        copy(&mut self.buffers, state);
        self.len = state.len();
        self.reached_at = self.reached.as_mut_ptr();
        (self.timeout, self.stopped, self.depth, self.failure) = (0, false, 0, None);
    }

    /// The state of a frame; may be read for its length and `SLACK` bytes more.
    pub fn buffer(&mut self, depth: usize) -> *mut u8 {
        self.buffers[depth * self.stride..].as_mut_ptr()
    }

    /// An action has run. Before what follows it the sink is told of an
    /// assertion that does not hold.
    #[inline(always)]
    fn step(&mut self, pid: u32, action: u32) -> Status {
        self.steps[self.depth] = Step { process: pid as u8, action: ActionIdx(action) };
        self.reached[action as usize] = true;
        match self.failure {
            None => STILL,
            Some(span) => self.report(span),
        }
    }

    #[cold]
    fn report(&mut self, span: Span) -> Status {
        self.failure = None;
        self.faults += 1;
        // SAFETY: `Native` borrows the system for as long as it lives.
        let fault = failed_assertion(unsafe { &*self.system }, span);
        self.tell(|sink, steps| sink.fault(fault, steps), self.depth + 1)
    }

    /// Calls the sink. A panic may not cross native code, so it waits.
    #[inline(always)]
    fn tell(
        &mut self,
        what: impl FnOnce(&mut dyn Sink, &[Step]) -> Flow,
        n_steps: usize,
    ) -> Status {
        let Some(sink) = self.sink else { return UNWIND };
        // SAFETY: `Native::expand` has set the sink from a reference that
        // outlives the expansion and that it does not use meanwhile.
        let sink = unsafe { &mut *sink };
        let steps = &self.steps[..n_steps];
        match catch_unwind(AssertUnwindSafe(|| what(sink, steps))) {
            Ok(Flow::Continue) => return STILL,
            Ok(Flow::Stop) => self.stopped = true,
            Err(panic) => self.panic = Some(panic),
        }
        UNWIND
    }

    /// # Safety
    /// `state` must be valid for `len` bytes.
    #[inline(always)]
    unsafe fn hand_out(&mut self, state: *const u8, len: usize, n_steps: usize) -> Status {
        self.successors += 1;
        // SAFETY: the caller's promise; the sink does not change buffers.
        let state = unsafe { std::slice::from_raw_parts(state, len) };
        self.tell(|sink, steps| sink.successor(state, steps), n_steps)
    }

    /// Whether the state inside a sequence of `pid` has been there before in it.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    unsafe fn repeats(&self, state: *const u8, pid: u32) -> bool {
        let at = self.procs[pid as usize].at as usize;
        for depth in (1..=self.depth).rev() {
            if self.frames[depth].only == Some(pid) {
                // SAFETY: the caller's promise.
                let state = unsafe { std::slice::from_raw_parts(state, self.len) };
                let frame = &self.buffers[depth * self.stride..][..self.len];
                if frame[at + 1] == state[at + 1] && frame == state {
                    return true;
                }
            }
        }
        false
    }

    fn tick(&mut self) -> Status {
        self.ticks += 1 + (self.len / 256) as u32;
        if self.ticks < TICK_STEPS {
            return STILL;
        }
        self.ticks = 0;
        let bytes = ((self.depth + 1) * (self.len + FRAME_BYTES)) as u64;
        self.tell(|sink, _| sink.tick(bytes), 0)
    }

    /// The place in the tables of a process in the state at `state`; none if
    /// there is no such location.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn entry(&self, state: *const u8, pid: u32) -> Option<usize> {
        let process = &self.procs[pid as usize];
        // SAFETY: the process lies inside the state, so its location does.
        let location = unsafe {
            let at = state.add(process.at as usize + 1);
            let low = *at as u32;
            if self.wide_locations { low | (*at.add(1) as u32) << 8 } else { low }
        };
        (location < process.locations).then_some((process.table + location) as usize)
    }

    #[inline(always)]
    fn tables(&self) -> &Tables {
        // SAFETY: the tables belong to the code, which `Native` borrows.
        unsafe { &*self.tables }
    }

    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn moves(&self, state: *const u8, pid: u32) -> Option<LocationFn> {
        // SAFETY: the caller's promise.
        match unsafe { self.entry(state, pid) } {
            Some(entry) => self.tables().moves[entry],
            None => Some(give_up),
        }
    }

    /// The rendezvous channels that a process waits at.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn waits(&self, state: *const u8, pid: u32) -> u64 {
        // SAFETY: the caller's promise.
        let entry = unsafe { self.entry(state, pid) };
        entry.map_or(u64::MAX, |entry| self.tables().waits[entry])
    }

    /// The function that takes the message of a rendezvous, if one may.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn receives(
        &self,
        state: *const u8,
        pid: u32,
        queue: u32,
    ) -> Option<(LocationFn, usize)> {
        // SAFETY: the caller's promise.
        let Some(entry) = (unsafe { self.entry(state, pid) }) else { return Some((give_up, 0)) };
        let tables = self.tables();
        if tables.waits[entry] >> (queue % 64) & 1 == 0 {
            return None;
        }
        let at = self.procs[pid as usize].at as usize;
        tables.receives[entry].map(|function| (function, at))
    }

    /// Makes the state at `state`, to which process `pid` has moved, a frame.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn push(&mut self, state: *const u8, pid: u32, only: Option<u32>) -> Outer {
        let outer = Outer { timeout: self.timeout, waiting: self.waiting };
        self.depth += 1;
        self.frames[self.depth] = Frame { only };
        self.timeout = 0;
        // SAFETY: the caller's promise.
        self.waiting |= unsafe { self.waits(state, pid) };
        outer
    }

    #[inline(always)]
    fn pop(&mut self, outer: Outer) {
        (self.timeout, self.waiting) = (outer.timeout, outer.waiting);
        self.depth -= 1;
    }

    /// Finds out which rendezvous channels are waited at.
    pub fn find_waiting(&mut self) {
        let state = self.buffer(0);
        // SAFETY: buffer 0 holds the state.
        let waits = (0..self.n_procs).map(|pid| unsafe { self.waits(state, pid) });
        self.waiting = waits.fold(0, |all, waits| all | waits);
    }
}

/// Copies a state to the front of `to`. States are short, and a call of
/// `memcpy` would take longer than to copy them.
#[inline]
fn copy(to: &mut [u8], state: &[u8]) {
    let to = &mut to[..state.len()];
    let (Some(last), Some(to_last)) = (state.last_chunk::<16>(), to.last_chunk_mut::<16>()) else {
        return to.copy_from_slice(state);
    };
    *to_last = *last;
    let mut at = 0;
    while at + 16 < state.len() {
        to[at..at + 16].copy_from_slice(&state[at..at + 16]);
        at += 16;
    }
}

/// Stands for code there is none of.
pub unsafe extern "C" fn give_up(
    _: *mut Context,
    _: *const u8,
    _: *mut u8,
    _: usize,
    _: u32,
    _: u32,
) -> Status {
    UNWIND
}

/// Tries all processes on the state of the current frame, youngest first.
///
/// # Safety
/// `context` must be valid, loaded, and not borrowed by anyone.
pub unsafe fn try_all(context: *mut Context) -> Status {
    // SAFETY: the caller's promise. References to the context end before
    // native code is called.
    unsafe {
        let state = (*context).buffer(0);
        let out = state.add((*context).stride);
        let mut status = STILL;
        for pid in (0..(*context).n_procs).rev() {
            let Some(function) = (&*context).moves(state, pid) else { continue };
            let at = (&*context).procs[pid as usize].at as usize;
            status |= function(context, state, out, at, pid, 0);
            if status & UNWIND != 0 {
                return UNWIND;
            }
        }
        status
    }
}

/// Native code has made a successor.
pub unsafe extern "C" fn successor(
    context: *mut Context,
    out: *const u8,
    pid: u32,
    action: u32,
) -> Status {
    // SAFETY: native code passes the context it was given and the buffer it
    // has filled; it holds no references.
    unsafe {
        let context = &mut *context;
        match context.step(pid, action) {
            STILL => context.hand_out(out, context.len, context.depth + 1),
            unwind => unwind,
        }
    }
}

/// The same after the youngest process has ended: the state ends at `len`.
pub unsafe extern "C" fn ended(
    context: *mut Context,
    out: *const u8,
    pid: u32,
    action: u32,
    len: usize,
) -> Status {
    // SAFETY: as in `successor`; the state was longer before.
    unsafe {
        let context = &mut *context;
        match context.step(pid, action) {
            STILL => context.hand_out(out, len, context.depth + 1),
            unwind => unwind,
        }
    }
}

/// Follows an atomic sequence of process `pid` from the state in `out`.
pub unsafe extern "C" fn atomic(
    context: *mut Context,
    out: *mut u8,
    pid: u32,
    action: u32,
) -> Status {
    // SAFETY: native code passes the context it was given and the buffer it
    // has filled. References to the context end before native code is called.
    unsafe {
        let (function, next, successors, outer) = {
            let context = &mut *context;
            if context.step(pid, action) == UNWIND || context.tick() == UNWIND {
                return UNWIND;
            }
            if context.depth + 1 >= MAX_FRAMES {
                return UNWIND;
            }
            if context.repeats(out, pid) {
                return STILL;
            }
            let outer = context.push(out, pid, Some(pid));
            (context.moves(out, pid), out.add(context.stride), context.successors, outer)
        };
        let at = (&*context).procs[pid as usize].at as usize;
        let mut status = function.map_or(STILL, |f| f(context, out, next, at, pid, 0));
        let context = &mut *context;
        if status == STILL {
            // The sequence blocks: its process gives up control here.
            status = context.hand_out(out, context.len, context.depth);
        }
        context.pop(outer);
        if status & UNWIND != 0 || (context.depth == 0 && context.successors == successors) {
            // Nothing was handed out: the interpreter says what is wrong.
            return UNWIND;
        }
        STILL
    }
}

/// A message waits in the rendezvous channel `queue`: lets the others take it.
pub unsafe extern "C" fn handshake(
    context: *mut Context,
    out: *mut u8,
    pid: u32,
    action: u32,
    queue: u32,
) -> Status {
    // SAFETY: as in `atomic`.
    unsafe {
        let told = (&mut *context).step(pid, action);
        if told == UNWIND || (*context).depth + 1 >= MAX_FRAMES {
            return UNWIND;
        }
        let outer = (&mut *context).push(out, pid, None);
        let next = out.add((*context).stride);
        let mut status = STILL;
        for other in (0..(*context).n_procs).rev().filter(|&other| other != pid) {
            let Some((function, at)) = (&*context).receives(out, other, queue) else { continue };
            status |= function(context, out, next, at, other, queue);
            if status & UNWIND != 0 {
                return UNWIND;
            }
        }
        (&mut *context).pop(outer);
        status
    }
}

/// An assertion does not hold; the action goes on.
pub unsafe extern "C" fn failed(context: *mut Context, file: u32, start: u32, end: u32) {
    // SAFETY: native code passes the context it was given.
    let context = unsafe { &mut *context };
    context.failure.get_or_insert(Span { file, start, end });
}

/// Moves `len` bytes; the ranges may overlap.
pub unsafe extern "C" fn shift(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: native code moves messages inside a channel of its buffer.
    unsafe { std::ptr::copy(from, to, len) }
}

/// The number of the first process of a type, or -1.
pub unsafe extern "C" fn the_process(context: *const Context, proc: u32) -> i32 {
    // SAFETY: native code passes the context it was given.
    let context = unsafe { &*context };
    let procs = &context.procs[..context.n_procs as usize];
    procs.iter().position(|p| p.proc == proc).map_or(-1, |pid| pid as i32)
}

pub fn queue(offset: usize, class: ChanIdx, capacity: usize) -> Queue {
    Queue { offset: offset as u32, class: class.0 as u16, capacity: capacity as u16 }
}
