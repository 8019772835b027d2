//! Code of rules, routines and properties, instruction by instruction.
//!
//! Registers are variables of the function builder. Addresses are counted from
//! the row, in which the rule makes its successor; the frames lie elsewhere,
//! and register 0 tells how far. Every address comes from a place with known
//! bounds and indices that were checked, so loads and stores cannot leave them.

mod memory;
mod rule;

use super::context::{self, Context, DISCARD, DONE, GIVE_UP, Status};
use super::plan::Plan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use ir::rules::code::{Binary, Unary};
use ir::rules::{Code, FRAMES, Instr, MOST_FRAME, Reg, Rule, Rules, frame_step};
use std::borrow::Cow;
use std::mem::offset_of;

/// Something that becomes a function.
pub enum Piece<'r> {
    /// With its number.
    Rule(usize, &'r Rule, Plan<'r>),
    Routine(Cow<'r, Code>),
}

impl Piece<'_> {
    pub fn codes(&self) -> &[Code] {
        match self {
            Piece::Rule(_, _, plan) => plan.codes(),
            Piece::Routine(code) => std::slice::from_ref(code),
        }
    }

    pub fn signature(&self, call_conv: CallConv) -> Signature {
        match self {
            Piece::Rule(..) => rule_signature(call_conv),
            Piece::Routine(code) => routine_signature(call_conv, code.n_params),
        }
    }
}

pub fn rule_signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I64));
    signature
}

/// Context, row, frame and parameters; status and value.
fn routine_signature(call_conv: CallConv, n_params: u32) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend((0..3 + n_params).map(|_| AbiParam::new(I64)));
    signature.returns.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    signature
}

pub fn emit<'r>(mut b: FunctionBuilder, rules: &'r Rules, piece: &'r Piece<'r>) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    let (row, frame) = (b.declare_var(I64), b.declare_var(I64));
    let [give_up, discard, returned] = [(); 3].map(|()| b.create_block());
    b.set_cold_block(give_up);
    let call_conv = b.func.signature.call_conv;
    let mut emitter = Emitter {
        b,
        rules,
        call_conv,
        context: params[0],
        row,
        frame,
        give_up,
        is_rule: matches!(piece, Piece::Rule(..)),
        code: &NO_CODE,
        registers: Vec::new(),
        constants: Vec::new(),
        discard,
        returned,
        disabled: discard,
    };
    match piece {
        Piece::Rule(number, rule, plan) => emitter.rule(*number, rule, plan),
        Piece::Routine(code) => emitter.routine(code, &params),
    }
    emitter.b.seal_all_blocks();
    emitter.b.finalize();
}

/// The value of each register that is only ever set to one constant.
fn constants(code: &Code) -> Vec<Option<i64>> {
    let mut n_set = vec![0; code.n_regs as usize];
    let mut values = vec![None; code.n_regs as usize];
    n_set[..=code.n_params as usize].fill(2);
    for instr in &code.instrs {
        if let Some(to) = instr.target() {
            n_set[to.idx()] += 1;
        }
        if let Instr::Const { to, value } = instr {
            values[to.idx()] = Some(*value);
        }
    }
    values.iter().zip(n_set).map(|(value, n)| value.filter(|_| n == 1)).collect()
}

static NO_CODE: Code = Code { n_params: 0, n_regs: 0, frame: 0, instrs: Vec::new() };

struct Emitter<'a, 'r> {
    b: FunctionBuilder<'a>,
    rules: &'r Rules,
    call_conv: CallConv,
    context: Value,
    row: Variable,
    /// How far the own frame is from the row.
    frame: Variable,
    give_up: Block,
    is_rule: bool,
    /// What is being emitted, and its registers.
    code: &'r Code,
    registers: Vec<Variable>,
    constants: Vec<Option<i64>>,
    /// An assumption does not hold.
    discard: Block,
    /// The code has ended.
    returned: Block,
    /// The guard does not hold.
    disabled: Block,
}

