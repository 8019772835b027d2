//! Code for one location: a function that tries its actions in order.
//!
//! Guards read `state`, which nobody changes. An action that is enabled copies the
//! state to `out` and changes it there; from then on it reads `out` (`Emitter::base`),
//! but for variables that it has not written: what was just written takes long to be
//! read. What can only become a successor is made where successors are
//! (`Context::out`), the rest in the buffer of the next frame. Whatever is not
//! mainstream jumps to `give_up`, which returns `UNWIND`: at that point nothing of the
//! action has been handed out.
//!
//! Callers' and callees' signatures are those of `runtime`.

mod action;
mod block;
mod channel;
mod expr;
mod place;
mod receive;
mod send;

use crate::facts::Facts;
use crate::runtime::{Context, STILL, UNWIND};
use action::Sends;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use ir::source::Span;
use ir::system::{ActionIdx, LocIdx, ProcIdx, Space};
use std::mem::offset_of;
use std::ops::Range;

/// Bytes that are copied at once.
const PIECE: usize = 16;
/// Bytes that are copied without a loop.
const UNROLLED_COPY: usize = 128;

/// Which function of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Successors stay in the rows. A function that makes nothing else calls nothing,
    /// so that it has no registers to save.
    Moves,
    /// The same for sinks that are told of each successor.
    Told,
    /// Only receives that complete a rendezvous.
    Receives,
}

/// Which copy of the state is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    State,
    Out,
}

pub struct Emitter<'a, 's> {
    b: FunctionBuilder<'a>,
    facts: &'a Facts<'s>,
    proc: ProcIdx,
    role: Role,
    call_conv: CallConv,
    context: Value,
    state: Value,
    /// Where the action makes its state.
    out: Value,
    /// The buffer of the next frame.
    next_frame: Value,
    /// Where the process is in the state.
    at: Value,
    pid: Value,
    /// The rendezvous channel, for `Role::Receives`.
    queue: Value,
    base: Base,
    /// What the action has written, or may have.
    written: Vec<(Space, Range<usize>)>,
    give_up: Block,
    /// Some action has run: `STILL` or `MOVED`.
    ran: Variable,
    /// The `unless` escape that has run.
    escape: Variable,
    /// The rendezvous channel the action has sent to, or -1.
    handshake: Variable,
    sends: Sends,
    /// The action has an assertion.
    asserts: bool,
    /// The action that is tried, and the one that runs: it, or one of the chain
    /// that follows.
    first: ActionIdx,
    action: ActionIdx,
    chain: Vec<ActionIdx>,
    /// Its number at the location, and where to go to leave it out, if it may be.
    skip: Option<(usize, Block)>,
    /// The statement, for assertions.
    span: Span,
    /// Its operations after the first cannot go wrong.
    rest_is_harmless: bool,
    /// Inside a `d_step`.
    in_block: bool,
}

pub fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    let types = [I64, I64, I64, I64, I32, I32];
    signature.params.extend(types.map(AbiParam::new));
    signature.returns.push(AbiParam::new(I32));
    signature
}

/// Fills the function of `b` with the code of a location.
pub fn emit(mut b: FunctionBuilder, facts: &Facts, proc: ProcIdx, loc: LocIdx, role: Role) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let &[context, state, out, at, pid, queue] = b.block_params(entry) else {
        unreachable!("the signature has six parameters")
    };
    let give_up = b.create_block();
    let [ran, escape, handshake] = [I32; 3].map(|ty| b.declare_var(ty));
    b.set_cold_block(give_up);
    let call_conv = b.func.signature.call_conv;
    let mut emitter = Emitter {
        b,
        facts,
        proc,
        role,
        call_conv,
        context,
        state,
        out,
        next_frame: out,
        at,
        pid,
        queue,
        base: Base::State,
        written: Vec::new(),
        give_up,
        ran,
        escape,
        handshake,
        sends: Sends::default(),
        asserts: false,
        first: ActionIdx(0),
        action: ActionIdx(0),
        chain: Vec::new(),
        skip: None,
        span: Span::NONE,
        rest_is_harmless: false,
        in_block: false,
    };
    emitter.location(loc);
    emitter.b.finalize();
}

