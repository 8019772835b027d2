//! Spin's side: generate a verifier, compile it, run it.
//!
//! pan clears its hash table and its stack before it starts. With sizes that
//! suit every model (`-m10000000 -w26`: 1 GB) this takes longer than many of
//! the searches. So a first run, which is not counted, finds out how many
//! states and what depth there are, and the runs that are counted get a hash
//! table and a stack of the right size: the best that a user of Spin can do.

use super::models::Model;
use super::options::Options;
use super::{Run, process};
use std::path::{Path, PathBuf};

pub const GENERATE: [&str; 4] = ["-o1", "-o2", "-o3", "-a"];
pub const COMPILE: [&str; 6] =
    ["-O3", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DVECTORSZ=2048", "-DMEMLIM=8000"];
pub const SEARCH: [&str; 2] = ["-A", "-E"];
const FIRST_RUN: [&str; 2] = ["-m10000000", "-w26"];

/// A compiled verifier.
pub struct Pan {
    /// Its own directory, for what both tools write.
    pub dir: PathBuf,
    pub flags: Vec<String>,
    pub generate_seconds: f64,
    pub compile_seconds: f64,
}

pub fn prepare(model: &Model, options: &Options, dir: &Path) -> Result<Pan, String> {
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make '{}': {e}", dir.display()))?;
    let source = model.path.to_string_lossy().into_owned();
    let generate = step("spin", &GENERATE, &[&source], dir)?;
    let compile = step("gcc", &COMPILE, &["-o", "pan", "pan.c"], dir)?;
    let sized = |sizes: &[String]| Pan {
        dir: dir.into(),
        flags: SEARCH.iter().map(|s| s.to_string()).chain(sizes.iter().cloned()).collect(),
        generate_seconds: generate.wall_seconds,
        compile_seconds: compile.wall_seconds,
    };
    if let Some(sizes) = &options.pan {
        return Ok(sized(&sizes.split_whitespace().map(String::from).collect::<Vec<_>>()));
    }
    let first = sized(&FIRST_RUN.map(String::from));
    let (output, _) = process::run(&dir.join("pan"), &first.flags, dir)?;
    let figures = figures(&output)?;
    Ok(sized(&[
        format!("-m{}", depth_limit(figures.depth)),
        format!("-w{}", table_bits(figures.states)),
    ]))
}

fn step(tool: &str, flags: &[&str], rest: &[&str], dir: &Path) -> Result<process::Usage, String> {
    let args: Vec<String> = flags.iter().chain(rest).map(|s| s.to_string()).collect();
    process::run(Path::new(tool), &args, dir).map(|(_, usage)| usage)
}

/// A quarter more than needed.
fn depth_limit(depth: u64) -> u64 {
    (depth + depth / 4).max(1000)
}

/// Log2 of the hash table's slots: at least two for each state. A table half
/// that size costs a few per cent of speed, one a quarter of it far more.
fn table_bits(states: u64) -> u32 {
    (states * 2).next_power_of_two().ilog2()
}

pub fn run(pan: &Pan) -> Result<Run, String> {
    let (output, usage) = process::run(&pan.dir.join("pan"), &pan.flags, &pan.dir)?;
    let figures = figures(&output)?;
    Ok(Run {
        states: figures.states,
        transitions: figures.transitions,
        reported_seconds: figures.seconds,
        usage,
    })
}

#[derive(Debug, PartialEq)]
struct Figures {
    states: u64,
    transitions: u64,
    depth: u64,
    /// In hundredths: pan asks `times(2)`.
    seconds: f64,
}

/// Reads pan's report; an error if the search was not complete.
fn figures(output: &str) -> Result<Figures, String> {
    for sign in ["max search depth too small", "out of memory", "Search not completed"] {
        if output.contains(sign) {
            return Err(format!("pan's search is not complete: {sign}"));
        }
    }
    let before = |suffix: &str| output.lines().find_map(|line| word_before(line, suffix));
    let after = |prefix: &str| output.lines().find_map(|line| word_after(line, prefix));
    let read = || {
        Some(Figures {
            states: before(" states, stored")? as u64,
            transitions: before(" transitions (= stored+matched)")? as u64,
            depth: after("depth reached ")? as u64,
            seconds: after("pan: elapsed time ")?,
        })
    };
    read().ok_or_else(|| format!("pan's report is not understood: {output}"))
}

fn word_before(line: &str, suffix: &str) -> Option<f64> {
    line[..line.find(suffix)?].trim().parse().ok()
}

fn word_after(line: &str, prefix: &str) -> Option<f64> {
    let rest = &line[line.find(prefix)? + prefix.len()..];
    rest.split([',', ' ']).next()?.parse().ok()
}

/// Whether pan's `theirs` can stand for `ours`: pan prints eight digits.
pub fn same_number(theirs: u64, ours: u64) -> bool {
    theirs == ours || (ours >= 100_000_000 && theirs.abs_diff(ours) as f64 <= 1e-7 * ours as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "
State-vector 68 byte, depth reached 105, errors: 0
   168452 states, stored
   207811 states, matched
   376263 transitions (= stored+matched)
        0 atomic steps

pan: elapsed time 0.18 seconds
";

    #[test]
    fn reads_the_report_of_pan() {
        let expected = Figures { states: 168452, transitions: 376263, depth: 105, seconds: 0.18 };
        assert_eq!(figures(REPORT), Ok(expected));
    }

    #[test]
    fn takes_no_figures_from_an_incomplete_search() {
        assert!(figures(&format!("error: max search depth too small\n{REPORT}")).is_err());
        assert!(figures("pan: nothing known").is_err());
    }

    #[test]
    fn sizes_the_table_for_two_slots_a_state() {
        assert_eq!(table_bits(1 << 20), 21);
        assert_eq!(table_bits((1 << 20) + 1), 22);
    }

    #[test]
    fn forgives_only_what_pan_rounds() {
        assert!(!same_number(1000, 1001));
        assert!(same_number(123_456_780, 123_456_784));
        assert!(!same_number(123_456_780, 123_457_784));
    }
}
