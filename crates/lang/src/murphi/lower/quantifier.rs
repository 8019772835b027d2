//! Loops: of statements, of `forall` and `exists`, of properties in rulesets.

use super::coder::{Binding, Coder, Hole};
use crate::murphi::model::{Binder, Choice, Domain, Expr, Quantifier};
use ir::fault::FaultKind;
use ir::rules::code::Binary;
use ir::rules::{Instr, Reg};
use ir::source::Span;
use std::rc::Rc;

/// Loops with more iterations, those inside of each other multiplied, count them.
const SHORT: u64 = 64;

impl Coder<'_, '_> {
    fn binary(&mut self, op: Binary, left: Reg, right: Reg) -> Reg {
        let to = self.register();
        self.emit(Instr::Binary { to, op, left, right, failure: 0 });
        to
    }

    pub fn tick(&mut self, span: Span) {
        let message = "more than ten million iterations and calls".to_string();
        let failure = self.failure(FaultKind::EndlessLoop, message, span);
        self.emit(Instr::Tick(failure));
    }

    /// Runs `body` with a register that goes from 0 to `count - 1`.
    pub fn counted(&mut self, count: u64, body: impl FnOnce(&mut Self, Reg)) {
        let nth = self.constant(0);
        let (one, end) = (self.constant(1), self.constant(count as i64));
        let start = self.here();
        let more = self.binary(Binary::Ne, nth, end);
        let out = self.unless(more);
        body(self, nth);
        self.emit(Instr::Binary { to: nth, op: Binary::Add, left: nth, right: one, failure: 0 });
        self.emit(Instr::Jump(start));
        self.land(out);
    }

    /// The body of a loop of so many iterations, if that is known: counted when
    /// it runs, unless they are few.
    pub fn iteration(&mut self, count: Option<u64>, span: Span, body: impl FnOnce(&mut Self)) {
        let around = self.iterations;
        self.iterations = match count {
            Some(count) if around.saturating_mul(count) <= SHORT => around * count,
            _ => {
                self.tick(span);
                1
            }
        };
        body(self);
        self.iterations = around;
    }

    /// Runs `body` for each value of a quantifier.
    pub fn each(&mut self, quantifier: &Quantifier, body: impl FnOnce(&mut Self)) {
        let span = quantifier.span;
        let domain = self.lower.domain(&quantifier.domain);
        let (value, by, count) = match (domain, &quantifier.domain) {
            (Some((low, step, count)), _) => {
                let (value, by) = (self.constant(low), self.constant(step));
                (value, by, self.constant(count as i64))
            }
            (None, Domain::Steps { from, to, by }) => {
                // The checker puts in the step that is not given.
                let turns = by.span == span;
                self.steps(from, to, by, turns)
            }
            (None, Domain::Type(_)) => unreachable!("the values of a type are constants"),
        };
        self.bind(quantifier.local, Binding::Value(value));
        let (nth, one) = (self.constant(0), self.constant(1));
        let start = self.here();
        let more = self.binary(Binary::Ne, nth, count);
        let out = self.unless(more);
        self.iteration(domain.map(|(_, _, count)| count), span, body);
        let add = |to, right| Instr::Binary { to, op: Binary::Add, left: to, right, failure: 0 };
        self.emit(add(value, by));
        self.emit(add(nth, one));
        self.emit(Instr::Jump(start));
        self.land(out);
    }

    /// First value, step and number of steps of bounds that are found when the
    /// code runs. A step that was not given `turns` if the bounds are the other
    /// way round, as in Rumur; one that was given must not lead away from the end.
    fn steps(&mut self, from: &Expr, to: &Expr, by: &Expr, turns: bool) -> (Reg, Reg, Reg) {
        let first = self.value(from);
        // A copy: the loop changes it.
        let value = self.register();
        self.emit(Instr::Copy { to: value, from: first });
        let last = self.value(to);
        let step = self.register();
        let given = self.value(by);
        self.emit(Instr::Copy { to: step, from: given });
        let (zero, one) = (self.constant(0), self.constant(1));
        let distance = self.binary(Binary::Sub, last, first);
        let down = self.binary(Binary::Lt, distance, zero);
        if turns {
            let skip = self.unless(down);
            self.emit(Instr::Const { to: step, value: -1 });
            self.land(skip);
        }
        let message = "steps of 0 lead nowhere".to_string();
        let failure = self.failure(FaultKind::DivisionByZero, message, by.span);
        let n = self.register();
        self.emit(Instr::Binary { to: n, op: Binary::Div, left: distance, right: step, failure });
        let backwards = self.binary(Binary::Lt, step, zero);
        let right_way = self.binary(Binary::Eq, down, backwards);
        let nowhere = self.binary(Binary::Eq, distance, zero);
        let runs = self.binary(Binary::BitOr, right_way, nowhere);
        let wrong = self.unless(runs);
        let end = self.jump();
        self.land(wrong);
        let message = format!("steps of {} lead away from the end", self.quote(by.span));
        let failure = self.failure(FaultKind::EndlessLoop, message, by.span);
        self.emit(Instr::Fail(failure));
        self.land(end);
        let count = self.binary(Binary::Add, n, one);
        (value, step, count)
    }

    /// `forall` and `exists`.
    pub fn quantified(&mut self, forall: bool, quantifier: &Quantifier, body: &Expr) -> Reg {
        let result = self.constant(forall as i64);
        let mut done: Option<Hole> = None;
        self.each(quantifier, |coder| {
            let holds = coder.value(body);
            done = Some(coder.decide(holds, forall, result));
        });
        if let Some(done) = done {
            self.land(done);
        }
        result
    }

    /// Jumps out with the other result as soon as one condition decides.
    fn decide(&mut self, holds: Reg, forall: bool, result: Reg) -> Hole {
        let wrong = match forall {
            true => {
                let zero = self.constant(0);
                self.binary(Binary::Eq, holds, zero)
            }
            false => holds,
        };
        let next = self.unless(wrong);
        self.emit(Instr::Const { to: result, value: !forall as i64 });
        let done = self.jump();
        self.land(next);
        done
    }

    /// A property in rulesets: of all their instances, or of any (`cover`).
    pub fn property(&mut self, binders: &[Rc<Binder>], condition: &Expr, any: bool) {
        let result = self.constant(!any as i64);
        let mut exits = Vec::new();
        self.instances(binders, &mut |coder| {
            let holds = coder.value(condition);
            exits.push(coder.decide(holds, !any, result));
        });
        for exit in exits {
            self.land(exit);
        }
        self.emit(Instr::Return(Some(result)));
    }

    fn instances(&mut self, binders: &[Rc<Binder>], body: &mut dyn FnMut(&mut Self)) {
        let Some((first, rest)) = binders.split_first() else { return body(self) };
        match &**first {
            Binder::Quantifier(q) => self.each(q, |coder| coder.instances(rest, body)),
            Binder::Alias(alias) => {
                self.alias(alias);
                self.instances(rest, body);
            }
            Binder::Choose(Choice { local, multiset }) => {
                self.elements(*local, multiset, |coder, _| coder.instances(rest, body));
            }
        }
    }
}
