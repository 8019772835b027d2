//! The command line: results, exit codes, limits, files, errors.

mod common;

use common::{root, stderr, stdout, supertrace};
use serde_json::Value;
use std::path::PathBuf;

fn json(args: &[&str]) -> (Value, i32) {
    let output = supertrace(args);
    let value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    (value, output.status.code().expect("an exit code"))
}

/// A file in a directory of this test run's own.
fn temp(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    dir.join(name)
}

fn temp_model(name: &str, text: &str) -> String {
    let path = temp(name);
    std::fs::write(&path, text).expect("a writable file");
    path.display().to_string()
}

#[test]
fn statements_of_inlines_are_shown_as_they_are_written() {
    let text = "byte x; chan c = [1] of { byte }
        #define CHECK(v, most) assert(v < most)
        inline bump(a, by) { a < by; a = a + by; c!a }
        active proctype P() { bump(x, 2); CHECK(x, 1) }";
    let (result, _) = json(&["check", &temp_model("inlines.pml", text), "--json"]);
    let steps = result["violation"]["trace"]["steps"].as_array().expect("a trace");
    let shown: Vec<&str> = steps.iter().filter_map(|s| s["statement"].as_str()).collect();
    assert_eq!(shown, ["a < by", "a = a + by", "c!a", "CHECK(x, 1)"]);
}

/// Spin finds nothing unreached in the first process; it waits for the other to go.
#[test]
fn a_process_that_waits_at_its_end_has_reached_it() {
    let text = "byte x; active proctype Older() { x = 1 }
        active proctype Younger() { end: x == 5 }";
    let (result, _) = json(&["check", &temp_model("older.pml", text), "--json"]);
    let unreached = result["unreached"].as_array().expect("a list");
    let of = |name: &str| unreached.iter().filter(|u| u["process"] == name).count();
    assert_eq!((of("Older"), of("Younger")), (0, 2), "{result}");
}

/// Spin's 20 states and 27 transitions.
#[test]
fn a_process_may_look_at_another_of_its_own_type() {
    let text = "active [2] proctype P() { byte loc; loc++; loc = P[1-_pid]:loc + 1 }";
    let (result, code) =
        json(&["check", &temp_model("own.pml", text), "--reduce", "none", "--json"]);
    let counts = (result["states"].as_u64(), result["transitions"].as_u64());
    assert_eq!((code, counts), (0, (Some(20), Some(27))), "{result}");
}

#[test]
fn json_has_every_documented_field() {
    let documented = std::fs::read_to_string(common::root().join("docs/json.md")).expect("docs");
    let (result, code) = json(&["check", "models/promela/hyman.pml", "--json", "--seed", "5"]);
    assert_eq!(code, 1);
    let object = result.as_object().expect("an object");
    for field in [
        "verdict",
        "violation",
        "states",
        "transitions",
        "depth",
        "seconds",
        "memory_bytes",
        "bytes_per_state",
        "seed",
        "model",
        "language",
        "options",
        "version",
    ] {
        assert!(object.contains_key(field), "{field} is missing");
    }
    for field in object.keys() {
        assert!(documented.contains(&format!("`{field}`")), "{field} is not in docs/json.md");
    }
    let violation = result["violation"].as_object().expect("a violation");
    for field in ["kind", "message", "location", "depth", "trace"] {
        assert!(violation.contains_key(field), "violation.{field} is missing");
    }
    assert_eq!(result["verdict"], "violation");
    assert_eq!(violation["kind"], "assertion");
    assert_eq!(violation["location"]["line"], 27);
    assert_eq!(violation["location"]["file"], "models/promela/hyman.pml");
    assert_eq!(result["language"], "promela");
    assert_eq!(result["seed"], 5);
    for field in result["violation"]["trace"]["steps"][0].as_object().expect("a step").keys() {
        assert!(documented.contains(&format!("`{field}`")), "step.{field} is not documented");
    }
}

#[test]
fn exit_codes_tell_the_verdict() {
    let cases: &[(&[&str], i32)] = &[
        (&["check", "models/promela/peterson.pml"], 0),
        (&["check", "models/promela/hyman.pml"], 1),
        (&["check", "models/promela/hyman.pml", "--ignore", "assert"], 0),
        (&["check", "models/promela/philosophers_deadlock.pml"], 1),
        (&["check", "models/promela/philosophers_deadlock.pml", "--ignore", "deadlock"], 0),
        (&["check", "no_such_file.pml"], 2),
        (&["check", "models"], 2),
        (&["check"], 2),
        (&["check", "models/promela/peterson.pml", "--no-such-flag"], 2),
        (&["check", "models/promela/peterson.pml", "--memory", "lots"], 2),
        (&["check", "models/promela/peterson.pml", "-D", "3x"], 2),
        (&["check", "models/promela/peterson.pml", "--depth", "3"], 3),
        (&["show", "models/promela/peterson.pml"], 2),
        (&["simulate", "models/promela/peterson.pml", "--steps", "5"], 0),
        (&["--help"], 0),
        (&["--version"], 0),
        (&[], 2),
    ];
    for (args, expected) in cases {
        let output = supertrace(args);
        assert_eq!(output.status.code(), Some(*expected), "{args:?}\n{}", stderr(&output));
    }
}

