//! Actions: guard, effects, and what follows.

use super::{Emitter, Role};
use crate::diamonds::MASKED;
use crate::runtime::{self, Context, MOST_CHAINED, MOVED, OWN_CAUSE, UNWIND};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use ir::model::Step;
use ir::rows;
use ir::scalar::Repr;
use ir::source::Span;
use ir::system::{Action, ActionIdx, Expr, LocIdx, Op};
use std::mem::offset_of;

/// Which kinds of channels the action may have sent to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sends {
    pub rendezvous: bool,
    pub buffered: bool,
}

/// Whether an operation always runs, and without faults: what the reduction of
/// dead variables adds is like that.
fn is_harmless(op: &Op) -> bool {
    match op {
        Op::Assign(place, Expr::Const(_)) => place.indices.is_empty(),
        _ => *op == Op::Skip,
    }
}

impl Emitter<'_, '_> {
    /// Tries an action; jumps to `next` in the end.
    pub(super) fn action(&mut self, idx: ActionIdx, action: &Action, next: Block) {
        self.sends = Sends::default();
        let Some((first, rest)) = action.ops.split_first() else {
            return self.jump(self.give_up);
        };
        (self.first, self.action) = (idx, idx);
        (self.span, self.asserts) = (action.span, false);
        self.chain = self.chain(action);
        self.out = match self.can_only_succeed(action) {
            true => self.load_context(I64, offset_of!(Context, out)),
            false => self.next_frame,
        };
        self.rest_is_harmless = rest.iter().all(is_harmless);
        if let Op::Exit = first {
            return self.exit(idx, action, next);
        }
        if !self.first_op(first, next) {
            return self.jump(next);
        }
        self.copy();
        for op in rest {
            match op {
                Op::Skip | Op::Assign(..) | Op::Print { .. } => self.op(op, self.give_up),
                // What would block is passed over; nobody makes that.
                _ => self.give_up(),
            }
        }
        self.finish(idx, action, next);
    }

    /// The actions that follow in the same atomic sequence whatever the state is:
    /// each is the only one at its location, and does not block. They need no
    /// frame. (None comes twice: a sequence may go round in them for ever.)
    fn chain(&self, action: &Action) -> Vec<ActionIdx> {
        let system = self.facts.system;
        let proc = system.proc(self.proc);
        let plain = |op: &Op| matches!(op, Op::Skip | Op::Assign(..));
        // Failed assertions are told of one by one, blocks end otherwise.
        let begins = |op: &Op| {
            plain(op) || matches!(op, Op::Cond(_) | Op::Else | Op::Receive(_) | Op::Send { .. })
        };
        let mut chain = Vec::new();
        if proc.provided.is_some() || proc.deterministic || system.uses.timeout {
            return chain;
        }
        let mut last = action;
        if !last.ops.iter().all(begins) || self.may_meet(action) {
            return chain;
        }
        while let (true, Some(target)) = (last.atomic, last.target) {
            let [next] = proc.locations[target.idx()].actions[..] else { break };
            last = system.action(next);
            let follows = last.escape == 0 && !last.ops.is_empty() && last.ops.iter().all(plain);
            if !follows || chain.contains(&next) || chain.len() == MOST_CHAINED {
                break;
            }
            chain.push(next);
        }
        chain
    }

    /// Whether the action makes nothing but successors: it does not go on in
    /// an atomic sequence, and its message needs nobody to take it.
    fn can_only_succeed(&self, action: &Action) -> bool {
        let last = self.chain.last().map_or(action, |last| self.facts.system.action(*last));
        !last.atomic && !self.may_meet(action)
    }

    /// Whether its message may need somebody to take it.
    fn may_meet(&self, action: &Action) -> bool {
        match &action.ops[0] {
            Op::Send { chan, .. } => match self.facts.known_channel(self.proc, chan) {
                Some(known) => self.facts.system.chans[known.chan.idx()].slots == 0,
                None => self.facts.rendezvous,
            },
            _ => false,
        }
    }

