//! Statements.

use super::{ITEM_WORDS, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::murphi::ast::*;
use crate::murphi::token::TokenKind;
use ir::source::Span;

/// Words that begin a statement and nothing else.
const STMT_WORDS: &[&str] = &["if", "for", "while", "switch", "put", "return", "clear", "undefine"];

impl Parser<'_> {
    /// Statements up to a word that cannot begin one.
    pub(super) fn stmts(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        self.skip_semicolons();
        while self.at_stmt() {
            let (start, nesting) = (self.pos, self.nesting);
            match self.nested(Self::stmt) {
                Ok(stmt) => {
                    stmts.push(stmt);
                    self.separator();
                }
                Err(_) => {
                    self.nesting = nesting;
                    self.skip_to_stmt(start);
                }
            }
            self.skip_semicolons();
        }
        stmts
    }

    fn at_stmt(&self) -> bool {
        match self.peek() {
            TokenKind::End => false,
            TokenKind::Keyword("invariant" | "assert" | "assume" | "cover" | "liveness") => true,
            TokenKind::Keyword("else" | "elsif" | "case") => false,
            TokenKind::Keyword(word) => !word.starts_with("end") && !ITEM_WORDS.contains(word),
            // A name in front of another name is `choose`, after a missing end.
            TokenKind::Name(name) => !name.eq_ignore_ascii_case("endchoose") && !self.at_rule(),
            _ => true,
        }
    }

    /// A semicolon, unless the statement is the last one. Where it is missing
    /// the next statement is read all the same.
    fn separator(&mut self) {
        if self.at(";") || !self.at_stmt() {
            return;
        }
        let place = Span { start: self.prev_span().end, ..self.prev_span() };
        if matches!(self.peek(), TokenKind::Name(_) | TokenKind::Keyword(_)) {
            let message = format!("expected ';' before {}", self.found());
            self.error(Diagnostic::error(place, message));
        } else {
            let _ = self.unexpected::<()>("';'");
            self.skip_to_stmt(self.pos);
        }
    }

    /// Skips what could not be read, to behind a semicolon or to a word that
    /// ends or begins a statement.
    fn skip_to_stmt(&mut self, start: usize) {
        if self.pos == start {
            self.bump();
        }
        while !self.at_end() && !self.at(";") && self.at_stmt() && !self.at_words(STMT_WORDS) {
            self.bump();
        }
    }

    /// What stands before `word` at the start of a block; `None` if it could
    /// not be read. The block is read in either case, so that its end is not
    /// taken for that of another one.
    pub(super) fn head<T>(
        &mut self,
        word: &str,
        read: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Option<T> {
        let nesting = self.nesting;
        let head = read(self).ok();
        self.nesting = nesting;
        if self.eat_word(word) {
            return head;
        }
        if head.is_some() {
            let _ = self.expect_word(word);
        }
        let start = self.pos;
        while !self.at_word(word) && !self.at(";") && self.at_stmt() && !self.at_words(STMT_WORDS) {
            self.bump();
        }
        // If there is no such word, the block may begin right here.
        if !self.eat_word(word) && head.is_some() {
            self.pos = start;
        }
        head
    }

    fn stmt(&mut self) -> Parse<Stmt> {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Keyword(word) => self.keyword_stmt(word)?,
            TokenKind::Name(_) if *self.peek_at(1) == TokenKind::Punct("(") => self.call_stmt()?,
            TokenKind::Name(_) => {
                let target = self.designator()?;
                if self.at("=") || self.at("==") {
                    let message = format!("{} compares", self.found());
                    let diagnostic = Diagnostic::error(self.span(), message);
                    return self.fail(diagnostic.help("write ':=' to assign"));
                }
                self.expect(":=")?;
                StmtKind::Assign { target, value: self.expr()? }
            }
            _ => return self.unexpected("a statement"),
        };
        Ok(Stmt { kind, span: start.to(self.prev_span()) })
    }

    fn keyword_stmt(&mut self, word: &'static str) -> Parse<StmtKind> {
        match word {
            "if" => self.if_stmt(),
            "switch" => self.switch(),
            "for" => {
                self.bump();
                let quantifier = self.head("do", Self::quantifier);
                let body = self.stmts();
                self.close(&["endfor"])?;
                let Some(quantifier) = quantifier else { return Err(super::Failed) };
                Ok(StmtKind::For { quantifier, body })
            }
            "while" => {
                self.bump();
                let condition = self.head_expr("do");
                let body = self.stmts();
                self.close(&["endwhile"])?;
                Ok(StmtKind::While { condition, body })
            }
            "alias" => {
                self.bump();
                let aliases = self.head("do", Self::aliases);
                let body = self.stmts();
                self.close(&["endalias"])?;
                let Some(aliases) = aliases else { return Err(super::Failed) };
                Ok(StmtKind::Alias { aliases, body })
            }
            "assert" | "invariant" | "assume" | "cover" | "liveness" => {
                Ok(StmtKind::Property(self.property()?))
            }
            _ => self.simple_stmt(word),
        }
    }

    fn simple_stmt(&mut self, word: &'static str) -> Parse<StmtKind> {
        if !matches!(word, "return" | "put" | "error" | "clear" | "undefine") {
            return self.unexpected("a statement");
        }
        self.bump();
        Ok(match word {
            "return" if self.at(";") || !self.at_expr() => StmtKind::Return(None),
            "return" => StmtKind::Return(Some(self.expr()?)),
            "put" => match self.text() {
                Some(text) => StmtKind::PutText(text),
                None => StmtKind::Put(self.expr()?),
            },
            "error" => match self.text() {
                Some(text) => StmtKind::Error(text),
                None => return self.unexpected("a string"),
            },
            "clear" => StmtKind::Clear(self.designator()?),
            _ => StmtKind::Undefine(self.designator()?),
        })
    }

    /// A condition before `word`, marked as wrong if it could not be read.
    fn head_expr(&mut self, word: &str) -> Expr {
        let span = self.span();
        let head = self.head(word, Self::expr);
        head.unwrap_or(Expr { kind: ExprKind::Wrong, span, depth: 0 })
    }

    fn if_stmt(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            self.bump();
            let condition = self.head_expr("then");
            arms.push((condition, self.stmts()));
            if !self.at_word("elsif") {
                break;
            }
        }
        if self.eat_word("else") {
            otherwise = self.stmts();
        }
        self.close(&["endif"])?;
        Ok(StmtKind::If { arms, otherwise })
    }

    fn switch(&mut self) -> Parse<StmtKind> {
        self.bump();
        let (span, nesting) = (self.span(), self.nesting);
        let value = self.expr().unwrap_or_else(|_| {
            self.nesting = nesting;
            while self.at_stmt() {
                self.bump();
            }
            Expr { kind: ExprKind::Wrong, span, depth: 0 }
        });
        let mut cases = Vec::new();
        while self.eat_word("case") {
            let labels = self.labels().unwrap_or_else(|_| {
                self.nesting = nesting;
                while !self.at(":") && !self.at(";") && self.at_stmt() {
                    self.bump();
                }
                self.eat(":");
                Vec::new()
            });
            cases.push((labels, self.stmts()));
        }
        let otherwise = if self.eat_word("else") { Some(self.stmts()) } else { None };
        self.close(&["endswitch"])?;
        Ok(StmtKind::Switch { value, cases, otherwise })
    }

    /// `a, b :`
    fn labels(&mut self) -> Parse<Vec<Expr>> {
        let mut labels = Vec::new();
        while !self.at(":") {
            labels.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(":")?;
        Ok(labels)
    }

    fn call_stmt(&mut self) -> Parse<StmtKind> {
        if self.at_soft("multisetadd", "(") {
            let (element, multiset) = self.two_args(Self::expr)?;
            return Ok(StmtKind::MultisetAdd { element, multiset });
        }
        if self.at_soft("multisetremove", "(") {
            let (index, multiset) = self.two_args(Self::expr)?;
            return Ok(StmtKind::MultisetRemove { index, multiset });
        }
        if self.at_soft("multisetremovepred", "(") {
            let (choice, condition) = self.two_args(Self::choice)?;
            return Ok(StmtKind::MultisetRemovePred { choice, condition });
        }
        Ok(StmtKind::Call(self.call()?))
    }

    /// `f(first, e)`
    pub(super) fn two_args<T>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<(T, Expr)> {
        self.bump();
        self.expect("(")?;
        let first = first(self)?;
        self.expect(",")?;
        let second = self.expr()?;
        self.expect(")")?;
        Ok((first, second))
    }
}
