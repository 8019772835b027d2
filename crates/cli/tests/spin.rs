//! Against the real Spin, if it is installed: trails and counts.

mod common;

use common::{Expect, has_tool, models, skipped, supertrace};
use std::path::Path;
use std::process::Command;

#[test]
fn spin_replays_our_trails_to_the_same_error() {
    if !has_tool("spin") {
        return skipped("trails", "spin is not installed");
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trails");
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let mut n = 0;
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let violation = Expect::read(&text).and_then(|e| e.violation);
        let Some(kind @ ("assertion" | "deadlock")) = violation.as_deref() else { continue };
        let name = path.file_name().expect("a file").to_str().expect("UTF-8").to_string();
        std::fs::write(dir.join(&name), &text).expect("a writable file");
        let trail = dir.join(format!("{name}.trail")).display().to_string();
        let model = path.display().to_string();
        for search in ["dfs", "bfs"] {
            supertrace(&["check", &model, "--quiet", "--search", search, "--trail", &trail]);
            let spin = Command::new("spin").args(["-t", "-p", &name]).current_dir(&dir).output();
            let spin = String::from_utf8_lossy(&spin.expect("spin runs").stdout).into_owned();
            assert!(!spin.contains("lost trail"), "{name} {search}:\n{spin}");
            assert_eq!(
                spin.contains("assertion violated"),
                kind == "assertion",
                "{name} {search}:\n{spin}"
            );
            n += 1;
        }
    }
    assert!(n >= 16, "only {n} trails were replayed");
}