#[test]
fn limits_hold_and_are_named() {
    let model = "models/promela/go_back_n.pml";
    let (depth, code) = json(&["check", model, "--json", "--depth", "20"]);
    assert_eq!((depth["verdict"].as_str(), code), (Some("incomplete"), 3));
    assert_eq!(depth["stopped_by"], "depth");
    assert_eq!(depth["depth"], 20);
    for search in ["dfs", "bfs"] {
        let args = ["check", model, "--json", "--memory", "3MiB", "--search", search];
        let (memory, code) = json(&[&args[..], &["--compress", "off"]].concat());
        assert_eq!((memory["verdict"].as_str(), code), (Some("incomplete"), 3), "{search}");
        assert_eq!(memory["stopped_by"], "memory");
        assert!(memory["memory_bytes"].as_u64().expect("a number") <= 3 << 20, "{search}");
        assert!(memory["states"].as_u64().expect("a number") > 10_000, "{search}");
        let args = ["check", model, "--json", "--time", "2ms", "--search", search];
        let (time, code) = json(&args);
        assert_eq!((time["verdict"].as_str(), code), (Some("incomplete"), 3), "{search}");
        assert_eq!(time["stopped_by"], "time");
        assert!(time["seconds"].as_f64().expect("a number") < 5.0);
    }
}

/// Four hundred successors of 40,000 bytes: 512 states are eight gigabytes.
#[test]
fn the_time_limit_is_heard_where_states_are_large() {
    let text = "byte a[40000]; active [200] proctype P() {
        do :: a[_pid] < 255 -> a[_pid]++ :: a[_pid * 100] = 1 - a[_pid * 100] od }";
    let model = temp_model("wide.pml", text);
    for more in [&["--compress", "off"][..], &["--memory", "200MiB"]] {
        let args = ["check", &model, "--json", "--threads", "1", "--time", "500ms"];
        let (result, code) = json(&[&args[..], more].concat());
        assert_eq!((result["stopped_by"].as_str(), code), (Some("time"), 3), "{more:?}");
        assert!(result["seconds"].as_f64().expect("a number") < 3.0, "{more:?} {result}");
    }
}

/// Each step takes native code a millisecond or the interpreter a hundred, and there
/// are 65,536 and 256 states: limits are heard between a few of them.
#[test]
fn the_time_limit_is_heard_where_steps_are_long() {
    for (count, rounds) in [("short", 900_000), ("byte", 3_000_000)] {
        let text = format!(
            "{count} x; active proctype P() {{ int i; do :: d_step {{ i = 0;
             do :: i < {rounds} -> i++ :: else -> break od; i = 0; x++ }} od }}"
        );
        let model = temp_model("long_steps.pml", &text);
        let (result, code) = json(&["check", &model, "--json", "--time", "500ms"]);
        assert_eq!((result["stopped_by"].as_str(), code), (Some("time"), 3), "{count}");
        assert!(result["seconds"].as_f64().expect("a number") < 3.0, "{count} {result}");
    }
}

/// However long a loop in a sequence is, and wherever it begins, it is followed once.
#[test]
fn loops_of_any_length_in_a_sequence_lead_to_the_same() {
    let count = |rounds: u32, engine: &str| {
        let text = format!(
            "byte n; active [2] proctype P() {{ short i; do :: n < 9 -> atomic {{
             do :: i = (i == {last} -> 130 : i + 1) :: i == 133 -> break od; n++ }}; i = 0 od }}",
            last = 129 + rounds
        );
        let model = temp_model(&format!("loop_{rounds}_{engine}.pml"), &text);
        let check = ["check", &model, "--json", "--reduce", "none", "--deadlock", "off"];
        let (result, code) = json(&[&check[..], &["--engine", engine]].concat());
        assert_eq!(code, 0, "{rounds} {engine}");
        (result["states"].as_u64(), result["transitions"].as_u64())
    };
    let short = count(10, "interpret");
    for (rounds, engine) in [10, 70, 300, 700, 9000]
        .into_iter()
        .flat_map(|rounds| ["jit", "interpret"].map(|engine| (rounds, engine)))
    {
        assert_eq!(count(rounds, engine), short, "{rounds} {engine}");
    }
}

