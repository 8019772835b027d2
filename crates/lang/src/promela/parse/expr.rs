//! Expressions, by precedence climbing; C's precedences.

use super::{Parse, Parser};
use crate::promela::ast::*;
use crate::promela::token::TokenKind;
use ir::source::Span;
use ir::system::{Binary, Unary};

/// Longest chain of operators on one level; longer ones would nest too deeply.
const MAX_CHAIN: usize = 1000;

enum Infix {
    Binary(Binary),
    Temporal,
    Implies,
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| p.binary_expr(0))
    }

    fn binary_expr(&mut self, min: u8) -> Parse<Expr> {
        let mut left = self.unary_expr()?;
        let mut chain = 0;
        while let Some((infix, precedence, width)) = self.infix() {
            if precedence < min {
                break;
            }
            chain += 1;
            if chain > MAX_CHAIN {
                return self.fail(self.span(), "expression is too long");
            }
            for _ in 0..width {
                self.bump();
            }
            let right = self.nested(|p| p.binary_expr(precedence + 1))?;
            let span = left.span.to(right.span);
            let kind = match infix {
                Infix::Binary(op) => ExprKind::Binary(op, Box::new(left), Box::new(right)),
                Infix::Temporal | Infix::Implies => ExprKind::Temporal(vec![left, right]),
            };
            left = Expr { kind, span };
        }
        Ok(left)
    }

    /// The infix operator that comes next, its precedence and number of tokens.
    fn infix(&self) -> Option<(Infix, u8, usize)> {
        let punct = match self.peek() {
            TokenKind::Punct(p) => *p,
            TokenKind::Name(n) if self.in_ltl => {
                return match &**n {
                    "U" | "W" | "V" | "until" | "stronguntil" | "weakuntil" | "release" => {
                        Some((Infix::Temporal, 4, 1))
                    }
                    "implies" | "equivalent" => Some((Infix::Implies, 1, 1)),
                    _ => None,
                };
            }
            _ => return None,
        };
        let binary = |op, precedence| Some((Infix::Binary(op), precedence, 1));
        match punct {
            "->" if self.in_ltl => Some((Infix::Implies, 1, 1)),
            "<" if self.in_ltl && matches!(self.peek_at(1), TokenKind::Punct("->")) => {
                Some((Infix::Implies, 1, 2))
            }
            "||" | "\\/" => binary(Binary::Or, 2),
            "&&" | "/\\" => binary(Binary::And, 3),
            "|" => binary(Binary::BitOr, 5),
            "^" => binary(Binary::BitXor, 6),
            "&" => binary(Binary::BitAnd, 7),
            "==" => binary(Binary::Eq, 8),
            "!=" => binary(Binary::Ne, 8),
            "<" => binary(Binary::Lt, 9),
            ">" => binary(Binary::Gt, 9),
            "<=" => binary(Binary::Le, 9),
            ">=" => binary(Binary::Ge, 9),
            "<<" => binary(Binary::Shl, 10),
            ">>" => binary(Binary::Shr, 10),
            "+" => binary(Binary::Add, 11),
            "-" => binary(Binary::Sub, 11),
            "*" => binary(Binary::Mul, 12),
            "/" => binary(Binary::Div, 12),
            "%" => binary(Binary::Rem, 12),
            _ => None,
        }
    }

    fn unary_expr(&mut self) -> Parse<Expr> {
        let start = self.span();
        let op = match self.peek() {
            TokenKind::Punct("!") => Unary::Not,
            TokenKind::Punct("-") => Unary::Neg,
            TokenKind::Punct("~") => Unary::BitNot,
            TokenKind::Punct("[") if self.in_ltl => {
                self.bump();
                self.expect("]")?;
                return self.temporal(start);
            }
            TokenKind::Punct("<") if self.in_ltl => {
                self.bump();
                self.expect(">")?;
                return self.temporal(start);
            }
            TokenKind::Name(n)
                if self.in_ltl && matches!(&**n, "X" | "next" | "always" | "eventually") =>
            {
                self.bump();
                return self.temporal(start);
            }
            _ => return self.primary(start),
        };
        self.bump();
        let operand = self.nested(|p| p.unary_expr())?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    fn temporal(&mut self, start: Span) -> Parse<Expr> {
        let operand = self.nested(|p| p.unary_expr())?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Temporal(vec![operand]), span })
    }

    fn primary(&mut self, start: Span) -> Parse<Expr> {
        let kind = match self.peek().clone() {
            TokenKind::Number(value) => {
                self.bump();
                ExprKind::Const(value)
            }
            TokenKind::Punct("(") => return self.parenthesised(start),
            TokenKind::Name(n) => self.named(&n)?,
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, span: start.to(self.prev_span()) })
    }

    /// `(e)` or `(a -> b : c)`
    fn parenthesised(&mut self, start: Span) -> Parse<Expr> {
        self.bump();
        let first = self.expr()?;
        if self.at("->") && !self.in_ltl {
            self.bump();
            let yes = self.expr()?;
            self.expect(":")?;
            let no = self.expr()?;
            self.expect(")")?;
            let kind = ExprKind::Cond(Box::new(first), Box::new(yes), Box::new(no));
            return Ok(Expr { kind, span: start.to(self.prev_span()) });
        }
        self.expect(")")?;
        Ok(Expr { kind: first.kind, span: start.to(self.prev_span()) })
    }

    fn named(&mut self, word: &Name) -> Parse<ExprKind> {
        let probe = match &**word {
            "true" | "skip" => {
                self.bump();
                return Ok(ExprKind::Const(1));
            }
            "false" => {
                self.bump();
                return Ok(ExprKind::Const(0));
            }
            "timeout" => {
                self.bump();
                return Ok(ExprKind::Timeout);
            }
            "np_" => {
                self.bump();
                return Ok(ExprKind::NonProgress);
            }
            "run" => return self.run(),
            "c_expr" => return self.embedded_c(word),
            "enabled" | "pc_value" | "get_priority" => return self.process_function(word),
            "len" => None,
            "full" => Some(Probe::Full),
            "empty" => Some(Probe::Empty),
            "nfull" => Some(Probe::NotFull),
            "nempty" => Some(Probe::NotEmpty),
            _ => return self.variable(word),
        };
        self.bump();
        self.expect("(")?;
        let chan = self.var_ref()?;
        self.expect(")")?;
        Ok(match probe {
            None => ExprKind::Len(chan),
            Some(probe) => ExprKind::Probe(probe, chan),
        })
    }

    fn run(&mut self) -> Parse<ExprKind> {
        self.bump();
        let proc = self.name("the name of a process type")?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.at(")") {
            args.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let priority = self.priority()?;
        Ok(ExprKind::Run { proc, args, priority })
    }

    fn process_function(&mut self, word: &str) -> Parse<ExprKind> {
        self.bump();
        self.expect("(")?;
        let pid = Box::new(self.expr()?);
        self.expect(")")?;
        Ok(match word {
            "enabled" => ExprKind::Enabled(pid),
            "pc_value" => ExprKind::PcValue(pid),
            _ => ExprKind::GetPriority(pid),
        })
    }

    /// A constant, a variable, a remote reference or a poll.
    fn variable(&mut self, word: &Name) -> Parse<ExprKind> {
        if let Some(&value) = self.mtypes.get(word) {
            self.bump();
            return Ok(ExprKind::Const(value));
        }
        if self.procs.contains_key(word)
            && matches!(self.peek_at(1), TokenKind::Punct("[" | "@" | ":"))
        {
            return self.remote();
        }
        let chan = self.var_ref()?;
        let random = match self.peek() {
            TokenKind::Punct("?") => false,
            TokenKind::Punct("??") => true,
            _ => return Ok(ExprKind::Var(chan)),
        };
        self.bump();
        self.expect("[")?;
        let args = self.receive_args()?;
        self.expect("]")?;
        Ok(ExprKind::Poll { chan, random, args })
    }

    /// `proc[pid]@label`, `proc@label`, `proc[pid]:var`, `proc:var`
    fn remote(&mut self) -> Parse<ExprKind> {
        let proc = self.name("the name of a process type")?;
        let pid = if self.eat("[") {
            let pid = self.expr()?;
            self.expect("]")?;
            Some(Box::new(pid))
        } else {
            None
        };
        if self.eat("@") {
            let label = self.name("a label")?;
            return Ok(ExprKind::RemoteLabel { proc, pid, label });
        }
        if !self.eat(":") {
            return self.unexpected("'@' or ':'");
        }
        let var = self.var_ref()?;
        Ok(ExprKind::RemoteVar { proc, pid, var })
    }

    pub(super) fn var_ref(&mut self) -> Parse<VarRef> {
        let start = self.span();
        let mut parts = Vec::new();
        loop {
            let name = self.name("a variable")?;
            let index = if self.at("[") {
                self.bump();
                // A line break inside brackets separates nothing either.
                self.parens += 1;
                let index = self.expr();
                self.parens = self.parens.saturating_sub(1);
                let index = index?;
                self.expect("]")?;
                Some(Box::new(index))
            } else {
                None
            };
            parts.push(RefPart { name: name.node, index, span: name.span });
            if !self.eat(".") {
                break;
            }
        }
        Ok(VarRef { parts, span: start.to(self.prev_span()) })
    }

    /// The value of an expression of constants.
    pub(super) fn const_value(&self, expr: &Expr) -> Option<i32> {
        let value = |e| self.const_value(e);
        Some(match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Unary(Unary::Neg, e) => value(e)?.wrapping_neg(),
            ExprKind::Unary(Unary::Not, e) => (value(e)? == 0) as i32,
            ExprKind::Unary(Unary::BitNot, e) => !value(e)?,
            ExprKind::Cond(c, a, b) => {
                if value(c)? != 0 {
                    value(a)?
                } else {
                    value(b)?
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (value(a)?, value(b)?);
                match op {
                    Binary::Add => a.wrapping_add(b),
                    Binary::Sub => a.wrapping_sub(b),
                    Binary::Mul => a.wrapping_mul(b),
                    Binary::Div => a.checked_div(b)?,
                    Binary::Rem => a.checked_rem(b)?,
                    Binary::Shl => a.wrapping_shl(b as u32),
                    Binary::Shr => a.wrapping_shr(b as u32),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}
