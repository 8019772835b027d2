//! Random systems: native code and the interpreter hand out the same events.
//!
//! A fresh seed each time, printed with the result. `JIT_FUZZ_SECONDS` and
//! `JIT_FUZZ_CASES` say how much, `JIT_FUZZ_SEED` where to begin: a case that
//! fails names the seed that begins with it.

#[path = "../common/mod.rs"]
mod common;
mod expressions;
mod random;
mod systems;
mod variables;

use common::compare;
use ir::reduce::reduce;
use random::Random;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const MAX_STATES: usize = 150;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|v| v.parse().expect("a number"))
}

#[test]
fn random_systems_have_the_same_successors() {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    let seed = setting("JIT_FUZZ_SEED").unwrap_or(clock);
    let max_cases = setting("JIT_FUZZ_CASES").unwrap_or(u64::MAX);
    let seconds = setting("JIT_FUZZ_SECONDS");
    // A number of cases alone has no limit of time.
    let seconds = seconds.unwrap_or(if max_cases == u64::MAX { 10 } else { u64::MAX >> 1 });
    let (begin, limit) = (Instant::now(), Duration::from_secs(seconds));
    let (mut native, mut interpreted, mut cases) = (0, 0, 0);
    while cases < max_cases && begin.elapsed() < limit {
        let case = seed.wrapping_add(cases);
        let system = systems::system(&mut Random::new(case));
        let system = if case % 4 == 3 { reduce(&system) } else { system };
        match compare(&system, MAX_STATES) {
            Ok(counts) => {
                native += counts.native;
                interpreted += counts.interpreted;
            }
            Err(why) => {
                panic!("JIT_FUZZ_SEED={case}: {why}\n{system}")
            }
        }
        cases += 1;
    }
    let _ = writeln!(
        std::io::stderr(),
        "fuzz: seed {seed}, {cases} cases, {native} expansions native, {interpreted} interpreted"
    );
    assert!(cases < 100 || native > 2 * interpreted, "most expansions should be native");
}
