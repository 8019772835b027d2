//! The tokens around the place where the parser is.
//!
//! A gap buffer: what is behind the parser and, in reverse, what is ahead. So
//! the body of an inline is pasted in front of the parser without moving the
//! rest of the model.

use crate::promela::token::{Token, TokenKind};

pub(super) struct Cursor {
    behind: Vec<Token>,
    /// The next token last; never empty, as `End` stays.
    ahead: Vec<Token>,
}

impl Cursor {
    /// `tokens` ends with `End`.
    pub fn new(mut tokens: Vec<Token>) -> Cursor {
        tokens.reverse();
        Cursor { behind: Vec::new(), ahead: tokens }
    }

    pub fn token(&self) -> &Token {
        self.ahead.last().expect("the end stays ahead")
    }

    /// The kind of the token `offset` tokens ahead, the end if there are fewer.
    pub fn kind_at(&self, offset: usize) -> &TokenKind {
        let at = self.ahead.len().saturating_sub(1 + offset);
        &self.ahead[at].kind
    }

    pub fn previous(&self) -> Option<&Token> {
        self.behind.last()
    }

    /// Tokens read so far.
    pub fn pos(&self) -> usize {
        self.behind.len()
    }

    /// Tokens still to be read.
    pub fn left(&self) -> usize {
        self.ahead.len()
    }

    /// Steps over a token; the end is never stepped over.
    pub fn advance(&mut self) {
        if self.ahead.len() > 1
            && let Some(token) = self.ahead.pop()
        {
            self.behind.push(token);
        }
    }

    /// Goes back to where `pos` was.
    pub fn back_to(&mut self, pos: usize) {
        while self.behind.len() > pos {
            self.ahead.extend(self.behind.pop());
        }
    }

    /// The tokens read since `pos`.
    pub fn since(&self, pos: usize) -> &[Token] {
        &self.behind[pos..]
    }

    /// Puts tokens in front of the parser.
    pub fn paste(&mut self, tokens: Vec<Token>) {
        self.ahead.extend(tokens.into_iter().rev());
    }
}