impl<'r> Emitter<'_, 'r> {
    fn routine(&mut self, code: &'r Code, params: &[Value]) {
        self.begin(code);
        self.b.def_var(self.row, params[1]);
        for (register, value) in self.registers.clone().into_iter().zip(&params[2..]) {
            self.b.def_var(register, *value);
        }
        self.body();
        for (block, status) in
            [(self.returned, DONE), (self.give_up, GIVE_UP), (self.discard, DISCARD)]
        {
            self.b.switch_to_block(block);
            self.return_value(status, None);
        }
    }

    /// Gets ready to emit some code.
    fn begin(&mut self, code: &'r Code) {
        self.code = code;
        let others = (1..code.n_regs).map(|_| self.b.declare_var(I64));
        self.registers = [self.frame].into_iter().chain(others).collect();
        self.constants = constants(code);
    }

    /// The instructions, from the current block on.
    fn body(&mut self) {
        let counts = |instr: &Instr| matches!(instr, Instr::Tick(_) | Instr::Call { .. });
        let has_assumptions = !self.rules.assumptions.is_empty();
        if self.is_rule && (has_assumptions || self.code.instrs.iter().any(counts)) {
            let ticks = self.constant(ir::rules::code::MAX_TICKS as i64);
            self.b.ins().store(
                MemFlags::trusted(),
                ticks,
                self.context,
                field(offset_of!(Context, ticks)),
            );
        }
        let mut blocks: Vec<Option<Block>> = vec![None; self.code.instrs.len() + 1];
        for instr in &self.code.instrs {
            if let Instr::Jump(label) | Instr::Unless { label, .. } = instr {
                blocks[*label as usize].get_or_insert_with(|| self.b.create_block());
            }
        }
        let mut live = true;
        for (i, instr) in self.code.instrs.iter().enumerate() {
            if let Some(block) = blocks[i] {
                if live {
                    self.b.ins().jump(block, &[]);
                }
                self.b.switch_to_block(block);
                live = true;
            }
            if live {
                live = self.instr(instr, &blocks);
            }
        }
        if let Some(end) = blocks[self.code.instrs.len()] {
            if live {
                self.b.ins().jump(end, &[]);
            }
            self.b.switch_to_block(end);
            live = true;
        }
        if live {
            self.b.ins().jump(self.returned, &[]);
        }
    }

    /// Returns whether the code goes on behind the instruction.
    fn instr(&mut self, instr: &Instr, blocks: &[Option<Block>]) -> bool {
        let block = |label: &u32| blocks[*label as usize].expect("labels have blocks");
        match instr {
            Instr::Jump(label) => {
                self.b.ins().jump(block(label), &[]);
                return false;
            }
            Instr::Unless { condition, label } => {
                let condition = self.get(*condition);
                let on = self.b.create_block();
                self.b.ins().brif(condition, on, &[], block(label), &[]);
                self.b.switch_to_block(on);
            }
            Instr::Guard(condition) => self.unless(*condition, self.disabled),
            Instr::Assume(condition) => self.unless(*condition, self.discard),
            Instr::Return(value) => {
                if self.is_rule {
                    self.b.ins().jump(self.returned, &[]);
                } else {
                    let value = value.map(|value| self.get(value));
                    self.return_value(DONE, value);
                }
                return false;
            }
            Instr::Fail(_) => {
                self.b.ins().jump(self.give_up, &[]);
                return false;
            }
            Instr::Call { routine, args, result } => {
                let args: Vec<Value> = args.iter().map(|a| self.get(*a)).collect();
                let value = self.call(*routine, &args);
                if let Some(result) = result {
                    self.set(*result, value);
                }
            }
            other => self.simple(other),
        }
        true
    }

    /// An instruction that goes on to the next one, or gives up.
    fn simple(&mut self, instr: &Instr) {
        match instr {
            Instr::Const { to, value } => {
                let value = self.constant(*value);
                self.set(*to, value);
            }
            Instr::Copy { to, from } => {
                let value = self.get(*from);
                self.set(*to, value);
            }
            Instr::Unary { to, op, of } => {
                let of = self.get(*of);
                let value = match op {
                    Unary::Neg => self.b.ins().ineg(of),
                    Unary::BitNot => self.b.ins().bnot(of),
                    Unary::Not => {
                        let zero = self.b.ins().icmp_imm(IntCC::Equal, of, 0);
                        self.b.ins().uextend(I64, zero)
                    }
                };
                self.set(*to, value);
            }
            Instr::Binary { to, op, left, right, .. } => {
                let value = self.binary(*op, *left, *right);
                self.set(*to, value);
            }
            Instr::Read { to, at, width, low, .. } => {
                let raw = self.load(*at, *width);
                self.require(raw);
                let value = self.b.ins().iadd_imm(raw, low.wrapping_sub(1));
                self.set(*to, value);
            }
            Instr::Write { at, width, low, count, from, .. } => {
                let nth = self.bound(*from, *low, *count);
                let raw = self.b.ins().iadd_imm(nth, 1);
                self.store(*at, *width, raw);
            }
            Instr::Load { to, at, width } => {
                let raw = self.load(*at, *width);
                self.set(*to, raw);
            }
            Instr::Store { at, width, from } => {
                let raw = self.get(*from);
                self.store(*at, *width, raw);
            }
            Instr::Bound { value, low, count, .. } => {
                self.bound(*value, *low, *count);
            }
            Instr::Element { to, array, index, low, count, stride, .. } => {
                let nth = self.bound(*index, *low, *count);
                let far = self.b.ins().imul_imm(nth, i64::from(*stride));
                let array = self.distance(*array);
                let value = self.b.ins().iadd(array, far);
                self.set(*to, value);
            }
            Instr::Place { to, at } => {
                let value = self.distance(*at);
                self.set(*to, value);
            }
            Instr::Move { to, from, len } => self.move_bytes(*to, *from, *len),
            Instr::Zero { at, len } => self.zero_bytes(*at, *len),
            Instr::Same { to, left, right, len } => {
                let value = self.same_bytes(*left, *right, *len);
                self.set(*to, value);
            }
            Instr::Cover(cover) => {
                let covered = self.context_field(offset_of!(Context, covered));
                let one = self.b.ins().iconst(I8, 1);
                self.b.ins().store(MemFlags::trusted(), one, covered, *cover as i32);
            }
            Instr::Tick(_) => self.tick(),
            // What is printed is of interest in traces only.
            Instr::Put(_) => {}
            _ => unreachable!("these are the business of 'instr'"),
        }
    }

    fn binary(&mut self, op: Binary, left: Reg, right: Reg) -> Value {
        let (a, b) = (self.get(left), self.get(right));
        let compared = |emitter: &mut Self, cc| {
            let bit = emitter.b.ins().icmp(cc, a, b);
            emitter.b.ins().uextend(I64, bit)
        };
        match op {
            Binary::Add => self.b.ins().iadd(a, b),
            Binary::Sub => self.b.ins().isub(a, b),
            Binary::Mul => self.b.ins().imul(a, b),
            Binary::BitOr => self.b.ins().bor(a, b),
            Binary::BitXor => self.b.ins().bxor(a, b),
            Binary::BitAnd => self.b.ins().band(a, b),
            Binary::Eq => compared(self, IntCC::Equal),
            Binary::Ne => compared(self, IntCC::NotEqual),
            Binary::Lt => compared(self, IntCC::SignedLessThan),
            Binary::Le => compared(self, IntCC::SignedLessThanOrEqual),
            Binary::Div | Binary::Rem => self.divide(op, a, b),
            Binary::UnsignedLt => compared(self, IntCC::UnsignedLessThan),
            Binary::UnsignedLe => compared(self, IntCC::UnsignedLessThanOrEqual),
            Binary::UnsignedDiv => {
                self.require(b);
                self.b.ins().udiv(a, b)
            }
            Binary::UnsignedRem => {
                self.require(b);
                self.b.ins().urem(a, b)
            }
            Binary::UnsignedShr => {
                let function = context::shift_right_unsigned as *const () as usize;
                self.call_rust(function, &[a, b], true)
            }
            Binary::Shl => self.call_rust(context::shift_left as *const () as usize, &[a, b], true),
            Binary::Shr => {
                self.call_rust(context::shift_right as *const () as usize, &[a, b], true)
            }
        }
    }

    /// By -1 the machine would stop at the least number: a division by 1 and a
    /// change of sign instead.
    fn divide(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.require(b);
        let minus = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
        let one = self.constant(1);
        let divisor = self.b.ins().select(minus, one, b);
        if op == Binary::Rem {
            return self.b.ins().srem(a, divisor);
        }
        let quotient = self.b.ins().sdiv(a, divisor);
        let negative = self.b.ins().ineg(quotient);
        self.b.ins().select(minus, negative, quotient)
    }

    /// How far a value is from the least one; gives up if it is none.
    fn bound(&mut self, value: Reg, low: i64, count: u64) -> Value {
        if let Some(constant) = self.constants[value.idx()] {
            let nth = constant.wrapping_sub(low) as u64;
            if nth < count {
                return self.constant(nth as i64);
            }
        }
        let value = self.get(value);
        let nth = if low == 0 { value } else { self.b.ins().iadd_imm(value, low.wrapping_neg()) };
        let inside = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, nth, count as i64);
        self.require(inside);
        nth
    }

    /// Gives up if the value is 0.
    fn require(&mut self, value: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(value, on, &[], self.give_up, &[]);
        self.b.switch_to_block(on);
    }

    fn unless(&mut self, condition: Reg, out: Block) {
        let condition = self.get(condition);
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], out, &[]);
        self.b.switch_to_block(on);
    }

    fn tick(&mut self) {
        let at = field(offset_of!(Context, ticks));
        let ticks = self.b.ins().load(I64, MemFlags::trusted(), self.context, at);
        self.require(ticks);
        let left = self.b.ins().iadd_imm(ticks, -1);
        self.b.ins().store(MemFlags::trusted(), left, self.context, at);
    }

    fn constant(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I64, value)
    }

    fn get(&mut self, reg: Reg) -> Value {
        match self.constants[reg.idx()] {
            Some(value) => self.constant(value),
            None => self.b.use_var(self.registers[reg.idx()]),
        }
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.registers[reg.idx()], value);
    }

    fn set_var(&mut self, variable: Variable, value: i64) {
        let value = self.constant(value);
        self.b.def_var(variable, value);
    }

    fn add_to(&mut self, variable: Variable, by: i64) {
        let value = self.b.use_var(variable);
        let sum = self.b.ins().iadd_imm(value, by);
        self.b.def_var(variable, sum);
    }

    fn context_field(&mut self, offset: usize) -> Value {
        self.b.ins().load(I64, MemFlags::trusted(), self.context, field(offset))
    }

    /// Calls a routine or property; leaves if it does not end as it should.
    fn call(&mut self, number: u32, args: &[Value]) -> Value {
        let callee = self.callee(number);
        let frame = self.b.use_var(self.registers[0]);
        let frame = self.b.ins().iadd_imm(frame, frame_step(self.code) as i64);
        let row = self.b.use_var(self.row);
        // The frame of the callee must fit behind ours.
        let frames = self.context_field(offset_of!(Context, frames));
        let at = self.b.ins().iadd(row, frame);
        let used = self.b.ins().isub(at, frames);
        let most = (FRAMES - self.frame_of(number)) as i64;
        let fits = self.b.ins().icmp_imm(IntCC::SignedLessThanOrEqual, used, most);
        self.require(fits);
        let table = self.context_field(offset_of!(Context, routines));
        let slot = number as i32 * 8;
        let function = self.b.ins().load(I64, MemFlags::trusted(), table, slot);
        let signature = routine_signature(self.call_conv, callee.n_params);
        let signature = self.b.import_signature(signature);
        let mut arguments = vec![self.context, row, frame];
        arguments.extend_from_slice(args);
        let call = self.b.ins().call_indirect(signature, function, &arguments);
        let &[status, value] = self.b.inst_results(call) else {
            unreachable!("a routine returns two values")
        };
        let (wrong, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(wrong);
        self.b.ins().brif(status, wrong, &[], on, &[]);
        self.b.switch_to_block(wrong);
        let discarded = self.b.ins().icmp_imm(IntCC::Equal, status, DISCARD);
        self.b.ins().brif(discarded, self.discard, &[], self.give_up, &[]);
        self.b.switch_to_block(on);
        value
    }

    /// Bytes of the frame of what is called: properties are specialised.
    fn frame_of(&self, number: u32) -> usize {
        let routine = self.rules.routines.get(number as usize);
        routine.map_or(MOST_FRAME, |routine| routine.code.frame as usize)
    }

    fn callee(&self, number: u32) -> &'r Code {
        let (rules, number) = (self.rules, number as usize);
        match rules.routines.get(number) {
            Some(routine) => &routine.code,
            None => &rules.assumptions[number - rules.routines.len()].code,
        }
    }

    fn call_rust(&mut self, function: usize, args: &[Value], returns: bool) -> Value {
        let mut signature = Signature::new(self.call_conv);
        signature.params.extend(args.iter().map(|_| AbiParam::new(I64)));
        if returns {
            signature.returns.push(AbiParam::new(I64));
        }
        let signature = self.b.import_signature(signature);
        let function = self.constant(function as i64);
        let call = self.b.ins().call_indirect(signature, function, args);
        self.b.inst_results(call).first().copied().unwrap_or(function)
    }

    fn return_status(&mut self, status: Status) {
        let status = self.constant(status);
        self.b.ins().return_(&[status]);
    }

    fn return_value(&mut self, status: Status, value: Option<Value>) {
        let status = self.constant(status);
        let value = value.unwrap_or(status);
        self.b.ins().return_(&[status, value]);
    }
}

fn field(offset: usize) -> i32 {
    offset as i32
}
