//! Every model of the repository does what its first line says, in every
//! search order, with and without reductions. `BLESS=1` rewrites the counts.

mod common;

use check::{Order, Verdict};
use common::{Expect, FULL, load, models, search};
use ir::layout::Layout;
use ir::reduce;
use ir::system::System;
use ir::trace;
use std::path::Path;

#[test]
fn every_model_meets_its_expectation() {
    let models = models();
    assert!(models.len() >= 30, "only {} models", models.len());
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let expect = Expect::read(&text);
        let expect = expect.unwrap_or_else(|| panic!("{}: no expectation", path.display()));
        let system = load(&path);
        check_counts(&path, &text, &system, &expect);
        for order in [Order::Dfs, Order::Bfs] {
            check_verdict(&path, &system, &system, order, &expect);
            check_verdict(&path, &system, &reduce::reduce(&system), order, &expect);
        }
    }
}

fn check_counts(path: &Path, text: &str, system: &System, expect: &Expect) {
    let Some(counts) = expect.counts else { return };
    let dfs = search(system, Order::Dfs, FULL);
    let bfs = search(system, Order::Bfs, FULL);
    assert_eq!(dfs.verdict, Verdict::Holds, "{}", path.display());
    assert_eq!(
        (dfs.states, dfs.transitions),
        (bfs.states, bfs.transitions),
        "{}: depth first and breadth first differ",
        path.display()
    );
    if (dfs.states, dfs.transitions) != counts && std::env::var_os("BLESS").is_some() {
        bless(path, text, expect, dfs.states, dfs.transitions);
        return;
    }
    assert_eq!((dfs.states, dfs.transitions), counts, "{}", path.display());
    let reduced = reduce::reduce(system);
    for order in [Order::Dfs, Order::Bfs] {
        let outcome = search(&reduced, order, FULL);
        assert!(outcome.states <= dfs.states, "{}: reduced has more states", path.display());
    }
}

fn bless(path: &Path, text: &str, expect: &Expect, states: u64, transitions: u64) {
    let verdict = match &expect.violation {
        None => "holds".to_string(),
        Some(kind) => format!("violation={kind}"),
    };
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    let first = format!("// expect: {verdict} states={states} transitions={transitions}");
    std::fs::write(path, format!("{first}\n{rest}")).expect("a writable model");
}

/// The verdict is right and the counterexample is real.
fn check_verdict(path: &Path, system: &System, searched: &System, order: Order, expect: &Expect) {
    let outcome = search(searched, order, &[]);
    let name = path.display();
    match (&expect.violation, outcome.violations.first()) {
        (None, None) => assert_eq!(outcome.verdict, Verdict::Holds, "{name} {order:?}"),
        (Some(kind), Some(found)) => {
            assert_eq!(found.fault.kind.name(), kind, "{name} {order:?}");
            let faulty = kind != "deadlock";
            let steps = reduce::expand_steps(searched, &found.steps, faulty);
            let layout = Layout::new(system);
            let replayed = trace::replay(system, &layout, &steps, Some(found.fault.kind));
            assert!(replayed.is_ok(), "{name} {order:?}: {replayed:?}");
        }
        (expected, found) => panic!("{name} {order:?}: expected {expected:?}, found {found:?}"),
    }
}
