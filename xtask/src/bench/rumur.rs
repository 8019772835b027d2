//! Rumur's side: generate a verifier, compile it, run it.

use super::contenders::Contender;
use super::models::Model;
use super::process;
use super::{Figures, Prepared, Step, machine};
use std::path::Path;

/// What the verifier is called, and its source with `.c`.
const VERIFIER: &str = "verifier";

/// Why Rumur cannot take part, if it cannot.
pub fn obstacle(contender: &Contender) -> Option<String> {
    let timeout = contender.limit.map(|_| "timeout");
    let mut tools = ["rumur", "cc"].into_iter().chain(timeout);
    let missing = tools.find(|tool| machine::first_line(tool, "--version").is_none());
    missing.map(|tool| format!("'{tool}' is not installed"))
}

pub fn prepare(contender: &Contender, model: &Model, dir: &Path) -> Result<Prepared, String> {
    let step = |name: &'static str, args: Vec<String>| {
        let (_, usage) = process::run(Path::new(name), &args, dir)?;
        Ok::<_, String>(Step { name, seconds: usage.wall_seconds })
    };
    let steps = vec![
        step("rumur", generate(contender, &model.path.to_string_lossy()))?,
        step("cc", compile(contender))?,
    ];
    Ok(Prepared {
        program: dir.join(VERIFIER),
        args: contender.search.clone(),
        dir: dir.into(),
        sizes: None,
        steps,
        limit: contender.limit,
        read: figures,
    })
}

fn generate(contender: &Contender, model: &str) -> Vec<String> {
    let source = format!("{VERIFIER}.c");
    let rest = ["--output", &source, model].map(String::from);
    contender.generate.iter().cloned().chain(rest).collect()
}

fn compile(contender: &Contender) -> Vec<String> {
    let source = format!("{VERIFIER}.c");
    let rest = ["-o", VERIFIER, &source, "-lpthread"].map(String::from);
    contender.compile.iter().cloned().chain(rest).collect()
}

/// The commands that it stands for, as one would type them.
pub fn commands(contender: &Contender) -> Vec<String> {
    let limit = contender.limit.map_or(String::new(), |seconds| format!("timeout {seconds} "));
    vec![
        format!("rumur {}", generate(contender, "MODEL").join(" ")),
        format!("cc {}", compile(contender).join(" ")),
        format!("{limit}./{VERIFIER}"),
    ]
}

/// Reads the verifier's report; an error if it found one.
fn figures(output: &str) -> Result<Figures, String> {
    let not_understood = || format!("the verifier's report is not understood: {output}");
    if !output.lines().any(|line| line.trim() == "No error found.") {
        return Err(not_understood());
    }
    output.lines().find_map(summary).ok_or_else(not_understood)
}

/// From a line like '554221 states, 2216884 rules fired in 4s.'; lines of
/// progress have the same words in another order.
fn summary(line: &str) -> Option<Figures> {
    let (states, rest) = line.trim().split_once(" states, ")?;
    let (rules, rest) = rest.split_once(" rules fired in ")?;
    Some(Figures {
        states: states.parse().ok()?,
        transitions: rules.parse().ok()?,
        depth: None,
        seconds: rest.strip_suffix("s.")?.parse().ok()?,
        store_bytes_per_state: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "
Progress Report:

\t 10000 states explored in 0s, with 26772 rules fired and 5512 states in the queue.

Status:

\tNo error found.

State Space Explored:

\t554221 states, 2216884 rules fired in 4s.
";

    #[test]
    fn reads_the_report_of_a_verifier() {
        let read = figures(REPORT).unwrap();
        assert_eq!((read.states, read.transitions, read.seconds), (554_221, 2_216_884, 4.0));
    }

    #[test]
    fn takes_no_figures_from_a_search_that_found_an_error() {
        assert!(figures(&REPORT.replace("No error found.", "1 error(s) found.")).is_err());
        assert!(figures("Status:\n\tNo error found.\n").is_err());
    }
}
