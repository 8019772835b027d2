//! Multisets: slots, each with a byte in front that is 1 if it is taken.

use super::coder::{Binding, Coder};
use crate::murphi::model::{Choice, Expr, LocalId, Type, TypeId};
use ir::fault::FaultKind;
use ir::rules::code::Binary;
use ir::rules::{Address, Instr, Reg, Width};
use ir::source::Span;

impl Coder<'_, '_> {
    /// Element type and bytes of a slot.
    fn slot(&self, multiset: TypeId) -> (TypeId, u32) {
        match *self.lower.model.types.get(multiset) {
            Type::Multiset { element, .. } => (element, self.lower.bytes(element) as u32 + 1),
            _ => (TypeId::UNKNOWN, 1),
        }
    }

    fn multiset(&mut self, expr: &Expr) -> Address {
        self.place(expr).expect("a multiset is a place")
    }

    fn taken(&mut self, slot: Address) -> Reg {
        let to = self.register();
        self.emit(Instr::Load { to, at: slot, width: Width::W1 });
        to
    }

    /// Runs `body` for each element that is there, with the place of its slot.
    pub fn elements(
        &mut self,
        local: LocalId,
        multiset: &Expr,
        body: impl FnOnce(&mut Self, Address),
    ) {
        let at = self.multiset(multiset);
        let (count, (_, stride)) = (self.lower.n_slots(multiset.ty), self.slot(multiset.ty));
        self.counted(count, |coder, nth| {
            let slot = coder.nth(at, nth, 0, count, stride, 0);
            let taken = coder.taken(slot);
            let next = coder.unless(taken);
            coder.bind(local, Binding::Value(nth));
            coder.iteration(Some(count), multiset.span, |coder| body(coder, slot));
            coder.land(next);
        });
    }

    /// A rule is for elements that are there.
    pub fn guard_chosen(&mut self, choice: &Choice) {
        let Some(Binding::Value(nth)) = self.bindings[choice.local.0 as usize] else { return };
        let at = self.multiset(&choice.multiset);
        let count = self.lower.n_slots(choice.multiset.ty);
        let (_, stride) = self.slot(choice.multiset.ty);
        let slot = self.nth(at, nth, 0, count, stride, 0);
        let taken = self.taken(slot);
        self.emit(Instr::Guard(taken));
    }

    pub fn multiset_count(&mut self, choice: &Choice, condition: &Expr) -> Reg {
        let (sum, one) = (self.constant(0), self.constant(1));
        self.elements(choice.local, &choice.multiset, |coder, _| {
            let holds = coder.value(condition);
            let next = coder.unless(holds);
            let add = Instr::Binary { to: sum, op: Binary::Add, left: sum, right: one, failure: 0 };
            coder.emit(add);
            coder.land(next);
        });
        sum
    }

    pub fn multiset_add(&mut self, element: &Expr, multiset: &Expr, span: Span) {
        let (ty, stride) = self.slot(multiset.ty);
        // What is added is found first: it may be an element of the multiset.
        let value = self.temporary(ty);
        self.assign(value, ty, element);
        let at = self.multiset(multiset);
        let count = self.lower.n_slots(multiset.ty);
        let mut done = None;
        self.counted(count, |coder, nth| {
            let slot = coder.nth(at, nth, 0, count, stride, 0);
            let taken = coder.taken(slot);
            let free = coder.unless(taken);
            let next = coder.jump();
            coder.land(free);
            let one = coder.constant(1);
            coder.emit(Instr::Store { at: slot, width: Width::W1, from: one });
            coder.emit(Instr::Move { to: slot.plus(1), from: value, len: stride - 1 });
            done = Some(coder.jump());
            coder.land(next);
        });
        let message = format!("{} has no room for another element", self.quote(multiset.span));
        let failure = self.failure(FaultKind::MultisetFull, message, span);
        self.emit(Instr::Fail(failure));
        if let Some(done) = done {
            self.land(done);
        }
    }

    pub fn multiset_remove(&mut self, index: &Expr, multiset: &Expr, span: Span) {
        let nth = self.value(index);
        let at = self.multiset(multiset);
        let (_, stride) = self.slot(multiset.ty);
        let count = self.lower.n_slots(multiset.ty);
        let message = format!("there is no element {} in the multiset", self.quote(index.span));
        let failure = self.failure(FaultKind::UndefinedValue, message, span);
        let slot = self.nth(at, nth, 0, count, stride, failure);
        let taken = self.taken(slot);
        let missing = self.unless(taken);
        self.emit(Instr::Zero { at: slot, len: stride });
        let end = self.jump();
        self.land(missing);
        self.emit(Instr::Fail(failure));
        self.land(end);
    }

    pub fn multiset_remove_pred(&mut self, choice: &Choice, condition: &Expr) {
        let (_, stride) = self.slot(choice.multiset.ty);
        self.elements(choice.local, &choice.multiset, |coder, slot| {
            let holds = coder.value(condition);
            let next = coder.unless(holds);
            coder.emit(Instr::Zero { at: slot, len: stride });
            coder.land(next);
        });
    }
}
