//! A thread that provides memory while others search: fresh pages cost the
//! system up to a microsecond each, more on some virtual machines. Where threads
//! that search have all cores it would take one of these from them, for some
//! milliseconds at a time: then each provides what it needs itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Thread, available_parallelism, park_timeout, scope};
use std::time::Duration;

/// Between two looks whether there is something to do.
const EVERY: Duration = Duration::from_millis(1);

/// Runs a search by so many threads while another one provides memory, as
/// `Store::provide` does, if there is a core for it.
pub(super) fn provide_meanwhile(
    threads: usize,
    provide: impl Fn() -> bool + Sync,
    search: impl FnOnce(),
) {
    // The system answers by files, so it is asked once.
    static CORES: OnceLock<usize> = OnceLock::new();
    if threads >= *CORES.get_or_init(|| available_parallelism().map_or(1, |cores| cores.get())) {
        return search();
    }
    let over = AtomicBool::new(false);
    scope(|scope| {
        let provide = || {
            // Relaxed: a flag on its own.
            while !over.load(Ordering::Relaxed) {
                if !provide() {
                    park_timeout(EVERY);
                }
            }
        };
        // Without such a thread the search is slower, no more.
        let provider = Builder::new().name("memory".into()).spawn_scoped(scope, provide).ok();
        let _ended = Ended { over: &over, provider: provider.as_ref().map(|p| p.thread()) };
        search();
    });
}

/// The search is over, also if it ends by a panic.
struct Ended<'p> {
    over: &'p AtomicBool,
    provider: Option<&'p Thread>,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(provider) = self.provider {
            provider.unpark();
        }
    }
}
