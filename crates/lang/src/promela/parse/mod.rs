//! Recursive-descent parser for Promela.
//!
//! Promela cannot be parsed without knowing some names: those of `mtype`
//! constants, types, process types and inlines, so the parser keeps them.
//! An inline call is replaced by its body, token by token, as Spin does it.
//! Errors do not stop the parser: it skips to where the next statement or unit
//! may begin and goes on.

mod cursor;
mod decl;
mod expr;
mod inline;
mod stmt;

use super::ast::*;
use super::token::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use cursor::Cursor;
use inline::{ActiveInline, Inline};
use ir::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// Deeper nesting is refused, so that no input overflows the stack.
const MAX_NESTING: usize = 500;
/// More errors than this help nobody.
const MAX_ERRORS: usize = 50;

/// An error has been reported; the caller looks for a place to go on.
pub(super) struct Failed;
pub(super) type Parse<T> = Result<T, Failed>;

pub(super) struct Parser<'d> {
    cursor: Cursor,
    /// Open parentheses: a line break inside them separates nothing.
    parens: usize,
    /// Inside a body, where a line break may stand for a semicolon.
    in_body: bool,
    /// The implied semicolon in front of this token has been taken.
    semicolon_taken: Option<usize>,
    nesting: usize,
    /// Open `do` and `for` loops.
    loops: usize,
    in_ltl: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
    mtypes: HashMap<Name, i32>,
    /// Number of names per kind of `mtype`.
    mtype_counts: HashMap<Option<Name>, i32>,
    types: HashMap<Name, ()>,
    procs: HashMap<Name, ()>,
    inlines: HashMap<Name, Rc<Inline>>,
    /// Formulas to be read at the end.
    formulas: Vec<Vec<Token>>,
    active_inlines: Vec<ActiveInline>,
    expanded: usize,
}

pub fn parse(tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        parens: 0,
        in_body: false,
        semicolon_taken: None,
        nesting: 0,
        loops: 0,
        in_ltl: false,
        diagnostics,
        mtypes: HashMap::new(),
        mtype_counts: HashMap::new(),
        types: HashMap::new(),
        procs: HashMap::new(),
        inlines: HashMap::new(),
        formulas: Vec::new(),
        active_inlines: Vec::new(),
        expanded: 0,
    };
    parser.program()
}

const SEMICOLON: TokenKind = TokenKind::Punct(";");

