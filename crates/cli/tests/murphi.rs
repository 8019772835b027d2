//! Murphi models: ours do what their first line says, by both engines, in
//! every search order and store; those of others have the counts of Rumur and
//! CMurphi, if the corpus is there.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Ways to search that must agree.
const WAYS: [&[&str]; 5] = [
    &["--engine", "interpret", "--search", "bfs", "--threads", "1"],
    &["--engine", "interpret", "--search", "dfs", "--threads", "2"],
    &["--engine", "jit", "--search", "dfs", "--threads", "1"],
    &["--engine", "jit", "--search", "bfs", "--threads", "2"],
    &["--engine", "jit", "--compress", "on"],
];

/// Runs `supertrace check`: the exit code, and the result if there is one.
fn check(model: &Path, flags: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(["check", "--json", "--quiet"])
        .arg(model)
        .args(flags)
        .output()
        .expect("the program runs");
    let code = output.status.code().expect("it was not killed");
    (code, serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

fn counts(result: &Value) -> (u64, u64) {
    let number = |key: &str| result[key].as_u64().unwrap_or_else(|| panic!("{key} in {result}"));
    (number("states"), number("transitions"))
}

fn models(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of models");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "m")).collect();
    paths.sort();
    paths
}

/// The number behind `key=` in the first line.
fn expected(line: &str, key: &str) -> Option<u64> {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    found.map(|n| n.parse().unwrap_or_else(|_| panic!("no number in '{line}'")))
}

#[test]
fn every_model_meets_its_expectation() {
    let models = models(&root().join("models/murphi"));
    assert!(models.len() >= 15, "only {} models", models.len());
    for path in &models {
        let name = path.display();
        let text = std::fs::read_to_string(path).expect("a readable model");
        let line = text.lines().next().unwrap_or_default();
        let expect = line.strip_prefix("-- expect: ");
        let expect = expect.unwrap_or_else(|| panic!("{name}: no expectation"));
        for way in WAYS {
            let flags = [&["--symmetry", "off"], way].concat();
            let (code, result) = check(path, &flags);
            if let Some(kind) = expect.strip_prefix("violation ") {
                assert_eq!(
                    (code, &result["violation"]["kind"]),
                    (1, &kind.into()),
                    "{name} {way:?}"
                );
                continue;
            }
            let wanted = (expected(line, "states"), expected(line, "rules"));
            let (states, rules) = counts(&result);
            assert_eq!((code, (Some(states), Some(rules))), (0, wanted), "{name} {way:?}");
        }
    }
}

fn corpus() -> Option<PathBuf> {
    let path = root().join("../shared/corpus/murphi");
    if !path.is_dir() {
        eprintln!("skipped: ../shared/corpus is not there");
        return None;
    }
    Some(path)
}

/// The lines of a table, as columns.
fn table(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("a table of expectations");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(String::from).collect()).collect()
}

#[test]
fn results_are_those_of_rumur() {
    let Some(corpus) = corpus() else { return };
    let tests = corpus.join("rumur-tests");
    let mut n = 0;
    for row in table(&tests.join("expected.tsv")) {
        let name = row[0].as_str();
        // About flags of Rumur, or about what is said not to be checked.
        if name == "bound-illegal" || name.starts_with("liveness-in") || name == "liveness-miss2" {
            continue;
        }
        let mut flags = vec!["--symmetry", "off"];
        for mode in ["off", "stuck"] {
            if row.iter().any(|c| c.contains(&format!("'--deadlock-detection', '{mode}'"))) {
                flags.extend(["--deadlock", mode]);
            }
        }
        let (code, result) = check(&tests.join(format!("{name}.m")), &flags);
        let wanted = match (row[1].as_str(), row[2].as_str()) {
            ("1", _) => 2,
            (_, "1") => 1,
            _ => 0,
        };
        assert_eq!(code, wanted, "{name}: {result}");
        if let (0, Ok(states), Ok(rules)) = (code, row[3].parse(), row[4].parse()) {
            assert_eq!(counts(&result), (states, rules), "{name}");
        }
        n += 1;
    }
    assert!(n >= 170, "only {n} models were compared");
}

#[test]
fn counts_are_those_of_cmurphi() {
    let Some(corpus) = corpus() else { return };
    let examples = corpus.join("cmurphi");
    let mut n = 0;
    for row in table(&examples.join("expected.tsv")) {
        let (name, verdict) = (&row[0], &row[5]);
        let path = examples.join(format!("{name}.m"));
        let modes: [(&str, &str, &str); 2] =
            [("off", &row[1], &row[2]), ("canonical", &row[3], &row[4])];
        for (symmetry, states, rules) in modes {
            let (Ok(states), Ok(rules)) = (states.parse(), rules.parse()) else { continue };
            let (code, result) = check(&path, &["--symmetry", symmetry, "--deadlock", "off"]);
            assert_eq!(code == 1, verdict.starts_with("Error"), "{name} {symmetry}: {result}");
            if code == 0 {
                assert_eq!(counts(&result), (states, rules), "{name} {symmetry}");
            }
            n += 1;
        }
    }
    assert!(n >= 24, "only {n} results were compared");
}
