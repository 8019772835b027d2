//! What native code and Rust share while a state is expanded: the context,
//! and the functions native code calls.
//!
//! A frame is a state whose moves are being tried, as in the interpreter: the
//! state that is expanded, and states inside an atomic sequence or a
//! rendezvous. Frame `n` has its state in buffer `n` (frame 0 where the caller
//! has it), and makes what becomes a frame in buffer `n + 1`. Successors are
//! made at `Context::out`: in the sink's rows, where they stay, or in buffer 0,
//! from where the sink is told.
//!
//! Invariant: while native code runs, nobody holds a reference to the context;
//! each callback makes one of the pointer for as long as it does not call back.

mod calls;
mod telling;

pub use calls::*;

use crate::code::{Code, Fixed};
use crate::diamonds::Diamonds;
use crate::emit::Role;
use crate::facts::Claimed;
use ir::interpret::{failed_assertion, glance};
use ir::model::{Flow, Found, Sink, Step};
use ir::rows::{self, Rows};
use ir::source::Span;
use ir::system::{ActionIdx, System};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// What native functions and callbacks return.
pub type Status = i32;
/// No action ran; from callbacks: go on.
pub const STILL: Status = 0;
/// Some action ran.
pub const MOVED: Status = 1;
/// Leave everything at once: native code gave up, or the sink wants no more.
pub const UNWIND: Status = 2;
/// In `Context::status`: nothing was done.
pub const NOT_TRIED: Status = -1;

/// Tries the actions of one location.
pub type LocationFn =
    unsafe extern "C" fn(*mut Context, *const u8, *mut u8, usize, u32, u32) -> Status;

/// Frames that native code uses, at most and at least, and bytes of them in between;
/// deeper sequences are left to the interpreter.
pub const MAX_FRAMES: usize = 512;
const MIN_FRAMES: usize = 64;
const FRAMES_BYTES: usize = 1 << 20;
/// Frames that are compared without a glance first.
const FEW_FRAMES: usize = 16;
/// Actions that run in a frame after the one that led there, at most.
pub const MOST_CHAINED: usize = 15;
/// Steps to a successor, at most.
const MAX_STEPS: usize = MAX_FRAMES * (MOST_CHAINED + 1) + 1;
/// The number of processes before there is a state.
const NONE: u32 = u32::MAX;
/// The place of a frame that is not one of an atomic sequence.
const NOWHERE: u32 = u32::MAX;
/// Steps between two calls of `Sink::tick`, as in the interpreter.
const TICK_STEPS: u32 = 4096;
/// What the interpreter keeps per frame besides the state, roughly.
const FRAME_BYTES: usize = 128;
/// Channels that are found by their number.
pub const MOST_QUEUES: usize = 256;
/// A successor is found by the action that makes it.
pub const OWN_CAUSE: i32 = -1;
/// Bytes behind a state that may be read and written: copies are made in large pieces.
pub const SLACK: usize = 64;
/// No state is that long.
const NO_LEN: usize = usize::MAX;
/// Bytes that are compared at once.
const STEP: usize = 16;

/// A process: where it is in the state, and its part of the tables.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub at: u32,
    pub locations: u32,
    /// Functions by location: parts of `Tables::moves` and `Tables::told`.
    pub moves: *const Entry,
    pub told: *const Entry,
    pub table: u32,
    pub proc: u32,
}

impl Process {
    const NONE: Process = Process {
        at: 0,
        locations: 0,
        moves: std::ptr::null(),
        told: std::ptr::null(),
        table: 0,
        proc: 0,
    };
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

/// A function of a location, or that there is nothing to call. It may be set
/// while others call it. Native code relies on the order.
#[derive(Debug)]
#[repr(C)]
pub struct Entry {
    function: AtomicPtr<()>,
    /// How often it was missed, roughly.
    missed: AtomicU32,
}

impl Entry {
    fn new(function: Option<LocationFn>) -> Entry {
        let function = function.map_or(std::ptr::null_mut(), |f| f as *mut ());
        Entry { function: AtomicPtr::new(function), missed: AtomicU32::new(0) }
    }

    #[inline(always)]
    pub fn get(&self) -> Option<LocationFn> {
        // Acquire: its code is there.
        let function = self.function.load(Ordering::Acquire);
        // SAFETY: null, or a function by `new` or `set`.
        unsafe { std::mem::transmute::<*mut (), Option<LocationFn>>(function) }
    }

