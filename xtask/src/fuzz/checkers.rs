//! Runs Spin's verifier and ours on a model and compares what they say.

use super::Comparison;
use super::scratch::{self, Scratch, gist};
use serde_json::Value;
use std::fs;
use std::time::Duration;

const PAN_TIME: Duration = Duration::from_secs(3);
/// Spin prints six digits: greater counts are not exact.
const MAX_COUNT: u64 = 1_000_000;

pub struct Checkers {
    scratch: Scratch,
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
        if !scratch::exists("spin", "-V") || !scratch::exists("gcc", "--version") {
            return Ok(None);
        }
        Ok(Some(Checkers { scratch: Scratch::new()? }))
    }

    pub fn compare(&self, text: &str) -> Comparison {
        if let Err(error) = fs::write(self.scratch.dir.join("m.pml"), text) {
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
        // What hidden variables hold depends on the order of the search.
        let hidden = text.contains("hidden");
        if graph != ours && hidden {
            return Comparison::Skipped("hidden variables".into());
        }
        if graph != ours {
            let kind = match (&graph, &ours) {
                (Graph::Counts { .. }, Graph::Counts { .. }) => "counts",
                (Graph::Counts { .. }, _) => "error of ours",
                _ => "error of Spin's",
            };
            return Comparison::Different(format!("{kind}: Spin {graph:?}, ours {ours:?}"));
        }
        if hidden {
            return Comparison::Same;
        }
        let (Some(first), ours) = (self.pan_first(), self.our_errors()) else {
            return Comparison::Skipped("first error: limit of pan".into());
        };
        let agree = match first {
            First::Nothing => ours.is_empty(),
            ref first => ours.contains(first),
        };
        if !agree {
            return Comparison::Different(format!("first error: Spin {first:?}, ours {ours:?}"));
        }
        let differs = self.differs_in_ourselves();
        differs.map_or(Comparison::Same, Comparison::Different)
    }

    fn build_pan(&self) -> Result<(), String> {
        // A verifier of an earlier model must not be taken for this one's.
        for file in ["pan", "pan.c"] {
            let _ = fs::remove_file(self.scratch.dir.join(file));
        }
        let spin = self.scratch.shell("spin -o1 -o2 -o3 -a m.pml", PAN_TIME);
        if spin.status != Some(0) || !self.scratch.dir.join("pan.c").exists() {
            let line = spin.output.lines().find(|l| l.contains("rror")).unwrap_or("no message");
            return Err(format!("rejected by Spin: {}", gist(line)));
        }
        let gcc = "gcc -O0 -w -DSAFETY -DNOREDUCE -DNOCLAIM -DVECTORSZ=4096 -o pan pan.c";
        match self.scratch.shell(gcc, PAN_TIME).status {
            Some(0) => Ok(()),
            _ => Err("gcc rejects what Spin made".into()),
        }
    }

    fn pan_graph(&self) -> Result<Graph, String> {
        let ran = self.scratch.shell("./pan -A -E -w18 -m200000", PAN_TIME);
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

    fn our_result(&self, options: &str) -> Result<Value, String> {
        self.scratch.check("m.pml", options)
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
        let ran = self.scratch.shell("./pan -w18 -m200000", PAN_TIME);
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

    /// The kinds of all violations: which of them comes first is a matter of order.
    fn our_errors(&self) -> Vec<First> {
        let Ok(result) = self.our_result("--reduce none --shorten off --all") else {
            return vec![First::Other];
        };
        let several = result["violations"].as_array().into_iter().flatten();
        let violations = several.chain([&result["violation"]]);
        let kind = |violation: &Value| match violation["kind"].as_str()? {
            "assertion" => Some(First::Assertion),
            "deadlock" => Some(First::Deadlock),
            _ => Some(First::Other),
        };
        violations.filter_map(kind).collect()
    }
}
