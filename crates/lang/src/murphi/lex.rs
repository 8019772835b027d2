//! Lexing: the text of a model to tokens.
//!
//! Invariant: the last token is `End`, and there is one only. Lexing goes on
//! after an error, so that the parser sees all of the text.

use super::token::{KEYWORDS, PUNCTUATION, SYMBOLS, Token, TokenKind};
use crate::diagnostic::Diagnostic;
use ir::source::Span;
use std::collections::HashSet;
use std::num::ParseIntError;
use std::rc::Rc;

/// The largest number a model may hold: that of 64 bits without a sign, as in Rumur.
pub const MAX_NUMBER: i128 = u64::MAX as i128;

/// Lexes the text of file number `file`.
pub fn lex(text: &str, file: u32, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, file, spellings: HashSet::new(), diagnostics };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_gap();
        let start = lexer.at;
        let kind = lexer.token();
        let done = kind == Some(TokenKind::End);
        if let Some(kind) = kind {
            tokens.push(Token { kind, span: lexer.span_from(start) });
        }
        if done {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    file: u32,
    /// Equal names share one allocation.
    spellings: HashSet<Rc<str>>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn span_from(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// The longest run of characters that `accept` accepts.
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(span, message);
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        self.diagnostics.push(diagnostic);
    }

    /// Skips white space and comments.
    fn skip_gap(&mut self) {
        loop {
            self.take_while(|c| c.is_ascii_whitespace() || c == '\x0b');
            let start = self.at;
            if self.at == 0 && self.take("\u{feff}") {
                continue;
            }
            if self.take("--") {
                self.take_while(|c| c != '\n');
            } else if self.take("/*") {
                let opening = self.span_from(start);
                match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => {
                        self.at = self.text.len();
                        self.error(opening, "the comment is not closed", "end it with '*/'");
                    }
                }
            } else {
                return;
            }
        }
    }

    /// The next token; `None` for text that was reported and is left out.
    fn token(&mut self) -> Option<TokenKind> {
        let Some(first) = self.peek() else { return Some(TokenKind::End) };
        match first {
            'a'..='z' | 'A'..='Z' => Some(self.word()),
            '0'..='9' => Some(self.number()),
            '.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                Some(self.real(self.at))
            }
            '"' | '“' => Some(self.string(first)),
            _ => self.punctuation(first),
        }
    }

    fn word(&mut self) -> TokenKind {
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let lower = word.to_ascii_lowercase();
        if let Ok(place) = KEYWORDS.binary_search(&lower.as_str()) {
            return TokenKind::Keyword(KEYWORDS[place]);
        }
        TokenKind::Name(self.share(word))
    }

    fn share(&mut self, word: &str) -> Rc<str> {
        if let Some(known) = self.spellings.get(word) {
            return known.clone();
        }
        let word: Rc<str> = word.into();
        self.spellings.insert(word.clone());
        word
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        let bytes = self.rest().as_bytes();
        let hexadecimal = bytes.len() > 2
            && bytes[0] == b'0'
            && matches!(bytes[1], b'x' | b'X')
            && bytes[2].is_ascii_hexdigit();
        let value = if hexadecimal {
            self.at += 2;
            i128::from_str_radix(self.take_while(|c| c.is_ascii_hexdigit()), 16)
        } else {
            self.take_while(|c| c.is_ascii_digit()).parse()
        };
        let rest = self.rest().as_bytes();
        if rest.len() > 1 && rest[0] == b'.' && rest[1].is_ascii_digit() {
            return self.real(start);
        }
        let digits = &self.text[start..self.at];
        let octal = !hexadecimal && digits.len() > 1 && digits.starts_with('0');
        let value = if octal { self.octal(start) } else { value };
        let value = value.unwrap_or(i128::MAX);
        if value > MAX_NUMBER {
            let span = self.span_from(start);
            self.error(span, format!("the number is larger than {MAX_NUMBER}"), "");
            return TokenKind::Number(MAX_NUMBER);
        }
        TokenKind::Number(value)
    }

    /// A 0 in front makes a number octal, as in Rumur and in C.
    fn octal(&mut self, start: usize) -> Result<i128, ParseIntError> {
        let (span, digits) = (self.span_from(start), &self.text[start..self.at]);
        let value = i128::from_str_radix(digits, 8);
        match &value {
            Ok(value) if *value > 7 => {
                let help = format!("write {} if that is meant", digits.trim_start_matches('0'));
                let message = format!("a 0 in front makes it octal: {value}");
                self.diagnostics.push(Diagnostic::warning(span, message).help(help));
            }
            Err(_) if digits.contains(['8', '9']) => {
                let help = "leave out the 0 in front, which makes it octal";
                self.error(span, "an octal number has no digits 8 and 9", help);
                return Ok(0);
            }
            _ => {}
        }
        value
    }

    fn real(&mut self, start: usize) -> TokenKind {
        self.at += 1;
        self.take_while(|c| c.is_ascii_digit());
        let span = self.span_from(start);
        let help = "use whole numbers, for example in a smaller unit";
        self.error(span, "real numbers are not supported", help);
        TokenKind::Number(0)
    }

    /// A string in plain or in curly quotes. As in Rumur it may go over lines.
    fn string(&mut self, quote: char) -> TokenKind {
        let start = self.at;
        self.at += quote.len_utf8();
        let opening = self.span_from(start);
        let content = self.at;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                '"' | '”' if c == '"' || quote == '“' => {
                    let text = &self.text[content..self.at - c.len_utf8()];
                    return TokenKind::Text(text.into());
                }
                _ => {}
            }
        }
        // What follows on the next lines was hardly meant to be in it.
        let line = self.text[content..].lines().next().unwrap_or("");
        self.at = content + line.len();
        self.error(opening, "the string is not closed", "end it with '\"'");
        TokenKind::Text(line.into())
    }

    fn punctuation(&mut self, first: char) -> Option<TokenKind> {
        if let Some(punct) = PUNCTUATION.iter().copied().find(|p| self.rest().starts_with(p)) {
            self.at += punct.len();
            return Some(TokenKind::Punct(punct));
        }
        let start = self.at;
        self.at += first.len_utf8();
        if let Some((_, kind)) = SYMBOLS.iter().find(|(symbol, _)| *symbol == first) {
            return Some(kind.clone());
        }
        if first == '_' {
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            let span = self.span_from(start);
            self.error(span, "a name cannot begin with '_'", "let it begin with a letter");
            return Some(TokenKind::Name(self.text[start..self.at].into()));
        }
        // One message for a run of them.
        self.take_while(|c| !c.is_ascii() && !SYMBOLS.iter().any(|(s, _)| *s == c) && c != '“');
        let span = self.span_from(start);
        let text = &self.text[start..self.at];
        self.error(span, format!("Murphi has no use for '{}'", text.escape_debug()), "");
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (Vec<String>, Vec<String>) {
        let mut diagnostics = Vec::new();
        let tokens = lex(text, 0, &mut diagnostics);
        let shown = |token: &Token| match &token.kind {
            TokenKind::Name(name) => format!("name {name}"),
            TokenKind::Keyword(word) => word.to_string(),
            TokenKind::Number(value) => value.to_string(),
            TokenKind::Text(text) => format!("\"{text}\""),
            TokenKind::Punct(punct) => punct.to_string(),
            TokenKind::End => "end of file".into(),
        };
        let said = diagnostics.iter().map(|d| format!("{}: {}", d.span.start, d.message));
        (tokens.iter().map(shown).collect(), said.collect())
    }

    fn check(text: &str, expected: &[&str]) {
        let (mut tokens, said) = words(text);
        assert_eq!(tokens.pop().as_deref(), Some("end of file"));
        assert_eq!(tokens, expected, "lexing {text:?}");
        assert!(said.is_empty(), "{text:?}: {said:?}");
    }

    fn check_wrong(text: &str, tokens: &[&str], expected: &[&str]) {
        let (mut actual, said) = words(text);
        actual.pop();
        assert_eq!((actual, said), (owned(tokens), owned(expected)), "{text:?}");
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| w.to_string()).collect()
    }

    #[test]
    fn keywords_are_sorted_and_of_any_case() {
        assert!(KEYWORDS.is_sorted());
        check("RuleSet ENDIF Rules", &["ruleset", "endif", "name Rules"]);
        check("True FALSE choose", &["true", "false", "name choose"]);
    }

    #[test]
    fn numbers_end_before_ranges() {
        check("0..3", &["0", "..", "3"]);
        check("0x1F..N", &["31", "..", "name N"]);
        check("18446744073709551615", &["18446744073709551615"]);
        check("12ab", &["12", "name ab"]);
    }

    #[test]
    fn comments_and_operators() {
        check("a -- b\nc /* d\n*/ e", &["name a", "name c", "name e"]);
        check("a==>b==c=d", &["name a", "==>", "name b", "==", "name c", "=", "name d"]);
        check("-1 - - 1", &["-", "1", "-", "-", "1"]);
        check("∀x≤y∧¬z", &["forall", "name x", "<=", "name y", "&&", "!", "name z"]);
    }

    #[test]
    fn strings() {
        check(r#""a \" b" “c” "d”e""#, &[r#""a \" b""#, "\"c\"", "\"d”e\""]);
        check("\"a\nb\"", &["\"a\nb\""]);
    }

    #[test]
    fn what_is_wrong_is_named_and_the_rest_is_read() {
        check_wrong("a /* b", &["name a"], &["2: the comment is not closed"]);
        check_wrong("\"ab\nc", &["\"ab\"", "name c"], &["0: the string is not closed"]);
        check_wrong("1.5 x", &["0", "name x"], &["0: real numbers are not supported"]);
        check_wrong("_a b", &["name _a", "name b"], &["0: a name cannot begin with '_'"]);
        check_wrong(
            "a äö$ b",
            &["name a", "name b"],
            &["2: Murphi has no use for 'äö'", "6: Murphi has no use for '$'"],
        );
        let large = "99999999999999999999999999999999999999999999";
        check_wrong(
            large,
            &["18446744073709551615"],
            &["0: the number is larger than 18446744073709551615"],
        );
    }
}
