//! Swarms: by tasks anywhere, in any order, with a kill in between, the result
//! is the same.

mod common;

use common::{root, stderr, stdout, supertrace};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const MODEL: &str = "models/promela/peterson_filter.pml";
const BUG: &str = "models/promela/stop_and_wait_bug.pml";

fn temp(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("swarm");
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    dir.join(name)
}

fn path(name: &str) -> String {
    temp(name).display().to_string()
}

fn json(args: &[&str]) -> (Value, i32) {
    let output = supertrace(args);
    let value = serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|e| panic!("{e}: {}{}", stdout(&output), stderr(&output)));
    (value, output.status.code().expect("a code"))
}

/// The record that a swarm writes.
fn record(args: &[&str], file: &str) -> Value {
    let file = path(file);
    let output = supertrace(&[args, &["--record", &file, "--quiet"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&std::fs::read_to_string(file).expect("a record")).expect("JSON")
}

#[test]
fn any_number_of_threads_and_any_partition_give_the_same() {
    let swarm = ["swarm", MODEL, "--tasks", "12", "--arena", "2^14", "--seed", "3"];
    let one = record(&[&swarm[..], &["--threads", "1"]].concat(), "one.json");
    let two = record(&[&swarm[..], &["--threads", "2"]].concat(), "two.json");
    assert_eq!(one, two);
    assert_eq!(one["tasks"].as_object().expect("tasks").len(), 12);
    let interpreted = [&swarm[..], &["--engine", "interpret"]].concat();
    assert_eq!(record(&interpreted, "interpreted.json"), one);

    let plan = ["swarm", "plan", MODEL, "--tasks", "12", "--arena", "2^14", "--seed", "3"];
    let plan_file = path("plan.json");
    // Without a portfolio a pilot search chooses one, the same every time.
    std::fs::write(&plan_file, stdout(&supertrace(&plan))).expect("a writable file");
    let mut files = Vec::new();
    for number in (0..12).rev() {
        let output = supertrace(&["swarm", "task", &plan_file, &number.to_string()]);
        assert!(output.status.success(), "{}", stderr(&output));
        files.push(path(&format!("task{number}.json")));
        std::fs::write(files.last().expect("a file"), &output.stdout).expect("a writable file");
    }
    let again = supertrace(&["swarm", "task", &plan_file, "5"]);
    let first = std::fs::read_to_string(path("task5.json")).expect("a record");
    assert_eq!(stdout(&again), first, "a task is not the same every time");

    let (left, right) = files.split_at(7);
    let merge = |files: &[String], to: &str| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        record(&[&["swarm", "merge"][..], &files].concat(), to)
    };
    merge(left, "left.json");
    merge(&[right, &left[..3]].concat(), "right.json");
    assert_eq!(merge(&[path("right.json"), path("left.json")], "both.json"), one);
}

/// Steps that go wrong, of processes that have nothing to do with each other.
#[test]
fn both_engines_leave_out_the_same() {
    let faulty = path("faulty.pml");
    let text = "byte a[2], b[2], x, y, z;\n\
        active proctype A() { byte i; do :: i < 30 -> i++ :: i > 4 -> x = i od }\n\
        active proctype B() { byte j; do :: j < 30 -> j++ :: d_step { y = 1; a[j] = 1 } od }\n\
        active proctype C() { byte k; do :: k < 30 -> k++ :: d_step { z = 1; b[k] = 1 } od }\n";
    std::fs::write(&faulty, text).expect("a writable file");
    let swarm = ["swarm", &faulty, "--tasks", "6", "--arena", "2^16", "--until", "all", "--json"];
    let (native, code) = json(&swarm);
    let (interpreted, _) = json(&[&swarm[..], &["--engine", "interpret"]].concat());
    for field in ["states", "transitions", "violations"] {
        assert_eq!(native[field], interpreted[field], "{field}");
    }
    assert_eq!((code, native["violations"].as_array().map(Vec::len)), (1, Some(2)));
}

#[test]
fn a_killed_swarm_goes_on_where_it_was() {
    let dir = temp("journal");
    let _ = std::fs::remove_dir_all(&dir);
    let dir = dir.display().to_string();
    let swarm = ["swarm", MODEL, "--tasks", "60", "--arena", "2^15", "--portfolio", "uniform"];
    let whole = record(&swarm, "whole.json");
    let resumed = [&swarm[..], &["--resume", &dir]].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(&resumed)
        .current_dir(root())
        .spawn()
        .expect("the binary runs");
    let log = PathBuf::from(&dir).join("log.jsonl");
    let started = Instant::now();
    // Some tasks, of which the first says most.
    let long = |len: u64| len > 100_000;
    while !std::fs::metadata(&log).is_ok_and(|m| long(m.len())) {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing was written down");
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            break;
        }
    }
    child.kill().expect("a kill");
    child.wait().expect("an end");
    // Whatever was being written is not there.
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    std::fs::write(&log, text + "{\"subject\":").expect("a writable file");
    assert_eq!(record(&resumed, "resumed.json"), whole);
    // All tasks are there, so that none is run again.
    let (result, _) = json(&[&resumed[..], &["--json", "--time", "1ms"]].concat());
    assert_eq!(result["tasks_done"], 60);
    let log = std::fs::File::open(PathBuf::from(&dir).join("log.jsonl")).expect("the log is there");
    log.lock().expect("nobody else has it");
    let second = supertrace(&resumed);
    assert_eq!(second.status.code(), Some(2));
    assert!(stderr(&second).contains("is in use by another swarm"), "{}", stderr(&second));
    log.unlock().expect("it was ours");
    let other = supertrace(&[&resumed[..], &["--seed", "9"]].concat());
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("cannot be resumed"), "{}", stderr(&other));
}