impl Parser<'_> {
    /// The next token; a semicolon where a line break stands for one.
    fn peek(&self) -> &TokenKind {
        if self.at_implied_semicolon() { &SEMICOLON } else { &self.cursor.token().kind }
    }

    fn peek_at(&self, offset: usize) -> &TokenKind {
        self.cursor.kind_at(offset)
    }

    /// Spin takes a line break for a semicolon after tokens that can end a statement.
    fn at_implied_semicolon(&self) -> bool {
        let token = self.cursor.token();
        let Some(previous) = self.cursor.previous() else { return false };
        if !self.in_body
            || self.parens > 0
            || !token.after_newline
            || self.semicolon_taken == Some(self.cursor.pos())
        {
            return false;
        }
        let unless = matches!(&token.kind, TokenKind::Name(n) if n.starts_with('u'));
        match &previous.kind {
            TokenKind::Number(_) => true,
            TokenKind::Punct("}") => !unless,
            TokenKind::Punct(p) => matches!(*p, ")" | "]" | "++" | "--"),
            // Spin's lexer reads 'timeout' as '(timeout)', but not in an inline.
            TokenKind::Name(n) if &**n == "timeout" => !self.in_inline(),
            TokenKind::Name(n) => {
                !is_keyword(n)
                    || matches!(&**n, "od" | "fi" | "else" | "break" | "skip" | "true" | "false")
            }
            _ => false,
        }
    }

    fn span(&self) -> Span {
        self.cursor.token().span
    }

    fn prev_span(&self) -> Span {
        self.cursor.previous().unwrap_or(self.cursor.token()).span
    }

    fn bump(&mut self) -> TokenKind {
        if self.at_implied_semicolon() {
            self.semicolon_taken = Some(self.cursor.pos());
            return SEMICOLON;
        }
        let kind = self.cursor.token().kind.clone();
        match kind {
            TokenKind::Punct("(") => self.parens += 1,
            TokenKind::Punct(")") => self.parens = self.parens.saturating_sub(1),
            _ => {}
        }
        self.cursor.advance();
        kind
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

    fn at_name(&self, name: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(n) if &**n == name)
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let found = self.at_name(name);
        if found {
            self.bump();
        }
        found
    }

    fn at_end(&self) -> bool {
        matches!(self.cursor.token().kind, TokenKind::End)
    }

    fn expect(&mut self, punct: &'static str) -> Parse<()> {
        if self.eat(punct) {
            return Ok(());
        }
        self.unexpected(&format!("'{punct}'"))
    }

    /// A name that is no keyword.
    fn name(&mut self, what: &str) -> Parse<Spanned<Name>> {
        match self.peek() {
            TokenKind::Name(n) if !is_keyword(n) => {
                let (node, span) = (n.clone(), self.span());
                self.bump();
                Ok(Spanned { node, span })
            }
            _ => self.unexpected(what),
        }
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Parse<T> {
        let found = match self.peek() {
            TokenKind::Name(n) => format!("'{n}'"),
            TokenKind::Number(n) => format!("'{n}'"),
            TokenKind::Text(_) => "a string".into(),
            TokenKind::Punct(_) if self.at_implied_semicolon() => "the end of the line".into(),
            TokenKind::Punct(p) => format!("'{p}'"),
            TokenKind::End => "the end of the file".into(),
        };
        let help = habit(wanted, &found);
        let error = Diagnostic::error(self.span(), format!("expected {wanted}, found {found}"));
        self.error(help.into_iter().fold(error, Diagnostic::help));
        Err(Failed)
    }

    fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Parse<T> {
        self.error(Diagnostic::error(span, message));
        Err(Failed)
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        let same_place = |d: &&Diagnostic| d.is_error() && d.span == diagnostic.span;
        if self.diagnostics.iter().filter(|d| d.is_error()).count() < MAX_ERRORS
            && !self.diagnostics.iter().any(|d| same_place(&d) && d.message == diagnostic.message)
        {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Runs `parse` one level deeper, or refuses.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            return self.fail(self.span(), "nested too deeply");
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn program(&mut self) -> Program {
        let mut program = Program::default();
        while !self.at_end() {
            let start = self.cursor.pos();
            match self.unit(&mut program.units) {
                Ok(()) => {}
                Err(Failed) => self.skip_to_unit(start),
            }
        }
        // Formulas may name what is declared behind them.
        for formula in std::mem::take(&mut self.formulas) {
            self.cursor.paste(formula);
            if let Ok(unit) = self.ltl() {
                program.units.push(unit);
            }
            while !self.at_end() {
                self.cursor.advance();
            }
        }
        program
    }

    /// Keeps a formula for later: all up to its closing brace.
    fn defer_ltl(&mut self) -> Parse<()> {
        let start = self.cursor.pos();
        let mut depth = 0;
        while !self.at_end() {
            match self.bump() {
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") if depth <= 1 => {
                    self.parens = 0;
                    self.formulas.push(self.cursor.since(start).to_vec());
                    return Ok(());
                }
                TokenKind::Punct("}") => depth -= 1,
                _ => {}
            }
        }
        self.unexpected("'}'")
    }

    /// Skips to the next word that starts a unit at the start of a line.
    fn skip_to_unit(&mut self, start: usize) {
        (self.in_body, self.parens, self.nesting, self.loops) = (false, 0, 0, 0);
        (self.in_ltl, self.semicolon_taken) = (false, None);
        self.active_inlines.clear();
        if self.cursor.pos() == start {
            self.bump();
        }
        while !self.at_end() {
            let token = self.cursor.token();
            if let TokenKind::Name(n) = &token.kind
                && token.after_newline
                && matches!(
                    &**n,
                    "proctype"
                        | "D_proctype"
                        | "active"
                        | "init"
                        | "never"
                        | "ltl"
                        | "inline"
                        | "typedef"
                        | "trace"
                        | "notrace"
                )
            {
                return;
            }
            self.cursor.advance();
        }
    }

    fn unit(&mut self, units: &mut Vec<Unit>) -> Parse<()> {
        if self.eat(";") || self.eat("->") {
            return Ok(());
        }
        let span = self.span();
        let word = match self.peek() {
            TokenKind::Name(n) => n.clone(),
            _ => return self.unexpected("a declaration or a process type"),
        };
        let unit = match &*word {
            "active" | "proctype" | "D_proctype" => Unit::Proctype(self.proctype()?),
            "init" => {
                self.bump();
                let priority = self.priority()?;
                Unit::Init { priority, body: self.body()?, span }
            }
            "never" => {
                self.bump();
                let name = if self.at("{") { None } else { Some(self.name("a name")?.node) };
                Unit::Never(Claim { name, negated: false, span, body: self.body()? })
            }
            "trace" | "notrace" => {
                self.bump();
                let negated = &*word == "notrace";
                Unit::Trace(Claim { name: None, negated, span, body: self.body()? })
            }
            "ltl" => return self.defer_ltl(),
            "inline" => return self.inline_definition(),
            "typedef" => self.typedef()?,
            "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => {
                // It is complete, so what follows can be read all the same.
                let _ = self.embedded_c::<()>(&word);
                return Ok(());
            }
            _ => self.declaration_unit()?,
        };
        units.push(unit);
        Ok(())
    }

    fn embedded_c<T>(&mut self, word: &str) -> Parse<T> {
        let span = self.span();
        self.error(
            Diagnostic::error(span, format!("embedded C ('{word}') is not supported"))
                .help("express it in Promela, or check this model with Spin"),
        );
        self.bump();
        // The preprocessor leaves no more of it than strings or a pair of braces.
        while let TokenKind::Text(_) = self.peek() {
            self.bump();
        }
        if self.eat("{") {
            self.eat("}");
        }
        Err(Failed)
    }

    fn proctype(&mut self) -> Parse<Proctype> {
        let active = if self.eat_name("active") { Some(self.active_count()?) } else { None };
        let deterministic = self.at_name("D_proctype");
        if !deterministic && !self.at_name("proctype") {
            return self.unexpected("'proctype'");
        }
        self.bump();
        let name = self.name("the name of the process type")?;
        self.procs.insert(name.node.clone(), ());
        self.expect("(")?;
        let params = self.parameters()?;
        self.expect(")")?;
        let priority = self.priority()?;
        let provided = if self.eat_name("provided") {
            self.expect("(")?;
            let clause = self.expr()?;
            self.expect(")")?;
            Some(clause)
        } else {
            None
        };
        let body = self.body()?;
        Ok(Proctype { name, active, deterministic, params, priority, provided, body })
    }

    fn active_count(&mut self) -> Parse<ActiveCount> {
        if !self.eat("[") {
            return Ok(ActiveCount::Number(1));
        }
        let count = match self.peek() {
            TokenKind::Name(n) if !self.mtypes.contains_key(n) => {
                ActiveCount::Variable(self.name("a number")?)
            }
            _ => ActiveCount::Number(self.const_expr()?.node),
        };
        self.expect("]")?;
        Ok(count)
    }

    fn priority(&mut self) -> Parse<Option<i32>> {
        if !self.eat_name("priority") {
            return Ok(None);
        }
        Ok(Some(self.const_expr()?.node))
    }

    /// A body in braces: the part of a model where statements are.
    fn body(&mut self) -> Parse<Body> {
        self.expect("{")?;
        self.in_body = true;
        let body = self.block_rest();
        self.in_body = false;
        self.loops = 0;
        body
    }

    fn ltl(&mut self) -> Parse<Unit> {
        self.bump();
        let name = if self.at("{") { None } else { Some(self.name("a name")?.node) };
        self.expect("{")?;
        self.in_ltl = true;
        let formula = self.expr();
        self.in_ltl = false;
        let formula = formula?;
        self.eat(";");
        self.expect("}")?;
        Ok(Unit::Ltl { name, formula })
    }
}

