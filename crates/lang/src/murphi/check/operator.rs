//! Operators: the types they take, and the values of constants.

use super::Checker;
use super::place::wrong;
use crate::murphi::ast::{self, Spanned, Unary};
use crate::murphi::model::*;
use ir::source::Span;

impl Checker<'_> {
    pub(super) fn unary(&mut self, operator: Unary, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expr(operand);
        let (ty, text) = match operator {
            Unary::Not => (TypeId::BOOL, "!"),
            Unary::Neg => (TypeId::INT, "-"),
            Unary::BitNot => (TypeId::INT, "~"),
        };
        let fits = match operator {
            Unary::Not => self.types().compatible(operand.ty, TypeId::BOOL),
            _ => self.takes_number(operand.ty),
        };
        if operand.ty == TypeId::UNKNOWN {
            return Expr { kind: ExprKind::Wrong, ty, span };
        }
        if !fits || operand.ty == TypeId::UNDEFINED {
            self.wrong_operand(text, ty == TypeId::BOOL, &operand);
            return Expr { kind: ExprKind::Wrong, ty, span };
        }
        let value = operand.value().and_then(|value| match operator {
            Unary::Not => Some(1 - value),
            Unary::Neg => in_bounds(value.checked_neg()),
            Unary::BitNot => in_bounds(Some(!value)),
        });
        let kind = match value {
            Some(value) => ExprKind::Const(value),
            None => ExprKind::Unary(operator, Box::new(operand)),
        };
        Expr { kind, ty, span }
    }

    fn takes_number(&self, ty: TypeId) -> bool {
        ty == TypeId::UNKNOWN || self.types().is_number(ty)
    }

    fn wrong_operand(&mut self, operator: &str, boolean: bool, operand: &Expr) {
        let wanted = if boolean { "booleans" } else { "numbers" };
        let found = self.value_of(operand.ty);
        let message = format!("'{operator}' takes {wanted}, not {found}");
        match self.types().get(operand.ty) {
            Type::Scalarset { .. } if !boolean => {
                let help = "values of a scalarset are not numbers: use a range to count or order";
                self.error_with_help(operand.span, message, help);
            }
            Type::Int | Type::Range { .. } if boolean => {
                self.error_with_help(operand.span, message, "compare it, as in 'x != 0'");
            }
            Type::Bool if operator == "^" => {
                self.error_with_help(
                    operand.span,
                    message,
                    "write '!=' for 'either one or the other'",
                );
            }
            _ => self.error(operand.span, message),
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: &Spanned<ast::Binary>,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let left = self.expr(left);
        let right = self.expr(right);
        let text = operator.node.text();
        let operator = resolve(operator.node, self.bits(&left, &right));
        let (ty, fit) = match operator {
            Binary::Eq | Binary::Ne => (TypeId::BOOL, self.check_comparable(text, &left, &right)),
            Binary::Implies | Binary::Or | Binary::And => {
                (TypeId::BOOL, self.check_operands(text, true, &left, &right))
            }
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                (TypeId::BOOL, self.check_operands(text, false, &left, &right))
            }
            _ => (TypeId::INT, self.check_operands(text, false, &left, &right)),
        };
        if left.ty == TypeId::UNKNOWN || right.ty == TypeId::UNKNOWN {
            return Expr { ty, ..wrong(span) };
        }
        if !fit {
            // What was meant instead of arithmetic can be of any type.
            let ty = if ty == TypeId::INT { TypeId::UNKNOWN } else { ty };
            return Expr { ty, ..wrong(span) };
        }
        let value = match (left.value(), right.value()) {
            (Some(left), Some(right)) => fold(operator, left, right),
            _ => None,
        };
        let kind = match value {
            Some(value) => ExprKind::Const(value),
            None => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
        };
        Expr { kind, ty, span }
    }

    /// `&` and `|` are of bits if their left side is a number.
    fn bits(&self, left: &Expr, right: &Expr) -> bool {
        let ty = if left.ty == TypeId::UNKNOWN { right.ty } else { left.ty };
        self.types().is_number(ty)
    }

    fn check_operands(&mut self, operator: &str, boolean: bool, left: &Expr, right: &Expr) -> bool {
        let fits = |ty| match boolean {
            true => matches!(ty, TypeId::BOOL | TypeId::UNKNOWN),
            false => self.takes_number(ty),
        };
        let (left_fits, right_fits) = (fits(left.ty), fits(right.ty));
        if !left_fits {
            self.wrong_operand(operator, boolean, left);
        }
        // The same about both sides is said once.
        if !right_fits && (left_fits || left.ty != right.ty) {
            self.wrong_operand(operator, boolean, right);
        }
        left_fits && right_fits
    }

    fn check_comparable(&mut self, operator: &str, left: &Expr, right: &Expr) -> bool {
        for side in [left, right] {
            let multiset = matches!(self.types().get(side.ty), Type::Multiset { .. });
            if side.ty == TypeId::UNDEFINED || multiset {
                let message = format!("{} cannot be compared", self.value_of(side.ty));
                let help = match multiset {
                    true => "compare how many elements there are: 'multisetcount(i : m, ...)'",
                    false => "write 'isundefined(x)'",
                };
                self.error_with_help(side.span, message, help);
                return false;
            }
        }
        let comparable = self.types().compatible(left.ty, right.ty);
        if !comparable {
            let (left_text, right_text) = (self.value_of(left.ty), self.value_of(right.ty));
            let message = format!("'{operator}' cannot compare {left_text} with {right_text}");
            self.mismatch(left.span.to(right.span), message, left.ty, right.ty);
        }
        comparable
    }
}

