//! The function of a rule: loops over its parameters, and what becomes of each
//! instance.

use super::super::Numbers;
use super::super::context::{self, Context, DONE, GIVE_UP};
use super::super::plan::Plan;
use super::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use ir::rules::{Code, Instr, Param, Reg, Rule};
use std::mem::offset_of;

#[derive(Clone, Copy)]
struct Loop {
    head: Block,
    /// How many values were taken before.
    nth: Variable,
}

/// Whether code may write to the state before a guard, so that an instance
/// that is not enabled leaves traces.
fn guard_writes(code: &Code) -> bool {
    // By instruction: seen before a write, and behind one.
    let mut seen = vec![[false; 2]; code.instrs.len() + 1];
    let mut waiting = vec![(0, false)];
    while let Some((pc, written)) = waiting.pop() {
        let Some(instr) = code.instrs.get(pc) else { continue };
        if std::mem::replace(&mut seen[pc][usize::from(written)], true) {
            continue;
        }
        match instr {
            Instr::Guard(_) if written => return true,
            Instr::Jump(label) => waiting.push((*label as usize, written)),
            Instr::Return(_) | Instr::Fail(_) => {}
            _ => waiting.push((pc + 1, written || writes(instr))),
        }
        if let Instr::Unless { label, .. } = instr {
            waiting.push((*label as usize, written));
        }
    }
    false
}

/// Whether an instruction may write to the state.
fn writes(instr: &Instr) -> bool {
    match instr {
        Instr::Write { at, .. } | Instr::Store { at, .. } | Instr::Zero { at, .. } => {
            at.base != Some(Reg::FRAME)
        }
        Instr::Move { to, .. } => to.base != Some(Reg::FRAME),
        Instr::Call { .. } => true,
        _ => false,
    }
}

impl<'r> Emitter<'_, 'r> {
    pub(super) fn rule(&mut self, number: usize, rule: &Rule, plan: &'r Plan) {
        self.enter_row();
        match plan {
            Plan::Unrolled(codes) => self.unrolled(number, codes),
            Plan::Looped(code) => self.looped(number, rule, code),
        }
        self.return_status(DONE);
        self.b.switch_to_block(self.give_up);
        self.return_status(GIVE_UP);
    }

    /// The code of each instance, one after the other.
    fn unrolled(&mut self, number: usize, codes: &'r [Code]) {
        for (i, code) in codes.iter().enumerate() {
            let instance = self.constant(i as i64);
            self.begin(code);
            let next = self.instance(number, instance, code);
            self.b.switch_to_block(next);
        }
    }

    /// A loop for each parameter, and the code inside of all.
    fn looped(&mut self, number: usize, rule: &Rule, code: &'r Code) {
        if rule.n_instances() == 0 {
            return;
        }
        let done = self.b.create_block();
        let instance = self.b.declare_var(I64);
        self.set_var(instance, 0);
        self.begin(code);
        let loops: Vec<Loop> = rule.params.iter().map(|_| self.new_loop()).collect();
        self.enter_loops(&rule.params, &loops, 0);
        let value = self.b.use_var(instance);
        let next = self.instance(number, value, code);
        self.b.switch_to_block(next);
        self.next_instance(&rule.params, &loops, instance, done);
        self.b.switch_to_block(done);
    }

    /// Tries an instance; returns the block in which to go on.
    fn instance(&mut self, number: usize, instance: Value, code: &'r Code) -> Block {
        [self.returned, self.discard] = [(); 2].map(|()| self.b.create_block());
        let next = self.b.create_block();
        self.disabled = if guard_writes(code) { self.discard } else { next };
        self.body();
        self.finish_instance(number, instance, next);
        next
    }

    /// What is done where the code has ended in one way or the other.
    fn finish_instance(&mut self, number: usize, instance: Value, next: Block) {
        self.b.switch_to_block(self.returned);
        let rule = self.constant(number as i64);
        let Numbers { assumptions, invariants, .. } = Numbers::of(self.rules);
        let unassumed = self.b.create_block();
        for property in assumptions..invariants {
            let holds = self.call(property as u32, &[]);
            let on = self.b.create_block();
            self.b.ins().brif(holds, on, &[], unassumed, &[]);
            self.b.switch_to_block(on);
        }
        let arguments = [self.context, rule, instance];
        let function = context::fired as *const () as usize;
        self.hand_out(function, &arguments, next);
        self.b.switch_to_block(unassumed);
        let function = context::unassumed as *const () as usize;
        self.hand_out(function, &arguments, next);
        self.b.switch_to_block(self.discard);
        let function = context::restore as *const () as usize;
        self.call_rust(function, &[self.context], false);
        self.b.ins().jump(next, &[]);
    }

    /// Has Rust take the successor; the row is another one then.
    fn hand_out(&mut self, function: usize, arguments: &[Value], next: Block) {
        let status = self.call_rust(function, arguments, true);
        let on = self.b.create_block();
        let stop = self.b.create_block();
        self.b.set_cold_block(stop);
        self.b.ins().brif(status, stop, &[], on, &[]);
        self.b.switch_to_block(stop);
        self.b.ins().return_(&[status]);
        self.b.switch_to_block(on);
        self.enter_row();
        self.b.ins().jump(next, &[]);
    }

    /// The row and the own frame, as the context has them now.
    fn enter_row(&mut self) {
        let row = self.context_field(offset_of!(Context, row));
        let frames = self.context_field(offset_of!(Context, frames));
        self.b.def_var(self.row, row);
        let frame = self.b.ins().isub(frames, row);
        self.b.def_var(self.frame, frame);
    }

    fn new_loop(&mut self) -> Loop {
        Loop { head: self.b.create_block(), nth: self.b.declare_var(I64) }
    }

    /// Begins the loops from number `from` on.
    fn enter_loops(&mut self, params: &[Param], loops: &[Loop], from: usize) {
        for (i, (param, a_loop)) in params.iter().zip(loops).enumerate().skip(from) {
            self.set_var(a_loop.nth, 0);
            self.set_var(self.registers[1 + i], param.low);
            self.b.ins().jump(a_loop.head, &[]);
            self.b.switch_to_block(a_loop.head);
        }
    }

    /// Goes on to the next choice of parameters: the last one changes first.
    fn next_instance(&mut self, params: &[Param], loops: &[Loop], instance: Variable, done: Block) {
        self.add_to(instance, 1);
        for (i, (param, a_loop)) in params.iter().zip(loops).enumerate().rev() {
            self.add_to(a_loop.nth, 1);
            self.add_to(self.registers[1 + i], param.step);
            let nth = self.b.use_var(a_loop.nth);
            let more = self.b.ins().icmp_imm(IntCC::NotEqual, nth, param.count as i64);
            let (again, out) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(more, again, &[], out, &[]);
            self.b.switch_to_block(again);
            self.restart_inner(params, loops, i);
            self.b.switch_to_block(out);
        }
        self.b.ins().jump(done, &[]);
    }

    /// Goes back to the head of a loop; those inside begin again there.
    fn restart_inner(&mut self, params: &[Param], loops: &[Loop], at: usize) {
        for (i, (param, a_loop)) in params.iter().zip(loops).enumerate().skip(at + 1) {
            self.set_var(a_loop.nth, 0);
            self.set_var(self.registers[1 + i], param.low);
        }
        let innermost = loops.last().expect("there is a loop to go back to");
        self.b.ins().jump(innermost.head, &[]);
    }
}