/// Words that cannot be names.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "active"
            | "assert"
            | "atomic"
            | "bit"
            | "bool"
            | "break"
            | "byte"
            | "c_code"
            | "c_decl"
            | "c_expr"
            | "c_state"
            | "c_track"
            | "chan"
            | "D_proctype"
            | "d_step"
            | "do"
            | "else"
            | "empty"
            | "enabled"
            | "eval"
            | "false"
            | "fi"
            | "for"
            | "full"
            | "get_priority"
            | "goto"
            | "hidden"
            | "if"
            | "init"
            | "inline"
            | "int"
            | "len"
            | "local"
            | "ltl"
            | "mtype"
            | "nempty"
            | "never"
            | "nfull"
            | "notrace"
            | "np_"
            | "od"
            | "of"
            | "pc_value"
            | "pid"
            | "printf"
            | "printm"
            | "priority"
            | "proctype"
            | "provided"
            | "return"
            | "run"
            | "select"
            | "set_priority"
            | "short"
            | "show"
            | "skip"
            | "timeout"
            | "trace"
            | "true"
            | "typedef"
            | "unless"
            | "unsigned"
            | "xr"
            | "xs"
    )
}
/// What to write instead of what C has at such a place.
fn habit(wanted: &str, found: &str) -> Option<&'static str> {
    Some(match (wanted, found) {
        ("':'", "'='") => "write 'for (i : 0 .. 9) { ... }'",
        ("'::' or 'fi'", "'('") => "write 'if :: condition -> ... :: else -> ... fi'",
        ("an expression", "'='") => "there is no '+=': write 'x = x + 1'; to compare is '=='",
        ("a declaration or a process type", "'['") => {
            "arrays have one dimension: for two, make an array of a typedef that has one"
        }
        ("'{'", "'bit'" | "'bool'" | "'byte'" | "'short'" | "'int'" | "'mtype'" | "'chan'") => {
            "put the types of a message in braces: 'chan c = [1] of { byte }'"
        }
        ("';' or '->'", "'('") => "to start a process write 'run P()'",
        ("';' or '->'" | "')'", "'@'") => {
            "a process type must be declared before one of its labels is referred to"
        }
        _ => return None,
    })
}