fn resolve(operator: ast::Binary, bits: bool) -> Binary {
    match operator {
        ast::Binary::Implies => Binary::Implies,
        ast::Binary::Or => Binary::Or,
        ast::Binary::And => Binary::And,
        ast::Binary::Pipe if bits => Binary::BitOr,
        ast::Binary::Pipe => Binary::Or,
        ast::Binary::Xor => Binary::BitXor,
        ast::Binary::Amp if bits => Binary::BitAnd,
        ast::Binary::Amp => Binary::And,
        ast::Binary::Lt => Binary::Lt,
        ast::Binary::Le => Binary::Le,
        ast::Binary::Eq => Binary::Eq,
        ast::Binary::Ne => Binary::Ne,
        ast::Binary::Ge => Binary::Ge,
        ast::Binary::Gt => Binary::Gt,
        ast::Binary::Shl => Binary::Shl,
        ast::Binary::Shr => Binary::Shr,
        ast::Binary::Add => Binary::Add,
        ast::Binary::Sub => Binary::Sub,
        ast::Binary::Mul => Binary::Mul,
        ast::Binary::Div => Binary::Div,
        ast::Binary::Rem => Binary::Rem,
    }
}

/// A result that fits into 64 bits, with or without a sign.
fn in_bounds(value: Option<Value>) -> Option<Value> {
    value.filter(|v| (i64::MIN.into()..=u64::MAX.into()).contains(v))
}

/// The value of a constant operation, unless it fails.
fn fold(operator: Binary, a: Value, b: Value) -> Option<Value> {
    let truth = |value: bool| Some(value.into());
    in_bounds(match operator {
        Binary::Implies => truth(a == 0 || b != 0),
        Binary::Or => truth(a != 0 || b != 0),
        Binary::And => truth(a != 0 && b != 0),
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::Lt => truth(a < b),
        Binary::Le => truth(a <= b),
        Binary::Gt => truth(a > b),
        Binary::Ge => truth(a >= b),
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::BitOr => Some(a | b),
        Binary::BitXor => Some(a ^ b),
        Binary::BitAnd => Some(a & b),
        Binary::Shl => shift(a, b),
        Binary::Shr => shift(a, b.checked_neg()?),
    })
}

/// `a` shifted to the left, or to the right by a negative distance.
fn shift(a: Value, distance: Value) -> Option<Value> {
    match distance {
        0..=63 => a.checked_mul(1 << distance),
        -126..0 => Some(a >> -distance),
        _ if distance < 0 => Some(a >> 126),
        _ if a == 0 => Some(0),
        _ => None,
    }
}

/// The value of an expression where a constant is needed. There, unlike
/// elsewhere, `0 * f()` is 0: nothing is executed that could fail.
pub(super) fn certain_value(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (certain_value(left), certain_value(right));
            if let (Some(left), Some(right)) = (left, right) {
                return fold(*operator, left, right);
            }
            match operator {
                Binary::Mul | Binary::BitAnd if left == Some(0) || right == Some(0) => Some(0),
                Binary::Div | Binary::Rem | Binary::Shl | Binary::Shr if left == Some(0) => Some(0),
                Binary::And if left == Some(0) || right == Some(0) => Some(0),
                Binary::Or if left == Some(1) || right == Some(1) => Some(1),
                Binary::Implies if left == Some(0) || right == Some(1) => Some(1),
                _ => None,
            }
        }
        ExprKind::Unary(Unary::Not, operand) => certain_value(operand).map(|v| 1 - v),
        ExprKind::Unary(Unary::Neg, operand) => in_bounds(certain_value(operand)?.checked_neg()),
        ExprKind::Unary(Unary::BitNot, operand) => in_bounds(Some(!certain_value(operand)?)),
        ExprKind::Cond(condition, yes, no) => match certain_value(condition)? {
            0 => certain_value(no),
            _ => certain_value(yes),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_go_both_ways_and_never_wrap() {
        assert_eq!(fold(Binary::Shl, 3, 2), Some(12));
        assert_eq!(fold(Binary::Shr, 8, -1), Some(16));
        assert_eq!(fold(Binary::Shl, 8, -2), Some(2));
        assert_eq!(fold(Binary::Shr, -1, 200), Some(-1));
        assert_eq!(fold(Binary::Shl, 1, 64), None);
        assert_eq!(fold(Binary::Shl, 0, 1 << 70), Some(0));
    }

    #[test]
    fn what_fails_has_no_value() {
        assert_eq!(fold(Binary::Div, 1, 0), None);
        assert_eq!(fold(Binary::Rem, 1, 0), None);
        assert_eq!(fold(Binary::Add, u64::MAX.into(), 1), None);
        assert_eq!(fold(Binary::Rem, -3, 2), Some(-1));
    }
}
