//! Lexemes to tokens: numbers and characters get their values, what is no
//! token is reported, embedded C is skipped.
//!
//! The body of a `c_code` and its relatives is C, which need not lex as
//! Promela. The parser only has to know that it is there, so it gets the
//! keyword and an empty pair of braces.

use super::Log;
use crate::diagnostic::Diagnostic;
use crate::promela::lex::{Gap, Lexeme, LexemeKind};
use crate::promela::token::{Token, TokenKind};
use ir::source::Span;

const EMBEDDED_C: &[&str] = &["c_code", "c_expr", "c_decl", "c_track", "c_state"];

/// Where we are with respect to embedded C.
enum State {
    Promela,
    /// After a keyword: a bracket may open a precondition, a brace the body.
    Keyword,
    /// In `[...]` before the body.
    Precondition {
        open: usize,
        start: Span,
    },
    Body {
        open: usize,
        start: Span,
    },
}

pub struct Converter {
    tokens: Vec<Token>,
    state: State,
}

impl Default for Converter {
    fn default() -> Converter {
        Converter { tokens: Vec::new(), state: State::Promela }
    }
}

impl Converter {
    pub fn push(&mut self, lexeme: &Lexeme, log: &mut Log) {
        match (&mut self.state, &lexeme.kind) {
            (State::Precondition { open, .. }, LexemeKind::Punct("[")) => *open += 1,
            (State::Precondition { open: 1, .. }, LexemeKind::Punct("]")) => {
                self.state = State::Keyword;
            }
            (State::Precondition { open, .. }, LexemeKind::Punct("]")) => *open -= 1,
            (State::Body { open, .. }, LexemeKind::Punct("{")) => *open += 1,
            (State::Body { open: 1, .. }, LexemeKind::Punct("}")) => {
                self.state = State::Promela;
                self.emit(lexeme, TokenKind::Punct("}"));
            }
            (State::Body { open, .. }, LexemeKind::Punct("}")) => *open -= 1,
            (State::Precondition { .. } | State::Body { .. }, _) => {}
            (State::Keyword, LexemeKind::Punct("[")) => {
                self.state = State::Precondition { open: 1, start: lexeme.span };
            }
            (State::Keyword, LexemeKind::Punct("{")) => {
                self.state = State::Body { open: 1, start: lexeme.span };
                self.emit(lexeme, TokenKind::Punct("{"));
            }
            (State::Keyword | State::Promela, LexemeKind::Name(name)) => {
                let embeds = EMBEDDED_C.contains(&&**name);
                self.state = if embeds { State::Keyword } else { State::Promela };
                self.emit(lexeme, TokenKind::Name(name.clone()));
            }
            (State::Keyword | State::Promela, _) => {
                self.state = State::Promela;
                self.push_promela(lexeme, log);
            }
        }
    }

    /// The tokens, closed by an end token at `end`.
    pub fn finish(mut self, end: Span, log: &mut Log) -> Vec<Token> {
        if let State::Precondition { start, .. } | State::Body { start, .. } = self.state {
            log.report(Diagnostic::error(start, "the embedded C code is not closed"));
        }
        let after_newline = true;
        if let State::Body { start, .. } = self.state {
            self.tokens.push(Token { kind: TokenKind::Punct("}"), span: start, after_newline });
        }
        self.tokens.push(Token { kind: TokenKind::End, span: end, after_newline });
        self.tokens
    }

    fn emit(&mut self, lexeme: &Lexeme, kind: TokenKind) {
        let after_newline = lexeme.gap >= Gap::Comment;
        self.tokens.push(Token { kind, span: lexeme.span, after_newline });
    }

    fn push_promela(&mut self, lexeme: &Lexeme, log: &mut Log) {
        match &lexeme.kind {
            LexemeKind::Number(text) => self.push_number(lexeme, text, log),
            LexemeKind::Char(text) => {
                let value = character(lexeme.span, text, log);
                self.emit(lexeme, TokenKind::Number(value));
            }
            LexemeKind::Text(text) => self.emit(lexeme, TokenKind::Text(text.clone())),
            LexemeKind::Punct(punct @ ("#" | "##")) => {
                let error = Diagnostic::error(lexeme.span, format!("stray '{punct}'"));
                log.report(error.help("a directive stands at the start of a line"));
            }
            LexemeKind::Punct(punct) => self.emit(lexeme, TokenKind::Punct(punct)),
            LexemeKind::Unclosed(quote, text) => {
                log.report(Diagnostic::error(lexeme.span, unclosed(*quote)));
                if *quote == '"' {
                    self.emit(lexeme, TokenKind::Text(text.clone()));
                }
            }
            LexemeKind::Strange(text) => log.report(strange(lexeme.span, text)),
            LexemeKind::Name(_) | LexemeKind::FileEnd => {}
        }
    }

