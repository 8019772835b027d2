//! Declarations: constants, types, variables, functions.

use super::{ITEM_WORDS, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::murphi::ast::*;
use crate::murphi::token::TokenKind;

impl Parser<'_> {
    /// `const ...`, `type ...` or `var ...`: any number of declarations. What
    /// is wrong with one of them does not keep the others from being read.
    pub(super) fn section(&mut self, decls: &mut Vec<Decl>) {
        let TokenKind::Keyword(section) = *self.peek() else { return };
        self.bump();
        while self.at_declaration() {
            let start = self.pos;
            let decl = self.names().and_then(|names| {
                self.expect(":")?;
                Ok(match section {
                    "const" => Decl::Const { names, value: self.expr_or_wrong() },
                    "type" => Decl::Type { names, ty: self.type_or_wrong() },
                    _ => Decl::Var(VarDecl { names, ty: self.type_or_wrong() }),
                })
            });
            match decl {
                Ok(decl) => decls.push(decl),
                Err(_) => {
                    self.lost_names = true;
                    if self.pos == start {
                        self.bump();
                    }
                    self.skip_to_decl();
                }
            }
            self.skip_semicolons();
        }
    }

    /// A name or, by mistake, a keyword in front of a colon or a comma.
    fn at_declaration(&self) -> bool {
        match self.peek() {
            TokenKind::Name(_) => {
                // Otherwise it begins a statement, because `begin` is missing.
                let body = matches!(self.peek_at(1), TokenKind::Punct(":=" | "(" | "." | "["));
                !body && !self.at_rule()
            }
            TokenKind::Keyword(_) => matches!(self.peek_at(1), TokenKind::Punct(":" | ",")),
            _ => false,
        }
    }

    /// Sections up to `begin`, which has to follow if there are any.
    pub(super) fn local_decls(&mut self) -> Parse<Vec<Decl>> {
        let mut decls = Vec::new();
        let start = self.pos;
        while self.at_words(&["const", "type", "var"]) {
            self.section(&mut decls);
        }
        if !self.eat_word("begin") && self.pos > start {
            return self.unexpected("'begin' or a declaration");
        }
        Ok(decls)
    }

    /// `a, b, c`, perhaps with a comma behind the last.
    pub(super) fn names(&mut self) -> Parse<Vec<Spanned<Name>>> {
        let mut names = vec![self.name("a name")?];
        while self.eat(",") && matches!(self.peek(), TokenKind::Name(_)) {
            names.push(self.name("a name")?);
        }
        Ok(names)
    }

    fn expr_or_wrong(&mut self) -> Expr {
        let span = self.span();
        self.expr().unwrap_or_else(|_| {
            self.skip_to_decl();
            Expr { kind: ExprKind::Wrong, span, depth: 0 }
        })
    }

    fn type_or_wrong(&mut self) -> TypeExpr {
        let span = self.span();
        self.type_expr().unwrap_or_else(|_| {
            self.skip_to_decl();
            TypeExpr { kind: TypeExprKind::Wrong, span }
        })
    }

    /// Skips to where another declaration may begin: behind a semicolon, at a
    /// `name :`, or at a word that ends the section.
    fn skip_to_decl(&mut self) {
        while !self.at_end() && !self.at(";") && !self.at_words(ITEM_WORDS) {
            let ends = self.at_words(&["begin", "end", "endrecord", "do"]);
            let decl = matches!(self.peek(), TokenKind::Name(_))
                && *self.peek_at(1) == TokenKind::Punct(":");
            if ends || decl {
                return;
            }
            self.bump();
        }
    }

    pub(super) fn type_expr(&mut self) -> Parse<TypeExpr> {
        self.nested(Self::type_expr_here)
    }

    fn type_expr_here(&mut self) -> Parse<TypeExpr> {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Keyword("boolean") => {
                self.bump();
                TypeExprKind::Boolean
            }
            TokenKind::Keyword("enum") => {
                self.bump();
                self.expect("{")?;
                let names = if self.at("}") { Vec::new() } else { self.names()? };
                self.expect("}")?;
                TypeExprKind::Enum(names)
            }
            TokenKind::Keyword("record") => self.record()?,
            TokenKind::Keyword("array") => self.array()?,
            TokenKind::Keyword("scalarset") => {
                self.bump();
                self.expect("(")?;
                let size = self.expr()?;
                self.expect(")")?;
                TypeExprKind::Scalarset(size)
            }
            TokenKind::Keyword("union") => self.union()?,
            TokenKind::Keyword("real") => return self.real(),
            _ if self.at_soft("multiset", "[") => {
                self.bump();
                self.expect("[")?;
                let size = self.expr()?;
                self.expect("]")?;
                self.expect_word("of")?;
                TypeExprKind::Multiset { size, element: Box::new(self.type_expr()?) }
            }
            _ => self.range_or_name()?,
        };
        Ok(TypeExpr { kind, span: start.to(self.prev_span()) })
    }

    fn range_or_name(&mut self) -> Parse<TypeExprKind> {
        if !self.at_expr() {
            return self.unexpected("a type");
        }
        let low = self.expr()?;
        if self.eat("..") {
            return Ok(TypeExprKind::Range(low, self.expr()?));
        }
        match low.kind {
            ExprKind::Name(name) => Ok(TypeExprKind::Named(name)),
            _ => self.unexpected("'..'"),
        }
    }

    fn record(&mut self) -> Parse<TypeExprKind> {
        self.bump();
        let mut fields = Vec::new();
        self.skip_semicolons();
        while !self.at_words(&["end", "endrecord"]) {
            let names = self.names()?;
            self.expect(":")?;
            fields.push(VarDecl { names, ty: self.type_expr()? });
            self.skip_semicolons();
        }
        self.close(&["endrecord"])?;
        Ok(TypeExprKind::Record(fields))
    }

    fn array(&mut self) -> Parse<TypeExprKind> {
        self.bump();
        self.expect("[")?;
        let index = Box::new(self.type_expr()?);
        if self.at(",") {
            let message = "an array has one index";
            let help = "write 'array [A] of array [B] of ...'";
            return self.fail(Diagnostic::error(self.span(), message).help(help));
        }
        self.expect("]")?;
        self.expect_word("of")?;
        Ok(TypeExprKind::Array { index, element: Box::new(self.type_expr()?) })
    }

    fn union(&mut self) -> Parse<TypeExprKind> {
        self.bump();
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.at("}") {
            members.push(self.type_expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(TypeExprKind::Union(members))
    }

    fn real<T>(&mut self) -> Parse<T> {
        let diagnostic = Diagnostic::error(self.span(), "the type 'real' is not supported")
            .help("use a range of whole numbers, for example in a smaller unit");
        self.bump();
        if self.eat("(") {
            while !self.at_end() && !self.at(")") && !self.at(";") {
                self.bump();
            }
            self.eat(")");
        }
        self.fail(diagnostic)
    }

    pub(super) fn function(&mut self) -> Parse<Function> {
        self.bump();
        let name = self.name("the name of the function")?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            let by_reference = self.eat_word("var");
            let names = self.names()?;
            self.expect(":")?;
            let ty = self.type_expr()?;
            params.push(Param { by_reference, decl: VarDecl { names, ty } });
            if self.at(",") {
                let message = "parameters are separated by ';'";
                self.error(Diagnostic::error(self.span(), message));
                self.bump();
            }
            self.skip_semicolons();
        }
        self.expect(")")?;
        let result = if self.eat(":") { Some(self.type_expr()?) } else { None };
        self.skip_semicolons();
        let decls = self.local_decls()?;
        let body = self.stmts();
        self.close(&["endfunction", "endprocedure"])?;
        Ok(Function { name, params, result, decls, body })
    }
}