    pub fn set(&self, function: LocationFn) {
        // Release: its code is there.
        self.function.store(function as *mut (), Ordering::Release);
    }

    pub fn missed(&self) -> u32 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Counts. Relaxed, and no matter if one is lost to another thread's.
    pub fn miss(&self, times: u32) {
        self.missed.store(self.missed().saturating_add(times), Ordering::Relaxed);
    }
}

/// Functions by location: `Process::table` plus the location number.
#[derive(Debug, Default)]
pub struct Tables {
    pub moves: Vec<Entry>,
    /// For sinks without rows.
    pub told: Vec<Entry>,
    /// Only the receives that can complete a rendezvous.
    pub receives: Vec<Entry>,
    /// The rendezvous channels these are on, as in `Waits::channels`.
    pub waits: Vec<u64>,
}

impl Tables {
    pub fn of(&self, role: Role) -> &[Entry] {
        match role {
            Role::Moves => &self.moves,
            Role::Told => &self.told,
            Role::Receives => &self.receives,
        }
    }

    /// Adds an entry: a function that is missing, or nothing to call.
    pub fn add(&mut self, role: Role, missing: bool) {
        let (table, function) = match role {
            Role::Moves => (&mut self.moves, no_moves as LocationFn),
            Role::Told => (&mut self.told, no_moves as LocationFn),
            Role::Receives => (&mut self.receives, no_receives as LocationFn),
        };
        table.push(Entry::new(missing.then_some(function)));
    }
}

/// What the frame around a new one had.
struct Outer {
    timeout: i32,
    waiting: u64,
    skips: u64,
    n_steps: usize,
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
    /// Where the next successor is made.
    pub out: *mut u8,
    /// A successor that begins before this stays where it was made.
    pub limit: *const u8,
    /// The rows are full from this place on; up to the limit there is room for the
    /// successors of one more state.
    pub full: *const u8,
    /// What comes before a successor in the rows, and the distance to the next.
    pub head: [u8; rows::HEAD],
    pub stride: usize,
    /// The actions of the location that are left out, as `Diamonds::masks` has
    /// them.
    pub skips: u64,
    /// Events of the bundle: successors, made or left out, and faults.
    pub n_events: u64,
    /// Inside an atomic sequence or a rendezvous, what its result is found by;
    /// else `OWN_CAUSE`.
    pub cause: i32,
    /// The steps before the action that is tried, and how many there are.
    pub n_steps: usize,
    pub steps: [Step; MAX_STEPS],
    /// The state that is expanded.
    pub state: *const u8,
    /// The start of `reached`.
    pub reached_at: *mut bool,
    pub procs: [Process; 256],
    pub queues: [Queue; MOST_QUEUES],
    pub tables: *const Tables,
    pub sink: Option<*mut (dyn Sink + 'static)>,
    /// The state of the bundle that is expanded, and the one that the sink was
    /// last told something about.
    pub number: usize,
    turned_to: usize,
    /// The sink wants to know of deadlocks.
    pub wants_deadlocks: bool,
    /// How many of the events are faults.
    n_faults: u64,
    /// An assertion that the current action has found not to hold: the first.
    pub failure: Option<Span>,
    pub system: *const System,
    pub stopped: bool,
    /// Of the state that the function that makes rounds has left to its caller.
    pub status: Status,
    /// The buffer of frame 1, where the state that is expanded makes frames.
    pub next_frame: *mut u8,
    pub gave_up: GaveUp,
    pub panic: Option<Box<dyn Any + Send>>,
    pub reached: Vec<bool>,
    diamonds: *const Diamonds,
    claims: *const Vec<Vec<Claimed>>,
    buffers: Vec<u8>,
    /// Distance between two buffers.
    pub frame_stride: usize,
    /// The sink's rows, and where they begin; null if it is told of each successor.
    rows: *mut Rows,
    rows_at: *mut u8,
    /// Events that the sink knows of; the others are in its rows.
    n_told: u64,
    /// Successors that native functions leave in the rows for one state, or so.
    most_successors: usize,
    /// Bytes that native code copies of any state, if it is that simple.
    copied: usize,
    /// The length of the last state, if that is `copied` or more.
    whole_len: usize,
    /// The length of states with `n_procs` processes, if none is ever started.
    fixed_len: usize,
    wide_locations: bool,
    n_global_queues: usize,
    /// Of each frame of an atomic sequence the process and its location.
    places: [u32; MAX_FRAMES],
    /// Of those that are not few, their glances, too.
    glances: [u64; MAX_FRAMES],
    /// Frames there is room for.
    most_frames: usize,
    depth: usize,
    ticks: u32,
}

impl Context {
    /// The system and the code must outlive the context.
    pub fn new(system: &System, code: &Code, wide_locations: bool) -> Context {
        Context {
            timeout: 0,
            n_procs: NONE,
            n_queues: 0,
            waiting: 0,
            len: 0,
            out: std::ptr::null_mut(),
            limit: std::ptr::null(),
            full: std::ptr::null(),
            head: [0; rows::HEAD],
            stride: 0,
            skips: 0,
            n_events: 0,
            cause: OWN_CAUSE,
            n_steps: 0,
            steps: [Step { process: 0, action: ActionIdx(0) }; MAX_STEPS],
            state: std::ptr::null(),
            reached_at: std::ptr::null_mut(),
            procs: [Process::NONE; 256],
            queues: [Queue::default(); MOST_QUEUES],
            tables: &code.functions.tables,
            sink: None,
            number: 0,
            turned_to: 0,
            wants_deadlocks: true,
            n_faults: 0,
            failure: None,
            system,
            stopped: false,
            status: NOT_TRIED,
            next_frame: std::ptr::null_mut(),
            gave_up: GaveUp::default(),
            panic: None,
            reached: vec![false; system.actions.len()],
            diamonds: &*code.diamonds,
            claims: &code.claims,
            buffers: Vec::new(),
            frame_stride: 0,
            rows: std::ptr::null_mut(),
            rows_at: std::ptr::null_mut(),
            n_told: 0,
            most_successors: code.most_successors,
            copied: code.fixed.as_ref().and_then(|f| f.sizes.last()).map_or(0, |size| size.len),
            whole_len: NO_LEN,
            fixed_len: NO_LEN,
            wide_locations,
            n_global_queues: code.layout.global_queues.len(),
            places: [NOWHERE; MAX_FRAMES],
            glances: [0; MAX_FRAMES],
            most_frames: MIN_FRAMES,
            depth: 0,
            ticks: 0,
        }
    }

