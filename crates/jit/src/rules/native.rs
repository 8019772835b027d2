//! The model that runs native code of rules, and hands over to the
//! interpreter where that gives up.

use super::context::{Context, DONE, STOP};
use super::packer::Packer;
use super::{Code, PropertyFn};
use crate::native::Counts;
use crate::resume::Resume;
use ir::fault::FaultKind;
use ir::model::{Flow, Model, Sink};
use ir::rules::code::MAX_TICKS;
use ir::rules::symmetry::Canon;
use ir::rules::{Instr, Interpreter, Rules, Stored, deadlock};
use std::marker::PhantomData;

/// After so many instances of rules limits are looked at.
const TICK_INSTANCES: u64 = 1 << 10;

/// A model that expands states with native code; one for each thread.
pub struct Native<'r> {
    code: &'r Code,
    rules: &'r Rules,
    interpreter: Box<dyn Model + 'r>,
    /// A pointer, as native code holds another one while it runs. Owned.
    context: *mut Context,
    /// By rule; and how many were tried since limits were last looked at.
    n_instances: Vec<u64>,
    tried: u64,
    counts: Counts,
    /// Properties call routines, which may change the state.
    restores: bool,
    /// The rules, then the covers.
    reached: Vec<bool>,
    owns: PhantomData<Context>,
}

// SAFETY: the context belongs to this value alone. Its pointers lead to the
// code's tables, which are never changed, to its own buffers, and to a sink
// only inside `expand`.
unsafe impl Send for Native<'_> {}

impl<'r> Native<'r> {
    /// `rules` must be those that `code` was made from.
    pub fn new(code: &'r Code, rules: &'r Rules) -> Native<'r> {
        Native::with(code, rules, Box::new(Interpreter::new(rules)), None)
    }

    /// A model with the states of `Stored`.
    pub fn stored(code: &'r Code, rules: &'r Rules) -> Box<dyn Model + 'r> {
        if Canon::new(rules).is_some() {
            return Stored::of(Box::new(Native::new(code, rules)), rules);
        }
        let interpreter = Stored::of(Box::new(Interpreter::new(rules)), rules);
        Box::new(Native::with(code, rules, interpreter, code.packer.clone()))
    }

    fn with(
        code: &'r Code,
        rules: &'r Rules,
        interpreter: Box<dyn Model + 'r>,
        packer: Option<Packer>,
    ) -> Native<'r> {
        assert_eq!(code.rules.len(), rules.rules.len(), "code of other rules");
        Native {
            code,
            rules,
            interpreter,
            context: Box::into_raw(Box::new(Context::new(rules, code, packer))),
            n_instances: rules.rules.iter().map(|r| r.n_instances()).collect(),
            tried: 0,
            counts: Counts::default(),
            restores: properties_call(rules),
            reached: vec![false; rules.n_reached()],
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

    /// The value of a property in the state; `None` if native code gave up.
    fn holds(&mut self, property: PropertyFn) -> Option<bool> {
        let context = self.context();
        context.ticks = MAX_TICKS;
        let (row, frames) = (context.row, context.frames);
        let frame = frames as i64 - row as i64;
        // SAFETY: the row has a copy of the state, and the frames are as long
        // as code for these rules needs them.
        let returned = unsafe { property(self.context, row, frame) };
        if self.restores {
            self.context().restore();
        }
        (returned.status == DONE).then_some(returned.value == 1)
    }

    /// Looks at what must hold in every state; false if it must be done over.
    fn check(&mut self) -> bool {
        let (code, rules) = (self.code, self.rules);
        for property in code.properties[code.pieces.invariants..code.pieces.covers].iter().flatten()
        {
            if self.holds(*property) != Some(true) {
                return false;
            }
        }
        for (i, property) in code.properties[code.pieces.covers..].iter().enumerate() {
            let Some(property) = property.filter(|_| !self.reached[rules.rules.len() + i]) else {
                continue;
            };
            match self.holds(property) {
                None => return false,
                Some(holds) => self.reached[rules.rules.len() + i] = holds,
            }
        }
        true
    }

    /// Expands natively; `None` if native code gave up.
    fn try_rules(&mut self, sink: *mut (dyn Sink + '_)) -> Option<Flow> {
        if !self.check() {
            return None;
        }
        for (rule, n_instances) in self.code.rules.iter().zip(&self.n_instances) {
            // SAFETY: the context is ready, and not borrowed while this runs.
            match unsafe { rule(self.context) } {
                DONE => {}
                STOP => return Some(Flow::Stop),
                _ => return None,
            }
            self.tried = self.tried.saturating_add(*n_instances);
            if self.tried >= TICK_INSTANCES {
                self.tried = 0;
                // SAFETY: native code does not run, so nobody else uses the sink.
                if unsafe { (*sink).tick(0) } == Flow::Stop {
                    return Some(Flow::Stop);
                }
            }
        }
        Some(Flow::Continue)
    }

    fn interpret(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let seen = self.context().seen;
        self.interpreter.expand(state, &mut Resume { seen, sink })
    }
}

fn properties_call(rules: &Rules) -> bool {
    let invariants = rules.invariants.iter().map(|property| &property.code);
    let mut all = invariants.chain(rules.covers.iter().filter_map(|cover| cover.code.as_ref()));
    all.any(|code| code.instrs.iter().any(|instr| matches!(instr, Instr::Call { .. })))
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
        // SAFETY: both live until `leave`, which is called below.
        unsafe { self.context().enter(state, sink) };
        let flow = self.try_rules(sink);
        let context = self.context();
        context.leave();
        if let Some(panic) = context.panic.take() {
            std::panic::resume_unwind(panic);
        }
        let (enabled, changed) = (context.enabled, context.changed);
        match flow {
            None => self.counts.interpreted += 1,
            Some(_) => self.counts.native += 1,
        }
        match flow {
            None => self.interpret(state, sink),
            Some(Flow::Stop) => Flow::Stop,
            Some(Flow::Continue) => match deadlock(self.rules, enabled, changed) {
                Some(fault) if sink.wants(FaultKind::Deadlock) => sink.fault(fault, &[]),
                _ => Flow::Continue,
            },
        }
    }

    fn reached(&mut self) -> &[bool] {
        let n_rules = self.rules.rules.len();
        // SAFETY: as in `context`, which would borrow all of this value.
        let context = unsafe { &*self.context };
        let covered = context.covered().iter().map(|covered| *covered != 0);
        let native = context.reached.iter().copied().chain(covered);
        let interpreted = self.interpreter.reached().iter().copied();
        for (reached, (a, b)) in self.reached.iter_mut().zip(native.zip(interpreted)) {
            *reached |= a | b;
        }
        debug_assert_eq!(self.reached.len(), n_rules + self.rules.covers.len());
        &self.reached
    }
}