#[test]
fn memory_limit_covers_long_atomic_sequences() {
    let text = "int x; int a[5000]; active proctype P() { atomic { do :: x++ od } }";
    let model = temp_model("long_atomic.pml", text);
    let (result, code) = json(&["check", &model, "--json", "--memory", "50MiB"]);
    assert_eq!((result["stopped_by"].as_str(), code), (Some("memory"), 3));
}

#[test]
fn a_depth_limit_that_cuts_nothing_does_not_count() {
    let model = "models/promela/peterson.pml";
    for search in ["dfs", "bfs"] {
        let (free, _) = json(&["check", model, "--json", "--search", search]);
        let depth = free["depth"].as_u64().expect("a number").to_string();
        let (cut, code) = json(&["check", model, "--json", "--search", search, "--depth", &depth]);
        assert_eq!((cut["verdict"].as_str(), code), (Some("holds"), 0), "{search}");
        assert_eq!(cut["transitions"], free["transitions"], "{search}");
    }
}

#[test]
fn the_verdict_is_printed_even_if_a_file_cannot_be_written() {
    let args = ["check", "models/promela/hyman.pml", "--quiet", "--trace", "/no/such/dir/t.json"];
    let output = supertrace(&args);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "models/promela/hyman.pml: violation\n");
    assert!(stderr(&output).contains("cannot write '/no/such/dir/t.json'"));
}

#[test]
fn endless_sequences_end_with_a_message() {
    let cases = [
        ("counter.pml", "int x; init { atomic { do :: x++ od } }", "endless-atomic"),
        ("cycle.pml", "bit x; init { atomic { do :: x++ od } }", "endless-atomic"),
        ("block.pml", "bit x; init { d_step { do :: x++ od } }", "endless-d_step"),
        ("dstep.pml", "int x; init { d_step { do :: x++ od } }", "endless-d_step"),
        ("run.pml", "proctype P() { run P() } init { run P(); end: false }", "too-many-processes"),
    ];
    for (name, text, kind) in cases {
        let (result, code) = json(&["check", &temp_model(name, text), "--json"]);
        assert_eq!((result["violation"]["kind"].as_str(), code), (Some(kind), 1), "{name}");
    }
}

#[test]
fn an_atomic_sequence_that_can_turn_round_but_also_end_is_no_violation() {
    let text = "byte x; init { atomic { do :: x < 3 -> x++ :: x > 0 -> x-- :: break od } }";
    let (result, code) = json(&["check", &temp_model("turns.pml", text), "--json"]);
    assert_eq!((result["verdict"].as_str(), code), (Some("holds"), 0));
}

