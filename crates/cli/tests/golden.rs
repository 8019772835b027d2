//! The text form of systems is pinned. `BLESS=1` rewrites what is expected.

mod common;

use common::{load, root};
use ir::reduce;

#[test]
fn systems_print_as_pinned() {
    for name in ["hello", "dekker", "unless_interrupt", "client_server", "dstep_vs_atomic"] {
        let path = root().join(format!("models/promela/{name}.pml"));
        let mut system = load(&path);
        system.name = format!("{name}.pml");
        for (kind, system) in [("full", &system), ("reduced", &reduce::reduce(&system))] {
            let golden = root().join(format!("crates/cli/tests/golden/{name}.{kind}.ir"));
            let text = system.to_string();
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&golden, &text).expect("a writable file");
            }
            let expected = std::fs::read_to_string(&golden).expect("a pinned text");
            assert_eq!(text, expected, "{}", golden.display());
        }
    }
}
