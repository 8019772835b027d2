//! `cargo xtask bench murphi`: our speed on Murphi models next to Rumur's.
//!
//! As in the bench around it, contenders take turns and must agree. Without
//! symmetry all of them count the same states and rules fired. With symmetry,
//! our canonical form and Rumur's exhaustive one do; heuristic forms find at
//! least as many states.

mod contenders;
mod models;
mod options;
mod report;
#[cfg(test)]
mod sample;
mod sections;

use super::contenders::{Contender, Graph, able};
use super::{Measured, Results, disagreement, machine, ours, prepare, process, repeat};
use models::Subject;
use options::Options;
use std::path::Path;
use std::process::ExitCode;

pub fn main(args: &[String]) -> Result<ExitCode, String> {
    let Some(options) = options::parse(args)? else { return Ok(ExitCode::SUCCESS) };
    let supertrace = ours::build(options.supertrace.as_deref())?;
    let scratch = process::Scratch::new()?;
    let results = measure(&options, &supertrace, &scratch.path)?;
    print!("{}", report::text(&results, &options));
    for failure in &results.failures {
        eprintln!("\n*** FAILED *** {failure}");
    }
    report::write(&results, &options)?;
    Ok(if results.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(options: &Options, supertrace: &Path, scratch: &Path) -> Result<Results, String> {
    let (contenders, mut skipped) = able(contenders::all().into_iter(), supertrace, scratch);
    let (subjects, missing) = models::select(options, scratch)?;
    skipped.extend(missing);
    skipped.extend(subjects.iter().filter_map(Subject::obstacle));
    for skipped in &skipped {
        eprintln!("skipped: {skipped}");
    }
    // Now, not in the end: the work goes on meanwhile.
    let commit = options.supertrace.is_none().then(machine::commit).flatten();
    let load_before = machine::load();
    machine::warn_if_busy(load_before);

    let mut failures = Vec::new();
    let mut prepare = |subject: &Subject| {
        let wanted: Vec<Contender> =
            contenders.iter().filter(|c| subject.wants(c)).cloned().collect();
        prepare(subject.model.clone(), &wanted, None, supertrace, scratch, &mut failures)
    };
    let mut measured: Vec<Measured> = subjects.iter().map(&mut prepare).collect();
    repeat(&mut measured, &mut failures, options.repeat);
    let wrong = |(m, subject)| disagreement(m).or_else(|| unexpected(m, subject));
    let wrong: Vec<Option<String>> = measured.iter().zip(&subjects).map(wrong).collect();
    let mut is_right = wrong.iter().map(Option::is_none);
    measured.retain(|m| is_right.next() == Some(true) && !m.series.is_empty());
    failures.extend(wrong.into_iter().flatten());
    let startup = Vec::new();
    Ok(Results { contenders, measured, startup, skipped, failures, load_before, commit })
}

/// What a contender counted that cannot be: not what the list of models says,
/// or fewer states than there are under symmetry.
fn unexpected(m: &Measured, subject: &Subject) -> Option<String> {
    let counted =
        |s: &super::Series| s.runs.first().map(|run| (run.figures.states, run.figures.transitions));
    let canonical = m.series.iter().find(|s| s.contender.graph == Graph::Canonical);
    let least = canonical.and_then(counted).map(|(states, _)| states);
    m.series.iter().find_map(|s| {
        let (states, rules) = counted(s)?;
        let (model, name) = (&m.model.name, s.contender.name);
        match (s.contender.graph, subject.expects(s.contender.graph)) {
            (Graph::RumurHeuristic | Graph::OursHeuristic, _) if Some(states) < least => {
                Some(format!("{model}: {name} has {states} states, fewer than there are"))
            }
            (_, Some(expected)) if expected != (states, rules) => Some(format!(
                "{model}: {name} has {states} states and {rules} rules fired, not {} and {}",
                expected.0, expected.1
            )),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::contenders::{OURS, OURS_HEURISTIC};
    use super::*;

    fn change(results: &mut Results, contender: &str, change: impl Fn(&mut super::super::Figures)) {
        let series = &mut results.measured[0].series;
        let found = series.iter_mut().find(|s| s.contender.name == contender).unwrap();
        change(&mut found.runs[0].figures);
    }

    #[test]
    fn counts_must_be_those_of_the_list() {
        let mut results = sample::results();
        let subject = sample::subject();
        assert_eq!(unexpected(&results.measured[0], &subject), None);
        change(&mut results, OURS, |figures| figures.transitions += 1);
        assert_eq!(
            unexpected(&results.measured[0], &subject).unwrap(),
            "m: ours has 2000000 states and 6000001 rules fired, not 2000000 and 6000000"
        );
    }

    #[test]
    fn heuristic_forms_may_leave_more_states_but_not_fewer() {
        let mut results = sample::results();
        let subject = sample::subject();
        change(&mut results, OURS_HEURISTIC, |figures| figures.states += 1);
        assert_eq!(unexpected(&results.measured[0], &subject), None);
        change(&mut results, OURS_HEURISTIC, |figures| figures.states -= 2);
        assert!(unexpected(&results.measured[0], &subject).is_some());
    }
}
