//! Our side: build `supertrace` in release mode and run it.

use super::models::Model;
use super::options::Options;
use super::{Run, machine, process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `check MODEL` and these.
pub const FLAGS: [&str; 5] = ["--reduce", "none", "--ignore", "assert,deadlock", "--json"];

/// The binary to measure: the one that was asked for, or a fresh build.
pub fn build(options: &Options) -> Result<PathBuf, String> {
    if let Some(path) = &options.supertrace {
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

pub fn run(supertrace: &Path, model: &Model, dir: &Path) -> Result<Run, String> {
    let path = model.path.to_string_lossy().into_owned();
    let args: Vec<String> = ["check", &path].iter().chain(&FLAGS).map(|s| s.to_string()).collect();
    let (output, usage) = process::run(supertrace, &args, dir)?;
    let report: Value =
        serde_json::from_str(&output).map_err(|e| format!("our report is not JSON: {e}"))?;
    figures(&report, usage)
}

fn figures(report: &Value, usage: process::Usage) -> Result<Run, String> {
    if report["verdict"] != "holds" {
        return Err(format!("our verdict is {}, not 'holds'", report["verdict"]));
    }
    let read = || {
        Some(Run {
            states: report["states"].as_u64()?,
            transitions: report["transitions"].as_u64()?,
            reported_seconds: report["seconds"].as_f64()?,
            usage,
        })
    };
    read().ok_or_else(|| "our report lacks states, transitions or seconds".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: process::Usage =
        process::Usage { wall_seconds: 1.0, cpu_seconds: None, peak_bytes: None };

    #[test]
    fn takes_figures_only_from_a_complete_search() {
        let mut report = serde_json::json!(
            { "verdict": "holds", "states": 5, "transitions": 9, "seconds": 0.5 });
        assert_eq!(figures(&report, USAGE).map(|run| run.transitions).ok(), Some(9));
        report["verdict"] = "incomplete".into();
        assert!(figures(&report, USAGE).is_err());
    }
}
