//! Runs `supertrace` on a model and reads its report.

use crate::bench::machine;
use crate::bench::models::{self, Model};
use crate::bench::process::{self, Usage};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What all searches have in common: the whole graph, without reductions and
/// symmetry, by one thread.
const ALWAYS: &str = "--reduce none --symmetry off --threads 1 --json";

pub struct Lab {
    pub supertrace: PathBuf,
    pub corpus: PathBuf,
    pub scratch: PathBuf,
    pub quick: bool,
}

/// One run: its report and the CPU time of the process.
pub struct Ran {
    pub report: Value,
    pub cpu_seconds: f64,
    /// As one would type it, with MODEL for the name of the file.
    pub command: String,
}

impl Lab {
    /// Those of the models that are there; the others are named.
    pub fn models(&self, names: &[&str]) -> Vec<Model> {
        let find = |name: &&str| match models::find(name, &self.corpus, &self.scratch) {
            Ok(model) => Some(model),
            Err(obstacle) => {
                eprintln!("skipped: model '{name}': {obstacle}");
                None
            }
        };
        names.iter().filter_map(find).collect()
    }

    /// Runs `supertrace check`, which ignores violations.
    pub fn check(&self, model: &Model, flags: &str) -> Result<Ran, String> {
        self.run("check", model, &format!("{flags} --ignore assert,deadlock"))
    }

    pub fn run(&self, task: &str, model: &Model, flags: &str) -> Result<Ran, String> {
        let flags = format!("{flags} {ALWAYS}");
        let mut args = vec![task.to_string(), model.path.to_string_lossy().into_owned()];
        args.extend(flags.split_whitespace().map(String::from));
        let (output, usage) = process::run(&self.supertrace, &args, &self.scratch)?;
        let report = serde_json::from_str(&output)
            .map_err(|e| format!("the report of '{task} {flags}' is not JSON: {e}"))?;
        Ok(Ran {
            report,
            cpu_seconds: usage.cpu_seconds.unwrap_or(usage.wall_seconds),
            command: format!("supertrace {task} MODEL {flags}"),
        })
    }
}

/// A swarm: its report, what the process used, and the command.
pub struct Swarmed {
    pub report: Value,
    pub usage: Usage,
    pub command: String,
}

impl Lab {
    /// Runs a swarm on one of our own models, with or without a violation.
    pub fn swarm(&self, model: &str, flags: &str) -> Result<Swarmed, String> {
        let path = machine::root().join(model).to_string_lossy().into_owned();
        let mut args = vec!["swarm".to_string(), path];
        args.extend(flags.split_whitespace().chain(["--json"]).map(String::from));
        let (output, usage) = process::measure(&self.supertrace, &args, &self.scratch, &[0, 1])?;
        let report = serde_json::from_str(&output)
            .map_err(|e| format!("the report of 'swarm {flags}' is not JSON: {e}"))?;
        let command = format!("supertrace swarm {model} {flags} --json");
        Ok(Swarmed { report, usage, command })
    }
}

impl Ran {
    pub fn states(&self) -> u64 {
        self.report["states"].as_u64().unwrap_or(0)
    }

    /// What every record of a search has.
    pub fn record(&self, model: &Model) -> Value {
        json!({
            "model": model.name,
            "all_states": model.states,
            "states": self.states(),
            "cpu_seconds": self.cpu_seconds,
            "command": self.command,
        })
    }
}

/// A record with more members.
pub fn with(mut record: Value, more: Value) -> Value {
    if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
        record.extend(more);
    }
    record
}

/// A number of a record; NaN if there is none.
pub fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().unwrap_or(f64::NAN)
}

/// The share of all states that a run has seen.
pub fn seen(record: &Value) -> f64 {
    number(record, "states") / number(record, "all_states")
}

/// The models of records, each once, in order.
pub fn models_of<'a>(records: impl IntoIterator<Item = &'a Value>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in records.into_iter().filter_map(|r| r["model"].as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

pub fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_by_key() {
        let record = with(json!({ "states": 50, "all_states": 200 }), json!({ "k": 3 }));
        assert_eq!((seen(&record), number(&record, "k")), (0.25, 3.0));
        assert!(number(&record, "none").is_nan());
        assert_eq!(percent(seen(&record)), "25.00");
    }

    #[test]
    fn models_come_once() {
        let records = [json!({ "model": "b" }), json!({ "model": "a" }), json!({ "model": "b" })];
        assert_eq!(models_of(&records), ["b", "a"]);
    }
}
