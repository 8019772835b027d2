//! The page of a search.

use super::table::{self, Cell, Table};
use super::trace::{Shown, violation};
use super::unreached::{not_checked, unreached};
use super::{Head, page, section};
use crate::check::{CheckReport, RunReport};
use crate::coverage::{Interval, Missed};
use crate::text::{bytes, count, percent, seconds};

/// The result of a search as a page.
pub fn check_page(report: &CheckReport) -> String {
    let violations: String = report
        .all_violations()
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let shown = Shown {
                kind: &v.kind,
                message: &v.message,
                location: &v.location,
                depth: v.depth,
                found_by: None,
                reproduce: &report.command,
                trace: &v.trace,
            };
            violation(i + 1, &shown)
        })
        .collect();
    let mut sections = section("violations", "Violations", &violations);
    if let Some(missed) = &report.missed {
        sections += &section("coverage", "Coverage", &coverage(missed));
    }
    sections += &section("runs", "Runs", &runs(&report.runs));
    sections += &match &report.unreached {
        Some(statements) => unreached(statements, "the search"),
        None => String::new(),
    };
    sections += &not_checked(&report.not_checked);
    sections += &section("options", "Options", &table::options(&report.options));
    let meaning = report.meaning();
    let mut meaning: Vec<String> = meaning.lines().map(sentence).collect();
    if report.verdict == "violation" {
        meaning.push("Each way to a violation was run again by the interpreter.".into());
    }
    let head = Head {
        command: &report.command,
        model: &report.model,
        version: report.version,
        verdict: report.verdict,
        meaning: &meaning,
        figures: &figures(report),
    };
    page(&head, &sections)
}

/// A line of the terminal as a sentence.
fn sentence(line: &str) -> String {
    let mut chars = line.trim().chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn interval(i: &Interval) -> String {
    format!("about {} ({} to {})", percent(i.estimate), percent(i.low), percent(i.high))
}

fn figures(report: &CheckReport) -> Vec<(&'static str, String)> {
    let missed = report.missed.as_ref();
    let coverage = missed.map(|m| m.coverage.as_ref().map(|c| interval(&c.interval)));
    // Of a small search these say nothing.
    let (timed, many) = (report.seconds >= 0.05, report.states >= 10_000);
    let rows = [
        ("coverage", coverage.map(|c| c.unwrap_or("unknown".into()))),
        ("states", Some(count(report.states))),
        ("transitions", Some(count(report.transitions))),
        ("depth", Some(count(report.depth as u64))),
        ("time", Some(seconds(report.seconds))),
        ("states per second", timed.then(|| count(report.states_per_second as u64))),
        ("memory", Some(bytes(report.memory_bytes))),
        ("bytes per state", many.then(|| format!("{:.1}", report.bytes_per_state))),
        ("most on disk", (report.spilled_bytes > 0).then(|| bytes(report.spilled_bytes))),
        ("stopped by", report.stopped_by.map(Into::into)),
        ("resume with", report.checkpoint.as_ref().map(|file| format!("--resume {file}"))),
        ("seed", Some(report.seed.to_string())),
    ];
    rows.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// What a lossy store has missed.
fn coverage(missed: &Missed) -> String {
    let mut out = match &missed.coverage {
        Some(c) => format!(
            "<p>About <strong>{}</strong> of the reachable states were seen (between {} and {}), \
             by the method <em>{}</em>: {}.</p>\n",
            percent(c.interval.estimate),
            percent(c.interval.low),
            percent(c.interval.high),
            c.method,
            c.reason
        ),
        None if missed.is_full() => {
            "<p>How much was seen is not known: the store is full.</p>\n".into()
        }
        None => "<p>How much was seen is not known.</p>\n".into(),
    };
    if missed.coverage.as_ref().is_some_and(|c| c.line_like) {
        out.push_str(
            "<p class=\"note\">Most states have one predecessor, so one that was missed may hide \
             all behind it.</p>\n",
        );
    }
    let mut rows: Vec<Vec<Cell>> = missed
        .estimates
        .iter()
        .map(|(name, i)| {
            let text = i.as_ref().map_or("no answer".into(), interval);
            vec![Cell::text(format!("coverage by {name}")), Cell::text(text)]
        })
        .collect();
    let share = |p: f64| format!("{p:.3e}");
    let others = [
        ("bits of the arena for each state", Some(format!("{:.1}", missed.hash_factor))),
        ("part of the store in use", Some(percent(missed.fill))),
        ("states taken for others, expected", missed.expected_omissions.map(share)),
        ("probability that there was one", missed.omission_probability.map(share)),
        ("times without room for a state", Some(count(missed.dropped))),
    ];
    let others = others.into_iter().filter_map(|(name, text)| Some((name, text?)));
    rows.extend(others.map(|(name, text)| vec![Cell::text(name), Cell::text(text)]));
    let heads = &["figure", "value"];
    out + &Table { caption: "What the store has lost", heads, rows, sortable: false }.html()
}

fn runs(runs: &[RunReport]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let row = |(i, run): (usize, &RunReport)| {
        let seen = run.missed.as_ref().and_then(|m| m.coverage.as_ref());
        vec![
            Cell::number(i + 1),
            Cell::number(run.states),
            Cell::number(run.transitions),
            Cell::seconds(Some(run.seconds)),
            Cell::text(seen.map_or("–".into(), |c| interval(&c.interval))),
        ]
    };
    let table = Table {
        caption: "Each search; the figures above are of all",
        heads: &["run", "states", "transitions", "time", "coverage"],
        rows: runs.iter().enumerate().map(row).collect(),
        sortable: true,
    };
    table.html()
}