#[test]
fn defines_and_includes_reach_the_model() {
    let (small, _) = json(&["check", "models/promela/peterson_filter.pml", "--json", "-D", "N=2"]);
    let (larger, _) = json(&["check", "models/promela/peterson_filter.pml", "--json", "-DN=3"]);
    assert!(small["states"].as_u64() < larger["states"].as_u64());
    temp_model("part.h", "#define LIMIT 3\n");
    let text = "#include \"part.h\"\nbyte x; init { x = LIMIT; assert(x == 3) }";
    let output = supertrace(&["check", &temp_model("includes.pml", text)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = supertrace(&["check", &temp_model("missing.pml", "#include \"nowhere.h\"\n")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nowhere.h"), "{}", stderr(&output));
}

#[test]
fn errors_of_murphi_models_are_reported_at_once() {
    let wrong = temp_model("wrong.m", "var x: boolean;\nrule begin\n  x := 1;\n  y := x;\nend;\n");
    let output = supertrace(&["check", &wrong]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("wrong.m:3:8: error: 'x' has type 'boolean', this is a number"),
        "{said}"
    );
    assert!(said.contains("2 errors in"), "{said}");
    let output = supertrace(&["check", "models/murphi/peterson.m", "-D", "N=1"]);
    assert!(stderr(&output).contains("'-D' is for Promela models"));
}

#[test]
fn all_violations_are_reported_once_each() {
    let text = "byte x;\nactive proctype P() {\n if\n :: assert(x == 1)\n :: assert(x == 2)\n \
                :: x = 9; assert(x == 3)\n fi\n}\n";
    let model = temp_model("three.pml", text);
    let (all, code) = json(&["check", &model, "--json", "--all"]);
    assert_eq!(code, 1);
    let lines: Vec<u64> = all["violations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|v| v["location"]["line"].as_u64().expect("a line"))
        .collect();
    assert_eq!(lines, [4, 5, 6]);
    let (two, _) = json(&["check", &model, "--json", "--max-violations", "2"]);
    assert_eq!(two["violations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn each_of_several_deadlocks_is_shown() {
    let text = "byte x;\nactive proctype P() {\n if\n :: x = 1; x = 2; x = 3; x == 9\n \
                :: x = 4; x = 5; x == 9\n :: x = 6; x == 9\n fi\n}\n";
    let model = temp_model("deadlocks.pml", text);
    for search in ["dfs", "bfs"] {
        let flags = ["--json", "--all", "--reduce", "none", "--search", search];
        let (all, _) = json(&[&["check", model.as_str()], &flags[..]].concat());
        let violations = all["violations"].as_array().expect("a list").iter();
        let mut lines: Vec<u64> =
            violations.filter_map(|v| v["location"]["line"].as_u64()).collect();
        lines.sort_unstable();
        assert_eq!(lines, [4, 5, 6], "{search}");
    }
}

#[test]
fn bitstate_loses_nothing_when_memory_is_short() {
    let counters = ["a", "b", "c", "d"].map(|v| {
        format!("byte {v}; active proctype P{v}() {{ do :: atomic {{ {v} < 9 -> {v}++ }} od }}\n")
    });
    let last = "byte e; active proctype E() { do :: atomic { e < 5 -> e++ } od }\n";
    let model = temp_model("wide.pml", &format!("byte pad[600];\n{}{last}", counters.concat()));
    let mut n_done = 0;
    for kib in (49_664..=51_200).step_by(256) {
        let memory = format!("{kib}KiB");
        let args = ["--search", "bfs", "--store", "bitstate", "--arena", "2^27"];
        let flags = ["--json", "--reduce", "none", "--ignore", "deadlock", "--threads", "1"];
        let mut all = vec!["check", &model, "--memory", &memory];
        all.extend(args.iter().chain(&flags));
        let (result, code) = json(&all);
        // What is kept as fingerprints until memory is full is not lost by that.
        if code == 0 {
            n_done += 1;
            assert_eq!(result["states"], 60_000, "{memory}");
        } else {
            assert_eq!((code, &result["stopped_by"]), (3, &"memory".into()), "{memory}");
        }
    }
    assert!(n_done > 0, "none came to its end");
}

#[test]
fn traces_can_be_kept_shown_replayed_and_drawn() {
    let (trace, chart) = (temp("t.json"), temp("t.svg"));
    let (trace, chart) = (trace.display().to_string(), chart.display().to_string());
    let model = "models/promela/stop_and_wait_bug.pml";
    let checked = supertrace(&["check", model, "--trace", &trace, "--quiet"]);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(stdout(&checked), format!("{model}: violation\n"));
    let shown = stdout(&supertrace(&["show", &trace]));
    assert!(shown.contains("assert(item == expected)") && shown.contains("sent "), "{shown}");
    let columns = stdout(&supertrace(&["show", &trace, "--columns", "--width", "90"]));
    assert!(columns.contains("sender(0)") && columns.contains("receiver(1)"), "{columns}");
    assert_eq!(supertrace(&["show", &trace, "--msc", &chart]).status.code(), Some(0));
    let svg = std::fs::read_to_string(&chart).expect("a chart");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    let replayed = supertrace(&["simulate", model, "--replay", &trace]);
    assert_eq!(replayed.status.code(), Some(1), "{}", stderr(&replayed));
    assert!(stdout(&replayed).contains("assertion does not hold"));
    let other = supertrace(&["simulate", "models/promela/hyman.pml", "--replay", &trace]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("not a statement of this model"), "{}", stderr(&other));
}

#[test]
fn breadth_first_counterexamples_are_shortest_and_others_are_shortened() {
    for model in ["hyman", "stop_and_wait_bug", "needham_schroeder", "water_jugs", "farmer"] {
        let model = format!("models/promela/{model}.pml");
        let depth = |args: &[&str]| {
            let mut all = vec!["check", &model, "--json"];
            all.extend(args);
            json(&all).0["violation"]["depth"].as_u64().expect("a violation")
        };
        let shortest = depth(&["--search", "bfs", "--reduce", "none"]);
        assert_eq!(depth(&["--search", "bfs"]), shortest, "{model}");
        assert_eq!(depth(&[]), shortest, "{model}: small enough to be shortened fully");
        assert_eq!(depth(&["--shorten", "--seed", "3"]), shortest, "{model}");
        assert!(depth(&["--shorten", "off"]) >= shortest, "{model}");
    }
}

#[test]
fn simulation_is_repeatable_by_its_seed() {
    let run = |seed: &str| {
        let args =
            ["simulate", "models/promela/alternating_bit.pml", "--seed", seed, "--steps", "40"];
        stdout(&supertrace(&args))
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn interactive_simulation_takes_choices_undoes_and_shows() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(["simulate", "models/promela/hyman.pml", "--interactive"])
        .current_dir(common::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let input = b"1\nv\nu\nu\n99\nnonsense\nq\n";
    child.stdin.take().expect("a pipe").write_all(input).expect("input is read");
    let output = child.wait_with_output().expect("it ends");
    let text = stdout(&output);
    assert!(text.contains("want[1] = true"), "{text}");
    assert!(text.contains("this is the initial state"), "{text}");
    assert!(text.contains("expected a number from 1 to 2"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_trace_remembers_the_macros_of_its_model() {
    let text = "#ifdef BUG\nbyte x = 1;\n#else\nbyte x;\n#endif\ninit { x++; assert(x == 1) }";
    let (model, trace) = (temp_model("macros.pml", text), temp("macros.json"));
    let trace = trace.display().to_string();
    let checked = supertrace(&["check", &model, "-D", "BUG", "--trace", &trace, "--quiet"]);
    assert_eq!(checked.status.code(), Some(1));
    let replayed = supertrace(&["simulate", &model, "--replay", &trace]);
    assert_eq!(replayed.status.code(), Some(1), "{}", stderr(&replayed));
}

#[test]
fn emit_ir_prints_the_system() {
    let text = stdout(&supertrace(&["check", "models/promela/hello.pml", "--emit", "ir"]));
    assert!(text.starts_with("system \"models/promela/hello.pml\" (promela)"), "{text}");
    assert!(text.contains("print") && text.contains("exit"), "{text}");
}

#[test]
fn files_may_be_latin_1_and_lists_end_with_a_semicolon() {
    let path = temp("latin.pml");
    let text = b"/* caf\xe9 */ mtype = { a, b; }; chan c = [1] of { byte, bool; };
        active proctype P() { c!1, true }";
    std::fs::write(&path, text).expect("a writable file");
    let (result, code) = json(&["check", &path.display().to_string(), "--json"]);
    assert_eq!((&result["states"], code), (&Value::from(3), 0));
    let output = supertrace(&["check", &temp_model("zero.pml", "byte x;\0")]);
    assert!(stderr(&output).contains("no text file"), "{}", stderr(&output));
}

#[test]
fn long_chains_of_choices_are_taken() {
    let n = 240;
    let choice = |i: usize| format!("if :: x == {} -> x = 1 :: else -> ", i % 200);
    let choices: String = (0..n).map(choice).collect();
    let text = format!("byte x; active proctype P() {{ {choices} skip {} }}", "fi ".repeat(n));
    let (result, code) = json(&["check", &temp_model("chain.pml", &text), "--json"]);
    assert_eq!((&result["verdict"], code), (&Value::from("holds"), 0));
}

#[test]
fn properties_that_are_not_checked_are_named() {
    let text = "byte x; init { x = 1 }\nltl safe { [] (x < 2) }\nnever { do :: x == 9 od }\n";
    let model = temp_model("ltl.pml", text);
    for args in [&["check", &*model][..], &["check", "--quiet", &*model]] {
        let output = supertrace(args);
        assert!(stdout(&output).contains("not checked: ltl formula safe"), "{}", stdout(&output));
        assert!(stdout(&output).contains("not checked: never claim"), "{}", stdout(&output));
    }
}

#[test]
fn errors_come_all_at_once_with_place_and_remedy() {
    let text =
        "byte count;\nproctype P() {\n  cuont = 1;\n  count = ;\n  x = 2\n}\ninit { run Q() }\n";
    let output = supertrace(&["check", &temp_model("bad.pml", text)]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    for expected in [
        "bad.pml:3:3: error: undeclared variable 'cuont'",
        "help: did you mean 'count'?",
        "bad.pml:4:11: error: expected an expression, found ';'",
        "bad.pml:5:3: error: undeclared variable 'x'",
        "bad.pml:7:12: error: there is no process type 'Q'",
        "4 errors",
    ] {
        assert!(text.contains(expected), "no '{expected}' in:\n{text}");
    }
    let c_code = supertrace(&["check", &temp_model("c.pml", "init { c_code { x(\"}\"); } }")]);
    assert!(stderr(&c_code).contains("embedded C ('c_code')"), "{}", stderr(&c_code));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_with_the_result_so_far() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    // Four billion states: never done.
    let text = "int x; active [2] proctype P() { do :: x++ od }";
    let child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(["check", &temp_model("endless.pml", text), "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    std::thread::sleep(Duration::from_millis(700));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|s| s.success()), "kill works");
    let output = child.wait_with_output().expect("it ends");
    let result: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(result["stopped_by"], "interrupt");
    assert!(result["states"].as_u64() > Some(1000));
}

/// Nobody reads what is said besides the result: that changes neither the
/// result nor the exit code.
#[test]
fn a_closed_standard_error_is_no_error() {
    use std::process::{Command, Stdio};
    let racy = temp_model("racy.pml", "byte x; active [2] proctype P() { x++; assert(x == 1) }");
    let missing = temp("no-such-model.pml").display().to_string();
    for (args, code) in [(vec!["check", &missing], 2), (vec!["swarm", &racy, "--tasks", "2"], 1)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stderr.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

/// Native code comes while the search is under way, function by function.
#[test]
fn code_that_comes_in_between_changes_nothing() {
    let offered = "chan c = [0] of { mtype }; mtype = { data, ack }; byte n, m;
        active proctype Clock() { do :: timeout -> n = (n + 1) % 250; m = m + (n == 0) od }
        active proctype Receiver() { end: do :: c?ack od }
        active proctype Sender() { end: do :: c!data od }";
    let provided = "chan c = [0] of { byte }; byte n, m, k;
        active proctype B() { byte x; do :: c?x -> m = (m + x) % 50 od }
        active proctype A() provided (timeout) { do :: c!1 :: c!2 od }
        active proctype C() { do :: n < 50 && k < 20 -> n++ :: n == 50 -> n = 0; k++
                                 :: timeout -> n = 0; k = (k + 1) % 21 od }";
    let started = "chan c[2] = [0] of { byte }; byte n;
        proctype P(chan out) { byte i; do :: i < 9 -> atomic { i++; out!i } :: i == 9 -> break od }
        active proctype Q() { byte x; do :: c[0]?x -> n = x :: c[1]?x od }
        init { byte k; do :: k < 3 -> run P(c[k % 2]); k++ :: timeout -> break od }";
    for (name, text) in [("offered", offered), ("provided", provided), ("started", started)] {
        let model = temp_model(&format!("{name}.pml"), text);
        let counts = |more: &[&str]| {
            let plain = ["check", &model, "--reduce", "none", "--ignore", "deadlock", "--json"];
            let (result, _) = json(&[&plain[..], more].concat());
            (result["verdict"].clone(), result["states"].clone(), result["transitions"].clone())
        };
        let expected = counts(&["--engine", "interpret"]);
        assert!(expected.1.as_u64() > Some(20_000), "{name}: {expected:?}");
        for more in [&["--threads", "1"][..], &["--threads", "2"], &["--search", "bfs"]] {
            assert_eq!(counts(more), expected, "{name} {more:?}");
        }
    }
}

/// Where the system makes no threads one does it all, also what several have left.
#[test]
fn without_threads_searches_come_to_the_same() {
    let alone = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_supertrace"));
        // So large a stack is refused.
        let command = command.args(args).current_dir(root());
        let output = command.env("RUST_MIN_STACK", "9000000000000000").output();
        let output = output.expect("the binary runs");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).expect("one JSON object")
    };
    let gc = "models/promela/gc_benari.pml";
    let check = ["check", gc, "--reduce", "none", "--threads", "3", "--json"];
    let (expected, _) = json(&check);
    assert_eq!(alone(&check)["states"], expected["states"]);
    let bfs = [&check[..], &["--search", "bfs"]].concat();
    assert_eq!(alone(&bfs)["states"], expected["states"]);
    let swarm = ["swarm", gc, "--tasks", "8", "--threads", "3", "--json"];
    assert_eq!(alone(&swarm)["tasks_done"], 8);
    assert!(alone(&["estimate", gc, "--threads", "3", "--json"])["reachable_states"].is_object());
    let counters = temp_model("alone.pml", COUNTERS);
    let file = temp("alone.checkpoint").display().to_string();
    let part = ["check", &counters, "--threads", "3", "--time", "20ms", "--checkpoint", &file];
    let _ = supertrace(&part);
    let rest = alone(&["check", &counters, "--threads", "3", "--resume", &file, "--json"]);
    assert_eq!(rest["states"], 753_571);
}

#[test]
fn deadlocks_can_be_switched_off_in_both_languages() {
    let stuck = temp_model("stuck.pml", "byte x; init { x = 1; x == 2 }");
    let none = temp_model("none.m", "var x: 0..1; startstate x := 0; end; rule x = 1 ==> end;");
    for model in [&stuck, &none] {
        assert_eq!(supertrace(&["check", model]).status.code(), Some(1), "{model}");
        let off = supertrace(&["check", model, "--deadlock", "off", "--symmetry", "off"]);
        assert_eq!(off.status.code(), Some(0), "{model}");
        assert!(stdout(&off).contains("holds") && !stdout(&off).contains("no deadlock"));
        let swarm = supertrace(&["swarm", model, "--deadlock", "off", "--tasks", "2", "--quiet"]);
        assert_eq!(swarm.status.code(), Some(0), "{model}");
    }
}

/// 753,571 states, about a second of work for the interpreter.
const COUNTERS: &str = "byte x[3]; active [3] proctype P() { \
                        do :: x[_pid] < 30 -> x[_pid]++ :: x[_pid] > 0 -> x[_pid]-- od }";

#[test]
#[cfg(unix)]
fn a_killed_search_goes_on_from_its_last_checkpoint() {
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::{Duration, SystemTime};
    let model = temp_model("killed.pml", COUNTERS);
    let (whole, _) = json(&["check", &model, "--json"]);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
    for (search, compress) in [("dfs", "off"), ("bfs", "on")] {
        let file = temp(&format!("killed-{search}.ckpt")).display().to_string();
        let _ = std::fs::remove_file(&file);
        let args = ["check", &model, "--json", "--search", search, "--compress", compress];
        let more = ["--engine", "interpret", "--checkpoint", &file, "--every", "200ms"];
        let args = [&args[..], &more[..]].concat();
        // Until there is a checkpoint at least, on a slow machine.
        for kill in (0..40).take_while(|kill| *kill < 4 || !Path::new(&file).exists()) {
            let wait = 100 + kill * 50 + (clock.subsec_nanos() as u64 / 1000 + kill * 77) % 400;
            let resume =
                if Path::new(&file).exists() { vec!["--resume", &file] } else { Vec::new() };
            let mut child = Command::new(env!("CARGO_BIN_EXE_supertrace"))
                .args(args.iter().chain(&resume))
                .stdout(Stdio::null())
                .spawn()
                .expect("the binary runs");
            std::thread::sleep(Duration::from_millis(wait));
            child.kill().expect("it is killed");
            let status = child.wait().expect("it ends");
            println!("{search}: killed after {wait} ms, {status}");
        }
        let (resumed, code) = json(&[&args[..], &["--resume", &file]].concat());
        assert_eq!((resumed["verdict"].as_str(), code), (Some("holds"), 0), "{search}");
        for field in ["states", "transitions"] {
            assert_eq!(resumed[field], whole[field], "{search}: {field}");
        }
    }
}

#[test]
fn a_search_that_ended_early_can_be_resumed() {
    let model = temp_model("early.pml", COUNTERS);
    let file = temp("early.ckpt").display().to_string();
    let _ = std::fs::remove_file(&file);
    let (whole, _) = json(&["check", &model, "--json"]);
    let early = ["check", &model, "--checkpoint", &file, "--memory", "9MiB", "--compress", "off"];
    let output = supertrace(&early);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains(&format!("help: resume with --resume {file}")), "{text}");
    assert!(text.contains("--compress on") && text.contains("--spill DIR"), "{text}");
    let (resumed, code) = json(&["check", &model, "--json", "--resume", &file]);
    assert_eq!(code, 0);
    assert_eq!(resumed["states"], whole["states"]);
    assert_eq!(resumed["transitions"], whole["transitions"]);
    assert_eq!(resumed["checkpoint"], Value::Null);
    assert_eq!(resumed["options"]["resume"], file.as_str());
    // The same text elsewhere is the same model; another text is not.
    let moved = temp_model("moved.pml", COUNTERS);
    assert_eq!(supertrace(&["check", &moved, "--resume", &file]).status.code(), Some(0));
    let other = temp_model("other.pml", &COUNTERS.replace("30", "29"));
    let others: [&[&str]; 3] = [
        &["check", &other, "--resume", &file],
        &["check", &model, "--resume", &file, "--search", "bfs"],
        &["check", &model, "--resume", &file, "--reduce", "none"],
    ];
    for (args, what) in others.iter().zip(["model was", "search was dfs, is bfs", "reduce was"]) {
        let output = supertrace(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let text = stderr(&output);
        assert!(text.contains("is a checkpoint of another model or other options"), "{text}");
        assert!(text.contains(what), "{text}");
    }
    let small = supertrace(&["check", &model, "--resume", &file, "--memory", "2MiB"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(stderr(&small).contains("raise --memory"), "{}", stderr(&small));
}

#[test]
fn files_of_a_search_are_refused_before_it_begins() {
    let model = "models/promela/peterson.pml";
    let text = temp_model("precious.pml", "init { skip }");
    let cases: [(&[&str], &str); 6] = [
        (&["--checkpoint", "/no/such/dir/c"], "cannot write '/no/such/dir/c'"),
        (&["--checkpoint", &text], "will not be written over"),
        (&["--spill", "/no/such/dir"], "cannot write '/no/such/dir'"),
        (&["--resume", "/no/such/file"], "cannot read '/no/such/file'"),
        (&["--resume", &text], "is no checkpoint"),
        (&["--every", "3s"], "--checkpoint"),
    ];
    for (args, message) in cases {
        let output = supertrace(&[&["check", model], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(&text).expect("it is there"), "init { skip }");
}

#[test]
fn a_lossy_store_says_what_it_may_have_missed() {
    let model = "models/promela/peterson_filter.pml";
    let (result, code) = json(&["check", model, "--store", "bitstate", "--json"]);
    assert_eq!((result["verdict"].as_str(), code), (Some("no-violation-found"), 0));
    let coverage = &result["coverage"];
    let value = |name: &str| coverage[name].as_f64().expect("a number");
    assert!(value("low") <= value("estimate") && value("estimate") <= value("high"));
    assert!(value("estimate") > 0.99 && result["estimates"]["stern"]["estimate"].is_number());
    let tiny = ["check", model, "--store", "compact", "--bits", "8", "--arena", "1KiB", "--json"];
    let (result, code) = json(&tiny);
    assert_eq!((result["stopped_by"].as_str(), code), (Some("memory"), 3));
    let (result, _) = json(&[&tiny[..], &["--on-full", "drop"]].concat());
    assert_eq!(result["verdict"], "no-violation-found");
    assert!(result["coverage"].is_null() && result["dropped"].as_u64() > Some(0));
    let runs = ["check", model, "--store", "bitstate", "--arena", "2^13", "--runs", "4", "--json"];
    let (result, _) = json(&runs);
    let each = result["runs"].as_array().expect("each run");
    assert!(
        each.len() == 4
            && each.iter().all(|run| run["states"].as_u64() < result["states"].as_u64())
    );
    for wrong in [&["--hashes", "3"][..], &["--pod", "1"], &["--store", "bitstate", "--bits", "8"]]
    {
        let output = supertrace(&[&["check", model][..], wrong].concat());
        let error = stderr(&output);
        assert!(output.status.code() == Some(2) && error.contains("is for --store"), "{error}");
    }
}

#[test]
fn the_number_of_states_is_estimated() {
    let model = "models/promela/peterson_filter.pml";
    let (result, code) =
        json(&["estimate", model, "--reduce", "none", "--arena", "2^20", "--json"]);
    let states = result["reachable_states"]["estimate"].as_f64().expect("an estimate");
    let (exact, _) = json(&["check", model, "--reduce", "none", "--json"]);
    let exact = exact["states"].as_f64().expect("a number");
    assert!((states / exact - 1.0).abs() < 0.1, "{states} for {exact}");
    assert_eq!((code, result["runs"].as_array().map(Vec::len)), (0, Some(6)));
    let text = stdout(&supertrace(&["estimate", model]));
    assert!(text.contains("reachable states") && text.contains("next: "), "{text}");
}

#[test]
fn lossy_searches_end_whatever_is_asked_of_them() {
    let model = "models/promela/peterson_filter.pml";
    let check = |more: &str| {
        let more: Vec<&str> = more.split_whitespace().collect();
        json(&[&["check", model, "--json", "--reduce", "none"][..], &more].concat()).0
    };
    let exact = check("")["states"].as_u64();
    // What is dropped is not expanded again and again.
    let full = check("--store compact --pod 1 --arena 2^12 --on-full drop --time 20s");
    assert_eq!(full["verdict"], "no-violation-found");
    assert!(full["states"].as_u64() <= exact);
    for rare in [
        "--store bitstate --arena 2^12 --store-probability 0.00001 --memory 1MiB --threads 1",
        "--store compact --arena 2^12 --on-full drop --store-probability 0.5 --time 20s",
    ] {
        let result = check(rare);
        assert!(result["states"].as_u64() <= exact && result["stopped_by"] != "time", "{rare}");
    }
    // A search that was stopped has no coverage.
    assert!(check("--store bitstate --depth 5")["coverage"].is_null());
}

#[test]
fn what_does_not_fit_is_said_before_the_search() {
    let model = "models/promela/peterson_filter.pml";
    let hidden = temp_model("hidden.pml", "hidden byte h; init { h = 1; h = 2 }");
    for (args, words) in [
        (["check", model, "--store=bitstate", "--arena=64TiB", "--quiet"], "does not fit"),
        (["check", model, "--store=bitstate", "--compress=on", "--quiet"], "is for --store exact"),
        (["check", model, "--store=bitstate", "--spill=.", "--quiet"], "is for --store exact"),
        (["check", &hidden, "--store=bitstate", "--pod=1", "--reduce=none"], "'hidden' variables"),
    ] {
        let output = supertrace(&args);
        let error = stderr(&output);
        assert!(output.status.code() == Some(2) && error.contains(words), "{args:?}: {error}");
    }
    let (result, code) = json(&["check", model, "--memory", "1", "--json"]);
    assert_eq!((result["stopped_by"].as_str(), code), (Some("memory"), 3));
}
