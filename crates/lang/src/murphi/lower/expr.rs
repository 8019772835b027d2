//! Expressions: simple values go to registers.

use super::bound;
use super::coder::{Binding, Coder};
use crate::murphi::model::{self, Expr, ExprKind, Type, TypeId};
use ir::fault::FaultKind;
use ir::rules::code::{Binary, Unary};
use ir::rules::{Address, Instr, Reg};
use ir::source::Span;

impl Coder<'_, '_> {
    /// The value of a simple expression, as its own type counts them.
    pub fn value(&mut self, expr: &Expr) -> Reg {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value as i64),
            ExprKind::Undefined => {
                let failure = self.undefined(expr.span);
                self.emit(Instr::Fail(failure));
                self.constant(0)
            }
            ExprKind::Local(id) => match bound(self.bindings[id.0 as usize]) {
                Binding::Value(reg) => reg,
                Binding::Place(at) => self.read_at(at, expr.ty, expr.span),
            },
            ExprKind::Global(_) | ExprKind::Field(..) | ExprKind::Index(..) => self.read(expr),
            ExprKind::Call { function, args } => {
                self.call(*function, args, None).expect("a simple result is in a register")
            }
            ExprKind::Unary(op, of) => {
                let of = self.value(of);
                let op = match op {
                    model::Unary::Not => Unary::Not,
                    model::Unary::Neg => Unary::Neg,
                    model::Unary::BitNot => Unary::BitNot,
                };
                let to = self.register();
                self.emit(Instr::Unary { to, op, of });
                to
            }
            ExprKind::Binary(op, left, right) => self.binary_expr(*op, left, right, expr.span),
            ExprKind::Cond(condition, a, b) => {
                let to = self.register();
                let condition = self.value(condition);
                let otherwise = self.unless(condition);
                self.value_to(to, a, expr.ty);
                let end = self.jump();
                self.land(otherwise);
                self.value_to(to, b, expr.ty);
                self.land(end);
                to
            }
            ExprKind::Quantified { forall, quantifier, body } => {
                self.quantified(*forall, quantifier, body)
            }
            ExprKind::IsUndefined(of) => self.is_undefined(of),
            ExprKind::IsMember(of, ty) => self.is_member(of, *ty),
            ExprKind::MultisetCount { choice, condition } => self.multiset_count(choice, condition),
            ExprKind::Wrong => unreachable!("an accepted model has no errors"),
        }
    }

    fn value_to(&mut self, to: Reg, expr: &Expr, ty: TypeId) {
        let value = self.value(expr);
        let from = self.coerce(value, expr.ty, ty, expr.span);
        self.emit(Instr::Copy { to, from });
    }

    fn undefined(&mut self, span: Span) -> u32 {
        let message = format!("{} is undefined", self.quote(span));
        self.failure(FaultKind::UndefinedValue, message, span)
    }

    fn read(&mut self, expr: &Expr) -> Reg {
        let at = self.place(expr).expect("a name is a place");
        self.read_at(at, expr.ty, expr.span)
    }

    pub fn read_at(&mut self, at: Address, ty: TypeId, span: Span) -> Reg {
        let (low, _) = self.lower.bounds(ty);
        let width = self.lower.width(ty);
        let failure = self.undefined(span);
        let to = self.register();
        self.emit(Instr::Read { to, at, width, low, failure });
        to
    }

    fn is_undefined(&mut self, of: &Expr) -> Reg {
        let Some(at) = self.place(of) else { return self.constant(0) };
        let (raw, to) = (self.register(), self.register());
        let width = self.lower.width(of.ty);
        self.emit(Instr::Load { to: raw, at, width });
        self.emit(Instr::Unary { to, op: Unary::Not, of: raw });
        to
    }

    fn is_member(&mut self, of: &Expr, ty: TypeId) -> Reg {
        let value = self.value(of);
        if of.ty == ty {
            return self.constant(1);
        }
        let found = self.retag(value, of.ty, ty, None);
        let (to, none) = (self.register(), self.constant(-1));
        self.emit(Instr::Binary { to, op: Binary::Ne, left: found, right: none, failure: 0 });
        to
    }

    fn binary_expr(&mut self, op: model::Binary, left: &Expr, right: &Expr, span: Span) -> Reg {
        use model::Binary as B;
        let (op, swapped) = match op {
            B::And => return self.short(left, right, false, false),
            B::Or => return self.short(left, right, true, true),
            B::Implies => return self.short(left, right, false, true),
            B::Eq | B::Ne if !self.is_simple(left.ty) => {
                return self.same(op == B::Eq, left, right);
            }
            B::Eq => (Binary::Eq, false),
            B::Ne => (Binary::Ne, false),
            B::Lt => (Binary::Lt, false),
            B::Le => (Binary::Le, false),
            B::Gt => (Binary::Lt, true),
            B::Ge => (Binary::Le, true),
            B::Add => (Binary::Add, false),
            B::Sub => (Binary::Sub, false),
            B::Mul => (Binary::Mul, false),
            B::Div => (Binary::Div, false),
            B::Rem => (Binary::Rem, false),
            B::BitOr => (Binary::BitOr, false),
            B::BitXor => (Binary::BitXor, false),
            B::BitAnd => (Binary::BitAnd, false),
            B::Shl => (Binary::Shl, false),
            B::Shr => (Binary::Shr, false),
        };
        let (mut a, mut b) = (self.value(left), self.value(right));
        if left.ty != right.ty {
            (a, b) = self.common(a, left.ty, b, right.ty);
        }
        let failure = match op {
            Binary::Div | Binary::Rem => {
                let message = format!("{} is 0", self.quote(right.span));
                self.failure(FaultKind::DivisionByZero, message, span)
            }
            _ => 0,
        };
        let (left, right) = if swapped { (b, a) } else { (a, b) };
        let op = if self.lower.unsigned { op.unsigned() } else { op };
        let to = self.register();
        self.emit(Instr::Binary { to, op, left, right, failure });
        to
    }

    /// `and`, `or`, `->`: the right side counts unless the left is `decided`,
    /// which gives `result`.
    fn short(&mut self, left: &Expr, right: &Expr, decided: bool, result: bool) -> Reg {
        let to = self.register();
        let a = self.value(left);
        self.emit(Instr::Const { to, value: result as i64 });
        let (on, out) = match decided {
            false => (None, self.unless(a)),
            true => {
                let on = self.unless(a);
                (Some(on), self.jump())
            }
        };
        if let Some(on) = on {
            self.land(on);
        }
        let b = self.value(right);
        self.emit(Instr::Copy { to, from: b });
        self.land(out);
        to
    }

    /// Whether two values with parts are equal, undefined parts included.
    fn same(&mut self, equal: bool, left: &Expr, right: &Expr) -> Reg {
        let len = self.lower.bytes(left.ty) as u32;
        let a = self.place(left).expect("a value with parts is a place");
        let b = self.place(right).expect("a value with parts is a place");
        let to = self.register();
        self.emit(Instr::Same { to, left: a, right: b, len });
        if equal {
            return to;
        }
        let not = self.register();
        self.emit(Instr::Unary { to: not, op: Unary::Not, of: to });
        not
    }

    /// Two values as values of one type, so that they can be compared.
    fn common(&mut self, a: Reg, a_ty: TypeId, b: Reg, b_ty: TypeId) -> (Reg, Reg) {
        let is_union = |ty| matches!(self.lower.model.types.get(ty), Type::Union { .. });
        match (is_union(a_ty), is_union(b_ty)) {
            (false, false) => (a, b),
            (true, _) => (a, self.retag(b, b_ty, a_ty, None)),
            (false, true) => (self.retag(a, a_ty, b_ty, None), b),
        }
    }

    /// A value of one type as one of another; that it fits is checked where a
    /// union is left.
    pub fn coerce(&mut self, value: Reg, from: TypeId, to: TypeId, span: Span) -> Reg {
        let is_union = |ty| matches!(self.lower.model.types.get(ty), Type::Union { .. });
        if from == to || !(is_union(from) || is_union(to)) {
            return value;
        }
        let failure = self.out_of_range(span, to);
        self.retag(value, from, to, Some(failure))
    }

    pub fn out_of_range(&mut self, span: Span, ty: TypeId) -> u32 {
        let (text, ty) = (self.quote(span), self.lower.model.types.describe(ty));
        let message = format!("{text} is no value of {ty}");
        self.failure(FaultKind::OutOfRange, message, span)
    }

    /// The members of a simple type and the number of values before each.
    fn members(&self, ty: TypeId) -> Vec<(TypeId, u64)> {
        let Type::Union { members } = self.lower.model.types.get(ty) else { return vec![(ty, 0)] };
        let mut before = 0;
        let mut list = Vec::new();
        for member in members {
            list.push((*member, before));
            before += self.lower.bounds(*member).1;
        }
        list
    }

    /// Numbers a value as another type does, where one of them is a union. What
    /// the other type does not have is a failure, or -1.
    fn retag(&mut self, value: Reg, from: TypeId, to: TypeId, failure: Option<u32>) -> Reg {
        let result = self.constant(-1);
        let (wanted, mut ends) = (self.members(to), Vec::new());
        for (member, before) in self.members(from) {
            let Some((_, after)) = wanted.iter().find(|(m, _)| *m == member) else { continue };
            let (low, high) = (before as i64, (before + self.lower.bounds(member).1) as i64);
            let (first, end) = (self.constant(low), self.constant(high));
            let enough = self.register();
            let le =
                Instr::Binary { to: enough, op: Binary::Le, left: first, right: value, failure: 0 };
            self.emit(le);
            let below = self.unless(enough);
            let little = self.register();
            let lt =
                Instr::Binary { to: little, op: Binary::Lt, left: value, right: end, failure: 0 };
            self.emit(lt);
            let above = self.unless(little);
            let shift = self.constant(*after as i64 - low);
            let add = Instr::Binary {
                to: result,
                op: Binary::Add,
                left: value,
                right: shift,
                failure: 0,
            };
            self.emit(add);
            ends.push(self.jump());
            self.land(below);
            self.land(above);
        }
        if let Some(failure) = failure {
            self.emit(Instr::Fail(failure));
        }
        for end in ends {
            self.land(end);
        }
        result
    }
}
