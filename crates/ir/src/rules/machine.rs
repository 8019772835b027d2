//! The machine: memory, and the execution of code in it.

use super::code::{Address, Binary, Code, FailureIdx, Instr, MAX_TICKS, Put, Reg};
use super::values::show;
use super::{Rules, Simple, Type};
use crate::fault::{Fault, FaultKind};

/// Bytes behind the state for the frames of locals.
pub const FRAMES: usize = 1 << 20;
/// Most bytes of one frame: larger ones are refused when a model is read.
pub const MAX_FRAME: usize = 1 << 16;
/// A call takes at least this much of them, which bounds recursion.
const LEAST_FRAME: usize = 2048;

/// How code ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Returned(Option<i64>),
    /// The guard does not hold.
    Disabled,
    /// An assumption does not hold.
    Discarded,
}

pub struct Machine<'r> {
    rules: &'r Rules,
    /// The state, and behind it the frames.
    pub memory: Vec<u8>,
    registers: Vec<i64>,
    ticks: u64,
    /// For each cover, whether it has been passed.
    pub covered: Vec<bool>,
    /// What was put, if someone wants to know.
    pub printed: Option<String>,
}

type Run<T> = Result<T, Box<Fault>>;

/// How far the frame of a call is behind that of its caller: its locals, and
/// no less than its registers and arguments may take of the machine's stack,
/// so that the frames bound that, too.
pub fn frame_step(caller: &Code) -> usize {
    let locals = (caller.frame as usize).next_multiple_of(16);
    locals.max(LEAST_FRAME).max(16 * caller.n_regs as usize)
}