    /// Starts the expansion of a bundle. The sink has turned to the state of this
    /// number.
    pub fn start(
        &mut self,
        number: usize,
        sink: *mut (dyn Sink + 'static),
        rows: Option<&mut Rows>,
    ) {
        self.sink = Some(sink);
        (self.stopped, self.turned_to, self.failure) = (false, number, None);
        (self.n_events, self.n_faults, self.n_told) = (0, 0, 0);
        self.reached_at = self.reached.as_mut_ptr();
        self.rewind(false);
        self.set_space(rows);
    }

    /// Starts the expansion of one of its states; false if it is not as long as
    /// the last one, so that `load_other` must follow. Whoever has come elsewhere
    /// in between has gone back (`rewind`).
    #[inline(always)]
    pub fn load(&mut self, number: usize, Found { state, head, .. }: &Found) -> bool {
        self.state = state.as_ptr();
        (self.number, self.head) = (number, head.of(state.len()));
        state.len() == self.whole_len
    }

    /// Gets ready for a state of another length, or one that lacks processes.
    #[cold]
    #[inline(never)]
    pub fn load_other(&mut self, state: &[u8]) {
        let len = state.len();
        if len != self.len {
            self.set_len(len);
        }
        self.whole_len = if len < self.copied { NO_LEN } else { len };
        if len < self.copied {
            // Native code reads as much as if all processes were there.
            let padded = &mut self.buffers[self.frame_stride * (self.most_frames + 1)..];
            padded[..len].copy_from_slice(state);
            self.state = padded.as_ptr();
        }
    }

    /// Whether the last state was as long as this.
    pub fn is_as_long(&self, len: usize) -> bool {
        self.whole_len == len
    }

    /// Whether the last state was as long as this, with all processes.
    pub fn is_whole(&self, len: usize) -> bool {
        self.whole_len == len && self.fixed_len == len
    }

    /// Whether a state of this length is one of so many processes, if none is
    /// ever started.
    #[inline(always)]
    pub fn has_size(&mut self, n_procs: u8, len: usize, fixed: &Fixed) -> bool {
        if u32::from(n_procs) != self.n_procs {
            self.set_size(n_procs, fixed);
        }
        self.fixed_len == len
    }

    #[cold]
    fn set_size(&mut self, n_procs: u8, fixed: &Fixed) {
        (self.n_procs, self.fixed_len) = (n_procs.into(), NO_LEN);
        if let Some(size) = fixed.sizes.get(n_procs as usize) {
            (self.n_queues, self.fixed_len) = (size.n_queues, size.len);
        }
    }

    /// Goes back from wherever native code has come to the state that is
    /// expanded, to see what can happen there with or without timeout.
    #[inline(always)]
    pub fn rewind(&mut self, timeout: bool) {
        (self.depth, self.skips, self.n_steps) = (0, 0, 0);
        (self.timeout, self.cause) = (timeout.into(), OWN_CAUSE);
    }

    #[cold]
    fn set_len(&mut self, len: usize) {
        (self.len, self.stride) = (len, rows::stride(len));
        let needed = len.max(self.copied) + SLACK;
        if self.frame_stride < needed {
            self.frame_stride = needed.next_multiple_of(64);
            let room = FRAMES_BYTES / self.frame_stride;
            self.most_frames = room.clamp(MIN_FRAMES, MAX_FRAMES);
            self.buffers.resize(self.frame_stride * (self.most_frames + 2), 0);
            self.next_frame = self.buffer(1);
        }
        if self.sink.is_some() {
            // More room may be needed.
            self.tell_rows();
            // SAFETY: the sink has set them, and was not used since.
            let rows = (!self.rows_at.is_null()).then(|| unsafe { &mut *self.rows });
            self.set_space(rows);
        }
    }

    /// The state has these processes, and these channels besides the global ones;
    /// false if there are too many.
    pub fn set_processes(&mut self, procs: &[Process], queues: &[Queue]) -> bool {
        let n_queues = self.n_global_queues + queues.len();
        let Some(to) = self.queues.get_mut(self.n_global_queues..n_queues) else { return false };
        to.copy_from_slice(queues);
        self.procs[..procs.len()].copy_from_slice(procs);
        (self.n_procs, self.n_queues) = (procs.len() as u32, n_queues as u32);
        true
    }

    /// Events that are not faults.
    fn n_handed_out(&self) -> u64 {
        self.n_events - self.n_faults
    }

    /// The state of a frame; may be read for its length and `SLACK` bytes more.
    pub fn buffer(&mut self, depth: usize) -> *mut u8 {
        self.buffers[depth * self.frame_stride..].as_mut_ptr()
    }

    /// An action has run. Before what follows it the sink is told of an
    /// assertion that does not hold.
    #[inline(always)]
    fn step(&mut self, pid: u32, action: u32) -> Status {
        self.steps[self.n_steps] = Step { process: pid as u8, action: ActionIdx(action) };
        self.reached[action as usize] = true;
        match self.failure {
            None => STILL,
            Some(span) => self.report(span),
        }
    }

    #[cold]
    fn report(&mut self, span: Span) -> Status {
        self.failure = None;
        self.n_faults += 1;
        self.n_events += 1;
        self.n_told += 1;
        // SAFETY: `Native` borrows the system for as long as it lives.
        let fault = failed_assertion(unsafe { &*self.system }, span);
        self.tell(|sink, steps| sink.fault(fault, steps), self.n_steps + 1)
    }

    /// What the successor that is handed out was found by: the step that the
    /// expansion began with.
    fn first_cause(&self) -> rows::Cause {
        // SAFETY: `Native` borrows the code, which has them, for as long as it lives.
        unsafe { &*self.diamonds }.cause(self.steps[0])
    }

    /// Whether the state inside a sequence of `pid` has been there before in it.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    unsafe fn repeats(&self, state: *const u8, pid: u32) -> bool {
        // SAFETY: the caller's promise, for all of this.
        let (place, state) =
            unsafe { (self.place(state, pid), std::slice::from_raw_parts(state, self.len)) };
        // Places lie side by side, so that nearly all frames are passed over.
        let any_same = |from: usize, to: usize| {
            self.places[from..=to].iter().zip(from..).any(|(at, depth)| {
                *at == place && self.buffers[depth * self.frame_stride..][..self.len] == *state
            })
        };
        if self.depth <= FEW_FRAMES {
            return any_same(1, self.depth);
        }
        let (others, glance) = (&self.glances[FEW_FRAMES + 1..=self.depth], glance(state));
        // Without a branch for each, as none is the same as a rule.
        let is_like_another = others.iter().fold(false, |found, other| found | (*other == glance));
        any_same(1, FEW_FRAMES) || (is_like_another && any_same(FEW_FRAMES + 1, self.depth))
    }

