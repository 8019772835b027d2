//! Runs a model by the interpreter, by native code and by Rumur, with and
//! without symmetry, and compares what they say.

use crate::fuzz::Comparison;
use crate::fuzz::engines::common;
use crate::fuzz::scratch::{self, Scratch, gist};
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

const TOOL_TIME: Duration = Duration::from_secs(8);
/// Models that have more states by then are not compared.
const OUR_SECONDS: u64 = 4;
/// States whose expansions by both engines are compared event by event.
const MAX_STATES: usize = 1000;
/// Rumur's arithmetic is then that of 64 bits, as ours; `int64_t` itself is
/// refused by Rumur 2022.08.20.
const VALUE_TYPE: &str = "int32_t";

pub struct Checkers {
    scratch: Scratch,
    rumur: bool,
    tally: RefCell<Tally>,
}

/// What the models were like that were compared.
#[derive(Default)]
struct Tally {
    models: u64,
    violated: u64,
    symmetric: u64,
    reduced: u64,
    states: Vec<u64>,
    native: u64,
    interpreted: u64,
}

/// Counts of the whole graph, or that there is an error in it.
#[derive(Debug, PartialEq)]
enum Found {
    Counts { states: u64, rules: u64 },
    Error,
}

/// Why there is nothing to compare: what the caller returns.
type Halt<T> = Result<T, Comparison>;

fn different<T>(difference: String) -> Halt<T> {
    Err(Comparison::Different(difference))
}

fn skipped<T>(why: String) -> Halt<T> {
    Err(Comparison::Skipped(why))
}

impl Checkers {
    pub fn new(rumur: bool) -> Result<Checkers, String> {
        let there = scratch::exists("rumur", "--version") && scratch::exists("cc", "--version");
        let scratch = Scratch::new()?;
        Ok(Checkers { scratch, rumur: rumur && there, tally: RefCell::default() })
    }

    pub fn has_rumur(&self) -> bool {
        self.rumur
    }

    /// What was compared, in a line.
    pub fn summary(&self) -> String {
        let mut tally = self.tally.borrow_mut();
        tally.states.sort_unstable();
        let median = tally.states.get(tally.states.len() / 2).copied().unwrap_or(0);
        let most = tally.states.last().copied().unwrap_or(0);
        let Tally { models, violated, symmetric, reduced, native, interpreted, .. } = &*tally;
        format!(
            "{models} comparisons agreed: {violated} violated, {symmetric} with scalarsets, {reduced} of them \
             smaller with symmetry; states of the others: median {median}, most {most}; \
             {native} expansions native, {interpreted} interpreted"
        )
    }

    pub fn compare(&self, text: &str) -> Comparison {
        self.try_compare(text).err().unwrap_or(Comparison::Same)
    }

    fn try_compare(&self, text: &str) -> Halt<()> {
        if let Err(error) = std::fs::write(self.scratch.dir.join("m.m"), text) {
            return skipped(format!("cannot write the model: {error}"));
        }
        self.engines(text)?;
        let deadlock = deadlock_of(text);
        let plain = self.ours(deadlock, "off")?;
        if self.rumur {
            let rumur = self.rumur(deadlock, "off")?;
            if rumur != plain {
                return different(format!("Rumur: {rumur:?}, ours {plain:?}"));
            }
        }
        let mut tally = Tally { models: 1, ..Tally::default() };
        match plain {
            Found::Error => tally.violated += 1,
            Found::Counts { states, .. } => tally.states.push(states),
        }
        if text.contains("scalarset(") {
            tally.symmetric += 1;
            tally.reduced += u64::from(self.symmetric(deadlock, &plain)?);
        }
        self.tally.borrow_mut().add(tally);
        Ok(())
    }

    /// Compares what the engines hand out, event by event: in a search the
    /// interpreter would be done before native code is.
    fn engines(&self, text: &str) -> Halt<()> {
        let compared = catch_unwind(AssertUnwindSafe(|| {
            let loaded = lang::murphi::load("m.m", text.to_string());
            let first = loaded.diagnostics.iter().find(|d| d.is_error());
            let Some(rules) = loaded.rules else {
                return Err(first.map_or(String::new(), |d| d.message.clone()));
            };
            Ok(common::compare_rules(&rules, MAX_STATES))
        }));
        match compared {
            Err(_) => different("panic: see above".into()),
            Ok(Err(message)) if self.rumur && self.rumur_accepts() => {
                different(format!("rejected by us: {message}"))
            }
            Ok(Err(message)) => skipped(format!("rejected by us: {}", gist(&message))),
            Ok(Ok(Err(difference))) => different(format!("native code: {difference}")),
            Ok(Ok(Ok(counts))) => {
                let mut tally = self.tally.borrow_mut();
                tally.native += counts.native;
                tally.interpreted += counts.interpreted;
                Ok(())
            }
        }
    }

