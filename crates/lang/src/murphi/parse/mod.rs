//! Recursive-descent parser for Murphi.
//!
//! Errors do not stop the parser: it goes on with the next statement, rule or
//! declaration. What was declared by name stays declared even if its type
//! could not be read, so that one mistake is reported once.

mod decl;
mod expr;
mod rule;
mod stmt;

use super::ast::*;
use super::token::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use ir::source::Span;

/// Deeper nesting is refused, so that no input overflows the stack.
const MAX_NESTING: usize = 250;
/// More errors than this help nobody.
const MAX_ERRORS: usize = 50;

/// An error has been reported; the caller looks for a place to go on.
struct Failed;
type Parse<T> = Result<T, Failed>;

/// Words that begin an item of the model or a rule.
const ITEM_WORDS: &[&str] = &[
    "const",
    "type",
    "var",
    "function",
    "procedure",
    "rule",
    "ruleset",
    "startstate",
    "invariant",
    "liveness",
];

/// `tokens` ends with `End`.
pub fn parse(tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut parser = Parser { tokens, pos: 0, nesting: 0, lost_names: false, diagnostics };
    let items = parser.items();
    Program { items, lost_names: parser.lost_names }
}

struct Parser<'d> {
    tokens: Vec<Token>,
    pos: usize,
    nesting: usize,
    lost_names: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.pos].kind
    }

    fn peek_at(&self, offset: usize) -> &TokenKind {
        &self.tokens[(self.pos + offset).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.pos].span
    }

    fn prev_span(&self) -> Span {
        self.tokens[self.pos.saturating_sub(1)].span
    }

    /// Steps over a token; the end is never stepped over.
    fn bump(&mut self) {
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
    }

    fn at_end(&self) -> bool {
        *self.peek() == TokenKind::End
    }

    fn at(&self, punct: &str) -> bool {
        matches!(self.peek(), TokenKind::Punct(p) if *p == punct)
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Keyword(k) if *k == word)
    }

    fn at_words(&self, words: &[&str]) -> bool {
        matches!(self.peek(), TokenKind::Keyword(k) if words.contains(k))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// A word that is reserved in CMurphi and a name in Rumur, before `next`.
    fn at_soft(&self, word: &str, next: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(n) if n.eq_ignore_ascii_case(word))
            && matches!(self.peek_at(1), TokenKind::Punct(p) if *p == next)
    }

    fn expect(&mut self, punct: &str) -> Parse<()> {
        if self.eat(punct) { Ok(()) } else { self.unexpected(&format!("'{punct}'")) }
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected(&format!("'{word}'")) }
    }

    fn name(&mut self, what: &str) -> Parse<Spanned<Name>> {
        if let TokenKind::Name(name) = self.peek() {
            let name = Spanned { node: name.clone(), span: self.span() };
            self.bump();
            return Ok(name);
        }
        if let TokenKind::Keyword(word) = self.peek() {
            let message = format!("expected {what}, found the keyword '{word}'");
            return self.fail(Diagnostic::error(self.span(), message));
        }
        self.unexpected(what)
    }

    fn text(&mut self) -> Option<Name> {
        let TokenKind::Text(text) = self.peek() else { return None };
        let text = text.clone();
        self.bump();
        Some(text)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Parse<T> {
        let message = format!("expected {wanted}, found {}", self.found());
        self.fail(Diagnostic::error(self.span(), message))
    }

    /// The next token, as messages name it.
    fn found(&self) -> String {
        match self.peek() {
            TokenKind::Name(name) => format!("'{name}'"),
            TokenKind::Keyword(word) => format!("'{word}'"),
            TokenKind::Number(value) => format!("'{value}'"),
            TokenKind::Text(_) => "a string".into(),
            TokenKind::Punct(punct) => format!("'{punct}'"),
            TokenKind::End => "the end of the file".into(),
        }
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.error(diagnostic);
        Err(Failed)
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        let errors = || self.diagnostics.iter().filter(|d| d.is_error());
        if errors().count() < MAX_ERRORS && !errors().any(|d| *d == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Runs `parse` one level deeper, or refuses.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            return self.fail(Diagnostic::error(self.span(), "nested too deeply"));
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// The word that closes a block: `end` or one of `words`. The word of
    /// another kind of block is reported and taken for it.
    fn close(&mut self, words: &[&str]) -> Parse<()> {
        if self.eat_word("end") || words.iter().any(|word| self.eat_word(word)) {
            return Ok(());
        }
        // `endchoose` is a name to Rumur.
        if let TokenKind::Name(name) = self.peek()
            && words.iter().any(|word| name.eq_ignore_ascii_case(word))
        {
            self.bump();
            return Ok(());
        }
        let closes = matches!(self.peek(), TokenKind::Keyword(k) if k.starts_with("end"));
        let result = self.unexpected(&format!("'end' or '{}'", words[0]));
        if closes {
            self.bump();
            return Ok(());
        }
        result
    }

    fn skip_semicolons(&mut self) {
        while self.eat(";") {}
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        self.skip_semicolons();
        while !self.at_end() {
            let start = self.pos;
            if self.item(&mut items).is_err() {
                self.lost_names = true;
                self.skip_to_item(start);
            }
            self.skip_semicolons();
        }
        items
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        if self.at_words(&["const", "type", "var"]) {
            let mut decls = Vec::new();
            self.section(&mut decls);
            items.extend(decls.into_iter().map(Item::Decl));
        } else if self.at_words(&["function", "procedure"]) {
            items.push(Item::Function(self.function()?));
        } else if self.at_rule() {
            items.push(Item::Rule(self.rule()?));
        } else if matches!(self.peek(), TokenKind::Keyword(k) if k.starts_with("end")) {
            let message = format!("{} closes nothing", self.found());
            self.error(Diagnostic::error(self.span(), message));
            self.bump();
        } else {
            return self.unexpected("a declaration, a function or a rule");
        }
        Ok(())
    }

    /// Skips to a word that begins an item.
    fn skip_to_item(&mut self, start: usize) {
        self.nesting = 0;
        if self.pos == start {
            self.bump();
        }
        while !self.at_end() && !self.at_words(ITEM_WORDS) {
            self.bump();
        }
    }
}

#[cfg(test)]
mod tests;