    /// The process and its location.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    unsafe fn place(&self, state: *const u8, pid: u32) -> u32 {
        // SAFETY: the caller's promise.
        pid << 16 | unsafe { self.location(state, pid) }
    }

    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn location(&self, state: *const u8, pid: u32) -> u32 {
        // SAFETY: the process lies inside the state, so its location does.
        unsafe {
            let at = state.add(self.procs[pid as usize].at as usize);
            let low = *at as u32;
            if self.wide_locations { low | (*at.add(1) as u32) << 8 } else { low }
        }
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
        // SAFETY: the caller's promise.
        let location = unsafe { self.location(state, pid) };
        (location < process.locations).then_some((process.table + location) as usize)
    }

    /// There is no code for where process `pid` is.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    unsafe fn miss(&self, role: Role, state: *const u8, pid: u32) -> Status {
        // SAFETY: the caller's promise.
        if let Some(entry) = unsafe { self.entry(state, pid) } {
            self.tables().of(role)[entry].miss(1);
        }
        UNWIND
    }

    /// Which functions are called.
    #[inline(always)]
    pub fn role(&self) -> Role {
        if self.rows_at.is_null() { Role::Told } else { Role::Moves }
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
            Some(entry) => self.tables().of(self.role())[entry].get(),
            None => Some(no_moves),
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
        let Some(entry) = (unsafe { self.entry(state, pid) }) else {
            return Some((no_receives, 0));
        };
        let tables = self.tables();
        if tables.waits[entry] >> (queue % 64) & 1 == 0 {
            return None;
        }
        let at = self.procs[pid as usize].at as usize;
        tables.receives[entry].get().map(|function| (function, at))
    }