#[test]
fn violations_are_found_grouped_and_found_again() {
    let (result, code) = json(&["swarm", BUG, "--json", "--tasks", "30", "--until", "all"]);
    assert_eq!((result["verdict"].as_str(), code), (Some("violation"), 1));
    let violation = &result["violations"][0];
    assert_eq!(violation["kind"], "assertion");
    assert!(violation["count"].as_u64().expect("a number") > 1);
    assert!(result["first_violation_seconds"].as_f64().is_some());
    assert_eq!(result["tasks_done"], 30);
    let again = violation["reproduce"].as_str().expect("a command").to_string();
    let again: Vec<&str> = again.split(' ').skip(1).collect();
    let (alone, code) = json(&[&again[..], &["--json"]].concat());
    assert_eq!((alone["tasks_done"].as_u64(), code), (Some(1), 1));
    assert_eq!(alone["violations"][0]["task"], violation["task"]);

    let trace = path("bug.json");
    let output = supertrace(&["swarm", BUG, "--quiet", "--trace", &trace]);
    assert_eq!(output.status.code(), Some(1));
    let shown = supertrace(&["simulate", BUG, "--replay", &trace]);
    assert!(stdout(&shown).contains("assertion"), "{}", stderr(&shown));
}

#[test]
fn every_planted_bug_is_found() {
    for entry in std::fs::read_dir(root().join("models/promela")).expect("models") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a model");
        let wrong = text.starts_with("// expect: violation");
        let file = path.display().to_string();
        if wrong {
            let output = supertrace(&["swarm", &file, "--tasks", "50", "--quiet"]);
            assert_eq!(output.status.code(), Some(1), "{file}: {}", stderr(&output));
        }
    }
}

#[test]
fn coverage_is_told_and_ends_a_swarm() {
    let swarm = ["swarm", MODEL, "--json", "--collector", "exact", "--reduce", "none"];
    let (result, code) = json(&[&swarm[..], &["--tasks", "40", "--arena", "2^17"]].concat());
    assert_eq!((result["verdict"].as_str(), code), (Some("no-violation-found"), 0));
    // The model has 51,596 states.
    let exact = result["exact_states"].as_u64().expect("counted") as f64;
    let distinct = &result["distinct_states"];
    let number = |value: &Value| value.as_f64().expect("a number");
    // A sketch of 4,096 hashes is off by more than three of its errors in one model of
    // 400, by more than two, where the interval ends, in one of 20.
    assert!((number(&distinct["estimate"]) / exact - 1.0).abs() < 0.05, "{exact}, {distinct}");
    assert!(number(&distinct["low"]) < number(&distinct["high"]), "{distinct}");
    let (truth, coverage) = (exact / 51_596.0, &result["coverage"]);
    assert!(number(&coverage["low"]) <= truth && truth <= number(&coverage["high"]), "{coverage}");
    assert!((number(&coverage["estimate"]) - truth).abs() < 0.05, "{coverage} {truth}");

    let enough = ["--coverage", "90%", "--tasks", "100000", "--arena", "2^18"];
    let (result, code) = json(&[&swarm[..], &enough].concat());
    assert_eq!(code, 0);
    assert!(result["tasks_done"].as_u64().expect("a number") < 100_000);
    assert!(number(&result["coverage"]["low"]) >= 0.9, "{}", result["coverage"]);

    // Tasks that are cut short tell no coverage, so that their number is limited.
    let never = ["--coverage", "90%", "--depth", "20", "--arena", "2^14"];
    let (result, code) = json(&[&swarm[..], &never].concat());
    assert_eq!((result["tasks_done"].as_u64(), code), (Some(1000), 0));
    assert!(result["coverage"].is_null(), "{}", result["coverage"]);
}