    /// The operation that decides; false if it can never run in this role.
    fn first_op(&mut self, op: &Op, blocked: Block) -> bool {
        match (self.role, op) {
            (Role::Moves | Role::Told, Op::Else) => {
                let ran = self.b.use_var(self.ran);
                let alone = self.b.ins().icmp_imm(IntCC::Equal, ran, 0);
                self.require(alone, blocked);
            }
            (Role::Moves | Role::Told, Op::Block(block)) => self.block(block, blocked),
            (Role::Moves | Role::Told, _) | (Role::Receives, Op::Receive(_)) => {
                self.op(op, blocked);
            }
            (Role::Receives, Op::Block(block)) => {
                self.give_up_if_block_receives(block);
                return false;
            }
            (Role::Receives, _) => return false,
        }
        true
    }

    /// Runs an operation and goes on, or goes to `blocked` with nothing changed.
    pub(super) fn op(&mut self, op: &Op, blocked: Block) {
        match op {
            Op::Skip => {}
            Op::Cond(expr) => {
                let holds = self.b.create_block();
                self.branch(expr, holds, blocked);
                self.enter(holds);
            }
            Op::Assign(place, expr) => {
                let value = self.eval(expr);
                let offset = self.locate(place);
                self.copy();
                self.store_place(place, offset, value);
            }
            Op::Send { chan, sorted, args } => {
                self.each_channel(chan, |e, target| e.send(target, *sorted, args, blocked));
            }
            Op::Receive(receive) => {
                self.each_channel(&receive.chan, |e, target| e.receive(receive, target, blocked));
            }
            Op::Assert(expr) => {
                self.asserts = true;
                let (fails, holds) = (self.b.create_block(), self.b.create_block());
                self.b.set_cold_block(fails);
                self.branch(expr, holds, fails);
                self.enter(fails);
                let Span { file, start, end } = self.span;
                let [file, start, end] = [file, start, end].map(|n| self.int(n as i64));
                let function = runtime::failed as *const () as usize;
                self.call(function, &[self.context, file, start, end], false);
                self.jump(holds);
                self.enter(holds);
            }
            // Arguments are evaluated for their faults.
            Op::Print { args, .. } => {
                for arg in args {
                    self.eval(arg);
                }
            }
            Op::SetPriority { .. } | Op::Exit | Op::Block(_) | Op::Else => self.give_up(),
        }
    }

    /// The process ends if it is the youngest; its channels go with it.
    fn exit(&mut self, idx: ActionIdx, action: &Action, next: Block) {
        if self.role == Role::Receives {
            return self.jump(next);
        }
        let n_procs = self.load_context(I32, offset_of!(Context, n_procs));
        let number = self.b.ins().iadd_imm(self.pid, 1);
        let youngest = self.b.ins().icmp(IntCC::Equal, number, n_procs);
        self.require(youngest, next);
        if action.ops.len() > 1 || action.atomic || action.target.is_some() {
            return self.jump(self.give_up);
        }
        self.check_determinism(action);
        self.copy();
        let count = self.load_byte(self.facts.layout.count_at);
        let fewer = self.b.ins().iadd_imm(count, -1);
        self.store_byte(self.facts.layout.count_at, fewer);
        self.set_last();
        let action_idx = self.int(idx.0 as i64);
        let args = [self.context, self.out, self.pid, action_idx, self.at];
        self.call_and_go_on(runtime::ended as *const () as usize, &args);
        self.has_run(action.escape);
        self.jump(next);
    }

    fn store_byte(&mut self, at: usize, value: Value) {
        self.store(Repr::U8, super::place::Offset { known: at as i32, found: None }, value);
    }

    fn set_last(&mut self) {
        if let Some(at) = self.facts.layout.last_at {
            self.store_byte(at, self.pid);
        }
    }

