//! Tokens of Promela, as the preprocessor hands them to the parser.

use ir::source::Span;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// A name or a keyword: the parser tells them apart.
    Name(Rc<str>),
    /// A number or a character constant.
    Number(i32),
    /// A string without its quotes, escapes still in it (`\n` is two characters).
    Text(Rc<str>),
    /// An operator or a bracket, one of [`PUNCTUATION`].
    Punct(&'static str),
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    /// Where the token is written; for a token from a macro, where the macro is used.
    pub span: Span,
    /// A line break stands between the previous token and this one.
    pub after_newline: bool,
}

/// All operators and brackets, longest first, so that the first match is the right one.
/// `[]`, `<>`, `->`, `<->` and the like are split or joined by the parser where it matters.
pub const PUNCTUATION: &[&str] = &[
    "->", "::", "..", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&", "||",
    "/\\", "\\/", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "<", ">", "=", "(", ")",
    "[", "]", "{", "}", ",", ";", ":", ".", "@", "$",
];
