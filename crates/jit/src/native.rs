//! The model that runs native code, and hands over to the interpreter where
//! native code gives up.

use crate::code::Code;
use crate::leaving_out::LeavingOut;
use crate::resume::Resume;
use crate::runtime::{Context, MOVED, Process, STILL, UNWIND, queue, try_all};
use ir::fault::FaultKind;
use ir::interpret::{Interpreter, deadlock};
use ir::layout::Layout;
use ir::model::{Flow, Model, Sink};
use ir::rows::Cause;
use ir::system::System;
use std::marker::PhantomData;

/// How the expansions were done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub native: u64,
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
    owns: PhantomData<Context>,
}

// SAFETY: the context belongs to this value alone. Its pointers lead to the
// code's tables, which are never changed, and to a sink only inside `expand`.
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
            let class = code.class_of[q.chan.idx()];
            context.queues[id] = queue(q.offset, class, layout.chans[q.chan.idx()].capacity);
        }
        if let Some(fixed) = &code.fixed {
            context.procs[..fixed.procs.len()].copy_from_slice(&fixed.procs);
        }
        Native {
            code,
            system,
            layout,
            interpreter: Interpreter::new(system, layout),
            context: Box::into_raw(Box::new(context)),
            counts: Counts::default(),
            owns: PhantomData,
        }
    }

    /// How many expansions native code did alone.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn context(&mut self) -> &mut Context {
        // SAFETY: `new` made it of a box that only `drop` frees, and native
        // code does not run.
        unsafe { &mut *self.context }
    }

    /// Finds the processes and channels; false if native code cannot take it.
    fn load(&mut self, state: &[u8], sink: &mut dyn Sink) -> bool {
        let (code, layout) = (self.code, self.layout);
        let context = self.context();
        context.load(state, sink);
        let Some(&n_procs) = state.get(layout.count_at) else { return false };
        if let Some(fixed) = &code.fixed {
            if fixed.lens.get(n_procs as usize) != Some(&state.len()) {
                return false;
            }
            if !code.looks_up_channels {
                context.n_procs = n_procs as u32;
                return true;
            }
        }
        context.has_same_processes(state) || self.find_processes(state)
    }

    /// Finds them though others were there last.
    #[cold]
    #[inline(never)]
    fn find_processes(&mut self, state: &[u8]) -> bool {
        let (code, layout) = (self.code, self.layout);
        let context = self.context();
        let Some(&n_procs) = state.get(layout.count_at) else { return false };
        context.forget_shape();
        let mut at = layout.procs_at;
        let mut n_queues = layout.global_queues.len();
        if n_queues > context.queues.len() {
            return false;
        }
        for pid in 0..n_procs as usize {
            let Some(&ty) = state.get(at) else { return false };
            let Some(proc) = layout.procs.get(ty as usize) else { return false };
            context.procs[pid] = Process { at: at as u32, ..code.processes[ty as usize] };
            if n_queues + proc.queues.len() > context.queues.len() {
                return false;
            }
            for q in &proc.queues {
                let capacity = layout.chans[q.chan.idx()].capacity;
                let class = code.class_of[q.chan.idx()];
                context.queues[n_queues] = queue(at + q.offset, class, capacity);
                n_queues += 1;
            }
            at += proc.size;
        }
        if at != state.len() {
            return false;
        }
        context.n_procs = n_procs as u32;
        context.n_queues = n_queues as u32;
        context.set_shape(state, layout.procs_at);
        true
    }

    /// Expands natively; `None` if native code gave up.
    fn try_expand(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Option<Flow> {
        if !self.code.is_native || !self.load(state, sink) {
            return None;
        }
        // SAFETY: only the lifetime changes; the pointer is used until the
        // end of this function, as it is cleared there.
        let pointer =
            unsafe { std::mem::transmute::<*mut (dyn Sink + '_), *mut (dyn Sink + 'static)>(sink) };
        if self.code.rendezvous {
            self.context().find_waiting();
        }
        self.context().sink = Some(pointer);
        let around = self.code.around(cause);
        // SAFETY: the context is loaded, and not borrowed while this runs.
        let mut status = unsafe { try_all(self.context, around) };
        if status == STILL && self.system.uses.timeout {
            self.context().timeout = 1;
            // SAFETY: as above.
            status = unsafe { try_all(self.context, None) };
        }
        let context = self.context();
        context.sink = None;
        // SAFETY: the sink was not used but by the context.
        unsafe { context.leave() };
        if status == UNWIND
            && let Some(panic) = context.panic.take()
        {
            std::panic::resume_unwind(panic);
        }
        match status {
            MOVED => Some(Flow::Continue),
            STILL => Some(self.check_end(state, sink)),
            _ => context.stopped.then_some(Flow::Stop),
        }
    }

    fn check_end(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if !sink.wants(FaultKind::Deadlock) {
            return Flow::Continue;
        }
        let (system, layout) = (self.system, self.layout);
        let context = self.context();
        let procs = context.procs[..context.n_procs as usize].iter().map(|p| p.at as usize);
        match deadlock(system, layout, state, procs) {
            Some(fault) => sink.fault(fault, &[]),
            None => Flow::Continue,
        }
    }

    #[cold]
    #[inline(never)]
    fn interpret(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Flow {
        let context = self.context();
        let seen = context.successors + context.faults + context.skipped;
        let mut sink = LeavingOut { diamonds: &self.code.diamonds, cause, sink };
        let flow = self.interpreter.expand(state, &mut Resume { seen, sink: &mut sink });
        // SAFETY: as in `context`, which would borrow the interpreter too.
        let reached = unsafe { &mut (*self.context).reached };
        for (ours, theirs) in reached.iter_mut().zip(self.interpreter.reached()) {
            *ours |= *theirs;
        }
        flow
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
        match self.try_expand(state, cause, sink) {
            Some(flow) => {
                self.counts.native += 1;
                flow
            }
            None => {
                self.counts.interpreted += 1;
                self.interpret(state, cause, sink)
            }
        }
    }

    fn hidden(&self) -> usize {
        self.layout.hidden
    }

    fn reached(&mut self) -> &[bool] {
        // SAFETY: as in `context`.
        unsafe { &(*self.context).reached }
    }
}
