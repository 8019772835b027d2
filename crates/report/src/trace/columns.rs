//! The table: a column for each process, time runs down.
//!
//! Processes that do not fit side by side go to further blocks below. Steps keep
//! their numbers there, so that blocks can be read together.

use super::delivery::{Delivery, deliveries};
use super::ending::{ending, heading};
use super::labels;
use super::lanes::Lanes;
use super::paint::{Ink, Line, Paint};
use super::text::{clean, width as text_width, wrap};
use super::tie::{Tie, ties};
use ir::trace::Trace;
use std::ops::Range;

const MIN_COLUMN: usize = 12;
const MAX_COLUMN: usize = 48;
/// Room for an arrow between two columns, whatever is in them.
const GAP: usize = 3;
/// A statement takes at most this many lines.
const CELL_LINES: usize = 3;

/// The trace as a table at most `width` characters wide (if that is room for
/// one column).
pub fn columns(trace: &Trace, width: usize, color: bool) -> String {
    let paint = Paint { color };
    let table = Table::new(trace, width);
    let mut out = paint.ink(Ink::Bold, &heading(trace)) + "\n";
    for note in table.notes(width) {
        out.push_str(&(paint.ink(Ink::Dim, &note) + "\n"));
    }
    out.push('\n');
    for block in table.blocks() {
        table.block(&block, paint, &mut out);
        out.push('\n');
    }
    out + &ending(trace, paint)
}

struct Table<'t> {
    trace: &'t Trace,
    lanes: Lanes,
    deliveries: Vec<Delivery<'t>>,
    /// What each step says in its column.
    cells: Vec<String>,
    ties: Vec<Tie>,
    number_width: usize,
    column_width: usize,
    n_columns: usize,
}

/// One line of time: a step, or the two steps of a rendezvous.
struct Row {
    steps: Range<usize>,
}