    /// The process is at the action's target; the state goes on its way.
    fn finish(&mut self, idx: ActionIdx, action: &Action, next: Block) {
        self.move_to(action.target);
        if self.sends.rendezvous {
            let queue = self.b.use_var(self.handshake);
            if self.sends.buffered {
                let (meets, plain) = (self.b.create_block(), self.b.create_block());
                let none = self.b.ins().icmp_imm(IntCC::Equal, queue, -1);
                self.b.ins().brif(none, plain, &[], meets, &[]);
                self.enter(meets);
                self.meet(idx, action, queue);
                self.jump(next);
                self.enter(plain);
            } else {
                self.meet(idx, action, queue);
                return self.jump(next);
            }
        }
        self.check_determinism(action);
        let n_steps = self.follow();
        if self.facts.system.action(self.action).atomic {
            self.hand_over(runtime::atomic as *const () as usize);
        } else if self.asserts || self.out == self.next_frame {
            self.hand_over(runtime::successor as *const () as usize);
        } else {
            self.leave_in_rows();
        }
        if let Some(n_steps) = n_steps {
            self.set_steps(n_steps);
        }
        self.has_run(action.escape);
        self.jump(next);
    }

    fn move_to(&mut self, target: Option<LocIdx>) {
        if let Some(target) = target {
            let wide = self.facts.layout.wide_locations;
            let repr = if wide { Repr::Unsigned(16) } else { Repr::U8 };
            let target = self.int(target.0 as i64);
            self.store(repr, self.in_process(0), target);
        }
        self.set_last();
    }

    /// Runs the chain, if there is one; then returns how many steps there were
    /// before.
    fn follow(&mut self) -> Option<Value> {
        let chain = std::mem::take(&mut self.chain);
        if chain.is_empty() {
            return None;
        }
        let system = self.facts.system;
        let before = self.load_context(I64, offset_of!(Context, n_steps));
        let size = size_of::<Step>() as i64;
        let offset = self.b.ins().imul_imm(before, size);
        let at = self.b.ins().iadd(self.context, offset);
        for (i, &next) in chain.iter().enumerate() {
            self.note_step(at, offset_of!(Context, steps) + i * size_of::<Step>());
            self.set_reached();
            let action = system.action(next);
            (self.action, self.span) = (next, action.span);
            for op in &action.ops {
                self.op(op, self.give_up);
            }
            self.move_to(action.target);
        }
        let n_steps = self.b.ins().iadd_imm(before, chain.len() as i64);
        self.set_steps(n_steps);
        Some(before)
    }

    /// Writes down that the action has run.
    fn note_step(&mut self, at: Value, offset: usize) {
        let (flags, action) = (self.write_flags(), self.int(self.action.0 as i64));
        let place = |field: usize| (offset + field) as i32;
        self.b.ins().istore8(flags, self.pid, at, place(offset_of!(Step, process)));
        self.b.ins().store(flags, action, at, place(offset_of!(Step, action)));
    }

    fn set_steps(&mut self, n_steps: Value) {
        let (flags, at) = (self.write_flags(), offset_of!(Context, n_steps) as i32);
        self.b.ins().store(flags, n_steps, self.context, at);
    }

    /// Calls a function that takes the state.
    fn hand_over(&mut self, function: usize) {
        let action = self.int(self.action.0 as i64);
        self.call_and_go_on(function, &[self.context, self.out, self.pid, action]);
    }