#[test]
fn arenas_of_many_sizes_tell_how_many_states_there_are() {
    let swarm = ["swarm", MODEL, "--json", "--reduce", "none", "--diversity", "plain"];
    let swarm = [&swarm[..], &["--tasks", "64", "--arena", "2^18", "--hashes", "1"]].concat();
    let (halving, _) = json(&[&swarm[..], &["--portfolio", "halving"]].concat());
    let number = |key: &str| halving["growth"][key].as_f64().expect("a number");
    // The model has 51,596 states.
    assert!((46_000.0..57_000.0).contains(&number("estimate")), "{}", halving["growth"]);
    assert!(number("low") <= number("estimate"), "{}", halving["growth"]);
    assert!(number("estimate") <= number("high"), "{}", halving["growth"]);
    let (uniform, _) = json(&[&swarm[..], &["--portfolio", "uniform"]].concat());
    assert!(uniform["growth"].is_null(), "{}", uniform["growth"]);
}

#[test]
fn full_arenas_do_not_claim_what_they_have_not_seen() {
    let (mut n_inside, mut n_near, mut n_points) = (0, 0, 0);
    // States, arena, tasks: a small part is seen, some of it, and all.
    let settings = [
        ("models/promela/bounded_buffer.pml", 25_334.0, "2^9", "60"),
        ("models/promela/bounded_buffer.pml", 25_334.0, "2^11", "60"),
        ("models/promela/lamport_fast.pml", 574.0, "2^11", "23"),
    ];
    let seeds = ["0", "1", "2", "3", "4", "5", "6", "7"];
    for ((model, states, arena, tasks), seed) in
        settings.into_iter().flat_map(|setting| seeds.map(|seed| (setting, seed)))
    {
        let swarm =
            ["swarm", model, "--json", "--collector", "exact", "--arena", arena, "--seed", seed];
        // On one thread, so that at each point only its tasks were counted.
        let (result, _) = json(&[&swarm[..], &["--tasks", tasks, "--threads", "1"]].concat());
        let number = |value: &Value| value.as_f64().expect("a number");
        let truth = number(&result["exact_states"]) / states;
        for point in result["curve"].as_array().into_iter().flatten() {
            let (truth, coverage) = (number(&point["exact_states"]) / states, &point["coverage"]);
            let bound = |key: &str| coverage[key].as_f64();
            let inside = bound("low") <= Some(truth) && bound("high").is_none_or(|h| truth <= h);
            n_inside += inside as u32;
            n_points += 1;
            n_near += bound("low").is_none_or(|low| low < truth + 0.05) as u32;
        }
        let edge = result["edge"].as_u64().expect("a number");
        assert_eq!(edge == 0, truth == 1.0, "{model} {arena}: {truth}, edge {edge}");
    }
    // Arenas of some hundred bits are harder than what intervals are made for, and the
    // points of a swarm depend on each other. But few begin far above the truth.
    assert!(n_points >= 300 && n_inside * 4 >= n_points * 3, "{n_inside} of {n_points}");
    assert!(n_near * 10 >= n_points * 9, "{n_near} of {n_points}");
}

#[test]
fn json_fields_are_documented() {
    let documented = std::fs::read_to_string(root().join("docs/json.md")).expect("docs");
    let (result, _) = json(&["swarm", BUG, "--json", "--tasks", "3", "--collector", "exact"]);
    let fields = result.as_object().expect("an object").keys();
    let inner = ["violations", "curve", "sizes"].map(|list| &result[list][0]);
    let inner = inner.into_iter().flat_map(|item| item.as_object().expect("an object").keys());
    let options = result["options"].as_object().expect("options").keys();
    for field in fields.chain(inner).chain(options) {
        assert!(documented.contains(&format!("`{field}`")), "{field} is not documented");
    }
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let plan = path("small_plan.json");
    let made = supertrace(&["swarm", "plan", MODEL, "--tasks", "3", "--arena", "2^14"]);
    std::fs::write(&plan, made.stdout).expect("a writable file");
    let changed = path("changed.pml");
    let text = std::fs::read_to_string(root().join(MODEL)).expect("a model");
    std::fs::write(&changed, &text).expect("a writable file");
    let changed_plan = path("changed_plan.json");
    let made = supertrace(&["swarm", "plan", &changed, "--tasks", "3", "--arena", "2^14"]);
    std::fs::write(&changed_plan, made.stdout).expect("a writable file");
    std::fs::write(&changed, text + "\nbyte more;").expect("a writable file");
    let model = root().join(MODEL).display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["swarm"], "Usage"),
        (&["swarm", "no_such_file.pml"], "cannot read"),
        (&["swarm", MODEL, "--until", "soon"], "expected 'first', 'all' or a number"),
        (&["swarm", MODEL, "--coverage", "200%"], "expected a percentage"),
        (&["swarm", MODEL, "--arena", "2^40"], "does not fit"),
        (&["swarm", MODEL, "--tasks", "0"], "0"),
        (&["swarm", "task", &plan, "3"], "has no task 3"),
        (&["swarm", "task", &model, "0"], "is no plan"),
        (&["swarm", "task", &changed_plan, "0"], "is not what it was"),
        (&["swarm", "merge", &plan], "is no record"),
        (&["swarm", "merge"], "Usage"),
    ];
    for (args, reason) in cases {
        let output = supertrace(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(reason), "{args:?}: {}", stderr(&output));
    }
}

