//! Expressions: 32-bit values. What only decides a branch is not made a value.

use super::Emitter;
use super::channel::Target;
use super::place::Offset;
use crate::runtime::{self, Context, Process};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use ir::scalar::Repr;
use ir::system::{Binary, Expr, Place, Unary};
use std::mem::{offset_of, size_of};

impl Emitter<'_, '_> {
    pub(super) fn eval(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(value) => self.int(*value as i64),
            Expr::Load(place) => self.load_place(place),
            Expr::Binary(Binary::And | Binary::Or, ..) => self.by_branch(expr),
            Expr::Binary(op, a, b) => match comparison(*op) {
                Some(code) => {
                    let flag = self.compare(code, a, b);
                    self.b.ins().uextend(I32, flag)
                }
                None => self.arithmetic(*op, a, b),
            },
            Expr::Unary(op, e) => {
                let value = self.eval(e);
                match op {
                    Unary::Neg => self.b.ins().ineg(value),
                    Unary::BitNot => self.b.ins().bnot(value),
                    Unary::Not => {
                        let flag = self.b.ins().icmp_imm(IntCC::Equal, value, 0);
                        self.b.ins().uextend(I32, flag)
                    }
                }
            }
            Expr::Cond(c, a, b) => self.conditional(c, a, b),
            Expr::Timeout => self.load_context(I32, offset_of!(Context, timeout)),
            Expr::Pid => self.pid,
            Expr::ProcessCount => self.load_byte(self.facts.layout.count_at),
            Expr::Last => match self.facts.layout.last_at {
                Some(at) => self.load_byte(at),
                None => self.int(0),
            },
            Expr::Len(c) => self.queue_len(c),
            Expr::Full(_) | Expr::NotFull(_) | Expr::Empty(_) | Expr::NotEmpty(_) => {
                let flag = self.queue_flag(expr);
                self.b.ins().uextend(I32, flag)
            }
            Expr::Poll(_) => self.by_branch(expr),
            _ => self.eval_other_process(expr),
        }
    }

    /// Goes to `yes` if the expression is not 0, else to `no`.
    pub(super) fn branch(&mut self, expr: &Expr, yes: Block, no: Block) {
        match expr {
            Expr::Const(value) => self.jump(if *value != 0 { yes } else { no }),
            Expr::Unary(Unary::Not, e) => self.branch(e, no, yes),
            Expr::Binary(Binary::And, a, b) => {
                let both = self.b.create_block();
                self.branch(a, both, no);
                self.enter(both);
                self.branch(b, yes, no);
            }
            Expr::Binary(Binary::Or, a, b) => {
                let neither = self.b.create_block();
                self.branch(a, yes, neither);
                self.enter(neither);
                self.branch(b, yes, no);
            }
            Expr::Poll(receive) => {
                let poll = |e: &mut Self, target: Target| {
                    e.poll(receive, target, no);
                    e.leave_for(yes);
                };
                self.each_channel(&receive.chan, poll);
                // Each channel has left for `yes` or `no`.
                self.jump(no);
            }
            _ => {
                let flag = self.flag(expr);
                self.b.ins().brif(flag, yes, &[], no, &[]);
            }
        }
    }

    /// A value that is 0 if and only if the expression is; of any width.
    fn flag(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Binary(op, a, b) => match comparison(*op) {
                Some(code) => self.compare(code, a, b),
                None => self.eval(expr),
            },
            Expr::Full(_) | Expr::NotFull(_) | Expr::Empty(_) | Expr::NotEmpty(_) => {
                self.queue_flag(expr)
            }
            _ => self.eval(expr),
        }
    }

    fn compare(&mut self, code: IntCC, a: &Expr, b: &Expr) -> Value {
        let a = self.eval(a);
        match b {
            Expr::Const(b) => self.b.ins().icmp_imm(code, a, *b as i64),
            _ => {
                let b = self.eval(b);
                self.b.ins().icmp(code, a, b)
            }
        }
    }

    /// 1 or 0, by a branch.
    fn by_branch(&mut self, expr: &Expr) -> Value {
        let (yes, no, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, I32);
        self.branch(expr, yes, no);
        for (block, value) in [(yes, 1), (no, 0)] {
            self.enter(block);
            let value = self.int(value);
            self.b.ins().jump(done, &[value.into()]);
        }
        self.enter(done);
        result
    }

    fn conditional(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Value {
        let (yes, no, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, I32);
        self.branch(c, yes, no);
        for (block, expr) in [(yes, a), (no, b)] {
            self.enter(block);
            let value = self.eval(expr);
            self.b.ins().jump(done, &[value.into()]);
        }
        self.enter(done);
        result
    }

    fn arithmetic(&mut self, op: Binary, a: &Expr, b: &Expr) -> Value {
        let a = self.eval(a);
        let b = self.eval(b);
        match op {
            Binary::Add => self.b.ins().iadd(a, b),
            Binary::Sub => self.b.ins().isub(a, b),
            Binary::Mul => self.b.ins().imul(a, b),
            Binary::BitAnd => self.b.ins().band(a, b),
            Binary::BitOr => self.b.ins().bor(a, b),
            Binary::BitXor => self.b.ins().bxor(a, b),
            // As the interpreter, Cranelift takes the amount modulo 32.
            Binary::Shl => self.b.ins().ishl(a, b),
            Binary::Shr => self.b.ins().sshr(a, b),
            _ => self.divide(op, a, b),
        }
    }

    /// Divides in 64 bits, where the smallest number by -1 does not overflow.
    /// (And in 32 bits this version of Cranelift gets a division by the smallest
    /// number wrong: wasmtime issue 11927.)
    fn divide(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        self.give_up_if(zero);
        let [a, b] = [a, b].map(|value| self.b.ins().sextend(I64, value));
        let result = match op {
            Binary::Div => self.b.ins().sdiv(a, b),
            _ => self.b.ins().srem(a, b),
        };
        self.b.ins().ireduce(I32, result)
    }

    pub(super) fn load_byte(&mut self, at: usize) -> Value {
        self.load(Repr::U8, Offset { known: at as i32, found: None })
    }

    /// Expressions that look at processes by number.
    fn eval_other_process(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Remote { pid, place } => self.of_process(pid, |e, at| e.remote(at, place)),
            Expr::At { pid, loc } => {
                let loc = loc.0;
                self.of_process(pid, |e, at| {
                    let location = e.location_at(at);
                    let flag = e.b.ins().icmp_imm(IntCC::Equal, location, loc as i64);
                    e.b.ins().uextend(I32, flag)
                })
            }
            Expr::PcValue(pid) => self.of_process(pid, |e, at| e.location_at(at)),
            // Models with priorities are interpreted.
            Expr::Priority(pid) => self.of_process(pid, |e, _| e.int(1)),
            Expr::TheProcess(proc) => {
                let proc = self.int(proc.0 as i64);
                let function = runtime::the_process as *const () as usize;
                let found = self.call(function, &[self.context, proc], true);
                found.expect("the function returns a value")
            }
            // `run`, `enabled`, `np_`.
            _ => {
                self.give_up();
                self.int(0)
            }
        }
    }

    /// What `value` makes of the place of process `pid`; 0 if there is none.
    fn of_process(&mut self, pid: &Expr, value: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let (found, done) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, I32);
        let pid = self.eval(pid);
        let n_procs = self.load_context(I32, offset_of!(Context, n_procs));
        let exists = self.b.ins().icmp(IntCC::UnsignedLessThan, pid, n_procs);
        let none = self.int(0);
        self.b.ins().brif(exists, found, &[], done, &[none.into()]);
        self.enter(found);
        let pid = self.b.ins().uextend(I64, pid);
        let entry = self.b.ins().imul_imm(pid, size_of::<Process>() as i64);
        let entry = self.b.ins().iadd(self.context, entry);
        let at = offset_of!(Context, procs) + offset_of!(Process, at);
        let flags = self.write_flags();
        let at = self.b.ins().uload32(flags, entry, at as i32);
        let value = value(self, at);
        self.b.ins().jump(done, &[value.into()]);
        self.enter(done);
        result
    }

    fn location_at(&mut self, at: Value) -> Value {
        let repr = if self.facts.layout.wide_locations { Repr::Unsigned(16) } else { Repr::U8 };
        self.load(repr, Offset { known: 0, found: Some(at) })
    }

    /// A variable of the process at `at`; 0 if that reaches beyond the state,
    /// as the type of the process is not checked.
    fn remote(&mut self, at: Value, place: &Place) -> Value {
        let known = (self.facts.layout.locals_at + place.offset as usize) as i32;
        let offset = self.indexed(Offset { known, found: Some(at) }, &place.indices);
        let (inside, done) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, I32);
        let len = self.load_context(I64, offset_of!(Context, len));
        let end = offset.known as i64 + place.ty.repr.size() as i64;
        let end = self.b.ins().iadd_imm(offset.found.unwrap_or(at), end);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, len);
        let none = self.int(0);
        self.b.ins().brif(fits, inside, &[], done, &[none.into()]);
        self.enter(inside);
        let value = self.load(place.ty.repr, offset);
        self.b.ins().jump(done, &[value.into()]);
        self.enter(done);
        result
    }
}

fn comparison(op: Binary) -> Option<IntCC> {
    Some(match op {
        Binary::Eq => IntCC::Equal,
        Binary::Ne => IntCC::NotEqual,
        Binary::Lt => IntCC::SignedLessThan,
        Binary::Le => IntCC::SignedLessThanOrEqual,
        Binary::Gt => IntCC::SignedGreaterThan,
        Binary::Ge => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}
