//! A model that starts at once and becomes fast: the interpreter runs until
//! native code is there, which is made meanwhile on another thread. As native
//! code and interpreter hand out the same events, nobody can tell when one takes
//! over from the other.

use ir::model::{Flow, Found, Model, Sink};
use ir::rows::Cause;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The interpreter has so much time to be done before anything is compiled.
const HEAD_START: Duration = Duration::from_micros(50);

/// Native code that is made for a search while it runs on any number of threads.
pub struct Compiling<C> {
    code: OnceLock<C>,
    cancelled: AtomicBool,
    /// Held while `cancelled` is set, so that who pauses is woken.
    lock: Mutex<()>,
    wake: Condvar,
}

impl<C> Default for Compiling<C> {
    fn default() -> Compiling<C> {
        Compiling {
            code: OnceLock::new(),
            cancelled: AtomicBool::new(false),
            lock: Mutex::default(),
            wake: Condvar::new(),
        }
    }
}

impl<C> Compiling<C> {
    /// Compiles, unless cancelled first; to be run on a thread of its own.
    pub fn run<E>(&self, compile: impl FnOnce(&Compiling<C>) -> Result<(), E>) {
        self.pause(HEAD_START);
        if !self.is_cancelled() {
            // Without code, or with a part of it, all goes on as it does.
            let _ = compile(self);
        }
    }

    /// Waits for so long, unless the code is no longer needed.
    pub fn pause(&self, most: Duration) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Whatever it says: who pauses looks what there is to do.
        let _ = self.wake.wait_timeout_while(lock, most, |()| !self.is_cancelled());
    }

    /// Has the search go on with this code.
    pub fn publish(&self, code: C) {
        // Nobody else publishes.
        let _ = self.code.set(code);
    }

    /// Whether the code is no longer needed.
    pub fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    pub fn is_cancelled(&self) -> bool {
        // Relaxed: a flag on its own; the lock is for who waits.
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Ends `run` soon: the code is no longer needed.
    pub fn cancel(&self) {
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: as above.
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }
}

/// Makes the native model of code that is ready.
type Start<'s, C> = Box<dyn Fn(&'s C) -> Box<dyn Model + 's> + Send + 's>;

pub struct Tiered<'s, C> {
    compiling: &'s Compiling<C>,
    interpreter: Box<dyn Model + 's>,
    start: Start<'s, C>,
    native: Option<Box<dyn Model + 's>>,
    /// What was run.
    reached: Vec<bool>,
}

impl<'s, C> Tiered<'s, C> {
    pub fn new(
        compiling: &'s Compiling<C>,
        interpreter: Box<dyn Model + 's>,
        start: Start<'s, C>,
    ) -> Tiered<'s, C> {
        let (native, reached) = (None, Vec::new());
        Tiered { compiling, interpreter, start, native, reached }
    }

    /// The model that is ready: goes over to native code when that is.
    #[inline(always)]
    fn model(&mut self) -> &mut (dyn Model + 's) {
        if self.native.is_none() {
            self.native = self.compiling.code.get().map(|code| (self.start)(code));
        }
        match &mut self.native {
            Some(native) => &mut **native,
            None => &mut *self.interpreter,
        }
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

    fn expand_all(&mut self, bundle: &[Found], sink: &mut dyn Sink) -> Flow {
        self.model().expand_all(bundle, sink)
    }

    fn hidden(&self) -> usize {
        self.interpreter.hidden()
    }

    fn reached(&mut self) -> &[bool] {
        for model in [Some(&mut self.interpreter), self.native.as_mut()].into_iter().flatten() {
            let its = model.reached();
            self.reached.resize(its.len(), false);
            self.reached.iter_mut().zip(its).for_each(|(any, its)| *any |= its);
        }
        &self.reached
    }
}
