//! Lexing: the text of one file to lexemes, before any preprocessing.
//!
//! A [`Lexeme`] is what C calls a preprocessing token. It keeps its spelling
//! and the gap before it, which `#`, `##` and directives need, and is turned
//! into a [`Token`](super::token::Token) only after macro expansion.
//!
//! Invariant: lexing never fails. What cannot be a token becomes a
//! [`LexemeKind::Strange`] or [`LexemeKind::Unclosed`], reported only if it
//! reaches the output: text under `#if 0`, unused macros and embedded C may
//! hold anything. Only comments are judged here, because they decide which
//! text is text.

use super::token::PUNCTUATION;
use crate::diagnostic::Diagnostic;
use ir::source::Span;
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

/// What stands between a lexeme and the one before it, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    None,
    Space,
    /// A comment with a line break in it: a new line for Promela, but not the
    /// end of a directive.
    Comment,
    Line,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LexemeKind {
    Name(Rc<str>),
    /// A digit and all letters and digits after it. Unlike in C no dot, so
    /// that `N` in `1..N` is a name and may be a macro.
    Number(Rc<str>),
    /// A character constant, without its quotes.
    Char(Rc<str>),
    /// A string, without its quotes.
    Text(Rc<str>),
    /// One of [`PUNCTUATION`], or `#`, or `##`.
    Punct(&'static str),
    /// A quote that is not closed on its line, and the rest of the line.
    Unclosed(char, Rc<str>),
    /// A run of characters that Promela has no use for.
    Strange(Rc<str>),
    /// The end of an included file; macro calls do not reach across it.
    FileEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Lexeme {
    pub kind: LexemeKind,
    pub span: Span,
    pub gap: Gap,
    /// A name met inside its own macro's expansion: never expanded again.
    pub frozen: bool,
}

impl Lexeme {
    pub fn new(kind: LexemeKind, span: Span) -> Lexeme {
        Lexeme { kind, span, gap: Gap::None, frozen: false }
    }

    pub fn name(&self) -> Option<&Rc<str>> {
        match &self.kind {
            LexemeKind::Name(name) => Some(name),
            _ => None,
        }
    }

    pub fn is_punct(&self, text: &str) -> bool {
        matches!(self.kind, LexemeKind::Punct(punct) if punct == text)
    }

    /// The lexeme as it was written.
    pub fn spelling(&self) -> Cow<'_, str> {
        match &self.kind {
            LexemeKind::Name(text) | LexemeKind::Number(text) | LexemeKind::Strange(text) => {
                Cow::Borrowed(text)
            }
            LexemeKind::Char(text) => Cow::Owned(format!("'{text}'")),
            LexemeKind::Text(text) => Cow::Owned(format!("\"{text}\"")),
            LexemeKind::Punct(text) => Cow::Borrowed(text),
            LexemeKind::Unclosed(quote, text) => Cow::Owned(format!("{quote}{text}")),
            LexemeKind::FileEnd => Cow::Borrowed(""),
        }
    }
}

/// The spellings seen so far, so that equal names share one allocation.
#[derive(Debug, Default)]
pub struct Spellings(HashSet<Rc<str>>);

impl Spellings {
    pub fn share(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let text: Rc<str> = text.into();
        self.0.insert(text.clone());
        text
    }
}

/// Lexes the text of file number `file`.
pub fn lex(
    text: &str,
    file: u32,
    spellings: &mut Spellings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Lexeme> {
    let mut lexer = Lexer { cursor: Cursor::new(text), file, spellings, diagnostics };
    // A large text is not copied again and again as they become more.
    let mut lexemes = Vec::with_capacity(text.len() / 4);
    // The start of the file is the start of a line.
    let mut gap = Gap::Line;
    loop {
        gap = gap.max(lexer.skip_gap());
        let Some(mut lexeme) = lexer.lexeme() else { return lexemes };
        lexeme.gap = std::mem::replace(&mut gap, Gap::None);
        lexemes.push(lexeme);
    }
}

/// Removes line continuations.
pub fn unsplice(text: &str) -> Cow<'_, str> {
    if !text.contains("\\") || !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut cursor = Cursor::new(text);
    Cow::Owned(std::iter::from_fn(|| cursor.bump()).collect())
}

/// The length of the line continuation that `text` starts with, or 0. As in
/// gcc, blanks may stand between the backslash and the end of the line.
fn splice_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\\') else { return 0 };
    match rest.trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']).strip_prefix('\n') {
        Some(after) => text.len() - after.len(),
        None => 0,
    }
}

