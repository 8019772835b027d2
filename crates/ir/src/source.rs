//! Source files and positions in them.
//!
//! A [`Span`] is a byte range in one file of a [`Sources`]; it stays with a
//! statement from the lexer to the printed trace. The empty span at offset 0
//! of file 0 ([`Span::NONE`]) stands for things that have no place in a file.

use serde::{Deserialize, Serialize};

/// One source file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The name as the user gave it, or as `#include` found it.
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

/// All files of one model, the main file first.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub files: Vec<SourceFile>,
}

/// A byte range `start..end` in file number `file`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct Span {
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const NONE: Span = Span { file: 0, start: 0, end: 0 };

    /// The smallest span that covers both; `self` if they are in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file || other.end < self.start {
            return self;
        }
        Span { file: self.file, start: self.start, end: other.end.max(self.end) }
    }
}

/// A position as people read it: line and column count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Sources {
    /// Adds a file and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { name: name.into(), text, line_starts });
        self.files.len() as u32 - 1
    }

    pub fn position(&self, span: Span) -> Position {
        let Some(file) = self.files.get(span.file as usize) else {
            return Position { file: String::new(), line: 0, column: 0 };
        };
        let line = file.line_starts.partition_point(|s| *s <= span.start);
        let line_start = file.line_starts[line - 1] as usize;
        let start = (span.start as usize).min(file.text.len());
        let column = file.text.get(line_start..start).map_or(0, |s| s.chars().count()) as u32 + 1;
        Position { file: file.name.clone(), line: line as u32, column }
    }

    /// The text of the line on which the span starts.
    pub fn line_text(&self, span: Span) -> &str {
        let Some(file) = self.files.get(span.file as usize) else {
            return "";
        };
        let line = file.line_starts.partition_point(|s| *s <= span.start);
        let start = file.line_starts[line - 1] as usize;
        file.text[start..].lines().next().unwrap_or("")
    }

    /// The text the span covers.
    pub fn text(&self, span: Span) -> &str {
        self.files
            .get(span.file as usize)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_count_lines_and_characters_from_one() {
        let mut sources = Sources::default();
        let file = sources.add("m.pml", "ab\nä = x\n");
        let span = Span { file, start: 8, end: 9 };
        assert_eq!(sources.text(span), "x");
        assert_eq!(sources.position(span), Position { file: "m.pml".into(), line: 2, column: 5 });
        assert_eq!(sources.line_text(span), "ä = x");
        let past = Span { file: 7, start: 0, end: 1 };
        assert_eq!(sources.position(past).line, 0);
    }
}
