//! The layout of a message sequence chart (ITU-T Z.120, its simple part).
//!
//! Each process is a lifeline, time runs down. A row is a run of local steps, or
//! one end of a message, or both ends of a rendezvous; rows are in the order of
//! the trace, so everything between two rows of one process happened in between.

use super::delivery::{Delivery, deliveries};
use super::labels::{self, Labels};
use super::lanes::Lanes;
use super::svg;
use super::text::{clean, width};
use super::tie::{Tie, ties};
use ir::fault::FaultKind;
use ir::trace::{Trace, TraceStep};
use std::ops::Range;

/// The trace as a message sequence chart: a self-contained SVG image.
pub fn msc_svg(trace: &Trace) -> String {
    msc_svg_last(trace, usize::MAX)
}

/// The chart of the last steps of a trace: at least so many, if it has them.
pub fn msc_svg_last(trace: &Trace, n_steps: usize) -> String {
    svg::draw(&Chart::new(trace, trace.steps.len().saturating_sub(n_steps)))
}

/// Pixels.
pub type Px = i64;

/// The advance of a character in the chart's font, in tenths of a pixel.
const CHAR_WIDTH: Px = 66;
/// Above the first row: title and names.
const TOP: Px = 84;
const MIN_LANE: Px = 132;
const MIN_WIDTH: Px = 420;
pub const LINE_HEIGHT: Px = 14;
const MESSAGE_HEIGHT: Px = 26;
const RUN_PADDING: Px = 4;
/// Between two rows.
const ROW_GAP: Px = 6;
/// A run of local steps shows at most this many lines; a hover shows all.
const RUN_LINES: usize = 4;
/// The same for a run that changes nothing.
const QUIET_LINES: usize = 2;

/// What happens in a row.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// Local steps of one process; `quiet` if they change nothing.
    Run { lines: Vec<String>, quiet: bool },
    /// The number of the delivery that is sent.
    Send(usize),
    /// The number of the delivery that is received.
    Receive(usize),
    /// The number of the delivery that is a rendezvous.
    Handshake(usize),
}

#[derive(Debug)]
pub struct Row {
    pub steps: Range<usize>,
    pub event: Event,
    /// The middle of the row.
    pub y: Px,
    pub height: Px,
}

/// The heights at which a message leaves and arrives.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ends {
    pub sent: Option<Px>,
    pub received: Option<Px>,
}

pub struct Chart<'t> {
    pub trace: &'t Trace,
    pub labels: Labels<'t>,
    pub lanes: Lanes,
    pub deliveries: Vec<Delivery<'t>>,
    pub ties: Vec<Tie>,
    pub rows: Vec<Row>,
    /// For each delivery, where it is sent and where it is received.
    pub ends: Vec<Ends>,
    /// The room left of the first lane, for step numbers and ties.
    pub gutter: Px,
    /// From one lifeline to the next.
    pub lane_width: Px,
    pub width: Px,
    /// Where the lifelines end.
    pub end: Px,
}

impl<'t> Chart<'t> {
    /// Rows of steps before `first` are left out. Messages are matched with all
    /// steps in view, so one that was sent there has a loose end.
    pub fn new(trace: &'t Trace, first: usize) -> Chart<'t> {
        let labels = Labels::new(trace);
        let lanes = Lanes::new(trace);
        let deliveries = deliveries(trace);
        let ties = ties(&trace.steps);
        let mut rows = Rows { trace, labels: &labels, deliveries: &deliveries, ties: &ties }.all();
        rows.retain(|row| row.steps.end > first);
        place(&mut rows);
        let ends = ends(&deliveries, &rows);
        let lane_width = lane_width(&lanes, &deliveries, &rows);
        let n_lanes = lanes.lanes.len() as Px;
        let n_digits = trace.steps.len().to_string().len() as Px;
        let gutter = (2 * n_digits + 1) * CHAR_WIDTH / 10 + 28;
        let width = (gutter + n_lanes * lane_width + lane_width / 4).max(MIN_WIDTH);
        let end = rows.last().map_or(TOP, |row| row.y + row.height / 2) + 5 * ROW_GAP;
        Chart { trace, labels, lanes, deliveries, ties, rows, ends, gutter, lane_width, width, end }
    }

    /// Where the lifeline of a lane is.
    pub fn lane_x(&self, lane: usize) -> Px {
        self.gutter + self.lane_width / 2 + lane as Px * self.lane_width
    }

    /// Where the lifeline of a step is.
    pub fn step_x(&self, step: usize) -> Px {
        self.lane_x(self.lanes.of_step.get(step).copied().unwrap_or(0))
    }
}

/// The last step broke a rule; a deadlock is no single step's fault.
pub fn breaks_at_end(trace: &Trace) -> bool {
    trace.violation.as_ref().is_some_and(|violation| violation.kind != FaultKind::Deadlock)
}

/// The room that `text` takes.
pub fn text_px(text: &str) -> Px {
    width(text) as Px * CHAR_WIDTH / 10
}

/// The number of characters that fit in `room`.
pub fn n_chars(room: Px) -> usize {
    usize::try_from(room * 10 / CHAR_WIDTH).unwrap_or(0)
}

/// `q: 1,ack`.
pub fn delivery_label(delivery: &Delivery) -> String {
    format!("{}: {}", clean(&delivery.message.channel), labels::values(delivery.message))
}

/// Wide enough for the texts, but the more lanes the narrower.
fn lane_width(lanes: &Lanes, deliveries: &[Delivery], rows: &[Row]) -> Px {
    let lines = rows.iter().flat_map(|row| match &row.event {
        Event::Run { lines, .. } => lines.iter().map(|line| text_px(line) + 28).collect(),
        _ => Vec::new(),
    });
    let messages = deliveries.iter().map(|d| text_px(&delivery_label(d)) + 28);
    let names = lanes.lanes.iter().map(|lane| text_px(&lane.label()) + 32);
    let wanted = lines.chain(messages).chain(names).max().unwrap_or(0);
    let most = match lanes.lanes.len() {
        0..=3 => 290,
        4..=6 => 220,
        _ => 170,
    };
    wanted.clamp(MIN_LANE, most)
}

fn ends(deliveries: &[Delivery], rows: &[Row]) -> Vec<Ends> {
    let mut out = vec![Ends::default(); deliveries.len()];
    for row in rows {
        match row.event {
            Event::Run { .. } => {}
            Event::Send(d) => out[d].sent = Some(row.y),
            Event::Receive(d) => out[d].received = Some(row.y),
            Event::Handshake(d) => out[d] = Ends { sent: Some(row.y), received: Some(row.y) },
        }
    }
    // A message that was read and kept leaves where the message itself does.
    for (d, kept) in deliveries.iter().enumerate().filter(|(_, delivery)| delivery.kept) {
        let same = |other: &Delivery| {
            !other.kept && other.sent == kept.sent && other.message == kept.message
        };
        let origin = kept.sent.and_then(|_| deliveries.iter().position(same));
        out[d].sent = origin.and_then(|origin| out[origin].sent);
    }
    out
}

/// Makes the rows of a chart.
struct Rows<'a, 't> {
    trace: &'t Trace,
    labels: &'a Labels<'t>,
    deliveries: &'a [Delivery<'t>],
    ties: &'a [Tie],
}

