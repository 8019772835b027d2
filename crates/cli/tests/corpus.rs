//! Models of others with results known from Spin, if the corpus is there.

mod common;

use check::{Order, Verdict};
use common::{Engine, FULL, How, Store, corpus, how, load, search, skipped};
use ir::reduce;

/// The interpreter would take the test run too long on larger models.
const INTERPRETED: u64 = 200_000;

const INTERPRET: How = how(Order::Dfs, 2, Engine::Interpret, Store::Exact);
const EXACT: How = how(Order::Dfs, 2, Engine::Jit, Store::Exact);
const FOLDED: How = how(Order::Bfs, 2, Engine::Jit, Store::Folded);

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
        let system = load(&corpus.join(format!("{name}.pml")));
        for how in [INTERPRET, EXACT, FOLDED] {
            if how.engine == Engine::Jit || counts.0 <= INTERPRETED {
                let full = search(&system, how, FULL);
                assert_eq!((full.states, full.transitions), counts, "{name} {how:?}");
            }
        }
        let reduced = reduce::reduce(&system);
        assert!(search(&reduced, FOLDED, FULL).states <= counts.0, "{name}");
        for (what, system) in [("full", &system), ("reduced", &reduced)] {
            let outcome = search(system, EXACT, &[]);
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
    assert!(n >= 60, "only {n} models were compared");
}
