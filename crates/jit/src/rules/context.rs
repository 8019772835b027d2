//! What native code of rules and Rust share while a state is expanded.
//!
//! A rule runs on a copy of the state at `Context::row`, where the next
//! successor is made: in the sink's rows, where it stays, or in a buffer, from
//! where it is packed into the rows, or the sink is told. When it has fired the
//! next copy is made.
//!
//! Invariant: while native code runs, nobody holds a reference to the context;
//! each callback makes one of the pointer for as long as it runs.
//!
//! # Safety
//! Only native code may call the `extern` functions: with the context that it
//! was given, and with memory of its state.

use super::Code;
use super::packer::Packer;
use ir::model::{Flow, Sink, Step};
use ir::rows::{self, HEAD};
use ir::rules::{FRAMES, Multiset, Rules, multisets, sort_multisets};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What native functions and callbacks return.
pub type Status = i64;
pub const DONE: Status = 0;
/// The interpreter has to do it.
pub const GIVE_UP: Status = 1;
/// An assumption does not hold: from routines.
pub const DISCARD: Status = 2;
/// The sink wants no more.
pub const STOP: Status = 3;

/// Tries all instances of a rule.
pub type RuleFn = unsafe extern "C" fn(*mut Context) -> Status;

/// What a routine or property returns: in two registers.
#[repr(C)]
pub struct Returned {
    pub status: Status,
    pub value: i64,
}

/// A property of the state at the second argument, with a frame that is so far
/// behind it.
pub type PropertyFn = unsafe extern "C" fn(*mut Context, *mut u8, i64) -> Returned;

/// Bytes behind a state that may be overwritten.
pub const SLACK: usize = 64;

/// Native code reads the first fields; their order is of no importance, their
/// types are.
#[repr(C)]
pub struct Context {
    /// Where the next successor is made.
    pub row: *mut u8,
    pub frames: *mut u8,
    /// `Code::properties`.
    pub routines: *const Option<PropertyFn>,
    pub covered: *mut u8,
    pub ticks: u64,
    source: *const u8,
    size: usize,
    packer: Option<Packer>,
    /// Of a state as the sink gets it, and of its row.
    stored_size: usize,
    stride: usize,
    /// Rows, and how many bytes of them are used; a buffer if there are none.
    space: Option<Space>,
    n_rows: u64,
    /// Successors handed out.
    pub seen: u64,
    pub enabled: bool,
    pub changed: bool,
    /// By rule, whether it has fired.
    pub reached: Vec<bool>,
    first: Vec<u32>,
    multisets: Vec<Multiset>,
    sink: Option<*mut (dyn Sink + 'static)>,
    pub panic: Option<Box<dyn Any + Send>>,
    buffer: Vec<u8>,
    /// The state itself, if it was packed, and a successor, if it is to be.
    unpacked: Vec<u8>,
    packed: Vec<u8>,
    _frames: Vec<u8>,
    _covered: Vec<u8>,
}

struct Space {
    start: *mut u8,
    used: usize,
    full: usize,
    head: [u8; HEAD],
}

impl Context {
    pub fn new(rules: &Rules, code: &Code, packer: Option<Packer>) -> Context {
        let size = rules.size as usize;
        let stored_size = packer.as_ref().map_or(size, |packer| packer.packing.packed_size);
        let mut frames = vec![0; FRAMES + SLACK];
        let mut covered = vec![0; rules.covers.len()];
        Context {
            row: std::ptr::null_mut(),
            frames: frames.as_mut_ptr(),
            routines: code.properties.as_ptr(),
            covered: covered.as_mut_ptr(),
            ticks: 0,
            source: std::ptr::null(),
            size,
            packer,
            stored_size,
            stride: rows::stride(stored_size),
            space: None,
            n_rows: 0,
            seen: 0,
            enabled: false,
            changed: false,
            reached: vec![false; rules.rules.len()],
            first: rules.rules.iter().map(|rule| rule.first).collect(),
            multisets: multisets(rules),
            sink: None,
            panic: None,
            buffer: vec![0; size + SLACK],
            unpacked: vec![0; size + SLACK],
            packed: vec![0; stored_size + SLACK],
            _frames: frames,
            _covered: covered,
        }
    }

