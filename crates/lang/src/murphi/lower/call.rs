//! Functions and their calls.
//!
//! A parameter that is passed by value arrives as it is in memory, undefined
//! or not, and is kept in the callee's frame; a value with parts as the place
//! to copy it from. A `var` parameter arrives as its place.

use super::coder::{Binding, Coder};
use crate::murphi::model::{Expr, ExprKind, Function, FunctionId, LocalId, LocalKind, TypeId};
use ir::fault::FaultKind;
use ir::rules::code::Binary;
use ir::rules::{Address, Instr, Reg};

impl<'m> Coder<'_, 'm> {
    pub fn function(&mut self, function: &'m Function) {
        let params: Vec<Reg> = (0..function.n_params).map(|_| self.param()).collect();
        if let Some(Some(ty)) = self.returns
            && !self.is_simple(ty)
        {
            let reg = self.param();
            self.result = Some(Address { base: Some(reg), offset: 0 });
        }
        for (i, (reg, local)) in params.into_iter().zip(&function.locals).enumerate() {
            let place = Address { base: Some(reg), offset: 0 };
            let at = match local.kind {
                LocalKind::RefParam => place,
                _ => {
                    let at = self.temporary(local.ty);
                    if self.is_simple(local.ty) {
                        let width = self.lower.width(local.ty);
                        self.emit(Instr::Store { at, width, from: reg });
                    } else {
                        let len = self.lower.bytes(local.ty) as u32;
                        self.emit(Instr::Move { to: at, from: place, len });
                    }
                    at
                }
            };
            self.bind(LocalId(i as u32), Binding::Place(at));
        }
        self.zero_variables();
        // Calls count as iterations do: recursion may branch.
        self.tick(function.span);
        self.stmts(&function.body);
        if function.result.is_some() {
            let message = format!("'{}' ends without a result", function.name);
            let failure = self.failure(FaultKind::NoReturn, message, function.span);
            self.emit(Instr::Fail(failure));
        }
    }

    /// Calls a function; a simple result is in the register that is returned,
    /// one with parts where `result` says.
    pub fn call(&mut self, id: FunctionId, args: &[Expr], result: Option<Address>) -> Option<Reg> {
        let function = &self.lower.model.functions[id.0 as usize];
        let mut passed = Vec::new();
        let mut back = Vec::new();
        for (arg, param) in args.iter().zip(&function.locals) {
            let reg = match param.kind {
                LocalKind::RefParam => {
                    let at = self.place(arg).expect("a 'var' parameter is a place");
                    if self.is_simple(param.ty) && arg.ty != param.ty {
                        let copy = self.temporary(param.ty);
                        let raw = self.raw(arg, param.ty);
                        let width = self.lower.width(param.ty);
                        self.emit(Instr::Store { at: copy, width, from: raw });
                        back.push((at, arg, copy, param.ty));
                        self.reference(copy)
                    } else {
                        self.reference(at)
                    }
                }
                _ if self.is_simple(param.ty) => self.raw(arg, param.ty),
                _ => {
                    let at = self.place(arg).expect("a value with parts is a place");
                    self.reference(at)
                }
            };
            passed.push(reg);
        }
        passed.extend(result.map(|at| self.reference(at)));
        let simple = function.result.is_some_and(|ty| self.is_simple(ty));
        if let (Some(ty), None, false) = (function.result, result, simple) {
            // Nobody wants it, but it needs a place.
            let at = self.temporary(ty);
            passed.push(self.reference(at));
        }
        let value = simple.then(|| self.register());
        self.emit(Instr::Call { routine: id.0, args: passed, result: value });
        for (at, arg, copy, ty) in back {
            self.copy_back(at, arg, copy, ty);
        }
        value
    }

    fn reference(&mut self, at: Address) -> Reg {
        let to = self.register();
        self.emit(Instr::Place { to, at });
        to
    }

    /// A simple value as memory of another type would hold it: 0 if undefined.
    pub fn raw(&mut self, arg: &Expr, ty: TypeId) -> Reg {
        let raw = self.register();
        if let ExprKind::Undefined = arg.kind {
            self.emit(Instr::Const { to: raw, value: 0 });
            return raw;
        }
        let mut undefined = None;
        let value = match self.place(arg) {
            Some(at) => {
                let width = self.lower.width(arg.ty);
                self.emit(Instr::Load { to: raw, at, width });
                if arg.ty == ty {
                    return raw;
                }
                undefined = Some(self.unless(raw));
                self.read_at(at, arg.ty, arg.span)
            }
            None => self.value(arg),
        };
        let value = self.coerce(value, arg.ty, ty, arg.span);
        let (low, count) = self.lower.bounds(ty);
        let failure = self.out_of_range(arg.span, ty);
        self.emit(Instr::Bound { value, low, count, failure });
        let less = self.constant(low.wrapping_sub(1));
        let sub = Instr::Binary { to: raw, op: Binary::Sub, left: value, right: less, failure: 0 };
        self.emit(sub);
        if let Some(undefined) = undefined {
            self.land(undefined);
        }
        raw
    }

    /// After a call: what the copy of a `var` argument has become.
    fn copy_back(&mut self, at: Address, arg: &Expr, copy: Address, ty: TypeId) {
        let raw = self.register();
        let width = self.lower.width(ty);
        self.emit(Instr::Load { to: raw, at: copy, width });
        let (own, low) = (self.lower.width(arg.ty), self.lower.bounds(ty).0);
        let undefined = self.unless(raw);
        let less = self.constant(low.wrapping_sub(1));
        let value = self.register();
        let add = Instr::Binary { to: value, op: Binary::Add, left: raw, right: less, failure: 0 };
        self.emit(add);
        let value = self.coerce(value, ty, arg.ty, arg.span);
        self.write(at, arg.ty, value, arg.span);
        let end = self.jump();
        self.land(undefined);
        self.emit(Instr::Store { at, width: own, from: raw });
        self.land(end);
    }
}