impl Emitter<'_, '_> {
    fn location(&mut self, loc: LocIdx) {
        let system = self.facts.system;
        let proc = system.proc(self.proc);
        let none = self.b.ins().iconst(I32, STILL as i64);
        self.b.def_var(self.ran, none);
        self.b.def_var(self.escape, none);
        let end = self.b.create_block();
        if let Some(clause) = &proc.provided {
            let allowed = self.b.create_block();
            self.branch(clause, allowed, end);
            self.enter(allowed);
        }
        let actions = &proc.locations[loc.idx()].actions;
        let escapes = actions.iter().any(|a| system.action(*a).escape > 0);
        for (i, &idx) in actions.iter().enumerate() {
            let action = system.action(idx);
            if escapes && i > 0 {
                self.check_escape(action.escape, end);
            }
            let next = self.b.create_block();
            self.base = Base::State;
            self.written.clear();
            self.skip = self.may_skip(idx, i).then(|| (i, self.b.create_block()));
            self.action(idx, action, next);
            self.skipped(action.escape, next);
            self.enter(next);
        }
        self.jump(end);
        self.enter(end);
        let ran = self.b.use_var(self.ran);
        self.b.ins().return_(&[ran]);
        self.enter(self.give_up);
        let unwind = self.b.ins().iconst(I32, UNWIND as i64);
        self.b.ins().return_(&[unwind]);
        self.b.seal_all_blocks();
    }

    /// Once an escape has run, actions of another one are not tried.
    fn check_escape(&mut self, own: u32, end: Block) {
        let escape = self.b.use_var(self.escape);
        let next = self.b.create_block();
        if own == 0 {
            self.b.ins().brif(escape, end, &[], next, &[]);
        } else {
            let other = self.b.create_block();
            self.b.ins().brif(escape, other, &[], next, &[]);
            self.enter(other);
            let same = self.b.ins().icmp_imm(IntCC::Equal, escape, own as i64);
            self.b.ins().brif(same, next, &[], end, &[]);
        }
        self.enter(next);
    }

