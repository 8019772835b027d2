//! A short search before the swarm, to choose the size of its arenas.
//!
//! It counts states, not time, so that the same model gets the same arenas
//! every time, unless a limit ends it.

use crate::args::swarm::PlanArgs;
use crate::check;
use ::check::{Discipline, Layout, Maker, Options, Searcher, Stop, Storage, Turns};
use report::text::{bytes, count};
use std::time::Duration;
use swarm::Portfolio;

/// Bits of the pilot's arena, which are those of a core's own cache.
const PILOT: u64 = 1 << 22;
/// It takes this part of the time at the most.
const TIME_PART: u32 = 4;
/// Bits of an arena for a state with which few states are missed.
const ROOMY: u64 = 16;

pub struct Pilot {
    pub arena: u64,
    pub portfolio: Portfolio,
    /// In one line.
    pub explanation: String,
}

/// `memory` is that of one thread, `time` that of the whole swarm.
pub fn pilot(make: &Maker, args: &PlanArgs, memory: u64, time: Option<Duration>) -> Pilot {
    let options = Options {
        storage: Storage::Bitstate { bits: PILOT, hashes: 1, layout: Layout::Blocked },
        turns: Turns::Random,
        seed: args.seed,
        depth: args.depth,
        ignore: check::ignored(&args.ignore, &args.model),
        max_violations: usize::MAX,
        interrupt: check::interrupt(),
        time: time.map(|time| time / TIME_PART),
        ..Options::default()
    };
    let outcome = Searcher::new(make, memory).search(Discipline::Dfs, &options);
    let states = outcome.states;
    let found = format!("a pilot search found {} states in {}", count(states), bytes(PILOT / 8));
    let whole = outcome.stop.is_none_or(|stop| stop == Stop::Depth);
    if whole && states * ROOMY <= PILOT {
        // Few enough that each task sees nearly all.
        let arena = (states * ROOMY).next_power_of_two().max(1 << 14);
        return Pilot {
            arena,
            portfolio: Portfolio::Uniform,
            explanation: format!(
                "{found}, which is nearly all: arenas of {} each ('supertrace check' may do)",
                bytes(arena / 8)
            ),
        };
    }
    Pilot {
        arena: PILOT,
        portfolio: Portfolio::Halving,
        explanation: format!(
            "{found}, and there are more: half of the tasks have arenas of {}, half of the rest \
             half of that, and so on",
            bytes(PILOT / 8)
        ),
    }
}
