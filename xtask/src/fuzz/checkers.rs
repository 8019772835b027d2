//! Runs Spin's verifier and ours on a model and compares what they say.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAN_TIME: Duration = Duration::from_secs(3);
const OUR_TIME: Duration = Duration::from_secs(20);
/// Spin prints six digits: greater counts are not exact.
const MAX_COUNT: u64 = 1_000_000;
/// Bytes of address space for each tool, in the unit of `ulimit -v`.
const MEMORY_KB: u64 = 6_000_000;

pub enum Comparison {
    Same,
    Skipped(String),
    /// A kind, a colon, and the two results.
    Different(String),
}

pub struct Checkers {
    dir: PathBuf,
    ours: PathBuf,
}

/// What a tool wrote and how it ended; `None` if it took too long.
struct Ran {
    status: Option<i32>,
    output: String,
}

/// Counts of the whole graph, or the error that made them impossible.
#[derive(Debug, PartialEq)]
enum Graph {
    Counts { states: u64, transitions: u64 },
    Error,
}

#[derive(Debug, PartialEq)]
enum First {
    Nothing,
    Assertion,
    Deadlock,
    Other,
}

impl Checkers {
    /// Builds our checker; `None` if Spin or gcc is missing.
    pub fn new() -> Result<Option<Checkers>, String> {
        let exists = |tool: &str, flag: &str| {
            let mut command = Command::new(tool);
            command.arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        if !exists("spin", "-V") || !exists("gcc", "--version") {
            return Ok(None);
        }
        let built = Command::new("cargo").args(["build", "--release", "-p", "supertrace"]).status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("cannot build 'supertrace'".into());
        }
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
        let ours = fs::canonicalize(Path::new(&target).join("release/supertrace"));
        let ours = ours.map_err(|e| format!("no 'supertrace' in '{target}': {e}"))?;
        let dir = std::env::temp_dir().join(format!("supertrace-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
        Ok(Some(Checkers { dir, ours }))
    }

    /// Runs a command line in the scratch directory.
    fn shell(&self, command: &str, limit: Duration) -> Ran {
        let failed = |e: std::io::Error| Ran { status: Some(-1), output: e.to_string() };
        let out = self.dir.join("out.txt");
        let file = match fs::File::create(&out) {
            Ok(file) => file,
            Err(error) => return failed(error),
        };
        let mut child = match Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY_KB}; exec {command} 2>&1")])
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(file)
            .spawn()
        {
            Ok(child) => child,
            Err(error) => return failed(error),
        };
        let deadline = Instant::now() + limit;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status.code().unwrap_or(-1)),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => {
                    // It may have ended by itself meanwhile.
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let output = String::from_utf8_lossy(&fs::read(&out).unwrap_or_default()).into_owned();
        Ran { status, output }
    }

    pub fn compare(&self, text: &str) -> Comparison {
        if let Err(error) = fs::write(self.dir.join("m.pml"), text) {
            return Comparison::Skipped(format!("cannot write the model: {error}"));
        }
        if let Err(why) = self.build_pan() {
            return Comparison::Skipped(why);
        }
        let graph = match self.pan_graph() {
            Ok(graph) => graph,
            Err(why) => return Comparison::Skipped(why),
        };
        let ours = match self.our_graph() {
            Ok(ours) => ours,
            Err(difference) => return Comparison::Different(difference),
        };
        if graph != ours {
            let kind = match (&graph, &ours) {
                (Graph::Counts { .. }, Graph::Counts { .. }) => "counts",
                (Graph::Counts { .. }, _) => "error of ours",
                _ => "error of Spin's",
            };
            return Comparison::Different(format!("{kind}: Spin {graph:?}, ours {ours:?}"));
        }
        let (Some(first), ours) = (self.pan_first(), self.our_first()) else {
            return Comparison::Skipped("first error: limit of pan".into());
        };
        if first != ours {
            return Comparison::Different(format!("first error: Spin {first:?}, ours {ours:?}"));
        }
        // What hidden variables hold depends on the order of the search.
        let differs = if text.contains("hidden") { None } else { self.differs_in_ourselves() };
        differs.map_or(Comparison::Same, Comparison::Different)
    }

    fn build_pan(&self) -> Result<(), String> {
        // A verifier of an earlier model must not be taken for this one's.
        for file in ["pan", "pan.c"] {
            let _ = fs::remove_file(self.dir.join(file));
        }
        let spin = self.shell("spin -o1 -o2 -o3 -a m.pml", PAN_TIME);
        if spin.status != Some(0) || !self.dir.join("pan.c").exists() {
            let line = spin.output.lines().find(|l| l.contains("rror")).unwrap_or("no message");
            return Err(format!("rejected by Spin: {}", gist(line)));
        }
        let gcc = "gcc -O0 -w -DSAFETY -DNOREDUCE -DNOCLAIM -DVECTORSZ=4096 -o pan pan.c";
        match self.shell(gcc, PAN_TIME).status {
            Some(0) => Ok(()),
            _ => Err("gcc rejects what Spin made".into()),
        }
    }

    fn pan_graph(&self) -> Result<Graph, String> {
        let ran = self.shell("./pan -A -E -w18 -m200000", PAN_TIME);
        let Some(status) = ran.status else { return Err("pan: too long".into()) };
        if ran.output.contains("max search depth too small") {
            return Err("pan: too deep".into());
        }
        if let Some(line) = ran.output.lines().find(|l| l.starts_with("pan:1:")) {
            let known = [
                "block in d_step",
                "blocking sel",
                "missing pars",
                "non-determinism",
                "division by zero",
                "out of bounds",
                "indexing",
            ];
            // Errors that both should have; others are Spin's own.
            return match known.iter().any(|k| line.contains(k)) {
                true => Ok(Graph::Error),
                false => Err(gist(line)),
            };
        }
        let number = |what: &str| -> Option<u64> {
            let line = ran.output.lines().find(|l| l.contains(what))?;
            let number: f64 = line.split_whitespace().next()?.parse().ok()?;
            Some(number as u64)
        };
        let counts = (number("states, stored"), number("transitions (="));
        let (Some(states), Some(transitions)) = counts else {
            let line = ran.output.lines().find(|l| l.contains("error:")).unwrap_or_default();
            return Err(format!("pan: ended with {status} {}", gist(line)));
        };
        if transitions >= MAX_COUNT {
            return Err("pan: too many transitions".into());
        }
        Ok(Graph::Counts { states, transitions })
    }

    /// Our result as JSON; an error is a difference, for Spin accepts the model.
    fn our_result(&self, options: &str) -> Result<Value, String> {
        let command = format!("{} check m.pml --quiet --json", self.ours.display());
        let ran = self.shell(&format!("{command} {options}"), OUR_TIME);
        let Some(status) = ran.status else { return Err("too long: ours".into()) };
        let json = ran.output.find('{').map(|at| &ran.output[at..]);
        if let (0 | 1, Some(Ok(value))) = (status, json.map(serde_json::from_str)) {
            return Ok(value);
        }
        let error = ran.output.lines().find(|l| l.contains("error") || l.contains("panic"));
        Err(format!("rejected by us (status {status}): {}", error.unwrap_or("no message")))
    }

    fn our_graph(&self) -> Result<Graph, String> {
        let result = self.our_result("--reduce none --ignore assert,deadlock --shorten off")?;
        if result["verdict"] != "holds" {
            return Ok(Graph::Error);
        }
        match (result["states"].as_u64(), result["transitions"].as_u64()) {
            (Some(states), Some(transitions)) => Ok(Graph::Counts { states, transitions }),
            _ => Err("rejected by us: no counts".into()),
        }
    }

    /// Search orders must agree on the counts, reductions on the verdict.
    fn differs_in_ourselves(&self) -> Option<String> {
        let search = |options: &str| self.our_result(&format!("--shorten off {options}"));
        let plain = search("--reduce none --ignore assert,deadlock").ok()?;
        let bfs = match search("--reduce none --ignore assert,deadlock --search bfs") {
            Ok(bfs) => bfs,
            Err(error) => return Some(format!("breadth first: {error}")),
        };
        if plain["verdict"] == "holds" && plain["transitions"] != bfs["transitions"] {
            let counts = (&plain["transitions"], &bfs["transitions"]);
            return Some(format!("breadth first: {} and {} transitions", counts.0, counts.1));
        }
        let verdict = &search("--reduce none").ok()?["verdict"];
        match search("--reduce default") {
            Ok(reduced) if reduced["verdict"] == *verdict => None,
            Ok(reduced) => Some(format!("reduced: {verdict} and {}", reduced["verdict"])),
            Err(error) => Some(format!("reduced: {error}")),
        }
    }

    /// The kind of the first violation; `None` at a limit.
    fn pan_first(&self) -> Option<First> {
        let ran = self.shell("./pan -w18 -m200000", PAN_TIME);
        ran.status?;
        if ran.output.contains("max search depth too small") {
            return None;
        }
        let line = ran.output.lines().find(|l| l.starts_with("pan:1:"));
        Some(match line {
            None => First::Nothing,
            Some(l) if l.contains("assertion violated") => First::Assertion,
            Some(l) if l.contains("invalid end state") => First::Deadlock,
            Some(_) => First::Other,
        })
    }

    fn our_first(&self) -> First {
        let Ok(result) = self.our_result("--reduce none --shorten off") else {
            return First::Other;
        };
        match result["violation"]["kind"].as_str() {
            None => First::Nothing,
            Some("assertion") => First::Assertion,
            Some("deadlock") => First::Deadlock,
            Some(_) => First::Other,
        }
    }
}

/// An error message without names and numbers, to count its kind.
fn gist(line: &str) -> String {
    let message = line.split_once("rror: ").map_or(line, |(_, m)| m);
    let words = message.split_whitespace();
    let plain = |w: &&str| w.chars().all(|c| c.is_ascii_alphabetic() || "-:_/".contains(c));
    words.filter(plain).take(8).collect::<Vec<_>>().join(" ")
}

impl Drop for Checkers {
    fn drop(&mut self) {
        // Nothing depends on the scratch files.
        let _ = fs::remove_dir_all(&self.dir);
    }
}
