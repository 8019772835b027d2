//! Spin's side: generate a verifier, compile it, run it.
//!
//! pan clears its hash table and its stack before it starts. With sizes that
//! suit every model (`-m10000000 -w26`: 1 GB) this takes longer than many of
//! the searches. So a first run, which is not counted, finds out how many
//! states and what depth there are, and the runs that are counted get a hash
//! table and a stack of the right size: the best that a user of Spin can do.

use super::contenders::Contender;
use super::models::Model;
use super::process::{self, Usage};
use super::{Figures, Prepared, Step, machine};
use std::path::Path;

const FIRST_RUN: [&str; 2] = ["-m10000000", "-w26"];

/// Why Spin cannot take part, if it cannot.
pub fn obstacle() -> Option<String> {
    let missing = |(tool, flag)| machine::first_line(tool, flag).is_none().then_some(tool);
    let mut missing = [("spin", "-V"), ("gcc", "--version")].into_iter().filter_map(missing);
    missing.next().map(|tool| format!("'{tool}' is not installed"))
}

pub fn prepare(
    contender: &Contender,
    model: &Model,
    pan: Option<&str>,
    dir: &Path,
) -> Result<Prepared, String> {
    let steps = build(model, &contender.generate, &contender.compile, dir)?;
    let sized = |sizes: Vec<String>| Prepared {
        program: dir.join("pan"),
        args: contender.search.iter().chain(&sizes).cloned().collect(),
        dir: dir.into(),
        sizes: Some(sizes.join(" ")),
        steps: steps.clone(),
        limit: contender.limit,
        read: figures,
    };
    // A table that the contender has itself is not to be had twice.
    let own = has_table(contender);
    let sized = |sizes: Vec<String>| {
        sized(sizes.into_iter().filter(|size| !(own && size.starts_with("-w"))).collect())
    };
    if let Some(sizes) = pan {
        return Ok(sized(sizes.split_whitespace().map(String::from).collect()));
    }
    let first = sized(FIRST_RUN.map(String::from).to_vec());
    let (output, _) = process::run(&first.program, &first.args, dir)?;
    let figures = figures(&output)?;
    Ok(sized(vec![
        format!("-m{}", depth_limit(figures.depth.unwrap_or_default())),
        format!("-w{}", table_bits(figures.states)),
    ]))
}

/// Whether the size of the table is one of the contender's flags.
fn has_table(contender: &Contender) -> bool {
    contender.search.iter().any(|flag| flag.starts_with("-w"))
}

/// The sizes that are chosen for each model, for the reader of the report.
pub fn sizes_shown(contender: &Contender) -> &'static str {
    if has_table(contender) { "-mN" } else { "-mN -wN" }
}

/// Generates and compiles a verifier in `dir`.
pub fn build(
    model: &Model,
    generate: &[String],
    compile: &[String],
    dir: &Path,
) -> Result<Vec<Step>, String> {
    let source = model.path.to_string_lossy().into_owned();
    let generated = step("spin", generate, &[&source], dir)?;
    let compiled = step("gcc", compile, &["-o", "pan", "pan.c"], dir)?;
    Ok(vec![
        Step { name: "spin", seconds: generated.wall_seconds },
        Step { name: "gcc", seconds: compiled.wall_seconds },
    ])
}

fn step(tool: &str, flags: &[String], rest: &[&str], dir: &Path) -> Result<Usage, String> {
    let args: Vec<String> =
        flags.iter().map(String::as_str).chain(rest.iter().copied()).map(String::from).collect();
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
            states: states(output).ok()?,
            transitions: before(" transitions (= stored+matched)")? as u64,
            depth: Some(after("depth reached ")? as u64),
            seconds: after("pan: elapsed time ")?,
            store_bytes_per_state: None,
        })
    };
    read().ok_or_else(|| format!("pan's report is not understood: {output}"))
}

/// How many errors pan reports; an error if it reports nothing.
pub fn errors(output: &str) -> Result<u64, String> {
    let errors = output.lines().find_map(|line| word_after(line, "errors: "));
    errors.map(|n| n as u64).ok_or_else(|| format!("pan's report is not understood: {output}"))
}

/// How many states pan has stored; an error if it reports nothing.
pub fn states(output: &str) -> Result<u64, String> {
    let states = output.lines().find_map(|line| word_before(line, " states, stored"));
    states.map(|n| n as u64).ok_or_else(|| format!("pan's report is not understood: {output}"))
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
        let read = figures(REPORT).unwrap();
        assert_eq!((read.states, read.transitions), (168452, 376263));
        assert_eq!((read.depth, read.seconds), (Some(105), 0.18));
        assert_eq!(errors(REPORT), Ok(0));
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
