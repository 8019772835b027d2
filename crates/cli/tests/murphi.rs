//! Murphi models: ours do what their first line says, by both engines, in
//! every search order and store; those of others have the counts of Rumur and
//! CMurphi, if the corpus is there.

use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};
use ir::rules::Interpreter;
use ir::rules::symmetry::Canon;
use serde_json::Value;
use std::collections::HashSet;
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
    run("check", model, &[flags, &["--quiet"]].concat())
}

fn run(command: &str, model: &Path, flags: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args([command, "--json"])
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

#[test]
fn symmetry_finds_as_many_states_as_rumur_and_the_same_faults() {
    let mut n = 0;
    for path in &models(&root().join("models/murphi")) {
        let name = path.display();
        let text = std::fs::read_to_string(path).expect("a readable model");
        let line = text.lines().next().unwrap_or_default();
        if !text.contains("scalarset") {
            continue;
        }
        for way in WAYS {
            let flags = [&["--symmetry", "canonical"], way].concat();
            let (code, result) = check(path, &flags);
            if let Some((_, kind)) = line.split_once("violation ") {
                assert_eq!(
                    (code, &result["violation"]["kind"]),
                    (1, &kind.into()),
                    "{name} {way:?}"
                );
                continue;
            }
            assert_eq!(code, 0, "{name} {way:?}");
            if let Some(canonical) = expected(line, "canonical") {
                assert_eq!(counts(&result).0, canonical, "{name} {way:?}");
                n += 1;
            }
        }
        let (_, exact) = check(path, &["--symmetry", "canonical"]);
        let (code, heuristic) = check(path, &["--symmetry", "heuristic"]);
        assert_eq!(code == 1, line.contains("violation"), "{name}");
        assert!(code == 1 || counts(&heuristic).0 >= counts(&exact).0, "{name}");
    }
    assert!(n >= 5 * WAYS.len(), "only {n} counts were compared");
}

/// Keeps all states that are found.
#[derive(Default)]
struct All {
    queue: Vec<Vec<u8>>,
    seen: HashSet<Vec<u8>>,
}

impl Sink for All {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        if self.seen.insert(state.to_vec()) {
            self.queue.push(state.to_vec());
        }
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, _: &[Step]) -> Flow {
        panic!("{}", fault.message);
    }
}

#[test]
fn there_is_one_canonical_state_for_each_orbit() {
    for name in ["msi.m", "spinlock.m", "german.m", "ring.m", "two_phase_commit.m"] {
        let path = root().join("models/murphi").join(name);
        let text = std::fs::read_to_string(path).expect("a readable model");
        let orbits = expected(text.lines().next().unwrap_or_default(), "canonical");
        let rules = lang::murphi::load(name, text).rules.expect("a model without errors");
        let mut model = Interpreter::new(&rules);
        let mut all = All::default();
        model.initial(&mut all);
        while let Some(state) = all.queue.pop() {
            model.expand(&state, &mut all);
        }
        let mut canon = Canon::new(&rules).expect("a model with scalarsets");
        let mut canonical = HashSet::new();
        for mut state in all.seen {
            canon.canonicalise(&mut state);
            let once = state.clone();
            canon.canonicalise(&mut state);
            assert_eq!(state, once, "{name}: a canonical state is its own");
            canonical.insert(state);
        }
        assert_eq!(Some(canonical.len() as u64), orbits, "{name}");
    }
}

/// A counterexample found among canonical states is a path of the model.
#[test]
fn counterexamples_under_symmetry_are_real() {
    let model = root().join("models/murphi/german_bug.m");
    let directory = std::env::temp_dir().join(format!("supertrace-murphi-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for files");
    let trace = directory.join("bug.json");
    let trace = trace.to_str().expect("a path in Unicode");
    for symmetry in ["canonical", "heuristic"] {
        for order in ["dfs", "bfs"] {
            let flags =
                ["--symmetry", symmetry, "--search", order, "--shorten", "off", "--trace", trace];
            assert_eq!(check(&model, &flags).0, 1);
            let replayed = Command::new(env!("CARGO_BIN_EXE_supertrace"))
                .args(["simulate", "--replay", trace])
                .arg(&model)
                .output()
                .expect("the program runs");
            let said = String::from_utf8_lossy(&replayed.stdout);
            assert_eq!(replayed.status.code(), Some(1), "{symmetry} {order}: {said}");
            assert!(said.contains("held[node_"), "{said}");
        }
    }
    std::fs::remove_dir_all(&directory).expect("the directory can go");
}

#[test]
fn covers_that_are_never_met_are_violations_of_complete_searches() {
    let directory = std::env::temp_dir().join(format!("supertrace-cover-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for files");
    let model = directory.join("cover.m");
    let text = "var x: 0..2;\nstartstate begin x := 0; end;\nrule begin x := 1 - x; end;\n\
                cover \"two\" x = 2;\ncover \"one\" x = 1;\n";
    std::fs::write(&model, text).expect("a file");
    let (code, result) = check(&model, &[]);
    assert_eq!((code, result["violation"]["kind"].as_str()), (1, Some("cover")));
    assert_eq!(result["violation"]["message"], "cover \"two\" is never met");
    let (code, result) = check(&model, &["--store", "bitstate", "--arena", "2^20"]);
    assert_eq!((code, result["verdict"].as_str()), (0, Some("no-violation-found")));
    std::fs::remove_dir_all(&directory).expect("the directory can go");
}

/// Lossy stores, swarms and estimates know nothing of languages.
#[test]
fn lossy_searches_and_swarms_serve_murphi_models() {
    let model = root().join("models/murphi/german.m");
    let text = std::fs::read_to_string(&model).expect("a readable model");
    let line = text.lines().next().unwrap_or_default();
    let (all, orbits) = (expected(line, "states"), expected(line, "canonical"));
    for (symmetry, states) in [("off", all), ("canonical", orbits)] {
        let states = states.expect("a count") as f64;
        let bitstate: &[&str] = &["--store", "bitstate", "--arena", "2^28"];
        let compact: &[&str] = &["--store", "compact", "--bits", "40", "--arena", "1MiB"];
        for store in [bitstate, compact] {
            for pod in ["0", "2"] {
                // Two threads may both take a state for new.
                let flags =
                    [store, &["--pod", pod, "--symmetry", symmetry, "--threads", "1"]].concat();
                let (code, result) = check(&model, &flags);
                let seen = counts(&result).0 as f64;
                assert_eq!((code, result["verdict"].as_str()), (0, Some("no-violation-found")));
                assert!((0.999 * states..=states).contains(&seen), "{flags:?}: {seen} of {states}");
            }
        }
        let (code, result) = run("estimate", &model, &["--symmetry", symmetry]);
        let estimate = result["reachable_states"]["estimate"].as_f64().expect("an estimate");
        assert!(code == 0 && (0.95 * states..1.05 * states).contains(&estimate), "{estimate}");
        let flags = ["--symmetry", symmetry, "--tasks", "20", "--arena", "2^22", "--quiet"];
        let (code, result) = run("swarm", &model, &flags);
        let seen = result["distinct_states"]["estimate"].as_f64().expect("an estimate");
        assert!(code == 0 && (0.9 * states..1.1 * states).contains(&seen), "{seen} of {states}");
    }
    let bug = root().join("models/murphi/german_bug.m");
    let (code, result) = run("swarm", &bug, &["--tasks", "20", "--arena", "2^16", "--quiet"]);
    assert_eq!((code, result["violations"][0]["kind"].as_str()), (1, Some("invariant")));
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
