//! Time to verdict on small models, where starting is most of the work.
//!
//! Ours is one process; Spin's way is `spin`, `gcc` and `pan`. The wall clock
//! includes starting the processes. Both check all that they check by default
//! and must agree whether there is an error.
//!
//! Spin gets what is best for it: the compiler's `-O3` would take 1.5 to 9
//! seconds more than it saves, a hash table of the default size is cleared for
//! longer than these models are searched.

use super::models::Model;
use super::options::Options;
use super::summary::median;
use super::{Step, machine, process, spin};
use std::path::{Path, PathBuf};

/// What small means.
const MAX_STATES: u64 = 10_000;
/// What we want to be faster than.
pub const LIMIT_SECONDS: f64 = 0.030;
/// So short a run needs more of them for a median.
const MIN_RUNS: usize = 5;
/// Of all small models, `--quick` takes one in so many.
const QUICK_STEP: usize = 10;

pub const GENERATE: &str = "-a";
pub const COMPILE: &str = "-DSAFETY -DVECTORSZ=2048";
pub const SEARCH: &str = "-m100000 -w16";
pub const OURS: &str = "--json";

pub struct Small {
    pub name: String,
    pub states: u64,
    /// One run of `spin`, `gcc` and `pan`; none without Spin.
    pub spin_steps: Vec<Step>,
    pub our_seconds: Vec<f64>,
}

impl Small {
    pub fn median(&self) -> Option<f64> {
        median(self.our_seconds.iter().copied())
    }

    pub fn slowest(&self) -> Option<f64> {
        self.our_seconds.iter().copied().max_by(f64::total_cmp)
    }

    pub fn spin_seconds(&self) -> Option<f64> {
        let total = self.spin_steps.iter().map(|step| step.seconds).sum();
        (!self.spin_steps.is_empty()).then_some(total)
    }
}

/// How often ours is run on each.
pub fn runs(options: &Options) -> usize {
    options.repeat.max(MIN_RUNS)
}

/// Measures all small models, unless options leave them out.
pub fn measure(
    options: &Options,
    supertrace: &Path,
    scratch: &Path,
    skipped: &mut Vec<String>,
    failures: &mut Vec<String>,
) -> Vec<Small> {
    if !options.models.is_empty() {
        return Vec::new();
    }
    let with_spin = spin::obstacle().is_none();
    let step = if options.quick { QUICK_STEP } else { 1 };
    let mut measured = Vec::new();
    for model in select(options, skipped).into_iter().step_by(step) {
        eprintln!("{}: time to verdict", model.name);
        let dir = scratch.join("small").join(&model.name);
        match one(&model, options, supertrace, &dir, with_spin) {
            Ok(small) => measured.push(small),
            Err(message) => failures.push(format!("{}: {message}", model.name)),
        }
    }
    measured
}

/// Small models of the corpus, then our own.
fn select(options: &Options, skipped: &mut Vec<String>) -> Vec<Model> {
    let model = |path: PathBuf, states: u64| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Model { name, source: String::new(), path, states: Some(states) }
    };
    let mut models = Vec::new();
    match std::fs::read_to_string(options.corpus.join("expected.tsv")) {
        Ok(table) => models.extend(
            small_of_table(&table)
                .into_iter()
                .map(|(name, states)| model(options.corpus.join(format!("{name}.pml")), states)),
        ),
        Err(e) => skipped.push(format!("small models of the corpus: {e}")),
    }
    let own = machine::root().join("models/promela");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(own)
        .map(|dir| dir.filter_map(|entry| entry.ok().map(|e| e.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pml"));
    paths.sort();
    models.extend(paths.into_iter().filter_map(|path| {
        let states = expected_states(&std::fs::read_to_string(&path).ok()?)?;
        (states < MAX_STATES).then(|| model(path, states))
    }));
    models
}

/// Names and states in the lines 'name TAB states TAB ...' of small models.
fn small_of_table(table: &str) -> Vec<(&str, u64)> {
    table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split('\t');
            let (name, states) = (fields.next()?, fields.next()?.parse().ok()?);
            (states < MAX_STATES).then_some((name, states))
        })
        .collect()
}

