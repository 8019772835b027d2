//! Models of others with results known from Spin, if the corpus is there.

mod common;

use check::{Order, Verdict};
use common::{FULL, corpus, load, search, skipped};
use ir::reduce;

/// Larger models would take the test run too long; `cargo xtask bench` runs them.
const MAX_STATES: u64 = 1_000_000;

#[test]
fn counts_and_first_errors_are_those_of_spin() {
    let Some(corpus) = corpus() else {
        return skipped("corpus", "../shared/corpus is not there");
    };
    let table = std::fs::read_to_string(corpus.join("expected.tsv")).expect("expected.tsv");
    let mut n = 0;
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, states, transitions, _, _, first_error] = columns[..] else {
            panic!("a line of expected.tsv has six columns: {line}")
        };
        let counts: (u64, u64) = (states.parse().unwrap(), transitions.parse().unwrap());
        if counts.0 > MAX_STATES {
            continue;
        }
        let system = load(&corpus.join(format!("{name}.pml")));
        let full = search(&system, Order::Dfs, FULL);
        assert_eq!((full.states, full.transitions), counts, "{name}");
        let reduced = reduce::reduce(&system);
        assert!(search(&reduced, Order::Dfs, FULL).states <= full.states, "{name}");
        for (what, system) in [("full", &system), ("reduced", &reduced)] {
            let outcome = search(system, Order::Dfs, &[]);
            let kind = outcome.violations.first().map_or("none", |v| v.fault.kind.name());
            let expected = match first_error {
                "invalid end state" => "deadlock",
                other => other,
            };
            assert_eq!(kind, expected, "{name} {what}");
            assert_eq!(outcome.verdict == Verdict::Holds, expected == "none", "{name} {what}");
        }
        n += 1;
    }
    assert!(n >= 50, "only {n} models were compared");
}
