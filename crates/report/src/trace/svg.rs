//! A chart as SVG text.
//!
//! The image needs nothing from outside: no script, no font, no style sheet. Its
//! classes live below `svg.msc`, so that it can be put into an HTML page as it is.

use super::chart::{
    Chart, Ends, Event, LINE_HEIGHT, Px, Row, breaks_at_end, delivery_label, n_chars, text_px,
};
use super::delivery::Delivery;
use super::ending::{heading, violation_heading};
use super::labels;
use super::text::{clean, cut, wrap};
use super::xml::{Anchor, escape, group, head, path, rect, text};
use ir::trace::TraceStep;

const STYLE: &str = "\
svg.msc text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2933}
svg.msc .heading{font-weight:bold}
svg.msc .life{stroke:#b8c2cc;stroke-width:1.5}
svg.msc .name rect{fill:#334e68}
svg.msc .name text{fill:#fff;font-weight:bold}
svg.msc .number{fill:#8795a1}
svg.msc .tie{fill:none;stroke:#9fb3c8;stroke-width:1.5}
svg.msc .run rect{fill:#eef4fb;stroke:#7b9cc0}
svg.msc .quiet rect{fill:#fafbfc;stroke:#d5dce3}
svg.msc .quiet text{fill:#7b8794}
svg.msc .arrow path{fill:none;stroke:#1d6fb8;stroke-width:1.5}
svg.msc .arrow polygon,svg.msc .arrow circle{fill:#1d6fb8}
svg.msc .kept path{stroke-dasharray:5 3}
svg.msc .loose path{stroke:#b7791f}
svg.msc .loose circle,svg.msc .loose polygon{fill:#b7791f}
svg.msc .label text{fill:#0f4c81;paint-order:stroke;stroke:#fff;stroke-width:4px}
svg.msc .label .loose{fill:#8a5a12}
svg.msc .label .again{fill:#7b9cc0}
svg.msc .last rect{stroke:#c81e1e;stroke-width:2}
svg.msc .last text{fill:#a61b1b}
svg.msc .violation rect{fill:#fdecec;stroke:#c81e1e;stroke-width:1.5}
svg.msc .violation path{fill:none;stroke:#c81e1e;stroke-width:2.5}
svg.msc .violation text{fill:#a61b1b}
";

/// A hover lists at most this many steps of a run.
const TITLE_STEPS: usize = 40;
const TITLE_WIDTH: usize = 120;
const NAME_TOP: Px = 40;
const NAME_HEIGHT: Px = 24;
/// Names are written at the bottom again if the chart is higher than a screen.
const SCREEN: Px = 900;
/// The length of a message without its other end.
const LOOSE: Px = 44;
/// The label of a message that arrives this far below is written again there.
const FAR: Px = 120;
const VIOLATION_LINES: usize = 6;

pub fn draw(chart: &Chart) -> String {
    let violation = chart.trace.violation.is_some();
    let names_again = !chart.lanes.lanes.is_empty() && chart.end > SCREEN;
    let violation_top = chart.end + if names_again { NAME_HEIGHT + 16 } else { 16 };
    let lines = violation_lines(chart);
    let violation_height = lines.len() as Px * LINE_HEIGHT + 14;
    let height = violation_top + if violation { violation_height + 16 } else { 0 };

    let mut body = String::new();
    bands(chart, &mut body);
    life_lines(chart, &mut body);
    gutter(chart, &mut body);
    for (delivery, ends) in chart.deliveries.iter().zip(&chart.ends) {
        body.push_str(&arrow(chart, delivery, *ends));
    }
    for row in &chart.rows {
        if let Event::Run { lines, quiet } = &row.event {
            body.push_str(&run(chart, row, lines, *quiet));
        }
    }
    for (delivery, ends) in chart.deliveries.iter().zip(&chart.ends) {
        body.push_str(&label(chart, delivery, *ends));
    }
    names(chart, NAME_TOP, &mut body);
    if names_again {
        names(chart, chart.end, &mut body);
    }
    if violation {
        body.push_str(&violation_mark(chart));
        body.push_str(&violation_box(chart, violation_top, violation_height, &lines));
    }
    let heading = cut(&heading(chart.trace), n_chars(chart.width - 32));
    let (width, label) = (chart.width, escape(&heading));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"msc\" role=\"img\" \
         aria-label=\"message sequence chart, {label}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}\n{body}</svg>\n",
        text((16, 24), Anchor::Start, "heading", &heading),
    )
}

/// Rows from side to side: not to be seen, but a page can light them up.
fn bands(chart: &Chart, out: &mut String) {
    for row in &chart.rows {
        let (top, width, height) = (row.y - row.height / 2 - 3, chart.width, row.height + 6);
        let (from, to) = (row.steps.start, row.steps.end);
        out.push_str(&format!(
            "<rect class=\"row\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" \
             data-from=\"{from}\" data-to=\"{to}\"/>\n"
        ));
    }
}

fn life_lines(chart: &Chart, out: &mut String) {
    for lane in 0..chart.lanes.lanes.len() {
        let x = chart.lane_x(lane);
        out.push_str(&path("life", &format!("M{x} {NAME_TOP}V{}", chart.end)));
    }
}

fn names(chart: &Chart, top: Px, out: &mut String) {
    for (number, lane) in chart.lanes.lanes.iter().enumerate() {
        let x = chart.lane_x(number);
        let width = (text_px(&lane.label()) + 20).clamp(60, chart.lane_width - 8);
        let name = lane.label_in(n_chars(width - 8));
        let n_steps = chart.lanes.of_step.iter().filter(|of| **of == number).count();
        let title = format!("{}: {}", lane.label(), labels::count(n_steps, "step"));
        let shape = rect((x - width / 2, top), (width, NAME_HEIGHT))
            + &text((x, top + 16), Anchor::Middle, "", &name);
        out.push_str(&group("name", &title, &shape));
    }
}

/// Step numbers, and a bracket around the rows of one transition.
fn gutter(chart: &Chart, out: &mut String) {
    for row in &chart.rows {
        let first = row.steps.start + 1;
        let number = match row.steps.len() {
            1 => first.to_string(),
            _ => format!("{first}-{}", row.steps.end),
        };
        out.push_str(&text((chart.gutter - 16, row.y + 4), Anchor::End, "number", &number));
    }
    let goes_on = |_: &Row, next: &Row| chart.ties[next.steps.start].before;
    for rows in chart.rows.chunk_by(goes_on) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        // A rendezvous alone needs no bracket: its arrow ties its steps.
        let is_run = matches!(first.event, Event::Run { .. });
        if rows.len() > 1 || is_run && chart.ties[first.steps.start].after {
            let x = chart.gutter - 10;
            let top = first.y - first.height / 2 + 4;
            let bottom = last.y + last.height / 2 - 4;
            out.push_str(&path("tie", &format!("M{} {top}H{x}V{bottom}h4", x + 4)));
        }
    }
}

fn run(chart: &Chart, row: &Row, lines: &[String], quiet: bool) -> String {
    let x = chart.step_x(row.steps.start);
    let room = chart.lane_width - 12;
    let lines: Vec<String> = lines.iter().map(|line| cut(line, n_chars(room - 12))).collect();
    let width = lines.iter().map(|line| text_px(line)).max().unwrap_or(0) + 12;
    let top = row.y - row.height / 2;
    let mut shape = rect((x - width / 2, top), (width, row.height));
    for (i, line) in lines.iter().enumerate() {
        let y = top + 15 + i as Px * LINE_HEIGHT;
        shape.push_str(&text((x, y), Anchor::Middle, "", line));
    }
    let is_last = row.steps.end == chart.trace.steps.len() && culprit(chart).is_some();
    let class = match (quiet, is_last) {
        (true, false) => "run quiet",
        (true, true) => "run quiet last",
        (false, false) => "run",
        (false, true) => "run last",
    };
    group(class, &steps_title(chart, row.steps.clone()), &shape)
}

/// The line of a message from its send to its receive, as far as there are any.
fn arrow(chart: &Chart, delivery: &Delivery, ends: Ends) -> String {
    let from = delivery.sent.zip(ends.sent).map(|(step, y)| (chart.step_x(step), y));
    let to = delivery.received.zip(ends.received).map(|(step, y)| (chart.step_x(step), y));
    let (class, shape) = match (from, to) {
        (None, None) => return String::new(),
        (Some((x, y)), None) => {
            let way = inward(chart, x);
            let end = x + way * LOOSE;
            let open = format!("M{x} {y}H{end}m{} -5l{} 5l{} 5", -6 * way, 6 * way, -6 * way);
            ("arrow loose", path("", &open) + &dot(end + way * 6, y))
        }
        (None, Some((x, y))) => {
            let start = x + inward(chart, x) * LOOSE;
            let line = path("", &format!("M{start} {y}H{x}"));
            ("arrow loose", dot(start, y) + &line + &head((start, y), (x, y)))
        }
        (Some((x, top)), Some((to_x, bottom))) if x == to_x => {
            let out = x + LOOSE / 2;
            // Both ends may be one row, if a process meets itself.
            let bottom = bottom.max(top + 6);
            let line = path("", &format!("M{x} {top}H{out}V{bottom}H{x}"));
            (kind(delivery), line + &head((out, bottom), (x, bottom)))
        }
        (Some(from), Some(to)) => {
            let line = path("", &format!("M{} {}L{} {}", from.0, from.1, to.0, to.1));
            (kind(delivery), line + &head(from, to))
        }
    };
    group(class, &delivery_title(chart, delivery), &shape)
}

/// To the right (1), but from the last of several lanes to the left (-1).
fn inward(chart: &Chart, x: Px) -> Px {
    match chart.lanes.lanes.len() {
        n @ 2.. if x == chart.lane_x(n - 1) => -1,
        _ => 1,
    }
}

fn kind(delivery: &Delivery) -> &'static str {
    match (delivery.kept, delivery.message.rendezvous) {
        (true, _) => "arrow kept",
        (false, true) => "arrow rendezvous",
        (false, false) => "arrow buffered",
    }
}

fn dot(x: Px, y: Px) -> String {
    format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3\"/>")
}

/// The text at the line of a message, and again where a long line ends.
fn label(chart: &Chart, delivery: &Delivery, ends: Ends) -> String {
    let from = delivery.sent.zip(ends.sent).map(|(step, y)| (chart.step_x(step), y));
    let to = delivery.received.zip(ends.received).map(|(step, y)| (chart.step_x(step), y));
    let full = delivery_label(delivery);
    let fitting = |room: Px| cut(&full, n_chars(room - 12));
    // Beside a lifeline, on the right (1) or on the left (-1).
    let beside = |(x, y): (Px, Px), way: Px, class: &str| {
        let anchor = if way > 0 { Anchor::Start } else { Anchor::End };
        text((x + 6 * way, y), anchor, class, &fitting(chart.lane_width))
    };
    let shape = match (from, to) {
        (None, None) => return String::new(),
        (Some((x, y)), None) | (None, Some((x, y))) => {
            beside((x, y - 8), inward(chart, x), "loose")
        }
        // The message itself has its own label where it is sent.
        (Some((x, _)), Some((to_x, to_y))) if delivery.kept => {
            beside((to_x, to_y + 13), (x - to_x).signum(), "again")
        }
        (Some((x, y)), Some((to_x, _))) if x == to_x => beside((x + LOOSE / 2, y + 4), 1, ""),
        (Some((x, y)), Some((to_x, to_y))) if y == to_y => {
            let text_at = ((x + to_x) / 2, y - 5);
            text(text_at, Anchor::Middle, "", &fitting((to_x - x).abs()))
        }
        (Some((x, y)), Some((to_x, to_y))) => {
            let way = (to_x - x).signum();
            let mut shape = beside((x, y - 5), way, "");
            if to_y - y > FAR {
                shape.push_str(&beside((to_x, to_y + 13), -way, "again"));
            }
            shape
        }
    };
    group("label", &delivery_title(chart, delivery), &shape)
}

/// The lane of the process whose last step broke a rule.
fn culprit(chart: &Chart) -> Option<usize> {
    chart.lanes.of_step.last().copied().filter(|_| breaks_at_end(chart.trace))
}

/// A cross on the process that broke a rule, or a bar across all that are stuck.
fn violation_mark(chart: &Chart) -> String {
    let y = chart.end - 16;
    let shape = match (culprit(chart), chart.lanes.lanes.len()) {
        (_, 0) => return String::new(),
        (Some(lane), _) => {
            let x = chart.lane_x(lane);
            format!("M{} {}l14 14m0 -14l-14 14", x - 7, y - 7)
        }
        (None, n) => format!("M{} {y}H{}", chart.lane_x(0) - 24, chart.lane_x(n - 1) + 24),
    };
    group("violation mark", &violation_lines(chart).join("\n"), &path("", &shape))
}

fn violation_box(chart: &Chart, top: Px, height: Px, lines: &[String]) -> String {
    let mut shape = rect((16, top), (chart.width - 32, height));
    for (i, line) in lines.iter().enumerate() {
        let class = if i == 0 { "heading" } else { "" };
        let y = top + 18 + i as Px * LINE_HEIGHT;
        shape.push_str(&text((28, y), Anchor::Start, class, line));
    }
    let last = chart.trace.steps.len();
    group("violation", &steps_title(chart, last.saturating_sub(1)..last), &shape)
}

fn violation_lines(chart: &Chart) -> Vec<String> {
    let Some(violation) = &chart.trace.violation else { return Vec::new() };
    let limit = n_chars(chart.width - 56);
    let mut lines = wrap(&violation_heading(chart.trace, violation), limit, 2);
    lines.extend(wrap(&clean(&violation.message), limit, VIOLATION_LINES));
    lines
}

/// What a hover over the steps shows: a line for each, and what it did.
fn steps_title(chart: &Chart, steps: std::ops::Range<usize>) -> String {
    let numbered = chart.trace.steps.iter().enumerate().skip(steps.start).take(steps.len());
    let mut lines: Vec<String> =
        numbered.take(TITLE_STEPS).map(|(i, step)| step_title(chart, i, step)).collect();
    if steps.len() > TITLE_STEPS {
        lines.push(format!("… {}", labels::count(steps.len() - TITLE_STEPS, "more step")));
    }
    lines.join("\n")
}

/// `step 2, a(0), m.pml:7: x = x + 1 [x: 0 -> 1]`.
fn step_title(chart: &Chart, i: usize, step: &TraceStep) -> String {
    let place = chart.labels.place(&step.location);
    let statement = cut(&clean(&step.statement), TITLE_WIDTH);
    let mut out = format!("step {}, {}, {place}: {statement}", i + 1, labels::process_of(step));
    let changes = step.changes.iter().map(|change| chart.labels.change(step, change));
    let changes = changes.collect::<Vec<_>>().join(", ");
    if !changes.is_empty() {
        out.push_str(&format!(" [{}]", cut(&changes, TITLE_WIDTH)));
    }
    out
}

fn delivery_title(chart: &Chart, delivery: &Delivery) -> String {
    let title = |step: Option<usize>, none: &str| match step {
        Some(i) => steps_title(chart, i..i + 1),
        None => none.to_string(),
    };
    let sent = title(delivery.sent, "sent before the trace begins");
    let received = title(delivery.received, "never received");
    format!("{}\n{sent}\n{received}", delivery_label(delivery))
}

#[cfg(test)]
mod tests {
    use crate::trace::sample::{self, received, sent, step, trace};
    use crate::trace::{msc_svg, msc_svg_last};
    use ir::trace::Trace;

    /// Fails unless every tag is closed, every attribute quoted, and no reserved
    /// character stands in text; returns the number of elements.
    fn check_well_formed(svg: &str) -> usize {
        let (mut open, mut n_elements, mut rest) = (Vec::new(), 0, svg);
        while let Some(at) = rest.find('<') {
            let text = &rest[..at];
            assert!(!text.contains('>') && entities_are_known(text), "{text}");
            let end = at + rest[at..].find('>').expect("a tag ends");
            let tag = &rest[at + 1..end];
            rest = &rest[end + 1..];
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
                continue;
            }
            n_elements += 1;
            assert!(tag.matches('"').count() % 2 == 0 && !tag.contains('<'), "{tag}");
            if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap_or(tag));
            }
        }
        assert_eq!((open.len(), rest), (0, "\n"));
        assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
        n_elements
    }

    fn entities_are_known(text: &str) -> bool {
        let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
        text.split('&').skip(1).all(|rest| known.iter().any(|entity| rest.starts_with(entity)))
    }

    fn n_of(svg: &str, class: &str) -> usize {
        svg.matches(&format!("<g class=\"{class}\">")).count()
    }

    #[test]
    fn a_chart_shows_lifelines_messages_and_violation() {
        let svg = msc_svg(&sample::relay());
        check_well_formed(&svg);
        assert_eq!(n_of(&svg, "name"), 3);
        assert_eq!(n_of(&svg, "arrow buffered"), 1);
        assert_eq!(n_of(&svg, "arrow rendezvous"), 1);
        assert_eq!(n_of(&svg, "arrow loose"), 1);
        assert_eq!((n_of(&svg, "run"), n_of(&svg, "run quiet")), (1, 1));
        assert_eq!(n_of(&svg, "run quiet last"), 1);
        for label in [">q: 1,ack<", ">r: 1<", ">q: 2,nack<", ">x: 0 -&gt; 1<", ">relay(1)<"] {
            assert!(svg.contains(label), "{label} in {svg}");
        }
        assert!(svg.contains("<title>step 1, a(0), relay.pml:1: x = 1 [x: 0 -&gt; 1]</title>"));
        assert!(svg.contains(">violation after 8 steps: assertion, models/relay.pml:8:5<"));
        assert!(svg.contains(">assertion does not hold: assert(x == 2)<"));
    }

    #[test]
    fn a_rendezvous_is_a_horizontal_arrow() {
        let steps = sample::handshake((0, "a"), (1, "b"), "q", "1").to_vec();
        let svg = msc_svg(&trace(steps));
        let line = svg.split("d=\"M").find(|line| line.contains('L')).expect("an arrow");
        let numbers: Vec<&str> = line.split(['M', ' ', 'L', '"']).collect();
        assert_eq!(numbers[1], numbers[3], "{line}");
        assert!(!svg.contains("class=\"violation"), "{svg}");
    }

    #[test]
    fn runs_of_local_steps_share_a_box() {
        let mut steps: Vec<_> = (0..100).map(|_| step(0, "p", "i++")).collect();
        for step in &mut steps {
            *step = sample::changed(step.clone(), "i", "0", "1");
        }
        let svg = msc_svg(&trace(steps));
        assert_eq!(n_of(&svg, "run"), 1);
        assert!(svg.contains(">… 97 more<") && svg.contains("\n… 60 more steps</title>"), "{svg}");
    }

    #[test]
    fn a_process_may_send_to_itself() {
        let steps = vec![
            sent(step(0, "a", "q!1"), "q", "1"),
            received(step(0, "a", "q?<x>"), "q", "1"),
            received(step(0, "a", "q?x"), "q", "1"),
        ];
        let svg = msc_svg(&trace(steps));
        check_well_formed(&svg);
        assert_eq!((n_of(&svg, "arrow kept"), n_of(&svg, "arrow buffered")), (1, 1));
    }

    #[test]
    fn the_last_steps_keep_their_numbers_and_messages_their_ends() {
        let steps = (0..40).map(|i| match i {
            20 => sent(step(0, "a", "q!1"), "q", "1"),
            38 => received(step(1, "b", "q?x"), "q", "1"),
            i => sent(step(i % 2, ["a", "b"][i as usize % 2], "r!1"), "r", "1"),
        });
        let trace = trace(steps.collect());
        let svg = msc_svg_last(&trace, 5);
        check_well_formed(&svg);
        assert_eq!(svg.matches("class=\"row\"").count(), 5);
        assert!(svg.contains(">36<") && svg.contains(">40<") && !svg.contains(">35<"), "{svg}");
        // The receive of step 39, whose send is not shown, and four sends.
        assert_eq!((n_of(&svg, "arrow loose"), n_of(&svg, "arrow buffered")), (5, 0));
        assert_eq!(msc_svg_last(&trace, 40), msc_svg(&trace));
    }

    #[test]
    fn an_empty_trace_shows_its_violation() {
        let mut empty = sample::relay();
        empty.steps.clear();
        let svg = msc_svg(&empty);
        assert!(check_well_formed(&svg) > 3);
        assert!(svg.contains(">violation in the initial state: assertion,"), "{svg}");
    }

    #[test]
    fn any_trace_gives_a_well_formed_image() {
        let mut long = sample::relay();
        long.steps = std::iter::repeat_n(long.steps, 800).flatten().collect();
        let many: Vec<_> = (0..=255).map(|i| sent(step(i, "p", "q!1"), "q", "1")).collect();
        let traces: [Trace; 4] = [sample::weird(), long, trace(many), trace(Vec::new())];
        for trace in &traces {
            assert!(check_well_formed(&msc_svg(trace)) >= 3);
        }
    }
}