/// Five counters that go up and down, too many states for any task, and an
/// assertion that fails early.
fn large_model() -> String {
    let process = |i: u32| {
        let check = if i == 0 { "assert(c[0] != 3)" } else { "skip" };
        format!(
            "active proctype P{i}() {{ do :: c[{i}] < 100 -> c[{i}]++; {check} \
             :: c[{i}] > 0 -> c[{i}]-- od }}\n"
        )
    };
    let text: String = (0..5).map(process).collect();
    let file = path("a large model.pml");
    std::fs::write(&file, format!("byte c[5];\n{text}")).expect("a writable file");
    file
}

#[test]
fn a_violation_is_not_lost_with_the_task_that_found_it() {
    let model = large_model();
    let args = ["swarm", &model, "--json", "--until", "all", "--time", "4s", "--arena", "2^29"];
    let (result, code) = json(&args);
    assert_eq!((result["verdict"].as_str(), code), (Some("violation"), 1));
    assert_eq!((&result["tasks_done"], &result["violations"][0]["count"]), (&0.into(), &1.into()));
    let again = result["violations"][0]["reproduce"].as_str().expect("a command");
    assert!(again.contains("/a large model.pml' --until all"), "{again}");
}

#[test]
fn bounds_hold_and_what_is_beyond_them_is_not_called_seen() {
    let model = large_model();
    let swarm =
        ["swarm", &model, "--json", "--ignore", "assert", "--tasks", "20", "--arena", "2^16"];
    for depth in ["0", "1", "6"] {
        let (result, _) = json(&[&swarm[..], &["--depth", depth]].concat());
        assert!(result["depth"].as_u64() <= depth.parse().ok(), "{depth}: {}", result["depth"]);
        assert!(result["coverage"].is_null(), "{depth}: {}", result["coverage"]);
    }
    let (result, _) = json(&[&swarm[..], &["--memory", "3MiB", "--threads", "1"]].concat());
    assert!(result["tasks_out_of_memory"].as_u64() > Some(0), "{result}");
}

#[test]
fn a_swarm_that_has_found_enough_is_not_resumed() {
    let dir = temp("enough");
    let _ = std::fs::remove_dir_all(&dir);
    let dir = dir.display().to_string();
    let swarm = ["swarm", BUG, "--json", "--arena", "2^16", "--resume", &dir];
    let (first, _) = json(&swarm);
    let (second, _) = json(&swarm);
    assert_eq!(first["tasks_done"], second["tasks_done"]);
    assert_eq!(second["verdict"], "violation");
}

#[test]
fn records_and_plans_that_were_tampered_with_are_refused() {
    let file = path("to_tamper.json");
    let made =
        supertrace(&["swarm", MODEL, "--tasks", "2", "--arena", "2^14", "-q", "--record", &file]);
    assert!(made.status.success(), "{}", stderr(&made));
    let text = std::fs::read_to_string(&file).expect("a record");
    let plan = stdout(&supertrace(&["swarm", "plan", MODEL, "--tasks", "2", "--arena", "2^14"]));
    let cases = [
        (&text, "\"hashes\":null", "\"hashes\":0", "merge"),
        (&text, "\"arena\":16384", "\"arena\":7", "merge"),
        (&text, "\"tasks\":{\"0\"", "\"tasks\":{\"4294967295\"", "merge"),
        (&plan, "\"arena\":16384", "\"arena\":7", "task"),
        (&plan, "\"number\":1,", "\"number\":4294967295,", "task"),
    ];
    for (text, from, to, command) in cases {
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replace(from, to)).expect("a writable file");
        let number: &[&str] = if command == "task" { &["0"] } else { &[] };
        let output = supertrace(&[&["swarm", command, &file][..], number].concat());
        assert_eq!(output.status.code(), Some(2), "{to}: {}", stderr(&output));
        assert!(stderr(&output).contains("is no "), "{to}: {}", stderr(&output));
    }
}

#[test]
fn a_swarm_without_time_says_so() {
    let (result, code) = json(&["swarm", MODEL, "--json", "--time", "0ms", "--tasks", "9"]);
    assert_eq!((result["verdict"].as_str(), code), (Some("incomplete"), 3));
    assert_eq!(result["stopped_by"], "time");
}