    /// For each cover that is a statement, whether it has been passed.
    pub fn covered(&self) -> &[u8] {
        // SAFETY: native code holds another pointer to it, but does not run.
        unsafe { std::slice::from_raw_parts(self.covered, self._covered.len()) }
    }

    /// Gets ready to expand a state.
    ///
    /// # Safety
    /// `state` and `sink` must live until `leave` is called.
    pub unsafe fn enter(&mut self, state: &[u8], sink: &mut (dyn Sink + '_)) {
        assert_eq!(state.len(), self.stored_size, "a state of another model");
        self.source = match &self.packer {
            None => state.as_ptr(),
            Some(packer) => {
                packer.unpack(state, &mut self.unpacked);
                self.unpacked.as_ptr()
            }
        };
        (self.n_rows, self.seen, self.enabled, self.changed) = (0, 0, false, false);
        // SAFETY: only the lifetime changes; the caller sees to it.
        let sink =
            unsafe { std::mem::transmute::<*mut (dyn Sink + '_), *mut (dyn Sink + 'static)>(sink) };
        self.sink = Some(sink);
        self.make_space();
        self.next_row();
    }

    /// Finds out where successors go.
    fn make_space(&mut self) {
        let size = self.stored_size;
        // SAFETY: the sink lives until `leave`, and nobody else uses it now.
        let rows = self.sink.and_then(|sink| unsafe { (*sink).rows() });
        self.space = rows.map(|rows| {
            rows.reserve(size);
            let head = rows.head().of(size);
            let (start, used, full) = rows.space();
            Space { start, used, full, head }
        });
    }

    /// Copies the state to where the next successor is made.
    fn next_row(&mut self) {
        self.row = match &self.space {
            // SAFETY: `reserve` has made room for a row that begins here.
            Some(space) if self.packer.is_none() => unsafe { space.start.add(space.used + HEAD) },
            _ => self.buffer.as_mut_ptr(),
        };
        self.restore();
    }

    /// Makes the copy of the state that a rule may have changed anew.
    pub fn restore(&mut self) {
        // SAFETY: both have the size of a state, and are different memory.
        unsafe { std::ptr::copy_nonoverlapping(self.source, self.row, self.size) };
    }

    /// Passes what was written to the rows on.
    fn commit(&mut self) {
        let n_rows = std::mem::take(&mut self.n_rows);
        if let (Some(space), Some(sink)) = (&self.space, self.sink) {
            // SAFETY: as in `make_space`.
            if let Some(rows) = unsafe { (*sink).rows() } {
                rows.written(space.used, n_rows);
            }
        }
    }

    pub fn leave(&mut self) {
        self.commit();
        self.sink = None;
    }

    fn hand_out(&mut self, rule: usize, instance: u32) -> Status {
        self.enabled = true;
        self.reached[rule] = true;
        self.seen += 1;
        let Some(space) = &mut self.space else { return self.tell(rule, instance) };
        // SAFETY: `reserve` has made room for a head, a state and `SLACK` here.
        unsafe {
            let row = space.start.add(space.used);
            std::ptr::copy_nonoverlapping(space.head.as_ptr(), row, HEAD);
            if let Some(packer) = &self.packer {
                let to = std::slice::from_raw_parts_mut(row.add(HEAD), self.stored_size + SLACK);
                packer.pack(&self.buffer, to);
            }
        }
        space.used += self.stride;
        self.n_rows += 1;
        if space.used >= space.full && self.make_room() == Flow::Stop {
            return STOP;
        }
        self.next_row();
        DONE
    }

    #[cold]
    fn make_room(&mut self) -> Flow {
        self.commit();
        let Some(sink) = self.sink else { return Flow::Stop };
        // SAFETY: as in `make_space`.
        let made = catch_unwind(AssertUnwindSafe(|| unsafe { (*sink).make_room() }));
        let flow = self.caught(made);
        self.make_space();
        flow
    }

    /// Tells the sink of a successor with its step.
    fn tell(&mut self, rule: usize, instance: u32) -> Status {
        let Some(sink) = self.sink else { return STOP };
        let first = self.first[rule];
        let mut packed = std::mem::take(&mut self.packed);
        let state = match &self.packer {
            // SAFETY: the row has the size of a state.
            None => unsafe { std::slice::from_raw_parts(self.row, self.size) },
            Some(packer) => {
                packer.pack(&self.buffer, &mut packed);
                &packed[..self.stored_size]
            }
        };
        let steps = [Step::of((first + instance) as usize)];
        // SAFETY: as in `make_space`.
        let told = catch_unwind(AssertUnwindSafe(|| unsafe { (*sink).successor(state, &steps) }));
        self.packed = packed;
        if self.caught(told) == Flow::Stop {
            return STOP;
        }
        self.next_row();
        DONE
    }

    fn caught(&mut self, result: Result<Flow, Box<dyn Any + Send>>) -> Flow {
        result.unwrap_or_else(|panic| {
            self.panic = Some(panic);
            Flow::Stop
        })
    }
}

/// A rule has fired: its successor is in the row.
pub unsafe extern "C" fn fired(context: *mut Context, rule: u64, instance: u64) -> Status {
    // SAFETY: native code passes the context it was given, and holds no references.
    let context = unsafe { &mut *context };
    if !context.multisets.is_empty() {
        // SAFETY: the row has the size of a state.
        let row = unsafe { std::slice::from_raw_parts_mut(context.row, context.size) };
        sort_multisets(&context.multisets, row);
    }
    if !context.changed {
        // SAFETY: both have the size of a state.
        context.changed = unsafe {
            std::slice::from_raw_parts(context.row, context.size)
                != std::slice::from_raw_parts(context.source, context.size)
        };
    }
    context.hand_out(rule as usize, instance as u32)
}

/// A rule has fired, but an assumption does not hold in its successor.
pub unsafe extern "C" fn unassumed(context: *mut Context, rule: u64, instance: u64) -> Status {
    // SAFETY: as in `fired`.
    let context = unsafe { &mut *context };
    context.changed |= true;
    context.restore();
    context.hand_out(rule as usize, instance as u32)
}

/// What was done to the row does not count.
pub unsafe extern "C" fn restore(context: *mut Context) {
    // SAFETY: as in `fired`.
    unsafe { (*context).restore() }
}

pub extern "C" fn shift_left(value: i64, by: i64) -> i64 {
    ir::rules::code::Binary::Shl.apply(value, by).unwrap_or(0)
}

pub extern "C" fn shift_right(value: i64, by: i64) -> i64 {
    ir::rules::code::Binary::Shr.apply(value, by).unwrap_or(0)
}

pub extern "C" fn shift_right_unsigned(value: i64, by: i64) -> i64 {
    ir::rules::code::Binary::UnsignedShr.apply(value, by).unwrap_or(0)
}

pub unsafe extern "C" fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: native code has checked the bounds of both.
    unsafe { std::ptr::copy(from, to, len) }
}

pub unsafe extern "C" fn zero_bytes(at: *mut u8, len: usize) {
    // SAFETY: as above.
    unsafe { std::ptr::write_bytes(at, 0, len) }
}

pub unsafe extern "C" fn same_bytes(a: *const u8, b: *const u8, len: usize) -> i64 {
    // SAFETY: as above.
    unsafe { (std::slice::from_raw_parts(a, len) == std::slice::from_raw_parts(b, len)) as i64 }
}
