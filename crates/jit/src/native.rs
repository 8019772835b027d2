//! The model that runs native code, and hands over to the interpreter where
//! native code gives up.

use crate::code::Code;
use crate::emit::Role;
use crate::kinds::Kinds;
use crate::leaving_out::LeavingOut;
use crate::resume::Resume;
use crate::runtime::{Context, GaveUp, MOVED, NOT_TRIED, STILL, Status, UNWIND, try_all, try_each};
use ir::fault::FaultKind;
use ir::interpret::{Interpreter, deadlock};
use ir::layout::Layout;
use ir::model::{Flow, Found, Model, Sink, Step};
use ir::rows::{Cause, Head, Rows};
use ir::system::System;
use std::marker::PhantomData;

/// How the expansions were done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// States that native code has expanded, with or without help.
    pub native: u64,
    /// States that the interpreter had to do with.
    pub interpreted: u64,
}

/// A model that expands states with native code; one for each thread.
pub struct Native<'s> {
    code: &'s Code,
    system: &'s System,
    layout: &'s Layout,
    interpreter: Interpreter<'s>,
    /// A pointer, as native code holds another one while it runs. Owned.
    context: *mut Context,
    counts: Counts,
    kinds: Kinds,
    owns: PhantomData<Context>,
}

// SAFETY: the context belongs to this value alone. Its pointers lead to the
// code's tables, where only atomics change, and to a sink only inside `expand_some`.
unsafe impl Send for Native<'_> {}

