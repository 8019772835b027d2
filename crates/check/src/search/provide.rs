//! A thread that provides memory while others search: fresh pages cost the
//! system up to a microsecond each, more on some virtual machines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Thread, park_timeout, scope};
use std::time::Duration;

/// Between two looks whether there is something to do.
const EVERY: Duration = Duration::from_millis(1);

/// Runs a search while another thread provides memory, as `Store::provide` does.
pub(super) fn provide_meanwhile(provide: impl Fn() -> bool + Sync, search: impl FnOnce()) {
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