/// The states that a model of ours states in its first line.
fn expected_states(text: &str) -> Option<u64> {
    let line = text.lines().next()?.strip_prefix("// expect: ")?;
    line.split_whitespace().find_map(|word| word.strip_prefix("states="))?.parse().ok()
}

fn one(
    model: &Model,
    options: &Options,
    supertrace: &Path,
    dir: &Path,
    with_spin: bool,
) -> Result<Small, String> {
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make '{}': {e}", dir.display()))?;
    let path = model.path.to_string_lossy().into_owned();
    let args: Vec<String> = ["check", &path, OURS].map(String::from).to_vec();
    let (mut our_seconds, mut our_error) = (Vec::new(), false);
    for _ in 0..runs(options) {
        let (output, seconds) = process::time(supertrace, &args, dir, &[0, 1])?;
        our_error = finds_error(&output)?;
        our_seconds.push(seconds);
    }
    let mut spin_steps = Vec::new();
    if with_spin {
        let error;
        (spin_steps, error) = by_spin(&path, dir)?;
        if error != our_error {
            return Err(format!("Spin's verdict is error: {error}, ours error: {our_error}"));
        }
    }
    let states = model.states.unwrap_or(0);
    Ok(Small { name: model.name.clone(), states, spin_steps, our_seconds })
}

fn finds_error(report: &str) -> Result<bool, String> {
    let report: serde_json::Value =
        serde_json::from_str(report).map_err(|e| format!("our report is not JSON: {e}"))?;
    match report["verdict"].as_str() {
        Some("holds") => Ok(false),
        Some("violation") => Ok(true),
        other => Err(format!("our verdict is {other:?}")),
    }
}

/// Spin's way from model to verdict, step by step, and whether it is an error.
fn by_spin(model: &str, dir: &Path) -> Result<(Vec<Step>, bool), String> {
    let time = |program: &Path, flags: &str, rest: &[&str]| {
        let args: Vec<String> =
            flags.split_whitespace().chain(rest.iter().copied()).map(String::from).collect();
        process::time(program, &args, dir, &[0])
    };
    let (_, generate) = time(Path::new("spin"), GENERATE, &[model])?;
    let (_, compile) = time(Path::new("gcc"), COMPILE, &["-o", "pan", "pan.c"])?;
    let (output, search) = time(&dir.join("pan"), SEARCH, &[])?;
    let steps = [("spin", generate), ("gcc", compile), ("pan", search)];
    let errors = spin::errors(&output)?;
    Ok((steps.map(|(name, seconds)| Step { name, seconds }).to_vec(), errors > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_small_models_of_the_corpus() {
        let table = "# model\tstates\na.1\t9999\t5\nb.1\t10000\t7\nc.1\tunknown\n";
        assert_eq!(small_of_table(table), [("a.1", 9999)]);
    }

    #[test]
    fn reads_what_a_model_expects() {
        let text = "// expect: violation=deadlock states=37 transitions=54\n/* ... */\n";
        assert_eq!(expected_states(text), Some(37));
        assert_eq!(expected_states("// expect: violation=array-index\n"), None);
        assert_eq!(expected_states("init { skip }\n"), None);
    }

    #[test]
    fn both_verdicts_are_verdicts() {
        assert_eq!(finds_error(r#"{ "verdict": "holds" }"#), Ok(false));
        assert_eq!(finds_error(r#"{ "verdict": "violation" }"#), Ok(true));
        assert!(finds_error(r#"{ "verdict": "incomplete" }"#).is_err());
    }

    #[test]
    fn adds_the_steps_of_spin() {
        let step = |seconds| Step { name: "spin", seconds };
        let mut small = Small {
            name: "a".into(),
            states: 1,
            spin_steps: vec![step(1.0), step(0.5)],
            our_seconds: vec![0.3, 0.1, 0.2],
        };
        assert_eq!((small.spin_seconds(), small.median()), (Some(1.5), Some(0.2)));
        assert_eq!(small.slowest(), Some(0.3));
        small.spin_steps.clear();
        assert_eq!(small.spin_seconds(), None);
    }
}
