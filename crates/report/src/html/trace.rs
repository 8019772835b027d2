//! A violation: what and where, its steps to go through one by one, its chart.

use super::{data, escape};
use crate::text::{count, plural};
use crate::trace::labels::{self, Labels};
use crate::trace::{msc_svg_last, values};
use ir::source::Position;
use ir::trace::{Trace, TraceStep};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Of a longer trace only the last steps are on the page, and of these only the
/// last are on the chart.
const MOST_STEPS: usize = 5_000;
const MOST_ON_CHART: usize = 400;
/// How many colours processes have.
const COLORS: u8 = 6;

pub struct Shown<'a> {
    pub kind: &'a str,
    pub message: &'a str,
    pub location: &'a Position,
    /// Transitions.
    pub depth: usize,
    /// Tasks that found it.
    pub found_by: Option<usize>,
    /// A command that finds it again.
    pub reproduce: &'a str,
    pub trace: &'a Trace,
}

/// What the script needs to go through the steps.
#[derive(Serialize)]
struct Steps<'a> {
    /// Steps before those that are here.
    skipped: usize,
    /// Variables before the first step that is here.
    before: BTreeMap<&'a str, &'a str>,
    steps: &'a [TraceStep],
    /// What is wrong at the end.
    ending: String,
}

/// The violation with the given number, from 1.
pub fn violation(number: usize, shown: &Shown) -> String {
    let at = shown.location;
    let when = match shown.depth {
        0 if shown.kind == "cover" => "in any reachable state".into(),
        0 => "in the initial state".into(),
        n => format!("after {}", plural(n as u64, "transition")),
    };
    let found = shown
        .found_by
        .map_or(String::new(), |n| format!(", found by {}", plural(n as u64, "task")));
    let mut out = format!(
        "<article class=\"violation\" id=\"violation-{number}\">\n<h3>{number}. {}</h3>\n\
         <p><strong>{}</strong> at <code>{}:{}:{}</code>, {when}{found}.</p>\n\
         <p class=\"command\">Again: <code>{}</code></p>\n",
        escape(shown.message),
        escape(shown.kind),
        escape(&at.file),
        at.line,
        at.column,
        escape(shown.reproduce)
    );
    if !shown.trace.steps.is_empty() {
        out.push_str(&stepper(number, shown));
        out.push_str(&chart(shown.trace));
    }
    out + "</article>\n"
}

fn stepper(number: usize, shown: &Shown) -> String {
    let steps = &shown.trace.steps;
    let skipped = steps.len().saturating_sub(MOST_STEPS);
    let mut out = format!("<div class=\"stepper\" data-violation=\"{number}\">\n");
    if skipped > 0 {
        let (last, all) = (count(MOST_STEPS as u64), count(steps.len() as u64));
        let _ = writeln!(out, "<p class=\"note\">The last {last} of {all} steps.</p>");
    }
    out.push_str("<div class=\"controls\" role=\"group\" aria-label=\"go to a step\">\n");
    for (go, sign) in [("first", "|◀"), ("previous", "◀"), ("next", "▶"), ("last", "▶|")] {
        let _ = writeln!(
            out,
            "<button data-go=\"{go}\"><span aria-hidden=\"true\">{sign}</span> {go}</button>"
        );
    }
    out.push_str(
        "<output aria-live=\"polite\"></output>\n<span class=\"hint\">or the keys ← and →</span>\n\
         </div>\n<noscript><p class=\"note\">To go through the steps one by one, allow the script \
         of this page.</p></noscript>\n<div class=\"panes\">\n",
    );
    out.push_str(&list(number, shown.trace, skipped));
    out.push_str("<div class=\"step\"></div>\n</div>\n");
    out.push_str(&data(&Steps {
        skipped,
        before: values::before(steps, skipped),
        steps: &steps[skipped..],
        ending: format!("{}: {}", shown.kind, shown.message),
    }));
    out + "</div>\n"
}

