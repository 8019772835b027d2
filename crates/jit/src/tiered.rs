//! A model that starts at once and becomes fast: the interpreter runs until
//! native code, made meanwhile on another thread, is ready. As both hand out
//! the same events, nobody can tell when one takes over from the other.

use crate::code::Error;
use ir::model::{Flow, Model, Sink};
use ir::rows::Cause;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The interpreter has so much time to be done before anything is compiled.
const HEAD_START: Duration = Duration::from_millis(2);

/// Native code that will be ready some time, for all threads of a search.
pub struct Compiling<C> {
    code: OnceLock<Result<C, Error>>,
    cancelled: AtomicBool,
    /// Held while `cancelled` is set, so that who waits for it is woken.
    waiting: Mutex<()>,
    wake: Condvar,
}

impl<C> Default for Compiling<C> {
    fn default() -> Compiling<C> {
        Compiling {
            code: OnceLock::new(),
            cancelled: AtomicBool::new(false),
            waiting: Mutex::new(()),
            wake: Condvar::new(),
        }
    }
}

impl<C> Compiling<C> {
    /// Compiles, unless cancelled first; to be run on a thread of its own.
    pub fn run(&self, compile: impl FnOnce(&AtomicBool) -> Result<C, Error>) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = |_: &mut ()| !self.cancelled.load(Ordering::Relaxed);
        drop(self.wake.wait_timeout_while(waiting, HEAD_START, needed));
        let made = compile(&self.cancelled);
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

    fn code(&self) -> Option<&C> {
        self.code.get()?.as_ref().ok()
    }
}

/// Makes the native model of code that is ready.
type Start<'s, C> = Box<dyn Fn(&'s C) -> Box<dyn Model + 's> + Send + 's>;

pub struct Tiered<'s, C> {
    compiling: &'s Compiling<C>,
    interpreter: Box<dyn Model + 's>,
    start: Start<'s, C>,
    native: Option<Box<dyn Model + 's>>,
    /// What either of them has run.
    reached: Vec<bool>,
}

impl<'s, C> Tiered<'s, C> {
    pub fn new(
        compiling: &'s Compiling<C>,
        interpreter: Box<dyn Model + 's>,
        start: Start<'s, C>,
    ) -> Tiered<'s, C> {
        Tiered { compiling, interpreter, start, native: None, reached: Vec::new() }
    }

    /// The model that is ready: goes over to native code when that is.
    #[inline(always)]
    fn model(&mut self) -> &mut (dyn Model + 's) {
        if self.native.is_none() {
            self.advance();
        }
        match &mut self.native {
            Some(native) => &mut **native,
            None => &mut *self.interpreter,
        }
    }

    #[inline(never)]
    fn advance(&mut self) {
        self.native = self.compiling.code().map(|code| (self.start)(code));
    }
}

impl<C> Model for Tiered<'_, C> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        self.interpreter.initial(sink)
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.model().expand(state, sink)
    }

    fn expand_found(&mut self, state: &[u8], cause: Cause, sink: &mut dyn Sink) -> Flow {
        self.model().expand_found(state, cause, sink)
    }

    fn hidden(&self) -> usize {
        self.interpreter.hidden()
    }

    fn reached(&mut self) -> &[bool] {
        self.reached = self.interpreter.reached().to_vec();
        if let Some(native) = &mut self.native {
            self.reached.iter_mut().zip(native.reached()).for_each(|(a, b)| *a |= b);
        }
        &self.reached
    }
}
