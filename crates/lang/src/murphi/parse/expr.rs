//! Expressions, by precedence climbing; Rumur's precedences, which are those
//! of CMurphi where it has the operator.

use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::murphi::ast::*;
use crate::murphi::token::TokenKind;
use ir::source::Span;

/// Levels an expression may have; a long chain of `&` has as many as it has links.
const MAX_DEPTH: u16 = 1000;

const IMPLIES: u8 = 1;
const COMPARISON: u8 = 7;
const PRODUCT: u8 = 10;

impl Parser<'_> {
    /// A token that can begin an expression comes next.
    pub(super) fn at_expr(&self) -> bool {
        match self.peek() {
            TokenKind::Name(_) | TokenKind::Number(_) => true,
            TokenKind::Punct(punct) => matches!(*punct, "(" | "-" | "+" | "!" | "~"),
            TokenKind::Keyword(word) => {
                matches!(*word, "true" | "false" | "forall" | "exists" | "isundefined")
            }
            _ => false,
        }
    }

    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(Self::conditional)
    }

    /// `c ? a : b`, which does not nest without parentheses on its right.
    fn conditional(&mut self) -> Parse<Expr> {
        let condition = self.binary_expr(IMPLIES)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.expect(":")?;
        let no = self.nested(|p| p.binary_expr(IMPLIES))?;
        if self.at("?") {
            return self.ambiguous("?");
        }
        let span = condition.span.to(no.span);
        let depth = condition.depth.max(yes.depth).max(no.depth);
        let kind = ExprKind::Cond(Box::new(condition), Box::new(yes), Box::new(no));
        self.node(kind, span, depth)
    }

    fn ambiguous<T>(&mut self, operator: &str) -> Parse<T> {
        let message = format!("'{operator}' cannot follow another one without parentheses");
        let diagnostic = Diagnostic::error(self.span(), message);
        self.fail(diagnostic.help("put one of them into parentheses"))
    }

    /// An expression over others of at most `depth` levels.
    fn node(&mut self, kind: ExprKind, span: Span, depth: u16) -> Parse<Expr> {
        if depth >= MAX_DEPTH {
            let at = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
            return self.fail(Diagnostic::error(at, "the expression has too many levels"));
        }
        Ok(Expr { kind, span, depth: depth + 1 })
    }

    fn binary_expr(&mut self, min: u8) -> Parse<Expr> {
        let mut left = self.unary_expr()?;
        while let Some((operator, precedence)) = self.infix().filter(|(_, p)| *p >= min) {
            let operator = Spanned { node: operator, span: self.span() };
            self.bump();
            let right = self.nested(|p| p.binary_expr(precedence + 1))?;
            if matches!(precedence, IMPLIES | COMPARISON)
                && let Some((again, same)) = self.infix()
                && same == precedence
            {
                return self.ambiguous(again.text());
            }
            let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = self.node(kind, span, depth)?;
        }
        Ok(left)
    }

    fn infix(&self) -> Option<(Binary, u8)> {
        let TokenKind::Punct(punct) = self.peek() else { return None };
        Some(match *punct {
            "->" => (Binary::Implies, IMPLIES),
            "||" => (Binary::Or, 2),
            "&&" => (Binary::And, 3),
            "|" => (Binary::Pipe, 4),
            "^" => (Binary::Xor, 5),
            "&" => (Binary::Amp, 6),
            "<" => (Binary::Lt, COMPARISON),
            "<=" => (Binary::Le, COMPARISON),
            "=" | "==" => (Binary::Eq, COMPARISON),
            "!=" => (Binary::Ne, COMPARISON),
            ">=" => (Binary::Ge, COMPARISON),
            ">" => (Binary::Gt, COMPARISON),
            "<<" => (Binary::Shl, 8),
            ">>" => (Binary::Shr, 8),
            "+" => (Binary::Add, 9),
            "-" => (Binary::Sub, 9),
            "*" => (Binary::Mul, PRODUCT),
            "/" => (Binary::Div, PRODUCT),
            "%" => (Binary::Rem, PRODUCT),
            _ => return None,
        })
    }

    fn unary_expr(&mut self) -> Parse<Expr> {
        let start = self.span();
        // `!a = b` is `!(a = b)`, but `-a * b` is `(-a) * b`.
        let (operator, min) = match self.peek() {
            TokenKind::Punct("!") => (Some(Unary::Not), COMPARISON),
            TokenKind::Punct("-") => (Some(Unary::Neg), PRODUCT + 1),
            TokenKind::Punct("~") => (Some(Unary::BitNot), PRODUCT + 1),
            TokenKind::Punct("+") => (None, PRODUCT + 1),
            _ => return self.primary(start),
        };
        self.bump();
        let operand = self.nested(|p| p.binary_expr(min))?;
        let (span, depth) = (start.to(operand.span), operand.depth);
        match operator {
            Some(operator) => self.node(ExprKind::Unary(operator, Box::new(operand)), span, depth),
            None => Ok(Expr { span, ..operand }),
        }
    }

    fn primary(&mut self, start: Span) -> Parse<Expr> {
        let kind = match self.peek() {
            TokenKind::Number(value) => {
                let value = *value;
                self.bump();
                ExprKind::Number(value)
            }
            TokenKind::Punct("(") => {
                self.bump();
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(Expr { span: start.to(self.prev_span()), ..inner });
            }
            TokenKind::Name(_) if *self.peek_at(1) == TokenKind::Punct("(") => {
                return self.call_expr(start);
            }
            TokenKind::Name(_) => return self.designator(),
            TokenKind::Keyword(word @ ("true" | "false")) => {
                let value = *word == "true";
                self.bump();
                ExprKind::Bool(value)
            }
            TokenKind::Keyword("forall" | "exists") => return self.quantified(start),
            TokenKind::Keyword("isundefined") => {
                self.bump();
                self.expect("(")?;
                let place = self.expr()?;
                self.expect(")")?;
                let depth = place.depth;
                let span = start.to(self.prev_span());
                return self.node(ExprKind::IsUndefined(Box::new(place)), span, depth);
            }
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, span: start, depth: 0 })
    }

    fn quantified(&mut self, start: Span) -> Parse<Expr> {
        let forall = self.at_word("forall");
        self.bump();
        let quantifier = Box::new(self.quantifier()?);
        if self.at(";") {
            let word = if forall { "forall" } else { "exists" };
            let message = format!("'{word}' has one variable");
            let help = format!("write '{word} x : A do {word} y : B do ... end end'");
            return self.fail(Diagnostic::error(self.span(), message).help(help));
        }
        self.expect_word("do")?;
        let body = Box::new(self.expr()?);
        self.close(&[if forall { "endforall" } else { "endexists" }])?;
        let depth = body.depth.max(domain_depth(&quantifier.domain));
        let kind = ExprKind::Quantified { forall, quantifier, body };
        self.node(kind, start.to(self.prev_span()), depth)
    }

    fn call_expr(&mut self, start: Span) -> Parse<Expr> {
        let (kind, depth) = if self.at_soft("multisetcount", "(") {
            let (choice, condition) = self.two_args(Self::choice)?;
            let depth = condition.depth.max(choice.multiset.depth);
            (ExprKind::MultisetCount { choice, condition: Box::new(condition) }, depth)
        } else if self.at_soft("ismember", "(") {
            self.bump();
            self.expect("(")?;
            let value = self.expr()?;
            self.expect(",")?;
            let ty = self.type_expr()?;
            self.expect(")")?;
            let depth = value.depth.max(type_depth(&ty));
            (ExprKind::IsMember(Box::new(value), Box::new(ty)), depth)
        } else {
            let call = self.call()?;
            let depth = call.args.iter().map(|a| a.depth).max().unwrap_or(0);
            (ExprKind::Call(call), depth)
        };
        if self.at(".") || self.at("[") {
            let message = format!("{} behind a call", self.found());
            let help = "assign the result to a variable first";
            return self.fail(Diagnostic::error(self.span(), message).help(help));
        }
        self.node(kind, start.to(self.prev_span()), depth)
    }

    pub(super) fn call(&mut self) -> Parse<Call> {
        let function = self.name("the name of a function")?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.at(")") {
            args.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(Call { function, args })
    }

    /// `a[i].b`
    pub(super) fn designator(&mut self) -> Parse<Expr> {
        let name = self.name("a variable")?;
        let mut expr = Expr { kind: ExprKind::Name(name.node), span: name.span, depth: 0 };
        loop {
            let (kind, depth) = if self.eat(".") {
                let depth = expr.depth;
                (ExprKind::Field(Box::new(expr), self.name("the name of a field")?), depth)
            } else if self.eat("[") {
                let index = self.expr()?;
                if self.at(",") {
                    let message = "an array has one index";
                    let diagnostic = Diagnostic::error(self.span(), message);
                    return self.fail(diagnostic.help("write 'a[i][j]'"));
                }
                self.expect("]")?;
                let depth = expr.depth.max(index.depth);
                (ExprKind::Index(Box::new(expr), Box::new(index)), depth)
            } else {
                return Ok(expr);
            };
            expr = self.node(kind, name.span.to(self.prev_span()), depth)?;
        }
    }
}

/// Levels of expressions in what a quantifier goes through.
fn domain_depth(domain: &Domain) -> u16 {
    match domain {
        Domain::Type(ty) => type_depth(ty),
        Domain::Steps { from, to, by } => {
            let by = by.as_ref().map_or(0, |by| by.depth);
            from.depth.max(to.depth).max(by)
        }
    }
}

/// Levels of expressions in a type.
fn type_depth(ty: &TypeExpr) -> u16 {
    match &ty.kind {
        TypeExprKind::Range(low, high) => low.depth.max(high.depth),
        TypeExprKind::Scalarset(size) => size.depth,
        TypeExprKind::Array { index, element } => type_depth(index).max(type_depth(element)),
        TypeExprKind::Multiset { size, element } => size.depth.max(type_depth(element)),
        TypeExprKind::Record(fields) => {
            fields.iter().map(|field| type_depth(&field.ty)).max().unwrap_or(0)
        }
        TypeExprKind::Union(members) => members.iter().map(type_depth).max().unwrap_or(0),
        TypeExprKind::Boolean
        | TypeExprKind::Named(_)
        | TypeExprKind::Enum(_)
        | TypeExprKind::Wrong => 0,
    }
}
