//! Colours on a terminal (ECMA-48 sequences), or none.

use super::text::width;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Dim,
    Bold,
    Red,
    /// The colour of a process, by its number.
    Process(u8),
}

/// Cyan, green, yellow, magenta and blue, twice; red is for violations.
const PROCESS_CODES: [&str; 10] = ["36", "32", "33", "35", "34", "96", "92", "93", "95", "94"];

#[derive(Debug, Clone, Copy)]
pub struct Paint {
    pub color: bool,
}

impl Paint {
    pub fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Plain => return text.to_string(),
            Ink::Dim => "2",
            Ink::Bold => "1",
            Ink::Red => "1;31",
            Ink::Process(number) => PROCESS_CODES[usize::from(number) % PROCESS_CODES.len()],
        };
        if !self.color || text.is_empty() {
            return text.to_string();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// One line of characters at fixed places, each with its ink.
#[derive(Debug, Default)]
pub struct Line {
    cells: Vec<(char, Ink)>,
}

impl Line {
    /// Writes `text` at character `at`, over what is there.
    pub fn put(&mut self, at: usize, ink: Ink, text: &str) {
        let end = at + width(text);
        if self.cells.len() < end {
            self.cells.resize(end, (' ', Ink::Plain));
        }
        for (cell, c) in self.cells[at..end].iter_mut().zip(text.chars()) {
            *cell = (c, ink);
        }
    }

    /// The line without space at its end, and a newline.
    pub fn render(&self, paint: Paint) -> String {
        let end = self.cells.iter().rposition(|(c, _)| *c != ' ').map_or(0, |at| at + 1);
        let mut out = String::new();
        for run in self.cells[..end].chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|(c, _)| c).collect();
            out.push_str(&paint.ink(run[0].1, &text));
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_painted_in_runs() {
        let mut line = Line::default();
        line.put(2, Ink::Red, "ab");
        line.put(6, Ink::Plain, "c  ");
        assert_eq!(line.render(Paint { color: false }), "  ab  c\n");
        assert_eq!(line.render(Paint { color: true }), "  \x1b[1;31mab\x1b[0m  c\n");
        assert_eq!(Line::default().render(Paint { color: true }), "\n");
    }
}