    /// A number ends with its last digit: `3x` is a number and a name.
    fn push_number(&mut self, lexeme: &Lexeme, text: &str, log: &mut Log) {
        if text.starts_with("0x") || text.starts_with("0X") {
            let error =
                Diagnostic::error(lexeme.span, "hexadecimal numbers are not part of Promela");
            log.report(match i32::from_str_radix(&text[2..], 16) {
                Ok(value) => error.help(format!("write {value}")),
                Err(_) => error.help("write the number in decimal"),
            });
            return self.emit(lexeme, TokenKind::Number(0));
        }
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let (digits, name) = text.split_at(text.len() - digits.len());
        self.emit(lexeme, TokenKind::Number(decimal(lexeme.span, digits, log)));
        if !name.is_empty() {
            let rest = Lexeme { gap: Gap::None, ..lexeme.clone() };
            self.emit(&rest, TokenKind::Name(name.into()));
        }
    }
}

/// What C's `(int) strtol(digits, NULL, 10)` gives where `long` has 64 bits.
fn decimal(span: Span, digits: &str, log: &mut Log) -> i32 {
    // Only digits: the one way to fail is to be too large.
    let wide: i64 = digits.parse().unwrap_or(i64::MAX);
    let value = wide as i32;
    if i64::from(value) != wide {
        let message = format!("'{digits}' does not fit into 32 bits and is read as {value}");
        log.report(Diagnostic::warning(span, message));
    }
    value
}

/// The value of a character constant.
fn character(span: Span, text: &str, log: &mut Log) -> i32 {
    let mut chars = text.chars();
    let (first, second, rest) = (chars.next(), chars.next(), chars.next());
    match (first, second, rest) {
        (Some('\\'), Some(escaped), None) if escaped.is_ascii() => match escaped {
            'n' => 10,
            'r' => 13,
            't' => 9,
            'f' => 12,
            '\\' | '\'' | '"' => escaped as i32,
            _ => {
                let value = escaped as i32;
                let message = format!("'\\{escaped}' is read as '{escaped}', which is {value}");
                let warning = Diagnostic::warning(span, message);
                log.report(warning.help("the escapes are \\n, \\r, \\t, \\f, \\\\ and \\'"));
                value
            }
        },
        (Some(only), None, None) if only.is_ascii() && only != '\\' => only as i32,
        (Some(only), None, None) => {
            log.report(Diagnostic::error(span, format!("'{only}' is not an ASCII character")));
            0
        }
        _ => {
            let error = Diagnostic::error(span, "a character constant holds one character");
            log.report(error.help("strings have double quotes"));
            0
        }
    }
}

fn unclosed(quote: char) -> &'static str {
    match quote {
        '"' => "the string is not closed on its line",
        _ => "the character constant is not closed on its line",
    }
}

fn strange(span: Span, text: &str) -> Diagnostic {
    let shown: String = text.chars().take(20).flat_map(printable).collect();
    let error = Diagnostic::error(span, format!("'{shown}' is not part of Promela"));
    let first = text.chars().next().unwrap_or(' ');
    let help = match first {
        '“' | '”' | '„' | '«' | '»' => "use straight quotes: \"",
        '‘' | '’' | '‚' | '`' | '´' => "use a straight quote: '",
        '–' | '—' | '−' | '‐' | '‑' => "use the ASCII minus sign: -",
        '→' => "use ->",
        '≤' => "use <=",
        '≥' => "use >=",
        '≠' => "use !=",
        '∧' => "use &&",
        '∨' => "use ||",
        '¬' => "use !",
        '□' => "use []",
        '◇' | '◊' => "use <>",
        '；' => "use ;",
        '，' => "use ,",
        '（' => "use (",
        '）' => "use )",
        _ if first.is_alphanumeric() => "names are made of a-z, A-Z, 0-9 and _",
        _ if first.is_whitespace() || first == '\u{feff}' || first == '\u{200b}' => {
            "replace it by a plain space"
        }
        _ => return error,
    };
    error.help(help)
}

/// The character, or its code point if it cannot be seen.
fn printable(c: char) -> Vec<char> {
    let invisible = c.is_control()
        || c.is_whitespace()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}');
    if invisible { format!("U+{:04X}", c as u32).chars().collect() } else { vec![c] }
}
