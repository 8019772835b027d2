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
            let text: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
            let column = at.column.saturating_sub(1) as usize;
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
