//! No text makes the front-end or the interpreter panic or hang: mutations of
//! the models, and nonsense. `FUZZ_CASES` and `FUZZ_SEED` set more cases.

mod common;

use check::{Compress, Options, Order, Outcome, Verdict};
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::Model;
use ir::program::Program;
use ir::reduce;
use ir::system::System;
use ir::trace;
use lang::promela::preprocess::FileLoader;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// Words and marks that a mutation puts in.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "->",
    "::",
    "if",
    "fi",
    "do",
    "od",
    "atomic {",
    "d_step {",
    "unless {",
    "else",
    "break",
    "goto L1",
    "L1:",
    "end:",
    "skip",
    "x",
    "1",
    "0",
    "-1",
    "99999",
    "2147483647",
    "!",
    "?",
    "??",
    "!!",
    "?<",
    "[",
    "eval(",
    "_",
    "_pid",
    "run P()",
    "timeout",
    "byte x = 1;",
    "chan c = [0] of { byte };",
    "int a[4];",
    "for (i : 0 .. 3) {",
    "select (x : 1 .. 9)",
    "#define F(a) a F(a)",
    "\n#if 1\n",
    "\n#endif\n",
    "inline f(a) { a }",
    "f(1)",
    "typedef T { byte b }",
    "T t;",
    "/*",
    "*/",
    "//",
    "\"",
    "'a'",
    "assert(",
    "printf(\"%d\\n\", x)",
    "proctype P() { skip }",
    "active [300] proctype Q() { skip }",
    "init { skip }",
    "never { skip }",
    "ltl { [] (x == 1) }",
    "x / 0",
    "x % 0",
    "a[7]",
    "c ! 1, 2, 3",
    "len(c)",
    "(x -> 1 : 2)",
    ".",
    ",",
    ":",
    "@",
    "ü",
    "\0",
    "provided (x == 1)",
    "priority 3",
    "hidden",
    "xr c;",
    "d_step { do :: x++ od }",
    "c ? [x] ->",
    "c ?? [_] ->",
    "byte z = 5;",
    "P[0]:x == 1",
    "np_",
    "P[0]@L1",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> =
        text.split_inclusive([' ', '\n', ';', '(', ')']).map(String::from).collect();
    for _ in 0..1 + random.below(6) {
        if words.is_empty() {
            words.push(String::new());
        }
        let at = random.below(words.len());
        match random.below(5) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, format!(" {} ", PIECES[random.below(PIECES.len())])),
            2 => words[at] = format!(" {} ", PIECES[random.below(PIECES.len())]),
            3 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            _ => {
                let copy = words[at].clone();
                words.insert(random.below(words.len()), copy);
            }
        }
    }
    words.concat()
}

/// Loads a text and, if it is a model, runs it for a moment.
fn exercise(text: &str) {
    let loaded = lang::promela::load("fuzz.pml", text.to_string(), &[], &FileLoader);
    for diagnostic in &loaded.diagnostics {
        diagnostic.render(&loaded.sources);
    }
    let Some(system) = loaded.system else {
        assert!(loaded.diagnostics.iter().any(|d| d.is_error()), "rejected without an error");
        return;
    };
    let reduced = reduce::reduce(&system);
    let mut verdicts = Vec::new();
    for (order, searched) in [
        (Order::Dfs, &system),
        (Order::Bfs, &system),
        (Order::Dfs, &reduced),
        (Order::Bfs, &reduced),
    ] {
        let outcome = search(searched, order);
        confirm(&system, searched, &outcome);
        // A verdict that a limit has not cut short must always be the same,
        // and a hidden variable may lead orders to different states.
        let complete = outcome.verdict != Verdict::Incomplete;
        if complete && system.globals.cells.iter().all(|c| !c.hidden) {
            verdicts.push((order, outcome.verdict, outcome.states));
        }
    }
    let same = verdicts.windows(2).all(|w| w[0].1 == w[1].1);
    assert!(same, "verdicts differ: {verdicts:?}");
    if let [(_, Verdict::Holds, dfs), (_, _, bfs), (_, _, reduced), _] = verdicts[..] {
        assert_eq!(dfs, bfs, "the orders differ");
        assert!(reduced <= dfs, "a reduction added states: {reduced} > {dfs}");
    }
}

fn search(system: &System, order: Order) -> Outcome {
    let interrupt = AtomicBool::new(false);
    let layout = Layout::new(system);
    let options = Options {
        order,
        threads: 1,
        compress: Compress::On,
        fold_after: 100,
        memory: 64 << 20,
        time: Some(Duration::from_millis(20)),
        interrupt: &interrupt,
        ..Options::default()
    };
    let make = || -> Box<dyn Model + '_> { Box::new(Interpreter::new(system, &layout)) };
    check::check(&make, &options).expect("no files are in use")
}

/// Every counterexample is a path of the model as it is written.
fn confirm(system: &System, searched: &System, outcome: &Outcome) {
    let program = Program::from(system.clone());
    for found in &outcome.violations {
        let faulty = found.fault.kind != ir::fault::FaultKind::Deadlock;
        let steps = reduce::expand_steps(searched, &found.steps, faulty);
        let path = trace::replay(&program, &steps, Some(found.fault.kind.into()));
        let path = path.unwrap_or_else(|e| panic!("{:?} does not replay: {e}", found.fault));
        trace::describe(&program, &path);
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn mutated_models_never_panic_or_hang() {
    let texts: Vec<String> = common::models()
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a readable model"))
        .collect();
    let seed = setting("FUZZ_SEED", 1);
    for case in 0..setting("FUZZ_CASES", 1500) {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let text = &texts[random.below(texts.len())];
        let mutated = mutate(text, &mut random);
        let started = Instant::now();
        let result = std::panic::catch_unwind(|| exercise(&mutated));
        let slow = started.elapsed() > Duration::from_secs(10);
        assert!(result.is_ok() && !slow, "case {case} of seed {seed} (slow: {slow}):\n{mutated}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("(", ")"), ("{", "}"), ("if :: ", " fi"), ("atomic {", "}"), ("!", "")] {
        for n in [100, 10_000, 100_000] {
            let body = format!("{}1{}", open.repeat(n), close.repeat(n));
            exercise(&format!("byte x; init {{ {body} }}"));
            exercise(&format!("byte x; init {{ x = {body} }}"));
        }
    }
    exercise(&format!("init {{ assert(1{}) }}", "+1".repeat(100_000)));
    exercise(&format!("byte a[2]; init {{ a{} }}", "[a".repeat(50_000)));
    exercise(&format!("init {{ {} skip }}", "L: ".repeat(50_000)));
    exercise(&format!("ltl {{ {} true }}", "[] ".repeat(50_000)));
}
