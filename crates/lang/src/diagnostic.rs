//! Errors and warnings about a model's text, with the place and the remedy.

use ir::source::{Sources, Span};
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// One message: a lower-case clause, names in single quotes, no full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, span, message: message.into(), help: None }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, span, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// `file:line:col: error: message`, the source line with a caret, the help.
    pub fn render(&self, sources: &Sources) -> String {
        let at = sources.position(self.span);
        let severity = if self.is_error() { "error" } else { "warning" };
        let mut out =
            format!("{}:{}:{}: {severity}: {}\n", at.file, at.line, at.column, self.message);
        let line = sources.line_text(self.span);
        if !line.trim().is_empty() {
            let number = at.line.to_string();
            let column = at.column.saturating_sub(1) as usize;
            let (text, column) = excerpt(line, column);
            let width = sources.text(self.span).lines().next().unwrap_or("").chars().count();
            let width = width.clamp(1, text.chars().count().saturating_sub(column).max(1));
            let _ = writeln!(out, "  {number} | {text}");
            let margin = " ".repeat(number.len());
            let _ = writeln!(out, "  {margin} | {}{}", " ".repeat(column), "^".repeat(width));
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "  help: {help}");
        }
        out
    }
}

/// The line, tabs as spaces, and the column in it. Of a very long line only
/// what is around the column.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 160;
    let chars: Vec<char> = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    if chars.len() <= WIDTH {
        return (chars.into_iter().collect(), column);
    }
    let start = column.saturating_sub(WIDTH / 2).min(chars.len() - WIDTH);
    let text = chars[start..start + WIDTH].iter().collect();
    (text, column.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_shown_around_the_place() {
        let mut sources = Sources::default();
        let file = sources.add("m.pml", format!("{}bad{}\n", "x ".repeat(5000), " y".repeat(5000)));
        let diagnostic = Diagnostic::error(Span { file, start: 10_000, end: 10_003 }, "oops");
        let text = diagnostic.render(&sources);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "m.pml:1:10001: error: oops");
        assert!(lines[1].len() < 200, "{text}");
        let caret = lines[2].find('^').expect("a caret");
        assert_eq!(&lines[1][caret..caret + 3], "bad");
        assert_eq!(lines[2].matches('^').count(), 3);
    }
}
