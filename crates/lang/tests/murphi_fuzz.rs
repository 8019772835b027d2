//! No text makes the Murphi front-end panic or hang, nor the interpreter that
//! runs what it accepts: mutations of models, and nonsense. `FUZZ_CASES` and
//! `FUZZ_SEED` set more cases.

use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};
use ir::rules::symmetry::Canon;
use ir::rules::{Interpreter, Rules, statement, variables};
use std::path::Path;
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

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Words and marks that a mutation puts in, in addition to those of the model.
const PIECES: &str = "const type var rule ruleset startstate invariant assume cover liveness \
    function procedure begin end endrule do if then elsif else endif switch case for while alias \
    return put error assert clear undefine isundefined multisetadd ( multisetremove ( \
    multisetremovepred ( multisetcount ( ismember ( choose endchoose multiset [ union { enum { \
    record array [ scalarset ( of boolean real true false undefined forall exists to by x y i T \
    0 1 -1 99999999999999999999 18446744073709551615 0x10 1.5 \"text\" \" “ ” /* */ -- ; , : := \
    .. . ( ) [ ] { } ? -> | & ! || && ^ ~ = == != < <= > >= << >> + - * / % ==> ∀ ≤ ä _a $";

/// Our models, and those of others if they are there.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the repository");
    let corpus = root.join("../shared/corpus/murphi");
    let mut paths = Vec::new();
    for directory in
        [root.join("models/murphi"), corpus.join("rumur-tests"), corpus.join("cmurphi")]
    {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        paths.extend(entries.map(|entry| entry.expect("a readable entry").path()));
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "m"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a readable model")).collect()
}

/// A text with some words changed, left out, doubled or moved.
fn mutate(text: &str, random: &mut Random) -> String {
    let pieces: Vec<&str> = PIECES.split_whitespace().collect();
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ';', '(']).collect();
    for _ in 0..1 + random.below(6) {
        let at = random.below(words.len() + 1);
        match random.below(5) {
            0 => words.insert(at, random.pick(&pieces)),
            1 if at < words.len() => drop(words.remove(at)),
            2 if at < words.len() => words[at] = random.pick(&pieces),
            3 if at < words.len() => words.insert(random.below(words.len()), words[at]),
            _ => words.truncate(words.len().saturating_sub(random.below(20))),
        }
        words.insert(at.min(words.len()), " ");
    }
    words.concat()
}

fn check(text: &str) {
    let start = Instant::now();
    let loaded = lang::murphi::read("m.m", text.to_string());
    for diagnostic in &loaded.diagnostics {
        diagnostic.render(&loaded.sources);
    }
    let failed = loaded.diagnostics.iter().any(|d| d.is_error());
    assert_eq!(loaded.model.is_none(), failed, "{text}");
    if let Some(model) = loaded.model {
        // What was not understood has been reported.
        let tree = format!("{:?} {:?}", model.functions, (&model.rules, &model.properties));
        let wrong = tree.contains("kind: Wrong") || tree.contains("ty: TypeId(0)");
        assert!(!wrong, "{text}\n{tree}");
    }
    if let Some(rules) = lang::murphi::load("m.m", text.to_string()).rules {
        run(&rules);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "too slow:\n{text}");
}

/// Some states, until there are many or something is wrong.
#[derive(Default)]
struct Some200 {
    states: Vec<(Vec<u8>, Vec<Step>)>,
    ticks: usize,
    stopped: bool,
}

impl Some200 {
    fn flow(&mut self, stop: bool) -> Flow {
        self.stopped |= stop;
        if self.stopped { Flow::Stop } else { Flow::Continue }
    }
}

impl Sink for Some200 {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.states.push((state.to_vec(), steps.to_vec()));
        self.flow(self.states.len() >= 200)
    }

    fn fault(&mut self, _: Fault, _: &[Step]) -> Flow {
        self.flow(true)
    }

    fn tick(&mut self, _: u64) -> Flow {
        self.ticks += 1;
        self.flow(self.ticks > 4)
    }
}

/// Runs a model for a while, shows what it does, and finds canonical states.
fn run(rules: &Rules) {
    let mut model = Interpreter::new(rules);
    let mut found = Some200::default();
    model.initial(&mut found);
    let mut at = 0;
    while let (Some((state, _)), false) = (found.states.get(at).cloned(), found.stopped) {
        model.expand(&state, &mut found);
        at += 1;
    }
    let mut canon = Canon::new(rules);
    for (state, steps) in found.states.iter().step_by(7) {
        assert!(steps.iter().all(|step| statement(rules, *step).is_some()));
        let shown = variables(rules, state);
        if let Some(canon) = &mut canon {
            let mut canonical = state.clone();
            canon.canonicalise(&mut canonical);
            assert_eq!(variables(rules, &canonical).len(), shown.len());
        }
    }
}

#[test]
fn mutated_models() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok());
    let (cases, seed) = (number("FUZZ_CASES").unwrap_or(5_000), number("FUZZ_SEED").unwrap_or(1));
    let mut random = Random(seed);
    let texts = texts();
    assert!(!texts.is_empty(), "there are models to mutate");
    for _ in 0..cases {
        let text = &texts[random.below(texts.len())];
        check(&mutate(text, &mut random));
    }
}

#[test]
fn nonsense() {
    let mut random = Random(2);
    let pieces: Vec<&str> = PIECES.split_whitespace().collect();
    for _ in 0..2_000 {
        let n = random.below(60);
        let words: Vec<&str> = (0..n).map(|_| random.pick(&pieces)).collect();
        check(&words.join(" "));
    }
}

/// What is repeated very often, on its own and inside of a rule.
#[test]
fn long_and_deep_texts() {
    let repeated = [
        "(",
        "[",
        "{",
        "!",
        "-",
        "- ",
        "~",
        "x[",
        "x.",
        "f(",
        "x ? ",
        "x -> ",
        "x & ",
        "1 + ",
        "forall i : 0..1 do ",
        "if x then ",
        "for i : T do ",
        "while x do ",
        "alias a : x do ",
        "switch x case 1: ",
        "elsif ",
        "ruleset i : 0..1 do ",
        "record a : ",
        "array [0..1] of ",
        "union {",
        "multiset [1] of ",
        "enum {",
        "rule ",
        "rule x ",
        "begin ",
        "end ",
        "var x : ",
        "x : 0..1; ",
        "x, ",
        "x := 1; ",
        "x ",
        "; ",
        "\"",
        "/*",
        "--\n",
        "ä",
        "a : b : ",
        "procedure p(",
        "case ",
        "else ",
        "const c : c; ",
        "choose i : m do ",
        "x == ",
    ];
    for piece in repeated {
        let many = piece.repeat(20_000);
        check(&many);
        check(&format!("var x : 0..1; rule {many}"));
        check(&format!("var x : 0..1; rule begin x := {many}"));
        check(&format!("type t : {many}"));
    }
}

/// Types, constants and rules that double with each line.
#[test]
fn what_doubles_stays_small() {
    let mut text = String::from("type t0 : record a, b : 0..1 end;\nconst c0 : 1;\n");
    for i in 1..90 {
        text += &format!("type t{i} : record a, b : t{} end;\n", i - 1);
        text += &format!("const c{i} : c{0} + c{0};\n", i - 1);
    }
    text += "var x, y : t89; startstate begin x := 1; y := x; end;\n";
    text += &"ruleset i : 0..1; j : 0..1 do ".repeat(60);
    text += &"rule begin x.a := y.b; end; ".repeat(500);
    text += &"end; ".repeat(60);
    check(&text);
}
