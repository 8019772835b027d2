//! The documents are true: commands they quote run and print what they say,
//! paths they name exist.

mod common;

use common::{root, stderr, stdout, supertrace};

/// `$ supertrace ...` lines of a document with the lines quoted below them.
fn console_blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ supertrace ")) {
            out.push((command.to_string(), Vec::new()));
        } else if let (true, Some((_, lines))) = (inside, out.last_mut()) {
            lines.push(line.to_string());
        }
    }
    out
}

#[test]
fn quoted_commands_print_what_the_readme_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README");
    let blocks = console_blocks(&readme);
    assert!(blocks.len() >= 5, "only {} commands are quoted", blocks.len());
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (command, expected) in blocks {
        // Files that the tour writes go to a directory of their own.
        let args: Vec<String> = command
            .split_whitespace()
            .map(|a| {
                let file = a.starts_with("attack.");
                if file { dir.join(a).display().to_string() } else { a.to_string() }
            })
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = supertrace(&args);
        assert!(output.status.code() < Some(2), "{command}: {}", stderr(&output));
        let printed = stdout(&output);
        // Times and memory differ between runs and machines.
        let stable = |line: &&String| !line.contains(", seed ") && !line.is_empty();
        for line in expected.iter().filter(stable) {
            assert!(
                printed.lines().any(|l| l == line),
                "{command} does not print:\n{line}\n{printed}"
            );
        }
    }
}

#[test]
fn paths_named_in_documents_exist() {
    let mut n = 0;
    for name in
        ["README.md", "docs/ARCHITECTURE.md", "docs/promela.md", "docs/spin-compatibility.md"]
    {
        let text = std::fs::read_to_string(root().join(name)).expect("a document");
        let dir = root().join(name).parent().expect("a directory").to_path_buf();
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_path = ["crates/", "docs/", "models/", "xtask", ".ci/"]
                .iter()
                .any(|p| quoted.starts_with(p));
            if is_path && !quoted.contains(' ') {
                assert!(root().join(quoted).exists(), "{name} names {quoted}");
                n += 1;
            }
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(
                dir.join(link).exists() || root().join(link).exists(),
                "{name} links to {link}"
            );
            n += 1;
        }
    }
    assert!(n > 20, "only {n} paths were found");
}
