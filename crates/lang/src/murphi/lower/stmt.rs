//! Statements.

use super::coder::Coder;
use crate::murphi::model::{Expr, ExprKind, PropertyKind, Stmt, StmtKind, TypeId};
use ir::fault::FaultKind;
use ir::rules::code::{Binary, Put};
use ir::rules::{Address, Cover, Instr, Reg};
use ir::source::Span;

impl<'m> Coder<'_, 'm> {
    pub fn stmts(&mut self, stmts: &'m [Stmt]) {
        for stmt in stmts {
            let in_use = self.in_use();
            self.stmt(stmt);
            self.release(in_use);
        }
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value } => {
                let at = self.target(target);
                self.assign(at, target.ty, value);
            }
            StmtKind::If { arms, otherwise } => self.if_stmt(arms, otherwise),
            StmtKind::Switch { value, cases, otherwise } => self.switch(value, cases, otherwise),
            StmtKind::For { quantifier, body } => self.each(quantifier, |coder| coder.stmts(body)),
            StmtKind::While { condition, body } => {
                let start = self.here();
                let condition = self.value(condition);
                let out = self.unless(condition);
                self.tick(stmt.span);
                let around = std::mem::replace(&mut self.iterations, 1);
                self.stmts(body);
                self.iterations = around;
                self.emit(Instr::Jump(start));
                self.land(out);
            }
            StmtKind::Alias { aliases, body } => {
                for alias in aliases {
                    self.alias(alias);
                }
                self.stmts(body);
            }
            StmtKind::Return(value) => self.return_stmt(value.as_ref()),
            StmtKind::PutText(text) => {
                let text = self.text(text.to_string());
                self.emit(Instr::Put(Put::Text(text)));
            }
            StmtKind::Put(expr) => self.put(expr),
            StmtKind::Error(text) => {
                let failure = self.failure(FaultKind::Assertion, text.to_string(), stmt.span);
                self.emit(Instr::Fail(failure));
            }
            StmtKind::Property { kind, condition, message } => {
                self.property_stmt(*kind, condition, message.as_deref(), stmt.span);
            }
            StmtKind::Clear(target) => {
                let at = self.target(target);
                self.clear(at, target.ty);
            }
            StmtKind::Undefine(target) => {
                let at = self.target(target);
                self.undefine(at, target.ty);
            }
            StmtKind::Call { function, args } => {
                self.call(*function, args, None);
            }
            StmtKind::MultisetAdd { element, multiset } => {
                self.multiset_add(element, multiset, stmt.span);
            }
            StmtKind::MultisetRemove { index, multiset } => {
                self.multiset_remove(index, multiset, stmt.span);
            }
            StmtKind::MultisetRemovePred { choice, condition } => {
                self.multiset_remove_pred(choice, condition);
            }
        }
    }

    fn target(&mut self, expr: &Expr) -> Address {
        self.place(expr).expect("what is assigned to is a place")
    }

    /// Gives a place of some type the value of an expression.
    pub fn assign(&mut self, at: Address, ty: TypeId, value: &Expr) {
        if let ExprKind::Undefined = value.kind {
            return self.undefine(at, ty);
        }
        if self.is_simple(ty) && self.lower.copies_undefined {
            let (from, width) = (self.raw(value, ty), self.lower.width(ty));
            return self.emit(Instr::Store { at, width, from });
        }
        if self.is_simple(ty) {
            let reg = self.value(value);
            let reg = self.coerce(reg, value.ty, ty, value.span);
            return self.write(at, ty, reg, value.span);
        }
        let from = self.place(value).expect("a value with parts is a place");
        let len = self.lower.bytes(ty) as u32;
        self.emit(Instr::Move { to: at, from, len });
    }

    pub fn write(&mut self, at: Address, ty: TypeId, from: Reg, span: Span) {
        let (low, count) = self.lower.bounds(ty);
        let width = self.lower.width(ty);
        let failure = self.out_of_range(span, ty);
        self.emit(Instr::Write { at, width, low, count, from, failure });
    }

    fn if_stmt(&mut self, arms: &'m [(Expr, Vec<Stmt>)], otherwise: &'m [Stmt]) {
        let mut ends = Vec::new();
        for (condition, body) in arms {
            let condition = self.value(condition);
            let next = self.unless(condition);
            self.stmts(body);
            ends.push(self.jump());
            self.land(next);
        }
        self.stmts(otherwise);
        for end in ends {
            self.land(end);
        }
    }

    fn switch(&mut self, value: &Expr, cases: &'m [(Vec<Expr>, Vec<Stmt>)], otherwise: &'m [Stmt]) {
        let switched = self.value(value);
        let mut ends = Vec::new();
        for (labels, body) in cases {
            let mut hits = Vec::new();
            for label in labels {
                let found = self.value(label);
                let found = self.coerce(found, label.ty, value.ty, label.span);
                let differs = self.register();
                let (op, failure) = (Binary::Ne, 0);
                self.emit(Instr::Binary { to: differs, op, left: switched, right: found, failure });
                hits.push(self.unless(differs));
            }
            let next = self.jump();
            for hit in hits {
                self.land(hit);
            }
            self.stmts(body);
            ends.push(self.jump());
            self.land(next);
        }
        self.stmts(otherwise);
        for end in ends {
            self.land(end);
        }
    }

    fn return_stmt(&mut self, value: Option<&Expr>) {
        let result = match (value, self.returns) {
            (Some(value), Some(Some(ty))) if self.is_simple(ty) => {
                let reg = self.value(value);
                let reg = self.coerce(reg, value.ty, ty, value.span);
                let (low, count) = self.lower.bounds(ty);
                let failure = self.out_of_range(value.span, ty);
                self.emit(Instr::Bound { value: reg, low, count, failure });
                Some(reg)
            }
            (Some(value), Some(Some(ty))) => {
                let to = self.result.expect("a result with parts has a place");
                self.assign(to, ty, value);
                None
            }
            _ => None,
        };
        self.emit(Instr::Return(result));
    }

    fn text(&mut self, text: String) -> u32 {
        self.lower.rules.texts.push(text);
        self.lower.rules.texts.len() as u32 - 1
    }

    fn put(&mut self, expr: &Expr) {
        let put = match self.place(expr) {
            Some(at) => {
                let name = self.lower.rules.sources.text(expr.span).to_string();
                Put::Place { name: self.text(name), at, ty: self.lower.ty(expr.ty) }
            }
            None if self.lower.is_named(expr.ty) => {
                Put::Value { value: self.value(expr), ty: self.lower.ty(expr.ty) }
            }
            None => Put::Number(self.value(expr)),
        };
        self.emit(Instr::Put(put));
    }

    fn property_stmt(
        &mut self,
        kind: PropertyKind,
        condition: &Expr,
        message: Option<&str>,
        span: Span,
    ) {
        let text = message.map_or_else(|| self.quote(condition.span), |m| format!("\"{m}\""));
        let condition = self.value(condition);
        match kind {
            PropertyKind::Assume => self.emit(Instr::Assume(condition)),
            PropertyKind::Cover => {
                let not = self.unless(condition);
                let cover = self.lower.rules.covers.len() as u32;
                let name = format!("cover {text}");
                self.lower.rules.covers.push(Cover { name, code: None, span });
                self.emit(Instr::Cover(cover));
                self.land(not);
            }
            PropertyKind::Assert | PropertyKind::Liveness => {
                let wrong = self.unless(condition);
                let end = self.jump();
                self.land(wrong);
                let message = format!("assertion {text} is violated");
                let failure = self.failure(FaultKind::Assertion, message, span);
                self.emit(Instr::Fail(failure));
                self.land(end);
            }
        }
    }
}