impl Rows<'_, '_> {
    fn all(&self) -> Vec<Row> {
        let n_steps = self.trace.steps.len();
        // What each step sends and receives.
        let mut ends: Vec<Vec<Event>> = (0..n_steps).map(|_| Vec::new()).collect();
        let mut joined = vec![false; n_steps];
        for (d, delivery) in self.deliveries.iter().enumerate() {
            match (delivery.sent, delivery.received) {
                (Some(sent), Some(received)) if delivery.is_handshake() => {
                    ends[sent].push(Event::Handshake(d));
                    joined[received] = true;
                }
                (sent, received) => {
                    if let Some(sent) = sent.filter(|_| !delivery.kept) {
                        ends[sent].push(Event::Send(d));
                    }
                    if let Some(received) = received {
                        ends[received].push(Event::Receive(d));
                    }
                }
            }
        }
        let mut rows = Vec::new();
        let mut run = 0..0;
        for (i, events) in ends.into_iter().enumerate() {
            let local = events.is_empty() && !joined[i];
            if !(local && self.extends(&run, i)) {
                rows.extend(self.run(run));
                run = i..i;
            }
            if local {
                run.end = i + 1;
            }
            rows.extend(events.into_iter().map(|event| {
                let n_steps = if matches!(event, Event::Handshake(_)) { 2 } else { 1 };
                Row { steps: i..i + n_steps, event, y: 0, height: MESSAGE_HEIGHT }
            }));
        }
        rows.extend(self.run(run));
        rows
    }

    /// Step `i` is local too, and of the same process. Steps of different
    /// transitions share a run only if each is a transition of its own.
    fn extends(&self, run: &Range<usize>, i: usize) -> bool {
        let steps = &self.trace.steps;
        let same = |a: &TraceStep, b: &TraceStep| a.process == b.process && a.name == b.name;
        if run.is_empty() || run.end != i || !same(&steps[run.start], &steps[i]) {
            return false;
        }
        let (last, next) = (self.ties[i - 1], self.ties[i]);
        next.before || !(last.before || next.after)
    }

    fn run(&self, steps: Range<usize>) -> Option<Row> {
        if steps.is_empty() {
            return None;
        }
        let mut members = &self.trace.steps[steps.clone()];
        let mut broken = None;
        if let (true, [others @ .., last]) = (steps.end == self.trace.steps.len(), members)
            && breaks_at_end(self.trace)
        {
            (members, broken) = (others, Some(clean(&last.statement)));
        }
        let mut lines: Vec<String> = members.iter().filter_map(|step| self.news(step)).collect();
        let quiet = lines.is_empty();
        if quiet {
            lines = members.iter().map(|step| clean(&step.statement)).collect();
        }
        let most = if quiet { QUIET_LINES } else { RUN_LINES };
        if lines.len() > most {
            let n_more = lines.len() - (most - 1);
            lines.truncate(most - 1);
            lines.push(format!("… {n_more} more"));
        }
        // The statement that broke a rule is shown in any case.
        lines.extend(broken);
        let height = lines.len() as Px * LINE_HEIGHT + 2 * RUN_PADDING;
        Some(Row { steps, event: Event::Run { lines, quiet }, y: 0, height })
    }

    /// What others may want to know of a local step.
    fn news(&self, step: &TraceStep) -> Option<String> {
        let changes = step.changes.iter().map(|change| self.labels.change(step, change));
        let mut news: Vec<String> = changes.collect();
        if !step.printed.is_empty() {
            news.push(format!("'{}'", clean(&step.printed)));
        }
        (!news.is_empty()).then(|| news.join(", "))
    }
}

/// Puts the rows one below the other.
fn place(rows: &mut [Row]) {
    let mut top = TOP;
    for row in rows {
        row.y = top + row.height / 2;
        top += row.height + ROW_GAP;
    }
}