impl<'t> Table<'t> {
    fn new(trace: &'t Trace, width: usize) -> Table<'t> {
        let lanes = Lanes::new(trace);
        let deliveries = deliveries(trace);
        let digits = trace.steps.len().to_string().len();
        let has_handshake = deliveries.iter().any(Delivery::is_handshake);
        let number_width = if has_handshake { 2 * digits + 1 } else { digits };
        let room = width.saturating_add(GAP).saturating_sub(first_column(number_width));
        let n_lanes = lanes.lanes.len().max(1);
        let n_fitting = (room / (MIN_COLUMN + GAP)).clamp(1, n_lanes);
        // Blocks of about the same size look better than a last one with a single column.
        let n_columns = n_lanes.div_ceil(n_lanes.div_ceil(n_fitting));
        let block_of = |step: usize| lanes.of_step[step] / n_columns;
        let cells = cells(trace, &deliveries, &block_of);
        let names = lanes.lanes.iter().map(|lane| text_width(&lane.label()));
        let widest = cells.iter().map(|cell| text_width(cell)).chain(names).max().unwrap_or(0);
        let column_width =
            (room / n_columns).saturating_sub(GAP).min(widest).clamp(MIN_COLUMN, MAX_COLUMN);
        let ties = ties(&trace.steps);
        Table { trace, lanes, deliveries, cells, ties, number_width, column_width, n_columns }
    }

    fn notes(&self, width: usize) -> Vec<String> {
        let mut out = Vec::new();
        let n_blocks = self.blocks().len();
        if n_blocks > 1 {
            let n = self.lanes.lanes.len();
            let blocks = format!("{n_blocks} blocks of up to {}", self.n_columns);
            out.push(format!("{n} processes do not fit in a width of {width}: {blocks} follow"));
        }
        if self.cells.iter().any(|cell| cell.contains(ORIGIN)) {
            out.push(format!("{ORIGIN}n: the message was sent in step n"));
        }
        out
    }

    /// The lanes of each block.
    fn blocks(&self) -> Vec<Range<usize>> {
        let n = self.lanes.lanes.len();
        let block = |first: usize| first..(first + self.n_columns).min(n);
        (0..n).step_by(self.n_columns).map(block).collect()
    }

    fn block(&self, block: &Range<usize>, paint: Paint, out: &mut String) {
        let (mut names, mut rule) = (Line::default(), Line::default());
        for lane in block.clone() {
            let at = self.column(block, lane);
            let process = &self.lanes.lanes[lane];
            let ink = Ink::Process(process.process);
            names.put(at, ink, &process.label_in(self.column_width));
            rule.put(at, Ink::Dim, &"─".repeat(self.column_width));
        }
        out.push_str(&names.render(paint));
        out.push_str(&rule.render(paint));
        for row in self.rows(block) {
            for line in self.row(block, &row) {
                out.push_str(&line.render(paint));
            }
        }
    }

    /// The steps of the processes in a block; both ends of a rendezvous share a
    /// row if both are in the block.
    fn rows(&self, block: &Range<usize>) -> Vec<Row> {
        let shown = |step: usize| block.contains(&self.lanes.of_step[step]);
        let joined = self.deliveries.iter().filter(|d| d.is_handshake()).filter_map(|d| d.sent);
        let mut joined = joined.filter(|sent| shown(*sent) && shown(sent + 1)).peekable();
        let mut rows = Vec::new();
        let mut step = 0;
        while step < self.trace.steps.len() {
            while joined.next_if(|sent| *sent < step).is_some() {}
            let apart = self.lanes.of_step.get(step + 1) != Some(&self.lanes.of_step[step]);
            let n_steps = if joined.peek() == Some(&step) && apart { 2 } else { 1 };
            if shown(step) {
                rows.push(Row { steps: step..step + n_steps });
            }
            step += n_steps;
        }
        rows
    }

    fn row(&self, block: &Range<usize>, row: &Row) -> Vec<Line> {
        let tie = Tie {
            before: self.ties[row.steps.start].before,
            after: self.ties[row.steps.end - 1].after,
        };
        let cells: Vec<(usize, Vec<String>)> = row
            .steps
            .clone()
            .map(|i| (i, wrap(&self.cells[i], self.column_width, CELL_LINES)))
            .collect();
        let n_lines = cells.iter().map(|(_, lines)| lines.len()).max().unwrap_or(1);
        let mut out = Vec::new();
        for at_line in 0..n_lines {
            let mut line = Line::default();
            let mark = if at_line == 0 { tie.mark() } else { tie.mark_below() };
            line.put(self.number_width + 1, Ink::Dim, mark);
            for lane in block.clone() {
                line.put(self.column(block, lane), Ink::Dim, "│");
            }
            if at_line == 0 {
                line.put(0, Ink::Dim, &self.number(row));
                self.arrow(block, row, &mut line);
            }
            for (i, lines) in &cells {
                let ink = Ink::Process(self.trace.steps[*i].process);
                let text = lines.get(at_line).map_or("", String::as_str);
                if !text.is_empty() {
                    line.put(self.column(block, self.lanes.of_step[*i]), ink, text);
                }
            }
            out.push(line);
        }
        out
    }

    /// `7`, or `7-8` for a rendezvous.
    fn number(&self, row: &Row) -> String {
        let first = row.steps.start + 1;
        let number = match row.steps.len() {
            1 => first.to_string(),
            _ => format!("{first}-{}", row.steps.end),
        };
        format!("{number:>0$}", self.number_width)
    }

    /// The arrow of a rendezvous, from one column to the other.
    fn arrow(&self, block: &Range<usize>, row: &Row, line: &mut Line) {
        if row.steps.len() != 2 {
            return;
        }
        let (sender, receiver) = (row.steps.start, row.steps.end - 1);
        let at = |step: usize| self.column(block, self.lanes.of_step[step]);
        let rightward = at(sender) < at(receiver);
        let (left, right) = if rightward { (sender, receiver) } else { (receiver, sender) };
        let n_text = text_width(&self.cells[left]).min(self.column_width);
        let (from, to) = (at(left) + n_text + 1, at(right).saturating_sub(2));
        line.put(from, Ink::Plain, &"─".repeat((to + 1).saturating_sub(from)));
        match rightward {
            true => line.put(to, Ink::Plain, ">"),
            false => line.put(from, Ink::Plain, "<"),
        }
    }

    fn column(&self, block: &Range<usize>, lane: usize) -> usize {
        first_column(self.number_width) + (lane - block.start) * (self.column_width + GAP)
    }
}

/// Columns begin behind the number and the tie of a step.
fn first_column(number_width: usize) -> usize {
    number_width + 3
}

/// Stands before the number of the step that sent a message.
const ORIGIN: char = '←';

/// For each step its messages with their values, or else its statement. A
/// receive names the step that sent, unless an arrow comes from there.
fn cells(trace: &Trace, deliveries: &[Delivery], block_of: &dyn Fn(usize) -> usize) -> Vec<String> {
    let mut cells = vec![String::new(); trace.steps.len()];
    for (cell, step) in cells.iter_mut().zip(&trace.steps) {
        let sent = step.sent.iter().map(|message| labels::event(message, '!'));
        let texts: Vec<String> = sent.collect();
        *cell = texts.join(" ");
    }
    for delivery in deliveries {
        let Some(received) = delivery.received else { continue };
        let cell = &mut cells[received];
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(&labels::event(delivery.message, '?'));
        let has_arrow = |sent| delivery.is_handshake() && block_of(sent) == block_of(received);
        if let Some(sent) = delivery.sent.filter(|sent| !has_arrow(*sent)) {
            cell.push_str(&format!(" {ORIGIN}{}", sent + 1));
        }
    }
    for (cell, step) in cells.iter_mut().zip(&trace.steps) {
        if cell.is_empty() {
            *cell = clean(&step.statement);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::{self, step, trace};

    #[test]
    fn a_table_has_a_column_for_each_process() {
        let expected = "\
trace of models/relay.pml: 8 steps in 6 transitions
←n: the message was sent in step n

      a(0)             relay(1)         b(2)
      ──────────────   ──────────────   ──────────────
  1   x = 1            │                │
  2   q!1,ack          │                │
  3   │                q?1,ack ←2       │
  4 ┌ │                v == 1           │
5-6 └ │                r!1 ───────────> r?1
  7   │                │                q!2,nack
  8   │                │                assert(x == 2)

violation after 8 steps: assertion, models/relay.pml:8:5
  assertion does not hold: assert(x == 2)
";
        assert_eq!(columns(&sample::relay(), 80, false), expected);
    }

    #[test]
    fn processes_that_do_not_fit_go_to_further_blocks() {
        let expected = "\
trace of models/relay.pml: 8 steps in 6 transitions
3 processes do not fit in a width of 40: 2 blocks of up to 2 follow
←n: the message was sent in step n

      a(0)             relay(1)
      ──────────────   ──────────────
  1   x = 1            │
  2   q!1,ack          │
  3   │                q?1,ack ←2
  4 ┌ │                v == 1
  5 ├ │                r!1

      b(2)
      ──────────────
  6 └ r?1 ←5
  7   q!2,nack
  8   assert(x == 2)

violation after 8 steps: assertion, models/relay.pml:8:5
  assertion does not hold: assert(x == 2)
";
        assert_eq!(columns(&sample::relay(), 40, false), expected);
    }

    #[test]
    fn an_arrow_to_the_left_passes_over_the_processes_between() {
        let mut steps = vec![step(1, "b", "skip")];
        steps.extend(sample::handshake((2, "c"), (0, "a"), "q", "1"));
        let expected = "\
trace of m.pml: 3 steps in 2 transitions

      a(0)           b(1)           c(2)
      ────────────   ────────────   ────────────
  1   │              skip           │
2-3   q?1 <──────────────────────── q!1

no violation at the end
";
        assert_eq!(columns(&trace(steps), 80, false), expected);
    }

    #[test]
    fn any_width_will_do() {
        let mut long = sample::relay();
        long.steps = std::iter::repeat_n(long.steps, 800).flatten().collect();
        for trace in [sample::relay(), sample::weird(), trace(Vec::new()), long] {
            for width in [0, 1, 12, 13, 40, usize::MAX] {
                let table = columns(&trace, width, false);
                assert!(!table.chars().any(|c| c.is_control() && c != '\n'));
                assert_eq!(table.contains("violation after"), trace.violation.is_some());
            }
        }
    }

    #[test]
    fn blocks_keep_the_width() {
        let steps: Vec<_> = (0..=255).map(|i| step(i, "worker", "count = count + 1")).collect();
        for width in [20, 80, 133] {
            let table = columns(&trace(steps.clone()), width, false);
            let rows = table.lines().skip_while(|line| !line.contains("worker(0)"));
            let widest = rows.take_while(|line| *line != ENDING).map(text_width).max();
            assert!(widest.is_some_and(|widest| widest <= width), "{widest:?} in {width}");
            assert!((0..=255).all(|i| table.contains(&format!("({i})"))), "{table}");
        }
    }

    const ENDING: &str = "no violation at the end";
}