    /// Goes on in `block`, all jumps to which have been made.
    fn enter(&mut self, block: Block) {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    fn jump(&mut self, block: Block) {
        self.b.ins().jump(block, &[]);
    }

    /// Goes on if `condition` is not 0.
    fn require(&mut self, condition: Value, otherwise: Block) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, next, &[], otherwise, &[]);
        self.enter(next);
    }

    fn give_up_if(&mut self, condition: Value) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, self.give_up, &[], next, &[]);
        self.enter(next);
    }

    /// Leaves for `block`; what is emitted next is never run.
    fn leave_for(&mut self, block: Block) {
        self.jump(block);
        let dead = self.b.create_block();
        self.enter(dead);
    }

    fn give_up(&mut self) {
        self.leave_for(self.give_up);
    }

    fn int(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I32, value)
    }

    /// The start of a copy of the state.
    fn start(&self, base: Base) -> Value {
        match base {
            Base::State => self.state,
            Base::Out => self.out,
        }
    }

    /// For reads; `state` does not change while the function runs.
    fn read_flags(&self, base: Base) -> MemFlags {
        let flags = MemFlags::new().with_notrap();
        if base == Base::State { flags.with_readonly() } else { flags }
    }

    fn write_flags(&self) -> MemFlags {
        MemFlags::new().with_notrap()
    }

    /// Makes `out` a copy of the state, unless that was done.
    fn copy(&mut self) {
        if self.base == Base::Out {
            return;
        }
        self.skip_if_known();
        match self.facts.fixed_len {
            Some(len) if (PIECE..=UNROLLED_COPY).contains(&len) => {
                let (read, write) = (self.read_flags(Base::State), self.write_flags());
                let pieces = (0..len - PIECE).step_by(PIECE).chain([len - PIECE]);
                for at in pieces.map(|at| at as i32) {
                    let bytes = self.b.ins().load(I8X16, read, self.state, at);
                    self.b.ins().store(write, bytes, self.out, at);
                }
            }
            Some(len) => {
                let len = self.b.ins().iconst(I64, len as i64);
                self.copy_loop(len);
            }
            None => {
                let len = self.load_context(I64, offset_of!(Context, len));
                self.copy_loop(len);
            }
        }
        self.base = Base::Out;
    }

    /// Copies `len` bytes piece by piece, the last one overlapping the one before;
    /// short states byte by byte.
    fn copy_loop(&mut self, len: Value) {
        let [long, short, body, last, done] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(short);
        let at = self.b.append_block_param(body, I64);
        let rest = self.b.ins().iadd_imm(len, -(PIECE as i64));
        let is_short = self.b.ins().icmp_imm(IntCC::SignedLessThan, rest, 0);
        self.b.ins().brif(is_short, short, &[], long, &[]);
        self.enter(long);
        let zero = self.b.ins().iconst(I64, 0);
        self.b.ins().jump(body, &[zero.into()]);
        self.b.switch_to_block(body);
        self.copy_piece(at);
        let next = self.b.ins().iadd_imm(at, PIECE as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, rest);
        self.b.ins().brif(more, body, &[next.into()], last, &[]);
        self.b.seal_block(body);
        self.enter(last);
        self.copy_piece(rest);
        self.jump(done);
        self.enter(short);
        self.copy_short(len, done);
        self.enter(done);
    }

    /// Copies `len` bytes one by one, without a call; then goes on in `done`.
    fn copy_short(&mut self, len: Value, done: Block) {
        let [test, body] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(test);
        self.b.set_cold_block(body);
        let at = self.b.append_block_param(test, I64);
        let zero = self.b.ins().iconst(I64, 0);
        self.b.ins().jump(test, &[zero.into()]);
        self.b.switch_to_block(test);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.b.ins().brif(more, body, &[], done, &[]);
        self.enter(body);
        let (from, to) = (self.b.ins().iadd(self.state, at), self.b.ins().iadd(self.out, at));
        let flags = self.write_flags();
        let byte = self.b.ins().load(I8, flags, from, 0);
        self.b.ins().store(flags, byte, to, 0);
        let next = self.b.ins().iadd_imm(at, 1);
        self.b.ins().jump(test, &[next.into()]);
        self.b.seal_block(test);
    }

    fn copy_piece(&mut self, at: Value) {
        let flags = MemFlags::new().with_notrap();
        let (from, to) = (self.b.ins().iadd(self.state, at), self.b.ins().iadd(self.out, at));
        let bytes = self.b.ins().load(I8X16, flags, from, 0);
        self.b.ins().store(flags, bytes, to, 0);
    }

    /// Reads a field of the context; they change while native code waits.
    fn load_context(&mut self, ty: cranelift_codegen::ir::Type, offset: usize) -> Value {
        let flags = MemFlags::new().with_notrap().with_aligned();
        self.b.ins().load(ty, flags, self.context, offset as i32)
    }

    /// Calls a function of the runtime.
    fn call(&mut self, function: usize, args: &[Value], returns: bool) -> Option<Value> {
        let mut signature = Signature::new(self.call_conv);
        for arg in args {
            let ty = self.b.func.dfg.value_type(*arg);
            signature.params.push(AbiParam::new(ty));
        }
        if returns {
            signature.returns.push(AbiParam::new(I32));
        }
        let signature = self.b.import_signature(signature);
        let function = self.b.ins().iconst(I64, function as i64);
        let call = self.b.ins().call_indirect(signature, function, args);
        self.b.inst_results(call).first().copied()
    }
}
