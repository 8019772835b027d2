//! What native code calls, and what calls it: the functions that go from
//! process to process, and into and out of atomic sequences and rendezvous.
//!
//! # Safety
//! Only native code may call the `extern` functions: with the context that it
//! was given, and with states of its frames.

use super::*;
use crate::diamonds::Mask;
use std::ops::Range;

/// Stands for code there is none of.
pub unsafe extern "C" fn no_moves(
    context: *mut Context,
    state: *const u8,
    _: *mut u8,
    _: usize,
    pid: u32,
    _: u32,
) -> Status {
    // SAFETY: called in the place of native code, with the same.
    unsafe { (&*context).miss((*context).role(), state, pid) }
}

/// The same for receives.
pub unsafe extern "C" fn no_receives(
    context: *mut Context,
    state: *const u8,
    _: *mut u8,
    _: usize,
    pid: u32,
    _: u32,
) -> Status {
    // SAFETY: as in `no_moves`.
    unsafe { (&*context).miss(Role::Receives, state, pid) }
}

/// Tries the first `n_procs` processes on the state of the current frame,
/// youngest first. With `UNWIND`, `Context::gave_up` says how far it came.
///
/// # Safety
/// `context` must be valid, loaded, and not borrowed by anyone; the state must
/// have so many processes.
pub unsafe fn try_all(context: *mut Context, n_procs: usize, around: Option<Around>) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        match (*context).wide_locations {
            true => try_each::<true>(context, n_procs, around),
            false => try_each::<false>(context, n_procs, around),
        }
    }
}

/// What is known of the diamonds around a state.
#[derive(Clone, Copy)]
pub struct Around {
    /// The process that led to it.
    pub process: u8,
    /// By location, in the order of the tables: what younger processes leave out.
    pub masks: *const Mask,
}

/// Where native code gave up.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct GaveUp {
    pub pid: usize,
    /// What there was of the bundle before this process.
    pub n_events: u64,
}

/// The same; `WIDE` is what the context says.
///
/// # Safety
/// As for `try_all`.
#[inline(always)]
pub unsafe fn try_each<const WIDE: bool>(
    context: *mut Context,
    n_procs: usize,
    around: Option<Around>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(Around { process, masks }) = around else {
            return try_some::<WIDE>(context, 0..n_procs, std::ptr::null());
        };
        let younger = (process as usize + 1).min(n_procs);
        let status = try_some::<WIDE>(context, younger..n_procs, masks);
        (*context).skips = 0;
        if status & UNWIND != 0 {
            return status;
        }
        status | try_some::<WIDE>(context, 0..younger, std::ptr::null())
    }
}

/// Tries some of the processes. They leave out what the masks say, if there are any.
///
/// # Safety
/// As for `try_each`.
#[inline(always)]
unsafe fn try_some<const WIDE: bool>(
    context: *mut Context,
    processes: Range<usize>,
    masks: *const Mask,
) -> Status {
    // SAFETY: the caller's promise: processes lie inside the state, and have
    // as many functions as locations. References to the context end before
    // native code is called.
    unsafe {
        let state = (*context).state;
        let out = (&mut *context).buffer(1);
        let procs = (&raw const (*context).procs).cast::<Process>();
        let mut status = STILL;
        for pid in processes.rev() {
            let Process { at, locations, moves, told, table, .. } = *procs.add(pid);
            let functions = if (*context).rows_at.is_null() { told } else { moves };
            let n_events = (*context).n_events;
            let place = state.add(at as usize);
            let mut location = *place as u32;
            if WIDE {
                location |= (*place.add(1) as u32) << 8;
            }
            if location >= locations {
                (*context).gave_up = GaveUp { pid, n_events };
                return status | UNWIND;
            }
            if !masks.is_null() {
                (*context).skips = (*masks.add((table + location) as usize)).into();
            }
            if let Some(function) = (*functions.add(location as usize)).get() {
                status |= function(context, state, out, at as usize, pid as u32, 0);
                if status & UNWIND != 0 {
                    (*context).gave_up = GaveUp { pid, n_events };
                    return status;
                }
            }
        }
        status
    }
}

/// Native code has made a successor, in the rows or elsewhere.
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
            STILL => context.hand_out(out, context.len, context.n_steps + 1),
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
            STILL => context.hand_out(out, len, context.n_steps + 1),
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
        let (function, next, n_handed_out, outer) = {
            let context = &mut *context;
            if context.step(pid, action) == UNWIND || context.tick() == UNWIND {
                return UNWIND;
            }
            // A sequence may have more results than there is room for.
            if context.make_room() == UNWIND {
                return UNWIND;
            }
            if context.depth + 1 >= context.most_frames {
                return UNWIND;
            }
            if context.repeats(out, pid) {
                return STILL;
            }
            let outer = context.push(out, pid, Some(pid));
            let next = out.add(context.frame_stride);
            (context.moves(out, pid), next, context.n_handed_out(), outer)
        };
        let at = (&*context).procs[pid as usize].at as usize;
        let mut status = function.map_or(STILL, |f| f(context, out, next, at, pid, 0));
        let context = &mut *context;
        if status == STILL {
            // The sequence blocks: its process gives up control here.
            status = context.hand_out(out, context.len, context.n_steps);
        }
        context.pop(outer);
        if status & UNWIND != 0 || (context.depth == 0 && context.n_handed_out() == n_handed_out) {
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
        if told == UNWIND || (*context).depth + 1 >= (*context).most_frames {
            return UNWIND;
        }
        let outer = (&mut *context).push(out, pid, None);
        let next = out.add((*context).frame_stride);
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

/// Whether a process other than `pid` has claimed the channel of this number in
/// the state, for receiving or sending.
pub unsafe extern "C" fn claimed(
    context: *const Context,
    state: *const u8,
    pid: u32,
    channel: u32,
    receive: u32,
) -> i32 {
    // SAFETY: native code passes the context it was given and a state with its
    // processes; `Native` borrows the code, which has the claims. Variables lie
    // inside of the state and of their processes, and have one byte.
    unsafe {
        let context = &*context;
        let holds = |process: &Process, claim: &Claimed| {
            let at = claim.at + if claim.local { process.at as usize } else { 0 };
            claim.receive == (receive != 0) && u32::from(*state.add(at)) == channel + 1
        };
        let procs = context.procs[..context.n_procs as usize].iter().enumerate();
        let mut others = procs.filter(|(other, _)| *other != pid as usize);
        others.any(|(_, process)| {
            (&*context.claims)[process.proc as usize].iter().any(|claim| holds(process, claim))
        }) as i32
    }
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
