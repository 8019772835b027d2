//! Visits every expression and place of an operation: `look` to know them,
//! `change` to put others in their place.

/// What an operation does to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// A variable of another process.
    Remote,
}

/// The visitor and what leads it around, with `mut` or without.
macro_rules! visits {
    ($($mut:tt)?) => {
        use super::Access;
        use crate::system::{Expr, Field, Init, Node, Op, Place, Receive, System};

        pub trait Visitor {
            /// Called before what is inside the expression is visited.
            fn expr(&mut self, _expr: &$($mut)? Expr) {}
            fn place(&mut self, _place: &$($mut)? Place, _access: Access) {}
            /// Called before an expression is visited that says which channel is
            /// used or looked at.
            fn channel(&mut self, _chan: &$($mut)? Expr) {}
        }

        pub fn visit_op(op: &$($mut)? Op, v: &mut dyn Visitor) {
            match op {
                Op::Skip | Op::Else | Op::Exit => {}
                Op::Cond(expr) | Op::Assert(expr) => visit_expr(expr, v),
                Op::Assign(place, expr) => {
                    visit_expr(expr, v);
                    visit_place(place, Access::Write, v);
                }
                Op::Send { chan, args, .. } => {
                    visit_channel(chan, v);
                    for arg in args {
                        visit_expr(arg, v);
                    }
                }
                Op::Receive(receive) => visit_receive(receive, v),
                Op::Print { args, .. } => {
                    for arg in args {
                        visit_expr(arg, v);
                    }
                }
                Op::SetPriority { pid, priority } => {
                    visit_expr(pid, v);
                    visit_expr(priority, v);
                }
                Op::Block(block) => {
                    for guard in &$($mut)? block.guards {
                        visit_op(guard, v);
                    }
                    for node in &$($mut)? block.nodes {
                        if let Node::Do { op, .. } = node {
                            visit_op(op, v);
                        }
                    }
                }
            }
        }

        fn visit_channel(chan: &$($mut)? Expr, v: &mut dyn Visitor) {
            v.channel(chan);
            visit_expr(chan, v);
        }

        fn visit_receive(receive: &$($mut)? Receive, v: &mut dyn Visitor) {
            visit_channel(&$($mut)? receive.chan, v);
            for field in &$($mut)? receive.fields {
                match field {
                    Field::Match(expr) => visit_expr(expr, v),
                    Field::Bind(place) => visit_place(place, Access::Write, v),
                    Field::Any => {}
                }
            }
        }

        fn visit_place(place: &$($mut)? Place, access: Access, v: &mut dyn Visitor) {
            v.place(place, access);
            for index in &$($mut)? place.indices {
                visit_expr(&$($mut)? index.expr, v);
            }
        }

        pub fn visit_expr(expr: &$($mut)? Expr, v: &mut dyn Visitor) {
            v.expr(expr);
            match expr {
                Expr::Load(place) => visit_place(place, Access::Read, v),
                Expr::Remote { pid, place } => {
                    visit_expr(pid, v);
                    visit_place(place, Access::Remote, v);
                }
                Expr::At { pid: e, .. }
                | Expr::Unary(_, e)
                | Expr::Enabled(e)
                | Expr::PcValue(e)
                | Expr::Priority(e) => visit_expr(e, v),
                Expr::Len(c)
                | Expr::Full(c)
                | Expr::Empty(c)
                | Expr::NotFull(c)
                | Expr::NotEmpty(c) => visit_channel(c, v),
                Expr::Binary(_, a, b) => {
                    visit_expr(a, v);
                    visit_expr(b, v);
                }
                Expr::Cond(c, a, b) => {
                    visit_expr(c, v);
                    visit_expr(a, v);
                    visit_expr(b, v);
                }
                Expr::Poll(receive) => visit_receive(receive, v),
                Expr::Run { args, .. } => {
                    for arg in args {
                        visit_expr(arg, v);
                    }
                }
                Expr::Const(_)
                | Expr::Timeout
                | Expr::Pid
                | Expr::ProcessCount
                | Expr::Last
                | Expr::TheProcess(_)
                | Expr::NonProgress => {}
            }
        }

        pub fn visit_inits(inits: &$($mut)? [Init], v: &mut dyn Visitor) {
            for init in inits {
                if let Init::Assign(place, expr) = init {
                    visit_expr(expr, v);
                    visit_place(place, Access::Write, v);
                }
            }
        }

        /// Everything in the system.
        pub fn visit_system(system: &$($mut)? System, v: &mut dyn Visitor) {
            visit_inits(&$($mut)? system.globals.init, v);
            for proc in &$($mut)? system.procs {
                visit_inits(&$($mut)? proc.frame.init, v);
                for place in &$($mut)? proc.params {
                    visit_place(place, Access::Write, v);
                }
                if let Some(clause) = &$($mut)? proc.provided {
                    visit_expr(clause, v);
                }
                for claim in &$($mut)? proc.claims {
                    visit_expr(&$($mut)? claim.chan, v);
                }
            }
            for action in &$($mut)? system.actions {
                for op in &$($mut)? action.ops {
                    visit_op(op, v);
                }
            }
        }
    };
}

pub mod look {
    visits!();
}

pub mod change {
    visits!(mut);
}
