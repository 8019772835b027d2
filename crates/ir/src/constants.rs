//! Expressions of constants are worked out once, not in each state: macros make
//! many of them, as `N - 1`. What would go wrong is left to go wrong when it runs.

use crate::system::{Binary, Expr, Place, System};
use crate::visit::{Access, change};

pub fn fold(system: &mut System) {
    change::visit_system(system, &mut Fold);
}

struct Fold;

impl change::Visitor for Fold {
    fn expr(&mut self, expr: &mut Expr) {
        if let Some(value) = value(expr) {
            *expr = Expr::Const(value);
        }
    }

    fn place(&mut self, place: &mut Place, _access: Access) {
        let offset = &mut place.offset;
        place.indices.retain(|index| match value(&index.expr).map(u32::try_from) {
            Some(Ok(at)) if at < index.bound => {
                *offset += at * index.stride;
                false
            }
            _ => true,
        });
    }
}

/// What an expression is in all states, if it is the same in all.
fn value(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Unary(op, of) => Some(op.apply(value(of)?)),
        Expr::Binary(op, left, right) => match (op, value(left)?) {
            (Binary::And, 0) => Some(0),
            (Binary::Or, left) if left != 0 => Some(1),
            (op, left) => op.apply(left, value(right)?),
        },
        Expr::Cond(condition, yes, no) => value(if value(condition)? != 0 { yes } else { no }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;
    use crate::system::{Index, Space, Unary};
    use change::Visitor;

    #[test]
    fn indices_outside_their_array_stay_where_they_are() {
        let index = |at: i32| Index { expr: Expr::Const(at), bound: 3, stride: 2 };
        let place = |indices| Place { space: Space::Global, offset: 4, indices, ty: Scalar::INT };
        for (at, known) in [(0, Some(4)), (2, Some(8)), (3, None), (-1, None), (i32::MIN, None)] {
            let mut folded = place(vec![index(at)]);
            Fold.place(&mut folded, Access::Read);
            match known {
                Some(offset) => assert_eq!(folded, Place { offset, ..place(vec![]) }),
                None => assert_eq!(folded, place(vec![index(at)])),
            }
        }
    }

    #[test]
    fn only_what_cannot_go_wrong_is_worked_out() {
        let number = |value: i32| Box::new(Expr::Const(value));
        let binary = |op, left, right| Expr::Binary(op, left, right);
        let two = binary(Binary::Sub, number(i32::MIN), number(i32::MAX - 1));
        assert_eq!(value(&two), Some(2));
        assert_eq!(value(&Expr::Unary(Unary::Not, Box::new(two))), Some(0));
        assert_eq!(value(&binary(Binary::Div, number(1), number(0))), None);
        assert_eq!(value(&binary(Binary::Rem, number(i32::MIN), number(-1))), Some(0));
        // What is on the right is not looked at then.
        assert_eq!(value(&binary(Binary::And, number(0), Box::new(Expr::Pid))), Some(0));
        assert_eq!(value(&binary(Binary::Or, number(-2), Box::new(Expr::Pid))), Some(1));
        assert_eq!(value(&binary(Binary::And, number(1), Box::new(Expr::Pid))), None);
        assert_eq!(value(&Expr::Cond(number(0), Box::new(Expr::Pid), number(7))), Some(7));
    }
}
