//! Native code and the interpreter hand out the same events, for all models.

mod common;

use common::{compare, compare_rules, load, load_rules, models, root};
use ir::reduce::reduce;
use jit::Counts;
use std::io::Write;
use std::path::PathBuf;

fn compare_all(paths: &[PathBuf], max_states: usize) -> Counts {
    let mut total = Counts::default();
    for path in paths {
        // Some models are there to be rejected.
        let Some(system) = load(path) else { continue };
        for (what, system) in [("as written", &system), ("reduced", &reduce(&system))] {
            match compare(system, max_states) {
                Ok(counts) => {
                    total.native += counts.native;
                    total.interpreted += counts.interpreted;
                }
                Err(difference) => panic!("{} {what}: {difference}", path.display()),
            }
        }
    }
    total
}

#[test]
fn models_have_the_same_successors() {
    let counts = compare_all(&models(&root().join("models/promela"), "pml"), 20_000);
    assert!(counts.native > 10 * counts.interpreted, "{counts:?}");
}

#[test]
fn models_of_others_have_the_same_successors() {
    let corpus = root().join("../shared/corpus/promela");
    if !corpus.is_dir() {
        // Past the test harness, which would show it for failed tests only.
        let _ = writeln!(std::io::stderr(), "SKIPPED corpus: ../shared/corpus is not there");
        return;
    }
    let counts = compare_all(&models(&corpus, "pml"), 2_000);
    assert!(counts.native > 10 * counts.interpreted, "{counts:?}");
}

fn compare_all_rules(paths: &[PathBuf], max_states: usize) -> Counts {
    let mut total = Counts::default();
    for path in paths {
        let Some(rules) = load_rules(path) else { continue };
        match compare_rules(&rules, max_states) {
            Ok(counts) => {
                total.native += counts.native;
                total.interpreted += counts.interpreted;
            }
            Err(difference) => panic!("{}: {difference}", path.display()),
        }
    }
    total
}

#[test]
fn murphi_models_have_the_same_successors() {
    let counts = compare_all_rules(&models(&root().join("models/murphi"), "m"), 20_000);
    assert!(counts.native > 10 * counts.interpreted, "{counts:?}");
}

#[test]
fn murphi_models_of_others_have_the_same_successors() {
    let corpus = root().join("../shared/corpus/murphi");
    if !corpus.is_dir() {
        let _ = writeln!(std::io::stderr(), "SKIPPED corpus: ../shared/corpus is not there");
        return;
    }
    let counts = compare_all_rules(&models(&corpus, "m"), 2_000);
    // Some of them are wrong in many states, which native code leaves to the interpreter.
    assert!(counts.native > 5 * counts.interpreted, "{counts:?}");
}
