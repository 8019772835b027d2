//! Our side: build `supertrace` in release mode and read its report.

use super::contenders::{Contender, Graph};
use super::models::Model;
use super::{Figures, Prepared, machine};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The smallest model, to find out which options the binary knows.
const TINY: &str = "init { skip }\n";
/// Has a command run on one core; of util-linux.
const ONE_CORE: [&str; 3] = ["taskset", "-c", "0"];
/// The exit code for flags that are not understood.
const BAD_USAGE: i32 = 2;

/// The binary to measure: the one that was asked for, or a fresh build.
pub fn build(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = given {
        return std::path::absolute(path).map_err(|e| e.to_string());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "supertrace"])
        .current_dir(machine::root())
        .status()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    if !status.success() {
        return Err("'supertrace' does not build".into());
    }
    // This program lies in PROFILE/ of the same target directory.
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = this.ancestors().nth(2).ok_or("no target directory")?;
    Ok(target.join("release/supertrace"))
}

/// Why the binary refuses these flags, if it does, or cannot be run as it is to be. Any
/// other failure is not for this place: it will show, and count as one, when models
/// are searched.
pub fn obstacle(supertrace: &Path, contender: &Contender, scratch: &Path) -> Option<String> {
    let model = scratch.join("tiny.pml");
    std::fs::write(&model, TINY).ok()?;
    let mut command = command(supertrace, contender, &model).into_iter();
    let program = command.next()?;
    let output = match Command::new(&program).args(command).output() {
        Ok(output) => output,
        Err(error) => return Some(format!("cannot run '{program}': {error}")),
    };
    let refused = output.status.code() == Some(BAD_USAGE);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    refused.then(|| text.lines().next().unwrap_or("refused").to_string())
}

/// The whole command, program first.
pub fn command(supertrace: &Path, contender: &Contender, model: &Path) -> Vec<String> {
    let [supertrace, model] = [supertrace, model].map(|path| path.to_string_lossy().into());
    let prefix = if contender.one_core { &ONE_CORE[..] } else { &[] };
    let mut command: Vec<String> = prefix.iter().map(|word| word.to_string()).collect();
    command.extend([supertrace, "check".to_string(), model]);
    command.extend(contender.search.iter().cloned());
    command
}

pub fn prepare(contender: &Contender, model: &Model, supertrace: &Path, dir: &Path) -> Prepared {
    let mut command = command(supertrace, contender, &model.path).into_iter();
    Prepared {
        program: command.next().expect("a program").into(),
        args: command.collect(),
        dir: dir.into(),
        sizes: None,
        steps: Vec::new(),
        limit: contender.limit,
        read: if contender.graph == Graph::Sampled { sampled } else { complete },
    }
}

/// Reads our report; an error if the search was not complete.
fn complete(output: &str) -> Result<Figures, String> {
    figures(output, "holds")
}

/// The same of a search that came to its end but may have missed states.
fn sampled(output: &str) -> Result<Figures, String> {
    figures(output, "no-violation-found")
}

fn figures(output: &str, verdict: &str) -> Result<Figures, String> {
    let report: Value =
        serde_json::from_str(output).map_err(|e| format!("our report is not JSON: {e}"))?;
    if report["verdict"] != verdict {
        return Err(format!("our verdict is {}, not '{verdict}'", report["verdict"]));
    }
    let read = || {
        Some(Figures {
            states: report["states"].as_u64()?,
            transitions: report["transitions"].as_u64()?,
            depth: Some(report["depth"].as_u64()?),
            seconds: report["seconds"].as_f64()?,
            store_bytes_per_state: report["bytes_per_state"].as_f64(),
        })
    };
    read().ok_or_else(|| "our report lacks states, transitions, depth or seconds".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_figures_only_from_a_complete_search() {
        let mut report = serde_json::json!({
            "verdict": "holds", "states": 5, "transitions": 9, "depth": 3, "seconds": 0.5,
            "bytes_per_state": 7.5,
        });
        let read = complete(&report.to_string()).unwrap();
        assert_eq!((read.transitions, read.store_bytes_per_state), (9, Some(7.5)));
        assert!(sampled(&report.to_string()).is_err());
        report["verdict"] = "no-violation-found".into();
        assert!(sampled(&report.to_string()).is_ok());
        assert!(complete(&report.to_string()).is_err());
        assert!(complete("no JSON").is_err());
    }
}
