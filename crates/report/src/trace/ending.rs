//! The first and the last lines of a view: what it shows, and what went wrong.

use super::labels::{count, n_steps};
use super::paint::{Ink, Paint};
use super::text::clean;
use super::tie::n_transitions;
use ir::fault::FaultKind;
use ir::trace::{Trace, Violation};

/// `trace of m.pml: 9 steps in 6 transitions`.
pub fn heading(trace: &Trace) -> String {
    let n_steps = n_steps(trace);
    let n_transitions = n_transitions(&trace.steps);
    let mut out = format!("trace of {}: ", clean(&trace.model));
    match n_steps {
        0 => out.push_str("no steps"),
        _ => out.push_str(&count(n_steps, "step")),
    }
    if n_transitions < n_steps {
        out.push_str(&format!(" in {}", count(n_transitions, "transition")));
    }
    out
}

/// `violation after 9 steps: assertion, m.pml:3:1`.
pub fn violation_heading(trace: &Trace, violation: &Violation) -> String {
    let when = match n_steps(trace) {
        0 if violation.kind == FaultKind::Cover => "of all states".to_string(),
        0 => "in the initial state".to_string(),
        n => format!("after {}", count(n, "step")),
    };
    let mut out = format!("violation {when}: {}", violation.kind);
    let place = &violation.location;
    if place.line > 0 {
        out.push_str(&format!(", {}:{}:{}", clean(&place.file), place.line, place.column));
    }
    out
}

/// The lines at the end of a view on a terminal.
pub fn ending(trace: &Trace, paint: Paint) -> String {
    let Some(violation) = &trace.violation else {
        return paint.ink(Ink::Dim, "no violation at the end") + "\n";
    };
    let heading = paint.ink(Ink::Red, &violation_heading(trace, violation));
    let message = paint.ink(Ink::Red, &clean(&violation.message));
    format!("{heading}\n  {message}\n")
}
