//! A model that starts at once and becomes fast: the interpreter runs until
//! native code, made meanwhile on another thread, is ready. That thread asks
//! where the search has come by, makes code for it, and asks again: most of a
//! large model's code would be of use too late or never. As native code and
//! interpreter hand out the same events, nobody can tell when one takes over
//! from the other.

use ir::model::{Flow, Found, Model, Sink};
use ir::rows::Cause;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The interpreter has so much time to be done before anything is compiled.
const HEAD_START: Duration = Duration::from_micros(300);
/// Time between two questions, to begin with and at most: it doubles whenever
/// the answer is nothing new.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(256);
/// How often code can be published.
const MOST_CODES: usize = 24;

/// Native code that is made for a search while it runs on any number of threads.
pub struct Compiling<C> {
    codes: [OnceLock<C>; MOST_CODES],
    n_codes: AtomicUsize,
    /// Counts what the threads of the search must look at: questions and codes.
    news: AtomicU32,
    cancelled: AtomicBool,
    /// Held while `cancelled` is set, so that who waits for either is woken.
    said: Mutex<Said>,
    wake: Condvar,
}

/// What the threads have said since they were last asked.
#[derive(Default)]
struct Said {
    /// The actions that any of them has ever reached.
    reached: Vec<bool>,
    is_new: bool,
}

impl<C> Default for Compiling<C> {
    fn default() -> Compiling<C> {
        Compiling {
            codes: [const { OnceLock::new() }; MOST_CODES],
            n_codes: AtomicUsize::new(0),
            news: AtomicU32::new(0),
            cancelled: AtomicBool::new(false),
            said: Mutex::default(),
            wake: Condvar::new(),
        }
    }
}

impl<C> Compiling<C> {
    /// Compiles, unless cancelled first; to be run on a thread of its own.
    pub fn run<E>(&self, compile: impl FnOnce(&Compiling<C>) -> Result<(), E>) {
        let said = self.said();
        drop(self.wait(said, HEAD_START, |_| true));
        // Without code, or with a part of it, all goes on as it does.
        let _ = compile(self);
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for so long, or while a condition holds and the code is needed.
    fn wait<'c>(
        &self,
        said: MutexGuard<'c, Said>,
        most: Duration,
        mut holds: impl FnMut(&Said) -> bool,
    ) -> MutexGuard<'c, Said> {
        let holds = |said: &mut Said| !self.cancelled.load(Ordering::Relaxed) && holds(said);
        let waited = self.wake.wait_timeout_while(said, most, holds);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Asks which actions the search has reached, and waits until there are
    /// more than last time; `None` if the code is no longer needed.
    pub fn ask(&self) -> Option<Vec<bool>> {
        let mut said = self.said();
        let mut pause = SHORTEST_PAUSE;
        while !self.cancelled.load(Ordering::Relaxed) {
            // Relaxed: threads say it under the lock.
            self.news.fetch_add(1, Ordering::Relaxed);
            said = self.wait(said, pause, |said| !said.is_new);
            if std::mem::take(&mut said.is_new) {
                return Some(said.reached.clone());
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        None
    }

    /// A thread has reached these actions.
    fn say(&self, reached: &[bool]) {
        let mut said = self.said();
        said.reached.resize(reached.len(), false);
        let Said { reached: all, is_new, .. } = &mut *said;
        for (any, its) in all.iter_mut().zip(reached) {
            *is_new |= *its && !*any;
            *any |= *its;
        }
        if said.is_new {
            self.wake.notify_all();
        }
    }

    /// Has the search go on with this code, which has all that was published
    /// before. False if only one more can be published.
    pub fn publish(&self, code: C) -> bool {
        let number = self.n_codes.load(Ordering::Relaxed);
        if let Some(place) = self.codes.get(number) {
            // Nobody else publishes.
            let _ = place.set(code);
            // Release: the code is there.
            self.n_codes.store(number + 1, Ordering::Release);
            self.news.fetch_add(1, Ordering::Release);
        }
        number + 2 < MOST_CODES
    }

    /// Whether the code is no longer needed.
    pub fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Ends `run` soon: the code is no longer needed.
    pub fn cancel(&self) {
        let _said = self.said();
        // Relaxed: a flag on its own; the lock is for who waits.
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
    /// The codes and the news that were looked at.
    n_codes: usize,
    news: u32,
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
        Tiered { compiling, interpreter, start, native, n_codes: 0, news: 0, reached }
    }

    /// The model that is ready: goes over to native code when that is.
    #[inline(always)]
    fn model(&mut self) -> &mut (dyn Model + 's) {
        let news = self.compiling.news.load(Ordering::Acquire);
        if news != self.news {
            self.news = news;
            self.look_at_news();
        }
        match &mut self.native {
            Some(native) => &mut **native,
            None => &mut *self.interpreter,
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_news(&mut self) {
        let compiling = self.compiling;
        compiling.say(self.reached());
        let n_codes = compiling.n_codes.load(Ordering::Acquire);
        if n_codes > self.n_codes {
            self.n_codes = n_codes;
            self.native = compiling.codes[n_codes - 1].get().map(|code| (self.start)(code));
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