    /// Makes the state at `state`, to which process `pid` has moved, a frame.
    ///
    /// # Safety
    /// `state` must be valid for `self.len` bytes.
    #[inline(always)]
    unsafe fn push(&mut self, state: *const u8, pid: u32, only: Option<u32>) -> Outer {
        let Context { timeout, waiting, skips, n_steps, .. } = *self;
        let outer = Outer { timeout, waiting, skips, n_steps };
        if self.depth == 0 {
            self.cause = self.first_cause().into();
        }
        self.depth += 1;
        self.n_steps += 1;
        // SAFETY: the caller's promise.
        let place = only.map(|pid| unsafe { self.place(state, pid) });
        self.places[self.depth] = place.unwrap_or(NOWHERE);
        if self.depth > FEW_FRAMES {
            // SAFETY: the caller's promise.
            let state = unsafe { std::slice::from_raw_parts(state, self.len) };
            self.glances[self.depth] = glance(state);
        }
        (self.timeout, self.skips) = (0, 0);
        // SAFETY: the caller's promise.
        self.waiting |= unsafe { self.waits(state, pid) };
        outer
    }

    #[inline(always)]
    fn pop(&mut self, outer: Outer) {
        (self.timeout, self.waiting, self.skips) = (outer.timeout, outer.waiting, outer.skips);
        self.n_steps = outer.n_steps;
        self.depth -= 1;
        if self.depth == 0 {
            self.cause = OWN_CAUSE;
        }
    }

    /// Finds out which rendezvous channels are waited at.
    pub fn find_waiting(&mut self) {
        let state = self.state;
        // SAFETY: `load` has set it to the state.
        let waits = (0..self.n_procs).map(|pid| unsafe { self.waits(state, pid) });
        self.waiting = waits.fold(0, |all, waits| all | waits);
    }
}