/// Whether punctuation, which is ASCII, begins with this: `starts_with` takes a
/// call for each.
fn begins(punct: &str, first: char) -> bool {
    char::from(punct.as_bytes()[0]) == first
}

/// A place in a text whose line continuations are invisible.
///
/// Invariant: `at` is not at a line continuation; `end` is right after the
/// last character taken.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Cursor<'a> {
        let mut cursor = Cursor { text, at: 0, end: 0 };
        cursor.skip_splices();
        cursor
    }

    fn skip_splices(&mut self) {
        loop {
            match splice_length(&self.text[self.at..]) {
                0 => return,
                length => self.at += length,
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.end = self.at;
        self.skip_splices();
        Some(c)
    }

    /// Takes `word` if it comes next.
    fn take(&mut self, word: &str) -> bool {
        let mut probe = *self;
        let found = word.chars().all(|c| probe.bump() == Some(c));
        if found {
            *self = probe;
        }
        found
    }

    fn take_while(&mut self, mut accept: impl FnMut(char) -> bool) {
        while self.peek().is_some_and(&mut accept) {
            self.bump();
        }
    }

    /// True if a line continuation stands between the last character and the next.
    fn at_splice(&self) -> bool {
        self.at > self.end
    }
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    file: u32,
    spellings: &'a mut Spellings,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn span_from(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.cursor.end as u32 }
    }

    /// Skips white space and comments and says what they amount to.
    fn skip_gap(&mut self) -> Gap {
        let mut gap = Gap::None;
        loop {
            let start = self.cursor.at;
            let skipped = match self.cursor.peek() {
                Some('\n') => {
                    self.cursor.bump();
                    Gap::Line
                }
                Some(' ' | '\t' | '\r' | '\x0b' | '\x0c') => {
                    self.cursor.bump();
                    Gap::Space
                }
                // A byte order mark.
                Some('\u{feff}') if start == 0 => {
                    self.cursor.bump();
                    Gap::None
                }
                Some('/') if self.cursor.take("//") => self.skip_line_comment(start),
                Some('/') if self.cursor.take("/*") => self.skip_block_comment(start),
                _ => return gap,
            };
            gap = gap.max(skipped);
        }
    }

    fn skip_line_comment(&mut self, start: usize) -> Gap {
        let mut continued = None;
        while self.cursor.peek().is_some_and(|c| c != '\n') {
            if self.cursor.at_splice() && continued.is_none() {
                continued = Some(self.span_from(start));
            }
            self.cursor.bump();
        }
        if let Some(span) = continued {
            let message = "the comment goes on in the next line, because it ends with '\\'";
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
        Gap::Space
    }

    fn skip_block_comment(&mut self, start: usize) -> Gap {
        let opening = self.span_from(start);
        let mut gap = Gap::Space;
        while !self.cursor.take("*/") {
            match self.cursor.bump() {
                Some('\n') => gap = Gap::Comment,
                Some(_) => {}
                None => {
                    self.diagnostics.push(
                        Diagnostic::error(opening, "the comment is not closed")
                            .help("end it with '*/'"),
                    );
                    break;
                }
            }
        }
        gap
    }

    fn lexeme(&mut self) -> Option<Lexeme> {
        let start = self.cursor.at;
        let kind = match self.cursor.peek()? {
            'a'..='z' | 'A'..='Z' | '_' => LexemeKind::Name(self.word(start)),
            '0'..='9' => LexemeKind::Number(self.word(start)),
            quote @ ('"' | '\'') => self.quoted(quote),
            first => match self.punctuation(first) {
                Some(punct) => {
                    self.warn_of_split_operator(start, punct);
                    LexemeKind::Punct(punct)
                }
                None => self.strange(start),
            },
        };
        Some(Lexeme::new(kind, self.span_from(start)))
    }

    fn word(&mut self, start: usize) -> Rc<str> {
        self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let word = unsplice(&self.cursor.text[start..self.cursor.end]);
        self.spellings.share(&word)
    }

    fn quoted(&mut self, quote: char) -> LexemeKind {
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.peek() {
                None | Some('\n') => return LexemeKind::Unclosed(quote, text.into()),
                Some('\\') => {
                    text.push('\\');
                    self.cursor.bump();
                    // The character after a backslash does not end the text.
                    if let Some(escaped) = self.cursor.peek().filter(|c| *c != '\n') {
                        text.push(escaped);
                        self.cursor.bump();
                    }
                }
                Some(c) => {
                    self.cursor.bump();
                    if c == quote {
                        break;
                    }
                    text.push(c);
                }
            }
        }
        match quote {
            '"' => LexemeKind::Text(text.into()),
            _ => LexemeKind::Char(text.into()),
        }
    }

    fn punctuation(&mut self, first: char) -> Option<&'static str> {
        if first == '#' {
            return ["##", "#"].into_iter().find(|punct| self.cursor.take(punct));
        }
        let mut candidates = PUNCTUATION.iter().copied().filter(|punct| begins(punct, first));
        candidates.find(|punct| self.cursor.take(punct))
    }

    /// `/\` at the end of a line is a division and a line continuation to
    /// every C preprocessor, and a silent surprise to who meant "and".
    fn warn_of_split_operator(&mut self, start: usize, punct: &str) {
        if punct == "/" && self.cursor.at_splice() {
            let span = self.span_from(start);
            let message = "'/\\' at the end of a line is read as '/' and a line continuation";
            self.diagnostics
                .push(Diagnostic::warning(span, message).help("write '&&' for the operator"));
        }
    }

    /// Takes all characters up to the next one that can start a lexeme.
    fn strange(&mut self, start: usize) -> LexemeKind {
        self.cursor.bump();
        self.cursor.take_while(|c| {
            !c.is_ascii_alphanumeric()
                && !matches!(c, ' ' | '\n' | '\t' | '\r' | '\x0b' | '\x0c')
                && !matches!(c, '"' | '\'' | '#' | '_' | '\\')
                && !PUNCTUATION.iter().any(|punct| begins(punct, c))
        });
        LexemeKind::Strange(self.spellings.share(&self.cursor.text[start..self.cursor.end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Gap, &str)]) {
        let lexemes = lex(text, 0, &mut Spellings::default(), &mut Vec::new());
        let actual: Vec<_> = lexemes.iter().map(|l| (l.gap, l.spelling())).collect();
        let actual: Vec<_> = actual.iter().map(|(gap, text)| (*gap, &**text)).collect();
        assert_eq!(actual, expected, "lexing {text:?}");
    }

    #[test]
    fn gaps_tell_lines_from_comments() {
        use Gap::{Comment, Line, None, Space};
        check("a/**/b c", &[(Line, "a"), (Space, "b"), (Space, "c")]);
        check("a/*\n*/b", &[(Line, "a"), (Comment, "b")]);
        check("a/*\n*/\nb", &[(Line, "a"), (Line, "b")]);
        check("a // b\nc", &[(Line, "a"), (Line, "c")]);
        check("a+\\\nb \\ \r\n c", &[(Line, "a"), (None, "+"), (None, "b"), (Space, "c")]);
    }

    #[test]
    fn continuations_are_invisible_inside_lexemes() {
        check(
            "ab\\\ncd /\\\n* no *\\\n/ \"x\\\ny\"",
            &[(Gap::Line, "abcd"), (Gap::Space, "\"xy\"")],
        );
    }

    #[test]
    fn numbers_end_before_dots() {
        use Gap::{Line, None};
        check("1..N", &[(Line, "1"), (None, ".."), (None, "N")]);
        check("12ab", &[(Line, "12ab")]);
    }

    #[test]
    fn quotes_end_with_the_line() {
        check(r#""a\"b" 'x"#, &[(Gap::Line, r#""a\"b""#), (Gap::Space, "'x")]);
        check("\"a\nb", &[(Gap::Line, "\"a"), (Gap::Line, "b")]);
        check("'\\", &[(Gap::Line, "'\\")]);
    }

    #[test]
    fn strange_characters_come_in_runs() {
        check(
            "a“”`b\\",
            &[(Gap::Line, "a"), (Gap::None, "“”`"), (Gap::None, "b"), (Gap::None, "\\")],
        );
        check("\u{feff}x", &[(Gap::Line, "x")]);
    }

    #[test]
    fn a_span_excludes_the_continuation_after_it() {
        let lexemes = lex("ab\\\n c", 3, &mut Spellings::default(), &mut Vec::new());
        assert_eq!(lexemes[0].span, Span { file: 3, start: 0, end: 2 });
    }
}