    /// What we find, by both engines.
    fn ours(&self, deadlock: &str, symmetry: &str) -> Halt<Found> {
        let [interpreted, native] = ["interpret", "jit"].map(|engine| {
            self.scratch.check(
                "m.m",
                &format!(
                    "--engine {engine} --symmetry {symmetry} --deadlock {deadlock} \
                     --threads 1 --shorten off --time {OUR_SECONDS}s"
                ),
            )
        });
        let (interpreted, native) = match (interpreted, native) {
            (Ok(interpreted), Ok(native)) => (interpreted, native),
            (Err(error), _) | (_, Err(error)) => return different(error),
        };
        if [&interpreted, &native].iter().any(|v| v["verdict"] == "incomplete") {
            return skipped("too many states".into());
        }
        let fields = |v: &Value| {
            [&v["states"], &v["transitions"], &v["verdict"], &v["violation"]["kind"]]
                .map(Value::clone)
        };
        if fields(&interpreted) != fields(&native) {
            let (a, b) = (fields(&interpreted), fields(&native));
            return different(format!("engines, symmetry {symmetry}: {a:?}, native {b:?}"));
        }
        if interpreted["verdict"] != "holds" {
            return Ok(Found::Error);
        }
        let count = |name: &str| interpreted[name].as_u64().unwrap_or(u64::MAX);
        Ok(Found::Counts { states: count("states"), rules: count("transitions") })
    }

    /// Compares searches with symmetry; true if they have fewer states.
    fn symmetric(&self, deadlock: &str, plain: &Found) -> Halt<bool> {
        let canonical = self.ours(deadlock, "canonical")?;
        let heuristic = self.ours(deadlock, "heuristic")?;
        if self.rumur {
            let rumur = self.rumur(deadlock, "exhaustive")?;
            if rumur != canonical {
                return different(format!("Rumur, symmetry: {rumur:?}, ours {canonical:?}"));
            }
        }
        let all = format!("{canonical:?}, heuristic {heuristic:?}, off {plain:?}");
        match (&canonical, &heuristic, plain) {
            (Found::Error, Found::Error, Found::Error) => Ok(false),
            (
                Found::Counts { states: a, .. },
                Found::Counts { states: b, .. },
                Found::Counts { states: c, .. },
            ) if a <= b && b <= c => Ok(a < c),
            _ => different(format!("symmetry: {all}")),
        }
    }

    fn rumur_accepts(&self) -> bool {
        let command = "rumur --value-type int32_t --output x.c m.m";
        self.scratch.shell(command, TOOL_TIME).status == Some(0)
    }

    fn rumur(&self, deadlock: &str, symmetry: &str) -> Halt<Found> {
        // A verifier of an earlier model must not be taken for this one's.
        for file in ["x", "x.c"] {
            let _ = std::fs::remove_file(self.scratch.dir.join(file));
        }
        let command = format!(
            "rumur --symmetry-reduction {symmetry} --deadlock-detection {deadlock} --threads 1 \
             --value-type {VALUE_TYPE} --output-format machine-readable \
             --counterexample-trace off --output x.c m.m"
        );
        let ran = self.scratch.shell(&command, TOOL_TIME);
        if ran.status != Some(0) {
            let line = ran.output.lines().find(|l| l.contains("rror")).unwrap_or("no message");
            return skipped(format!("rejected by Rumur: {}", gist(line)));
        }
        let cc = self.scratch.shell("cc -O0 -w x.c -o x -lpthread", TOOL_TIME);
        if cc.status != Some(0) {
            let line = cc.output.lines().find(|l| l.contains("error:")).unwrap_or("no message");
            return skipped(format!("cc rejects what Rumur made: {}", gist(line)));
        }
        let ran = self.scratch.shell("./x", TOOL_TIME);
        let summary = ran.output.lines().find(|l| l.starts_with("<summary"));
        match (ran.status, summary) {
            (None, _) => skipped("Rumur: too long".into()),
            (Some(1), _) => Ok(Found::Error),
            (Some(0), Some(line)) => {
                match (attribute(line, "states"), attribute(line, "rules_fired")) {
                    (Some(states), Some(rules)) => Ok(Found::Counts { states, rules }),
                    _ => skipped("Rumur: no counts".into()),
                }
            }
            (Some(status), _) => skipped(format!("Rumur: ended with {status}")),
        }
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.models += other.models;
        self.violated += other.violated;
        self.symmetric += other.symmetric;
        self.reduced += other.reduced;
        self.states.extend(other.states);
        self.native += other.native;
        self.interpreted += other.interpreted;
    }
}

/// The first line of a model tells which states without a way on are wrong.
fn deadlock_of(text: &str) -> &str {
    let first = text.lines().find_map(|line| line.strip_prefix("-- deadlock: "));
    first.unwrap_or("stuttering")
}

/// `name="123"`
fn attribute(line: &str, name: &str) -> Option<u64> {
    let from = line.split_once(&format!(" {name}=\""))?.1;
    from.split_once('"')?.0.parse().ok()
}
