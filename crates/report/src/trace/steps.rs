//! The listing: one line for each step, and below it what the step did.

use super::ending::{ending, heading};
use super::labels::{self, Labels};
use super::paint::{Ink, Line, Paint};
use super::text::{clean, cut, flow, width};
use super::tie::{Tie, ties};
use super::values::{Values, before, follow};
use ir::trace::{Message, Trace, TraceStep};

/// Lines are at most this wide, unless names leave less than
/// `STATEMENT_WIDTH` for the statement.
const LINE_WIDTH: usize = 100;
const STATEMENT_WIDTH: usize = 40;
/// How far the lines below a statement are indented.
const INDENT: usize = 2;

/// The steps of a trace and its violation, for a terminal: what each step
/// changes, or, if `full`, all values after it.
pub fn steps(trace: &Trace, full: bool, color: bool) -> String {
    let paint = Paint { color };
    let listing = Listing::new(trace);
    let mut out = paint.ink(Ink::Bold, &heading(trace)) + "\n\n";
    let mut values = before(&trace.steps, 0);
    for ((i, step), tie) in trace.steps.iter().enumerate().zip(ties(&trace.steps)) {
        follow(&mut values, step);
        for line in listing.step(i, step, tie, full.then_some(&values)) {
            out.push_str(&line.render(paint));
        }
    }
    if !trace.steps.is_empty() {
        out.push('\n');
    }
    out + &ending(trace, paint)
}

/// Where the columns begin.
struct Listing<'t> {
    labels: Labels<'t>,
    number_width: usize,
    process_at: usize,
    place_at: usize,
    statement_at: usize,
    statement_width: usize,
}

