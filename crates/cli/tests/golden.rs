//! The text form of systems is pinned. `BLESS=1` rewrites what is expected.

mod common;

use common::{load, root};
use ir::reduce;

#[test]
fn rules_print_as_pinned() {
    for name in ["peterson", "network"] {
        let path = root().join(format!("models/murphi/{name}.m"));
        let text = std::fs::read_to_string(path).expect("a readable model");
        let rules = lang::murphi::load(&format!("{name}.m"), text).rules.expect("no errors");
        pinned(&format!("{name}.rules"), &rules.to_string());
    }
}

/// The text is the one in the file of this name.
fn pinned(name: &str, text: &str) {
    let golden = root().join(format!("crates/cli/tests/golden/{name}.ir"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, text).expect("a writable file");
    }
    let expected = std::fs::read_to_string(&golden).expect("a pinned text");
    assert_eq!(text, expected, "{}", golden.display());
}

#[test]
fn systems_print_as_pinned() {
    for name in ["hello", "dekker", "unless_interrupt", "client_server", "dstep_vs_atomic"] {
        let path = root().join(format!("models/promela/{name}.pml"));
        let mut system = load(&path);
        system.name = format!("{name}.pml");
        for (kind, system) in [("full", &system), ("reduced", &reduce::reduce(&system))] {
            pinned(&format!("{name}.{kind}"), &system.to_string());
        }
    }
}
