//! Tables for terminals and for Markdown, and numbers as they stand in them.

use std::fmt::Write;

/// What stands for a figure that was not measured.
pub const UNKNOWN: &str = "–";

/// The first column names the line and is set left, the others right.
pub struct Table {
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<const N: usize>(headings: [&str; N]) -> Table {
        Table { headings: headings.map(String::from).to_vec(), rows: Vec::new() }
    }

    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(N, self.headings.len());
        self.rows.push(row.to_vec());
    }

    /// Columns aligned by spaces.
    pub fn text(&self) -> String {
        let lines = || std::iter::once(&self.headings).chain(&self.rows);
        let width = |i: usize| {
            lines().filter_map(|line| line.get(i)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..self.headings.len()).filter_map(width).collect();
        let mut out = String::new();
        for line in lines() {
            for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let _ = match i {
                    0 => write!(out, "{cell:<width$}"),
                    _ => write!(out, "  {cell:>width$}"),
                };
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = format!("| {} |\n|---", self.headings.join(" | "));
        out += &"|---:".repeat(self.headings.len().saturating_sub(1));
        out += "|\n";
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out
    }
}

/// A part of the report: what it shows in a few sentences, and the table.
pub struct Section {
    pub title: String,
    pub points: Vec<String>,
    pub table: Table,
}

impl Section {
    pub fn text(&self) -> String {
        // Weight is for Markdown.
        format!("{}\n\n{}{}", self.title, self.list().replace("**", ""), self.table.text())
    }

    pub fn markdown(&self) -> String {
        format!("## {}\n\n{}{}", self.title, self.list(), self.table.markdown())
    }

    fn list(&self) -> String {
        let lines: String = self.points.iter().map(|point| format!("- {point}\n")).collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }
}

pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// `measured` in the form that `show` gives it, if it was measured.
pub fn or_unknown<T>(measured: Option<T>, show: impl Fn(T) -> String) -> String {
    measured.map_or(UNKNOWN.into(), show)
}

pub fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// Three digits are enough for a time; short ones are in milliseconds.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

pub fn mebibytes(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["model", "states", "time"]);
        table.push(["a".into(), thousands(1_002_003), UNKNOWN.into()]);
        table.push(["long.name".into(), "7".into(), "1.5 s".into()]);
        table
    }

    #[test]
    fn aligns_the_first_column_left_and_the_others_right() {
        let expected = "\
model         states   time
a          1,002,003      –
long.name          7  1.5 s
";
        assert_eq!(sample().text(), expected);
    }

    #[test]
    fn writes_markdown() {
        let expected = "\
| model | states | time |
|---|---:|---:|
| a | 1,002,003 | – |
| long.name | 7 | 1.5 s |
";
        assert_eq!(sample().markdown(), expected);
    }

    #[test]
    fn a_section_without_points_has_no_gap() {
        let mut section = Section { title: "T".into(), points: Vec::new(), table: sample() };
        assert!(section.markdown().starts_with("## T\n\n| model"));
        section.points.push("mean **2**".into());
        assert!(section.markdown().starts_with("## T\n\n- mean **2**\n\n| model"));
        assert!(section.text().starts_with("T\n\n- mean 2\n\nmodel"));
    }

    #[test]
    fn groups_digits_by_three() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(123_456), "123,456");
        assert_eq!(thousands(1_002_003), "1,002,003");
    }

    #[test]
    fn shows_times_in_the_unit_that_suits_them() {
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(4.5), "4.50 s");
    }
}