impl<'t> Listing<'t> {
    fn new(trace: &'t Trace) -> Listing<'t> {
        let labels = Labels::new(trace);
        let widest = |label: &dyn Fn(&TraceStep) -> String| {
            trace.steps.iter().map(|step| width(&label(step))).max().unwrap_or(0)
        };
        let number_width = trace.steps.len().to_string().len().max(3);
        let process_at = number_width + 3;
        let place_at = process_at + widest(&labels::process_of) + 2;
        let statement_at = place_at + widest(&|step| labels.place(&step.location)) + 2;
        let statement_width = LINE_WIDTH.saturating_sub(statement_at).max(STATEMENT_WIDTH);
        Listing { labels, number_width, process_at, place_at, statement_at, statement_width }
    }

    fn step(&self, i: usize, step: &TraceStep, tie: Tie, all: Option<&Values>) -> Vec<Line> {
        let mut first = Line::default();
        first.put(0, Ink::Dim, &format!("{:>1$}", self.labels.number(i), self.number_width));
        first.put(self.number_width + 1, Ink::Dim, tie.mark());
        first.put(self.process_at, Ink::Process(step.process), &labels::process_of(step));
        first.put(self.place_at, Ink::Dim, &self.labels.place(&step.location));
        let statement = cut(&clean(&step.statement), self.statement_width);
        first.put(self.statement_at, Ink::Plain, &statement);
        let mut lines = vec![first];
        for effect in self.effects(step, all) {
            let mut line = Line::default();
            line.put(self.number_width + 1, Ink::Dim, tie.mark_below());
            line.put(self.statement_at + INDENT, Ink::Dim, &effect);
            lines.push(line);
        }
        lines
    }

    /// What the step did, in lines that fit below its statement; values that it
    /// changed have a mark if all are shown.
    fn effects(&self, step: &TraceStep, all: Option<&Values>) -> Vec<String> {
        let limit = self.statement_width - INDENT;
        let messages = |verb: &str, way: &str, messages: &[Message]| -> Vec<String> {
            messages.iter().map(|message| passed(verb, way, message)).collect()
        };
        let mut out = messages("sent", "to", &step.sent);
        out.extend(messages("received", "from", &step.received));
        out.extend(step.printed.lines().map(|line| format!("printed '{}'", clean(line))));
        let mut out: Vec<String> = out.iter().map(|line| cut(line, limit)).collect();
        let values: Vec<String> = match all {
            None => step.changes.iter().map(|change| self.labels.change(step, change)).collect(),
            Some(all) => {
                let changed = |name: &str| step.changes.iter().any(|c| c.name == name);
                let shown = |(name, value): (&&str, &&str)| {
                    clean(&format!("{}{name} = {value}", if changed(name) { "*" } else { "" }))
                };
                all.iter().map(shown).collect()
            }
        };
        out.extend(flow(&values, ", ", limit));
        out
    }
}

/// `sent 1,ack to q`.
fn passed(verb: &str, way: &str, message: &Message) -> String {
    clean(&format!("{verb} {} {way} {}", labels::values(message), message.channel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::{self, step, trace};
    use ir::trace::Change;

    #[test]
    fn a_listing_shows_steps_effects_and_violation() {
        let expected = "\
trace of models/relay.pml: 8 steps in 6 transitions

  1   a(0)      relay.pml:1  x = 1
                               x: 0 -> 1
  2   a(0)      relay.pml:2  q ! x, ack
                               sent 1,ack to q
  3   relay(1)  relay.pml:3  q ? v, ack
                               received 1,ack from q
                               v: 0 -> 1, b(2):ready = true
  4 ┌ relay(1)  relay.pml:4  v == 1
  5 ├ relay(1)  relay.pml:5  r ! v
    │                          sent 1 to r
  6 └ b(2)      relay.pml:6  r ? w
                               received 1 from r
                               printed 'got 1'
                               printed 'done'
  7   b(2)      relay.pml:7  q ! 2, nack
                               sent 2,nack to q
  8   b(2)      relay.pml:8  assert(x == 2)

violation after 8 steps: assertion, models/relay.pml:8:5
  assertion does not hold: assert(x == 2)
";
        assert_eq!(steps(&sample::relay(), false, false), expected);
    }

    #[test]
    fn a_violation_in_the_initial_state_reads_well() {
        let mut empty = sample::relay();
        empty.steps.clear();
        let expected = "\
trace of models/relay.pml: no steps

violation in the initial state: assertion, models/relay.pml:8:5
  assertion does not hold: assert(x == 2)
";
        assert_eq!(steps(&empty, false, false), expected);
    }

    #[test]
    fn long_statements_are_cut_and_changes_wrapped() {
        let mut long = step(0, "p", &"x = x + 1; ".repeat(30));
        for i in 0..12 {
            long = sample::changed(long, &format!("counter[{i}]"), "0", "1");
        }
        let listing = steps(&trace(vec![long]), false, false);
        assert!(listing.lines().all(|line| width(line) <= LINE_WIDTH), "{listing}");
        assert!(listing.contains("x = x + 1; x…\n"), "{listing}");
        assert_eq!(listing.matches("0 -> 1").count(), 12);
        assert_eq!(listing.lines().filter(|line| line.contains("0 -> 1")).count(), 4);
    }

    #[test]
    fn a_local_that_hides_a_global_keeps_the_name_of_its_process() {
        let mut both = sample::changed(step(0, "p", "d_step"), "p(0):x", "0", "1");
        both = sample::changed(both, "p(0):y", "0", "1");
        both = sample::changed(both, "x", "1", "2");
        let listing = steps(&trace(vec![both]), false, false);
        assert!(listing.contains("p(0):x: 0 -> 1, y: 0 -> 1, x: 1 -> 2\n"), "{listing}");
    }

    #[test]
    fn files_of_the_same_name_are_told_apart() {
        let mut one = step(0, "p", "skip");
        one.location.file = "a/m.pml".into();
        let mut two = one.clone();
        two.location.file = "b/m.pml".into();
        let listing = steps(&trace(vec![one, two]), false, false);
        assert!(listing.contains(" a/m.pml:1 ") && listing.contains(" b/m.pml:1 "), "{listing}");
    }

    #[test]
    fn only_color_brings_escapes() {
        let mut evil = step(0, "\x1b[31mp", "x\x1b]0;evil\x07 = 1");
        evil.printed = "\x1b[2J".into();
        assert!(!steps(&trace(vec![evil.clone()]), false, false).contains('\x1b'));
        let colored = steps(&trace(vec![evil]), false, true);
        assert!(colored.contains("\x1b[36m\u{FFFD}[31mp(0)\x1b[0m"), "{colored}");
    }

    #[test]
    fn rules_are_numbered_from_their_start_state() {
        let rule = |name: &str, value: &str| TraceStep {
            name: String::new(),
            changes: vec![Change {
                name: "a[1].b".into(),
                from: "undefined".into(),
                to: value.into(),
            }],
            ..step(0, "", name)
        };
        let trace = trace(vec![rule("the start", "1"), rule("go, i = 2", "2")]);
        let listing = steps(&trace, false, false);
        assert!(listing.contains("1 step\n"), "{listing}");
        assert!(listing.contains("  0 ") && listing.contains("a[1].b := 2"), "{listing}");
        let listing = steps(&trace, true, false);
        assert!(listing.contains("*a[1].b = 2"), "{listing}");
    }
}
