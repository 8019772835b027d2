//! Tokens of Murphi.

use ir::source::Span;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// An identifier as it is written: names are told apart by case.
    Name(Rc<str>),
    /// A reserved word in lower case: keywords are not told apart by case.
    Keyword(&'static str),
    Number(i128),
    /// A string without its quotes, escapes still in it (`\n` is two characters).
    Text(Rc<str>),
    /// An operator or a bracket, one of [`PUNCTUATION`].
    Punct(&'static str),
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// All operators and brackets, longest first, so that the first match is the right one.
pub const PUNCTUATION: &[&str] = &[
    "==>", ":=", "..", ">=", ">>", "->", "<=", "<<", "!=", "==", "&&", "||", "^", "~", "&", "!",
    "|", ":", "=", ">", "<", "-", "%", "+", ";", "{", "}", ",", "[", "]", ".", "(", ")", "/", "*",
    "?",
];

/// Rumur's mathematical spellings of operators and keywords.
pub const SYMBOLS: &[(char, TokenKind)] = &[
    ('∀', TokenKind::Keyword("forall")),
    ('∃', TokenKind::Keyword("exists")),
    ('≔', TokenKind::Punct(":=")),
    ('≥', TokenKind::Punct(">=")),
    ('→', TokenKind::Punct("->")),
    ('≤', TokenKind::Punct("<=")),
    ('≠', TokenKind::Punct("!=")),
    ('⇒', TokenKind::Punct("==>")),
    ('¬', TokenKind::Punct("!")),
    ('∧', TokenKind::Punct("&&")),
    ('∨', TokenKind::Punct("||")),
    ('÷', TokenKind::Punct("/")),
    ('∕', TokenKind::Punct("/")),
    ('−', TokenKind::Punct("-")),
    ('×', TokenKind::Punct("*")),
];

/// Words that cannot be names. What CMurphi reserves on top of these, as
/// `choose`, `multiset` and `undefined`, is a name to Rumur: such words mean
/// something only where a name cannot stand, or where no such name is declared.
pub const KEYWORDS: &[&str] = &[
    "alias",
    "array",
    "assert",
    "assume",
    "begin",
    "boolean",
    "by",
    "case",
    "clear",
    "const",
    "cover",
    "do",
    "else",
    "elsif",
    "end",
    "endalias",
    "endexists",
    "endfor",
    "endforall",
    "endfunction",
    "endif",
    "endprocedure",
    "endrecord",
    "endrule",
    "endruleset",
    "endstartstate",
    "endswitch",
    "endwhile",
    "enum",
    "error",
    "exists",
    "false",
    "for",
    "forall",
    "function",
    "if",
    "invariant",
    "isundefined",
    "liveness",
    "of",
    "procedure",
    "put",
    "real",
    "record",
    "return",
    "rule",
    "ruleset",
    "scalarset",
    "startstate",
    "switch",
    "then",
    "to",
    "true",
    "type",
    "undefine",
    "union",
    "var",
    "while",
];