    /// Makes the state the next of the sink's rows, if there is room.
    fn leave_in_rows(&mut self) {
        let [room, none, done] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(none);
        let limit = self.load_context(I64, offset_of!(Context, limit));
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, self.out, limit);
        self.b.ins().brif(fits, room, &[], none, &[]);
        self.enter(none);
        match self.role {
            // There is room for all that one state has, or nearly always.
            Role::Moves => self.jump(self.give_up),
            Role::Told | Role::Receives => {
                self.hand_over(runtime::successor as *const () as usize);
                self.jump(done);
            }
        }
        self.enter(room);
        let flags = self.write_flags();
        let at = offset_of!(Context, head) as i32;
        let head = self.b.ins().load(I8X16, flags, self.context, at);
        self.b.ins().store(flags, head, self.out, -(rows::HEAD as i32));
        self.set_cause();
        let stride = self.load_context(I64, offset_of!(Context, stride));
        let next = self.b.ins().iadd(self.out, stride);
        self.b.ins().store(flags, next, self.context, offset_of!(Context, out) as i32);
        self.count_event();
        self.set_reached();
        self.jump(done);
        self.enter(done);
    }

    fn count_event(&mut self) {
        let n_events = self.load_context(I64, offset_of!(Context, n_events));
        let n_events = self.b.ins().iadd_imm(n_events, 1);
        let (flags, at) = (self.write_flags(), offset_of!(Context, n_events) as i32);
        self.b.ins().store(flags, n_events, self.context, at);
    }

    /// Whether an action, the i-th of its location, is left out in some states.
    pub(super) fn may_skip(&self, idx: ActionIdx, i: usize) -> bool {
        let may_skip = self.facts.diamonds.may_skip.get(idx.idx());
        i < MASKED && self.role != Role::Receives && may_skip == Some(&true)
    }

    /// The action is enabled. Leaves if its successor is found another way.
    pub(super) fn skip_if_known(&mut self) {
        let Some((i, skip)) = self.skip else { return };
        let skips = self.load_context(I64, offset_of!(Context, skips));
        let bit = self.b.ins().band_imm(skips, 1 << i);
        let make = self.b.create_block();
        self.b.ins().brif(bit, skip, &[], make, &[]);
        self.enter(make);
    }

    /// Where an action is left out: it counts as one that has run.
    pub(super) fn skipped(&mut self, escape: u32, next: Block) {
        let Some((_, skip)) = self.skip.take() else { return };
        self.enter(skip);
        self.count_event();
        self.has_run(escape);
        self.jump(next);
    }

    /// Tells in the head what kind of action this is.
    fn set_cause(&mut self) {
        let diamonds = &self.facts.diamonds;
        let class = diamonds.classes.get(self.first.idx()).copied().unwrap_or(0);
        if class == 0 {
            return;
        }
        let mut cause = self.b.ins().bor_imm(self.pid, i64::from(class) << 8);
        if diamonds.in_sequence[self.first.idx()] {
            let first = self.load_context(I32, offset_of!(Context, cause));
            let own = self.b.ins().icmp_imm(IntCC::Equal, first, i64::from(OWN_CAUSE));
            cause = self.b.ins().select(own, cause, first);
        }
        let flags = self.write_flags();
        self.b.ins().istore16(flags, cause, self.out, -2);
    }

    /// Lets the other processes receive from the rendezvous channel.
    fn meet(&mut self, idx: ActionIdx, action: &Action, queue: Value) {
        let action_idx = self.int(idx.0 as i64);
        let args = [self.context, self.out, self.pid, action_idx, queue];
        let status = self.call(runtime::handshake as *const () as usize, &args, true);
        let status = status.expect("the function returns a value");
        let unwind = self.b.ins().icmp_imm(IntCC::Equal, status, UNWIND as i64);
        self.give_up_if(unwind);
        let ran = self.b.use_var(self.ran);
        let ran = self.b.ins().bor(ran, status);
        self.b.def_var(self.ran, ran);
        let escape = self.b.ins().imul_imm(status, action.escape as i64);
        self.b.def_var(self.escape, escape);
    }

    /// Notes that the action was run.
    pub(super) fn set_reached(&mut self) {
        let reached = self.load_context(I64, offset_of!(Context, reached_at));
        let (flags, yes) = (self.write_flags(), self.b.ins().iconst(I8, 1));
        self.b.ins().store(flags, yes, reached, self.action.0 as i32);
    }

    /// Two enabled statements in a `D_proctype` are a fault. As in Spin, a jump,
    /// a skip or an `else` may stand beside another.
    fn check_determinism(&mut self, action: &Action) {
        let free = matches!(action.ops[0], Op::Skip | Op::Else);
        if self.facts.system.proc(self.proc).deterministic && !free {
            let ran = self.b.use_var(self.ran);
            self.give_up_if(ran);
        }
    }

    fn call_and_go_on(&mut self, function: usize, args: &[Value]) {
        let status = self.call(function, args, true);
        self.give_up_if(status.expect("the function returns a value"));
    }

    fn has_run(&mut self, escape: u32) {
        let ran = self.int(MOVED as i64);
        self.b.def_var(self.ran, ran);
        let escape = self.int(escape as i64);
        self.b.def_var(self.escape, escape);
    }
}