/// All steps, with what they changed, for those who read or print the page.
fn list(number: usize, trace: &Trace, skipped: usize) -> String {
    let labels = Labels::new(trace);
    let mut out =
        String::from("<ol class=\"steps\" tabindex=\"0\" role=\"listbox\" aria-label=\"steps\">\n");
    for (i, step) in trace.steps.iter().enumerate().skip(skipped) {
        let i = i + 1;
        let tied = if step.continues { " tied" } else { "" };
        let _ = write!(
            out,
            "<li id=\"v{number}s{i}\" role=\"option\" class=\"p{}{tied}\"><span class=\"i\">{i}\
             </span> <span class=\"who\">{}</span> <span class=\"at\">{}</span> <code>{}</code>",
            step.process % COLORS,
            escape(&labels::process_of(step)),
            escape(&labels.place(&step.location)),
            escape(&step.statement)
        );
        let sent = step.sent.iter().map(|m| labels::event(m, '!'));
        let received = step.received.iter().map(|m| labels::event(m, '?'));
        let changes = step.changes.iter().map(|change| labels.change(step, change));
        let effects: Vec<String> = sent.chain(received).chain(changes).collect();
        if !effects.is_empty() {
            let _ = write!(out, " <small>{}</small>", escape(&effects.join(", ")));
        }
        out.push_str("</li>\n");
    }
    out + "</ol>\n"
}

fn chart(trace: &Trace) -> String {
    let n = trace.steps.len();
    let note = match n > MOST_ON_CHART {
        true => format!(
            " <span class=\"note\">(the last {MOST_ON_CHART} of {} steps)</span>",
            count(n as u64)
        ),
        false => String::new(),
    };
    format!(
        "<details open class=\"chart\">\n<summary>Message sequence chart{note}</summary>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"message sequence \
         chart\">\n{}</div>\n</details>\n",
        msc_svg_last(trace, MOST_ON_CHART)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::{self, changed, step, trace};

    fn shown(trace: &Trace) -> String {
        let violation = trace.violation.as_ref().expect("a violation");
        let shown = Shown {
            kind: violation.kind.name(),
            message: &violation.message,
            location: &violation.location,
            depth: 6,
            found_by: Some(2),
            reproduce: "supertrace swarm m.pml --only 3",
            trace,
        };
        super::violation(1, &shown)
    }

    #[test]
    fn a_violation_has_place_command_steps_and_chart() {
        let html = shown(&sample::relay());
        for part in [
            "<h3>1. assertion does not hold: assert(x == 2)</h3>",
            "<code>models/relay.pml:8:5</code>, after 6 transitions, found by 2 tasks",
            "<code>supertrace swarm m.pml --only 3</code>",
            "data-go=\"previous\"",
            "<li id=\"v1s3\" role=\"option\" class=\"p1\"><span class=\"i\">3</span>",
            "<small>q?1,ack, v: 0 -&gt; 1, b(2):ready = true</small>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"msc\"",
            "\"ending\":\"assertion: assertion does not hold: assert(x == 2)\"",
            "\"before\":{\"relay(1):v\":\"0\",\"x\":\"0\"}",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(html, shown(&sample::relay()));
    }

    #[test]
    fn nasty_text_stays_text() {
        let html = shown(&sample::weird());
        assert!(!html.contains("<&") && !html.contains("]]>") && !html.contains('\u{0}'));
        // Those of the page itself: data and chart.
        assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (1, 1));
    }

    #[test]
    fn of_a_long_trace_the_last_steps_are_shown() {
        let mut long = sample::relay();
        let steps = (0..6000)
            .map(|i| changed(step(0, "p", "x++"), "x", &i.to_string(), &(i + 1).to_string()));
        long.steps = steps.collect();
        let html = shown(&long);
        assert!(html.contains("The last 5,000 of 6,000 steps."));
        assert!(html.contains("\"skipped\":1000,\"before\":{\"x\":\"1000\"}"));
        assert!(html.contains("(the last 400 of 6,000 steps)") && !html.contains("id=\"v1s1000\""));
    }

    #[test]
    fn variables_live_as_long_as_their_process() {
        let mut steps = vec![
            changed(step(0, "init", "run p()"), "p(1):a", "", "7"),
            changed(step(1, "p", "g = 1"), "g", "5", "1"),
            step(1, "p", "-end-"),
            changed(step(0, "init", "g = 2"), "g", "1", "2"),
        ];
        steps[1].changes.extend(changed(step(1, "p", ""), "p(1):b", "0", "1").changes);
        let values = |at| {
            values::before(&trace(steps.clone()).steps, at)
                .into_iter()
                .map(|(n, v)| format!("{n}={v}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(values(0), ["g=5", "p(1):b=0"]);
        assert_eq!(values(2), ["g=1", "p(1):a=7", "p(1):b=1"]);
        assert_eq!(values(4), ["g=2"]);
    }
}