impl<'s> Native<'s> {
    /// `system` and `layout` must be those that `code` was made from. That the
    /// layout is the same is checked, as code for another one would reach
    /// beyond states.
    pub fn new(code: &'s Code, system: &'s System, layout: &'s Layout) -> Native<'s> {
        assert!(
            code.n_actions == system.actions.len() && code.layout == *layout,
            "code of another system"
        );
        let mut context = Context::new(system, code, layout.wide_locations);
        for (id, q) in layout.global_queues.iter().enumerate().take(context.queues.len()) {
            context.queues[id] = code.queue(q, 0);
        }
        if let Some(fixed) = &code.fixed {
            context.procs[..fixed.procs.len()].copy_from_slice(&fixed.procs);
            context.queues[..fixed.queues.len()].copy_from_slice(&fixed.queues);
        }
        let waits = code.rendezvous.then_some(&*code.waits);
        Native {
            code,
            system,
            layout,
            interpreter: Interpreter::new(system, layout).knowing(waits),
            context: Box::into_raw(Box::new(context)),
            counts: Counts::default(),
            kinds: Kinds::default(),
            owns: PhantomData,
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn context(&mut self) -> &mut Context {
        // SAFETY: `new` made it of a box that only `drop` frees, and native
        // code does not run.
        unsafe { &mut *self.context }
    }

    /// Finds the processes and channels of a state; false if native code cannot
    /// take it.
    #[inline(always)]
    fn load(&mut self, number: usize, found: &Found) -> bool {
        let (code, layout, state) = (self.code, self.layout, found.state);
        let context = self.context();
        if !context.load(number, found) {
            context.load_other(state);
        }
        let Some(&n_procs) = state.get(layout.count_at) else { return false };
        match &code.fixed {
            Some(fixed) => context.has_size(n_procs, state.len(), fixed),
            None => {
                self.kinds.has(state) || {
                    // SAFETY: as in `context`, which would borrow the kinds too.
                    self.kinds.turn_to(state, code, unsafe { &mut *self.context })
                }
            }
        }
    }

    /// Expands a state that is loaded; `UNWIND` if the sink wants no more.
    #[inline(always)]
    fn try_expand<const WIDE: bool>(&mut self, found: &Found) -> Status {
        if self.code.rendezvous {
            self.context().find_waiting();
        }
        let (context, around) = (self.context, self.code.around(found.cause));
        // SAFETY: the context is loaded, and not borrowed while this runs.
        match unsafe { try_each::<WIDE>(context, (*context).n_procs as usize, around) } {
            MOVED => MOVED,
            status => self.go_on(found, status),
        }
    }

    /// Nothing can happen in a state, or native code gave up.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self, found: &Found, mut status: Status) -> Status {
        if status & UNWIND != 0 {
            status = self.interpret_some(found, found.cause, false, status);
        }
        if status == STILL && self.system.uses.timeout {
            self.context().rewind(true);
            let n_procs = self.context().n_procs as usize;
            // What can happen now could not before, so it is found no other way.
            // SAFETY: as in `try_expand`.
            status = unsafe { try_all(self.context, n_procs, None) };
            if status & UNWIND != 0 {
                status = self.interpret_some(found, 0, true, status);
            }
            self.context().rewind(false);
        }
        match status {
            STILL => self.check_end(found.state),
            status => status,
        }
    }

    /// Native code gave up, or the sink wants no more: interprets that process,
    /// and so on.
    #[cold]
    #[inline(never)]
    fn interpret_some(
        &mut self,
        found: &Found,
        cause: Cause,
        timeout: bool,
        mut status: Status,
    ) -> Status {
        self.counts.interpreted += 1;
        while status & UNWIND != 0 {
            let context = self.context();
            if context.stopped || context.panic.is_some() {
                return UNWIND;
            }
            context.rewind(timeout);
            context.failure = None;
            let GaveUp { pid, n_events } = context.gave_up;
            let seen = context.n_events - n_events;
            let mut moved = status & MOVED != 0;
            let (interpreter, diamonds) = (&mut self.interpreter, &self.code.diamonds);
            let interpret = |sink: &mut dyn Sink, _: &[Step]| {
                let mut sink = LeavingOut { diamonds, cause, sink };
                let sink = &mut Resume { seen, sink: &mut sink };
                let (flow, its) = interpreter.expand_process(found.state, pid, timeout, sink);
                moved |= its;
                flow
            };
            // SAFETY: as in `context`, which would borrow the interpreter too.
            let context = unsafe { &mut *self.context };
            if context.tell(interpret, 0) == UNWIND {
                return UNWIND;
            }
            if self.code.rendezvous {
                self.context().find_waiting();
            }
            // SAFETY: as in `try_expand`.
            status = unsafe { try_all(self.context, pid, self.code.around(cause)) };
            status |= if moved { MOVED } else { STILL };
        }
        status
    }

    /// Nothing can happen in a state: that may be a fault.
    fn check_end(&mut self, state: &[u8]) -> Status {
        let (system, layout) = (self.system, self.layout);
        let context = self.context();
        if !context.wants_deadlocks {
            return STILL;
        }
        let procs = context.procs[..context.n_procs as usize].iter().map(|p| p.at as usize);
        match deadlock(system, layout, state, procs) {
            Some(fault) => context.tell(|sink, _| sink.fault(fault, &[]), 0),
            None => STILL,
        }
    }

    /// Expands the rest of a bundle with native code, or up to a state that it
    /// cannot take: the number of that.
    fn expand_some(
        &mut self,
        bundle: &[Found],
        from: usize,
        sink: &mut dyn Sink,
    ) -> Result<Flow, usize> {
        sink.turn_to(from);
        self.context().wants_deadlocks = sink.wants(FaultKind::Deadlock);
        let rows: Option<*mut Rows> = sink.rows().map(|rows| &raw mut *rows);
        // SAFETY: only the lifetime changes; the pointer is used until `leave`.
        let pointer =
            unsafe { std::mem::transmute::<*mut (dyn Sink + '_), *mut (dyn Sink + 'static)>(sink) };
        // SAFETY: the rows of the sink, which is used through the context alone.
        self.context().start(from, pointer, rows.map(|rows| unsafe { &mut *rows }));
        let mut number = from;
        let ended = match self.layout.wide_locations {
            true => self.expand_each::<true>(bundle, &mut number),
            false => self.expand_each::<false>(bundle, &mut number),
        };
        self.counts.native += (number - from) as u64;
        self.kinds.count(number - from, self.code);
        let context = self.context();
        context.leave();
        if let Some(panic) = context.panic.take() {
            std::panic::resume_unwind(panic);
        }
        ended
    }

    /// The same with a sink, from `number` on; `WIDE` is what the layout says of
    /// locations.
    #[inline(always)]
    fn expand_each<const WIDE: bool>(
        &mut self,
        bundle: &[Found],
        number: &mut usize,
    ) -> Result<Flow, usize> {
        while *number < bundle.len() {
            let tried = self.go_round(bundle, number);
            let Some(found) = bundle.get(*number) else { break };
            let status = match tried {
                Some(MOVED) => MOVED,
                Some(status) => self.go_on(found, status),
                None if !self.load(*number, found) => return Err(*number),
                // There may be a function for the kind that it is of.
                None if self.kinds.has_turned() => continue,
                None => self.try_expand::<WIDE>(found),
            };
            *number += 1;
            if status & UNWIND != 0 || self.context().make_room() == UNWIND {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// Expands states from a number on as long as they are like the last one;
    /// what became of the one that was tried last, if there is more to do for it.
    #[inline(always)]
    fn go_round(&mut self, bundle: &[Found], number: &mut usize) -> Option<Status> {
        let len = bundle[*number].state.len();
        if self.context().role() == Role::Told {
            return None;
        }
        let rounds = match &self.code.fixed {
            Some(_) => self.code.functions.rounds().filter(|_| self.context().is_whole(len))?,
            None => self.kinds.rounds().filter(|_| self.context().is_as_long(len))?,
        };
        // SAFETY: the code was made for this system; the last state had the processes
        // that it is for (those of its kind, or all: `is_whole`), so that the context
        // has them, and buffers of that length; `start` has set the rows. It is not
        // borrowed meanwhile, and the states of a bundle stay where they are until
        // it is done.
        unsafe {
            *number = rounds(self.context, bundle.as_ptr(), *number, bundle.len());
            let left = *number < bundle.len() && (*self.context).status != NOT_TRIED;
            left.then(|| (*self.context).status)
        }
    }

    #[cold]
    #[inline(never)]
    fn interpret(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Flow {
        self.counts.interpreted += 1;
        let mut sink = LeavingOut { diamonds: &self.code.diamonds, cause, sink };
        self.interpreter.expand(state, &mut sink)
    }
}

impl Drop for Native<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made it of a box, and this is the only place that ends it.
        drop(unsafe { Box::from_raw(self.context) });
    }
}

impl Model for Native<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        self.interpreter.initial(sink)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.expand_found(state, 0, sink)
    }

    fn expand_found(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Flow {
        let head = sink.rows().map_or(Head::NONE, |rows| rows.head());
        let found = Found { state, cause, head };
        let ended = match self.code.is_native {
            true => self.expand_some(&[found], 0, sink),
            false => Err(0),
        };
        ended.unwrap_or_else(|_| self.interpret(state, cause, sink))
    }

    fn expand_all(&mut self, bundle: &[Found], sink: &mut dyn Sink) -> Flow {
        let mut from = 0;
        while from < bundle.len() {
            let ended = match self.code.is_native {
                true => self.expand_some(bundle, from, sink),
                false => Err(from),
            };
            let number = match ended {
                Ok(flow) => return flow,
                Err(number) => number,
            };
            let Found { state, cause, .. } = bundle[number];
            sink.turn_to(number);
            if self.interpret(state, cause, sink) == Flow::Stop {
                return Flow::Stop;
            }
            from = number + 1;
        }
        Flow::Continue
    }

    fn hidden(&self) -> usize {
        self.layout.hidden
    }

    fn reached(&mut self) -> &[bool] {
        // SAFETY: as in `context`, which would borrow the interpreter too.
        let reached = unsafe { &mut (*self.context).reached };
        for (ours, theirs) in reached.iter_mut().zip(self.interpreter.reached()) {
            *ours |= *theirs;
        }
        reached
    }
}
