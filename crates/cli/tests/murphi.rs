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

/// Counts how often limits are looked at, and keeps the last state.
#[derive(Default)]
struct Ticks {
    n: u64,
    state: Vec<u8>,
}

impl Sink for Ticks {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        self.state = state.to_vec();
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, _: &[Step]) -> Flow {
        panic!("{}", fault.message);
    }

    fn tick(&mut self, _: u64) -> Flow {
        self.n += 1;
        Flow::Continue
    }
}

/// A bundle of states that take long must not go by without a look at the clock.
#[test]
fn limits_are_looked_at_while_rules_are_tried() {
    let text = "var x: 0..9; startstate x := 0; end; ruleset i: 0..99 do
        rule begin for k: 0..998 do x := (x + k) % 10; end; end; end;";
    let rules = lang::murphi::load("m.m", text.into()).rules.expect("a model without errors");
    let expand = |model: &mut dyn Model| {
        let mut ticks = Ticks::default();
        model.initial(&mut ticks);
        for _ in 0..64 {
            model.expand(&ticks.state.clone(), &mut ticks);
        }
        ticks.n
    };
    let n = expand(&mut Interpreter::new(&rules));
    assert!(n >= 64, "{n} ticks");
    let code = jit::rules::compile(&rules, &false.into()).expect("native code");
    let n = expand(&mut jit::rules::Native::new(&code, &rules));
    assert!(n >= 5, "{n} ticks");
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

/// A model of its own for a test; the directory goes with it.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, text: &str) -> Temporary {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("supertrace-{}-{name}.m", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const ENGINES: [&[&str]; 2] = [&["--engine", "jit"], &["--engine", "interpret"]];

/// Locals and temporaries fit in their frames, or the model is refused.
#[test]
fn large_locals_are_refused_and_temporaries_shared() {
    let large = "type r: record a: array [0..59999] of 0..200; end; var x: 0..3; ";
    let many = format!(
        "{large} function f(): r; var y: r; begin return y; end;
         startstate begin x := 0; end;
         rule var y: r; begin {} x := (x + 1) % 4; end;",
        "y := f(); ".repeat(20)
    );
    let refused = Temporary::new("frames", &many);
    assert_eq!(check(&refused.0, &[]).0, 2);
    let fits = Temporary::new("fits", &many.replace("59999", "9999"));
    let recursive = "type t: 0..1000000; var x: t;
        function f(n: t): t; begin if n = 0 then return 0; end; return f(n - 1) + 1; end;
        startstate begin x := 0; end;
        rule x < LIMIT ==> begin x := x + 1; assert f(x) = x; end; rule begin x := 0; end;";
    let shallow = Temporary::new("shallow", &recursive.replace("LIMIT", "200"));
    let deep = Temporary::new("deep", &recursive.replace("LIMIT", "2000"));
    // What a statement needs is free for the next.
    let calls = "x := f(x); ".repeat(6000);
    let many = format!(
        "var x: 0..3; function f(n: 0..3): 0..3; begin return (n * 3 + 1) % 4; end;
        startstate begin x := 0; end; rule begin {calls} end;"
    );
    let many = Temporary::new("many", &many);
    for engine in ENGINES {
        assert_eq!(check(&many.0, &[engine, &["--deadlock", "off"]].concat()).0, 0, "{engine:?}");
        assert_eq!(check(&fits.0, engine).0, 0, "{engine:?}");
        assert_eq!(counts(&check(&shallow.0, engine).1).0, 201, "{engine:?}");
        let (code, result) = check(&deep.0, engine);
        assert_eq!((code, result["violation"]["kind"].as_str()), (1, Some("recursion-depth")));
    }
}

/// Rumur's 21 states.
#[test]
fn numbers_without_a_sign_are_compared_as_such() {
    let text = "var x: 9223372036854775800..9223372036854775820;
        startstate begin x := 9223372036854775800; end;
        rule x < 9223372036854775820 ==> begin x := x + 1; end;
        rule x = 9223372036854775820 ==> begin x := 9223372036854775800; end;
        invariant x / 2 > 4000000000000000000 & x % 10 >= 0;";
    let model = Temporary::new("unsigned", text);
    for engine in ENGINES {
        let (code, result) = check(&model.0, engine);
        assert_eq!((code, counts(&result)), (0, (21, 21)), "{engine:?}");
    }
    let mixed = Temporary::new("mixed", &text.replace("var x", "var y: -1..1; x"));
    assert_eq!(check(&mixed.0, &[]).0, 2);
}

/// Rumur's 78 states: of -9 shifted to the right by 64 and more nothing is left.
#[test]
fn shifts_beyond_all_bits_leave_nothing() {
    let text = "var x: -9..9; s: 0..70; startstate begin x := -9; s := 0; end;
        rule s < 70 ==> begin s := s + 1; end;
        rule s >= 64 ==> begin x := x >> s; end;
        rule s >= 64 ==> begin x := x << -s; end;
        invariant x != -1; invariant x = -9 | s >= 64;";
    let model = Temporary::new("shifts", text);
    for engine in ENGINES {
        let flags = [&["--deadlock", "off"], engine].concat();
        let (code, result) = check(&model.0, &flags);
        assert_eq!((code, counts(&result)), (0, (78, 104)), "{engine:?}");
    }
}

#[test]
fn interactive_simulation_lets_one_choose_the_start_state() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let text = "var x: 0..3; ruleset i: 0..3 do startstate \"at\" begin x := i; end; end;
        rule begin x := 0; end;";
    let model = Temporary::new("starts", text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(["simulate", "--interactive"])
        .arg(&model.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(b"9\n4\nv\nq\n").expect("input is read");
    let output = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8(output.stdout).expect("text");
    for part in ["4  at, i = 3", "expected a number from 1 to 4", "x = 3"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(output.status.code(), Some(0));
}

/// What a property changes counts for nothing.
#[test]
fn properties_leave_the_state_as_it_is() {
    let text = "var x: 0..200000; y: 0..1;
        function f(): boolean; begin y := 1; return true; end;
        startstate begin x := 0; y := 0; end;
        rule x < 200000 ==> begin assert y = 0; x := x + 1; end;
        rule x = 200000 ==> begin x := 0; end;
        invariant f(); cover f();";
    let model = Temporary::new("effects", text);
    for engine in ENGINES {
        let (code, result) = check(&model.0, engine);
        assert_eq!((code, counts(&result).0), (0, 200_001), "{engine:?}");
    }
}

#[test]
fn of_several_invariants_the_right_one_is_named() {
    let text = "var x: 0..9; startstate begin x := 0; end;
        rule x < 9 ==> begin x := x + 1; end; rule x = 9 ==> begin x := 0; end;
        invariant \"a\" x < 3; invariant \"b\" x < 3 | x > 4; invariant \"c\" x != 4;";
    let model = Temporary::new("several", text);
    let (_, result) = check(&model.0, &["--all"]);
    let violations = result["violations"].as_array().expect("three violations");
    for name in ["a", "b", "c"] {
        let message = format!("invariant \"{name}\" does not hold");
        assert!(violations.iter().any(|v| v["message"] == message.as_str()), "{name}: {result}");
    }
}

/// As many as with the union split into two arrays, which Rumur confirms.
#[test]
fn unions_as_inner_indices_have_exact_symmetry() {
    let text = "type s: scalarset(3); e: enum {e1, e2}; u: union {s, e};
        var a: array [s] of array [u] of boolean;
        startstate begin for i: s do for j: u do a[i][j] := false; end; end; end;
        ruleset i: s; j: u do rule begin a[i][j] := !a[i][j]; end; end;";
    let model = Temporary::new("union", text);
    assert_eq!(counts(&check(&model.0, &[]).1).0, 5_728);
}

/// Loops and calls inside of each other end in time.
#[test]
fn limits_hold_inside_of_rules() {
    let loops = "var x: 0..1; startstate begin x := 0; end; rule begin
        for a: 0..4000 do for b: 0..4000 do for c: 0..4000 do for d: 0..4000 do
        x := 1 - x; end; end; end; end; end;";
    let calls = "var x: 0..1; function f(n: 0..100): 0..1; begin
        if n = 0 then return 0; end; return f(n - 1) & f(n - 1); end;
        startstate begin x := 0; end; rule begin x := f(100); end;";
    for (name, text) in [("loops", loops), ("calls", &calls.replace(" & ", " + "))] {
        let model = Temporary::new(name, text);
        let (code, result) = check(&model.0, &[]);
        assert_eq!((code, result["violation"]["kind"].as_str()), (1, Some("endless-loop")));
    }
}

#[test]
fn loops_over_multisets_are_counted() {
    let text = "type v: 0..1; var m: multiset[600] of v; n: 0..1;
        startstate begin n := 0; for i := 1 to 600 do multisetadd(1, m); end; end;
        rule begin
          if multisetcount(a: m, multisetcount(b: m, multisetcount(c: m, true) = 600) = 600) = 600
          then n := 1 - n; end;
        end;";
    let model = Temporary::new("counted", text);
    let (code, result) = check(&model.0, &[]);
    assert_eq!((code, result["violation"]["kind"].as_str()), (1, Some("endless-loop")), "{result}");
}

#[test]
fn a_model_that_breaks_its_symmetry_is_told_so() {
    let text = "type s: scalarset(3); var x: s; n: 0..4; b: array [s] of boolean;
        ruleset p: s do startstate begin x := p; n := 0; for q: s do b[q] := q = p; end; end; end;
        rule begin for q: s do x := q; end; end;
        ruleset p: s do rule n < 4 & b[p] & p = x ==> begin n := n + 1; end; end;
        invariant n < 4 | exists p: s do b[p] & p = x & n < 4 end;";
    let model = Temporary::new("broken", text);
    let output = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(["check", "--quiet"])
        .arg(&model.0)
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("breaks its symmetry"), "{said}");
    assert!(!said.contains("bug in Supertrace"), "{said}");
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
