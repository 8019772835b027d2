//! A model that starts at once and becomes fast: the interpreter runs until
//! native code, made meanwhile on another thread, is ready. As both hand out
//! the same events, nobody can tell when one takes over from the other.

use crate::code::{Code, Error, compile_until};
use crate::native::Native;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::{Flow, Model, Sink};
use ir::system::System;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The interpreter has so much time to be done before anything is compiled.
const HEAD_START: Duration = Duration::from_millis(2);

/// Native code that will be ready some time, for all threads of a search.
#[derive(Default)]
pub struct Compiling {
    code: OnceLock<Result<Code, Error>>,
    cancelled: AtomicBool,
    /// Held while `cancelled` is set, so that who waits for it is woken.
    waiting: Mutex<()>,
    wake: Condvar,
}

impl Compiling {
    pub fn new() -> Compiling {
        Compiling::default()
    }

    /// Compiles, unless cancelled first; to be run on a thread of its own.
    pub fn run(&self, system: &System, layout: &Layout) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = |_: &mut ()| !self.cancelled.load(Ordering::Relaxed);
        drop(self.wake.wait_timeout_while(waiting, HEAD_START, needed));
        let made = compile_until(system, layout, &self.cancelled);
        // Nobody else sets it; if so, the first is as good.
        let _ = self.code.set(made);
    }

    /// Ends `run` soon: the code is no longer needed.
    pub fn cancel(&self) {
        let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: a flag on its own; the lock is for who waits.
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    fn code(&self) -> Option<&Code> {
        self.code.get()?.as_ref().ok()
    }
}

pub struct Tiered<'s> {
    compiling: &'s Compiling,
    system: &'s System,
    layout: &'s Layout,
    interpreter: Interpreter<'s>,
    native: Option<Native<'s>>,
    /// What either of them has run.
    reached: Vec<bool>,
}

impl<'s> Tiered<'s> {
    /// `compiling` must be run with the same system and layout.
    pub fn new(compiling: &'s Compiling, system: &'s System, layout: &'s Layout) -> Tiered<'s> {
        let interpreter = Interpreter::new(system, layout);
        Tiered { compiling, system, layout, interpreter, native: None, reached: Vec::new() }
    }

    /// Goes over to native code if it is ready.
    fn advance(&mut self) -> Option<&mut Native<'s>> {
        if self.native.is_none() {
            let code = self.compiling.code()?;
            self.native = Some(Native::new(code, self.system, self.layout));
        }
        self.native.as_mut()
    }
}

impl Model for Tiered<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        self.interpreter.initial(sink)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        match self.advance() {
            Some(native) => native.expand(state, sink),
            None => self.interpreter.expand(state, sink),
        }
    }

    fn hidden(&self) -> usize {
        self.layout.hidden
    }

    fn reached(&mut self) -> &[bool] {
        self.reached = self.interpreter.reached().to_vec();
        if let Some(native) = &mut self.native {
            self.reached.iter_mut().zip(native.reached()).for_each(|(a, b)| *a |= b);
        }
        &self.reached
    }
}
