//! Every model of the repository does what its first line says, in every
//! search order, by both engines, in every store, by one thread and by more,
//! with and without reductions. `BLESS=1` rewrites the counts.

mod common;

use check::Verdict;
use common::{Expect, FULL, HOWS, How, load, models, search};
use ir::program::Program;
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
        for how in HOWS {
            check_verdict(&path, &system, &system, how, &expect);
            check_verdict(&path, &system, &reduce::reduce(&system), how, &expect);
        }
    }
}

fn check_counts(path: &Path, text: &str, system: &System, expect: &Expect) {
    let Some(counts) = expect.counts else { return };
    let first = search(system, HOWS[0], FULL);
    assert_eq!(first.verdict, Verdict::Holds, "{}", path.display());
    for how in &HOWS[1..] {
        let other = search(system, *how, FULL);
        assert_eq!(
            (first.states, first.transitions),
            (other.states, other.transitions),
            "{}: {how:?} differs",
            path.display()
        );
        assert_eq!(first.reached, other.reached, "{}: {how:?}", path.display());
    }
    if (first.states, first.transitions) != counts && std::env::var_os("BLESS").is_some() {
        bless(path, text, expect, first.states, first.transitions);
        return;
    }
    assert_eq!((first.states, first.transitions), counts, "{}", path.display());
    let reduced = reduce::reduce(system);
    let counts = HOWS.map(|how| search(&reduced, how, FULL)).map(|o| (o.states, o.transitions));
    assert!(counts.iter().all(|c| *c == counts[0]), "{}: {counts:?}", path.display());
    assert!(counts[0].0 <= first.states, "{}: reduced has more states", path.display());
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
fn check_verdict(path: &Path, system: &System, searched: &System, how: How, expect: &Expect) {
    let outcome = search(searched, how, &[]);
    let name = path.display();
    match (&expect.violation, outcome.violations.first()) {
        (None, None) if how.store.is_lossy() => {
            assert_eq!(outcome.verdict, Verdict::NoViolationFound, "{name} {how:?}");
        }
        (None, None) => assert_eq!(outcome.verdict, Verdict::Holds, "{name} {how:?}"),
        (Some(kind), Some(found)) => {
            assert_eq!(found.fault.kind.name(), kind, "{name} {how:?}");
            let faulty = kind != "deadlock";
            let steps = reduce::expand_steps(searched, &found.steps, faulty);
            let program = Program::from(system.clone());
            let replayed = trace::replay(&program, &steps, Some(found.fault.kind.into()));
            assert!(replayed.is_ok(), "{name} {how:?}: {replayed:?}");
        }
        (expected, found) => panic!("{name} {how:?}: expected {expected:?}, found {found:?}"),
    }
}