impl<'r> Machine<'r> {
    pub fn new(rules: &'r Rules) -> Machine<'r> {
        Machine {
            rules,
            memory: vec![0; rules.size as usize + FRAMES],
            registers: Vec::new(),
            ticks: MAX_TICKS,
            covered: vec![false; rules.covers.len()],
            printed: None,
        }
    }

    pub fn state(&self) -> &[u8] {
        &self.memory[..self.rules.size as usize]
    }

    pub fn set_state(&mut self, state: &[u8]) {
        self.memory[..state.len()].copy_from_slice(state);
    }

    /// Ticks of what was run last.
    pub fn spent(&self) -> u64 {
        MAX_TICKS - self.ticks
    }

    /// Runs the code of a rule or property on the state.
    pub fn run(&mut self, code: &Code, args: &[i64]) -> Run<End> {
        self.ticks = MAX_TICKS;
        self.registers.clear();
        self.call(code, args, self.rules.size as usize)
    }

    fn call(&mut self, code: &Code, args: &[i64], frame: usize) -> Run<End> {
        let base = self.registers.len();
        self.registers.resize(base + code.n_regs as usize, 0);
        self.registers[base] = frame as i64;
        self.registers[base + 1..base + 1 + args.len()].copy_from_slice(args);
        let end = self.execute(code, base, frame);
        self.registers.truncate(base);
        end
    }

    fn execute(&mut self, code: &Code, base: usize, frame: usize) -> Run<End> {
        let mut pc = 0;
        while let Some(instr) = code.instrs.get(pc) {
            pc += 1;
            match instr {
                Instr::Jump(label) => pc = *label as usize,
                Instr::Unless { condition, label } => {
                    if self.get(base, *condition) == 0 {
                        pc = *label as usize;
                    }
                }
                Instr::Guard(condition) if self.get(base, *condition) == 0 => {
                    return Ok(End::Disabled);
                }
                Instr::Assume(condition) if self.get(base, *condition) == 0 => {
                    return Ok(End::Discarded);
                }
                Instr::Guard(_) | Instr::Assume(_) => {}
                Instr::Return(value) => {
                    return Ok(End::Returned(value.map(|value| self.get(base, value))));
                }
                Instr::Call { routine, args, result } => {
                    let callee = &self.rules.routines[*routine as usize].code;
                    let args: Vec<i64> = args.iter().map(|a| self.get(base, *a)).collect();
                    let next = frame + frame_step(code);
                    if next + callee.frame as usize > self.memory.len() {
                        return self.too_deep(*routine);
                    }
                    match self.call(callee, &args, next)? {
                        End::Returned(value) => {
                            if let (Some(result), Some(value)) = (result, value) {
                                self.set(base, *result, value);
                            }
                        }
                        end => return Ok(end),
                    }
                }
                simple => self.step(base, simple)?,
            }
        }
        Ok(End::Returned(None))
    }

    /// An instruction that goes on to the next one.
    fn step(&mut self, base: usize, instr: &Instr) -> Run<()> {
        match instr {
            Instr::Const { to, value } => self.set(base, *to, *value),
            Instr::Copy { to, from } => self.set(base, *to, self.get(base, *from)),
            Instr::Unary { to, op, of } => {
                let value = op.apply(self.get(base, *of));
                self.set(base, *to, value);
            }
            Instr::Binary { to, op, left, right, failure } => {
                let (left, right) = (self.get(base, *left), self.get(base, *right));
                match Binary::apply(*op, left, right) {
                    Some(value) => self.set(base, *to, value),
                    None => return self.fail(*failure),
                }
            }
            Instr::Read { to, at, width, low, failure } => {
                match width.load(&self.memory, self.at(base, *at)) {
                    0 => return self.fail(*failure),
                    raw => self.set(base, *to, low.wrapping_add((raw - 1) as i64)),
                }
            }
            Instr::Write { at, width, low, count, from, failure } => {
                let value = self.bound(base, *from, *low, *count, *failure)?;
                let at = self.at(base, *at);
                width.store(&mut self.memory, at, value + 1);
            }
            Instr::Load { to, at, width } => {
                let raw = width.load(&self.memory, self.at(base, *at));
                self.set(base, *to, raw as i64);
            }
            Instr::Store { at, width, from } => {
                let (at, raw) = (self.at(base, *at), self.get(base, *from) as u64);
                width.store(&mut self.memory, at, raw);
            }
            Instr::Bound { value, low, count, failure } => {
                self.bound(base, *value, *low, *count, *failure)?;
            }
            Instr::Element { to, array, index, low, count, stride, failure } => {
                let nth = self.bound(base, *index, *low, *count, *failure)?;
                let at = self.at(base, *array) as i64 + nth as i64 * i64::from(*stride);
                self.set(base, *to, at);
            }
            Instr::Place { to, at } => self.set(base, *to, self.at(base, *at) as i64),
            Instr::Move { to, from, len } => {
                let (to, from) = (self.at(base, *to), self.at(base, *from));
                self.memory.copy_within(from..from + *len as usize, to);
            }
            Instr::Zero { at, len } => {
                let at = self.at(base, *at);
                self.memory[at..at + *len as usize].fill(0);
            }
            Instr::Same { to, left, right, len } => {
                let (left, right) = (self.at(base, *left), self.at(base, *right));
                let len = *len as usize;
                let same = self.memory[left..left + len] == self.memory[right..right + len];
                self.set(base, *to, same as i64);
            }
            Instr::Cover(cover) => self.covered[*cover as usize] = true,
            Instr::Fail(failure) => return self.fail(*failure),
            Instr::Tick(failure) => match self.ticks.checked_sub(1) {
                Some(left) => self.ticks = left,
                None => return self.fail(*failure),
            },
            Instr::Put(put) => self.put(base, put),
            Instr::Jump(_)
            | Instr::Unless { .. }
            | Instr::Guard(_)
            | Instr::Assume(_)
            | Instr::Call { .. }
            | Instr::Return(_) => unreachable!("these are the business of 'execute'"),
        }
        Ok(())
    }

    fn get(&self, base: usize, reg: Reg) -> i64 {
        self.registers[base + reg.idx()]
    }

    fn set(&mut self, base: usize, reg: Reg, value: i64) {
        self.registers[base + reg.idx()] = value;
    }

    fn at(&self, base: usize, address: Address) -> usize {
        let from = address.base.map_or(0, |reg| self.get(base, reg));
        (from + address.offset) as usize
    }

    /// How far a value is from the least one.
    fn bound(
        &self,
        base: usize,
        value: Reg,
        low: i64,
        count: u64,
        failure: FailureIdx,
    ) -> Run<u64> {
        let value = self.get(base, value);
        let nth = value.wrapping_sub(low) as u64;
        if nth < count {
            return Ok(nth);
        }
        self.fail(failure).map_err(|mut fault: Box<Fault>| {
            fault.message += &format!(": it is {value}");
            fault
        })
    }

    fn fail<T>(&self, failure: FailureIdx) -> Run<T> {
        let failure = &self.rules.failures[failure as usize];
        let message = failure.message.clone();
        Err(Box::new(Fault { kind: failure.kind, message, span: failure.span }))
    }

    fn too_deep<T>(&self, routine: u32) -> Run<T> {
        let name = &self.rules.routines[routine as usize].name;
        let message = format!("calls of '{name}' are nested too deeply");
        let span = self.rules.routines[routine as usize].span;
        Err(Box::new(Fault { kind: FaultKind::RecursionDepth, message, span }))
    }

    fn put(&mut self, base: usize, put: &Put) {
        if self.printed.is_none() {
            return;
        }
        let text = match put {
            Put::Text(text) => self.rules.texts[*text as usize].clone(),
            Put::Number(reg) => self.get(base, *reg).to_string(),
            Put::Value { value, ty } => match self.rules.ty(*ty) {
                Type::Simple(Simple { low, .. }) => {
                    let raw = self.get(base, *value).wrapping_sub(*low) as u64 + 1;
                    super::values::show_simple(self.rules, *ty, raw)
                }
                _ => String::new(),
            },
            Put::Place { name, at, ty } => {
                let name = &self.rules.texts[*name as usize];
                show(self.rules, name, *ty, &self.memory, self.at(base, *at)) + "\n"
            }
        };
        if let Some(printed) = &mut self.printed {
            printed.push_str(&text);
        }
    }
}
