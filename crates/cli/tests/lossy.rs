//! Stores that lose states: never one too many, and precision on demand wins
//! some back.

mod common;

use check::{Layout, Options, Storage, Turns, Verdict};
use common::{Engine, Expect, FULL, load, models, search_with};

/// Models that take long enough to lose something.
const LEAST_STATES: u64 = 2000;

fn storages() -> Vec<Storage> {
    let bitstate = |bits, hashes, layout| Storage::Bitstate { bits, hashes, layout };
    let compact = |signature| Storage::Compact { arena: 1 << 20, signature, drop: true };
    vec![
        bitstate(1 << 13, 1, Layout::Scattered),
        bitstate(1 << 14, 2, Layout::Blocked),
        compact(2),
        compact(4),
        compact(7),
    ]
}

#[test]
fn no_state_is_counted_twice_and_precision_wins_some_back() {
    // By order and precision.
    let mut seen = [[0; 4]; 3];
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let Some((states, _)) = Expect::read(&text).and_then(|e| e.counts) else { continue };
        if states < LEAST_STATES {
            continue;
        }
        let system = load(&path);
        for (storage, seed) in storages().into_iter().zip(1..) {
            for (i, precision) in (0..12).map(|i| (i / 4, i % 4)) {
                let turns = [Turns::Forward, Turns::Reverse, Turns::Random][i];
                let options = Options {
                    storage,
                    seed,
                    turns,
                    precision: precision as u32,
                    threads: 1,
                    ignore: FULL.to_vec(),
                    ..Options::default()
                };
                let outcome = search_with(&system, Engine::Jit, &options);
                let path = path.display();
                let name = format!("{path} {storage:?} {turns:?} precision {precision}");
                assert_eq!(outcome.verdict, Verdict::NoViolationFound, "{name}");
                assert!(outcome.states <= states, "{name}: {} of {states}", outcome.states);
                seen[i][precision] += outcome.states;
            }
        }
    }
    assert!(seen[0][0] > 0, "no model is large enough");
    for [none, one, two, _] in seen {
        assert!(none * 101 < one * 100 && one <= two + two / 1000, "{seen:?}");
    }
    // What a state's search ends with is what others have not seen.
    assert!(seen[0][1] * 101 < seen[1][1] * 100, "{seen:?}");
}
