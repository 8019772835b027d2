//! Code that is specialised for what is known of it in advance: parameters of
//! an instance, counters of loops, the places of variables. Loops over known
//! ranges are unrolled, calls are replaced by what they call, conditions that
//! are known are followed.
//!
//! The specialiser runs through the code and keeps what each register is known
//! to hold. What depends on memory is left to the new code. Where ways through
//! the code meet they go on together if all that is known is the same, and
//! apart if it is not: nothing that is known is ever forgotten, so the new code
//! may be much longer, and is given up beyond a limit.
//!
//! Invariant: the new code does to memory what the old one did, and ends in the
//! same way. It prints nothing, calls may run out of frames sooner, and its own
//! frame, with all those inside, takes no more than `MOST_FRAME`.

mod link;
mod live;
#[cfg(test)]
mod tests;

use super::code::{Address, Code, Instr, Read, Reg, Unary};
use super::{FRAMES, Rules, frame_step};
use live::Live;
use std::collections::HashMap;
use std::rc::Rc;

/// Most bytes of a frame of new code.
pub const MOST_FRAME: usize = FRAMES / 2;
/// Calls inside of each other that are replaced.
const MAX_DEPTH: usize = 8;
/// Registers times instructions of code that is looked at.
const MAX_WORK: usize = 1 << 22;

/// What is known of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Number(i64),
    /// A place so far behind the start of the frame.
    Place(i64),
    /// 0 or 1.
    Bit,
    Nothing,
}

/// Makes code for known arguments; `None` if it would have more instructions
/// than `limit`.
pub fn specialise(
    rules: &Rules,
    code: &Code,
    arguments: &[Option<i64>],
    limit: usize,
) -> Option<Code> {
    if limit == 0 {
        return None;
    }
    let mut specialiser = Specialiser::new(rules, limit);
    let top = specialiser.source(code)?;
    let registers: Vec<Reg> = (0..code.n_regs).map(Reg).collect();
    specialiser.n_regs = code.n_regs;
    let mut known = vec![Known::Number(0); code.n_regs as usize];
    known[0] = Known::Place(0);
    for (i, argument) in arguments.iter().enumerate() {
        known[1 + i] = argument.map_or(Known::Nothing, Known::Number);
    }
    specialiser.frame = code.frame as usize;
    let activation =
        Activation { code: top, pc: 0, known, registers: registers.into(), frame: 0, result: None };
    specialiser.enter(vec![activation]);
    while let Some((block, stack)) = specialiser.waiting.pop() {
        specialiser.follow(block, stack)?;
    }
    let (n_regs, constants) = (specialiser.n_regs, specialiser.constants);
    let instrs = link::link(specialiser.blocks, constants);
    let frame = specialiser.frame as u32;
    Some(Code { n_params: code.n_params, n_regs, frame, instrs })
}

/// A call that has not ended: of a routine, or of the code itself.
#[derive(Clone)]
struct Activation<'r> {
    code: Rc<Source<'r>>,
    pc: usize,
    known: Vec<Known>,
    /// Those of the new code, for what is not known.
    registers: Rc<[Reg]>,
    /// How far its frame is behind that of the new code.
    frame: usize,
    /// The caller's register that gets what is returned.
    result: Option<Reg>,
}

/// Code to be specialised.
struct Source<'r> {
    code: &'r Code,
    /// The routine that it is.
    routine: Option<u32>,
    /// By instruction, whether some other one jumps there.
    is_target: Vec<bool>,
    live: Live,
}

/// A place of the old code, and what matters of what is known there.
#[derive(PartialEq, Eq, Hash)]
struct Point {
    /// Of all activations.
    places: Vec<(Option<u32>, usize)>,
    known: Vec<(u32, u32, Known)>,
}

type Stack<'r> = Vec<Activation<'r>>;
type BlockIdx = u32;

fn top_of<'s, 'r>(stack: &'s mut Stack<'r>) -> &'s mut Activation<'r> {
    stack.last_mut().expect("the code has not ended")
}

struct Specialiser<'r> {
    rules: &'r Rules,
    routines: HashMap<u32, Rc<Source<'r>>>,
    /// Registers of routines that are called at a depth.
    registers: HashMap<(usize, u32), Rc<[Reg]>>,
    n_regs: u32,
    frame: usize,
    constants: HashMap<i64, Reg>,
    /// The new code; labels are numbers of blocks.
    blocks: Vec<Vec<Instr>>,
    n_instrs: usize,
    limit: usize,
    points: HashMap<Point, BlockIdx>,
    waiting: Vec<(BlockIdx, Stack<'r>)>,
}

impl<'r> Specialiser<'r> {
    fn new(rules: &'r Rules, limit: usize) -> Specialiser<'r> {
        Specialiser {
            rules,
            routines: HashMap::new(),
            registers: HashMap::new(),
            n_regs: 0,
            frame: 0,
            constants: HashMap::new(),
            blocks: Vec::new(),
            n_instrs: 0,
            limit,
            points: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    fn source(&self, code: &'r Code) -> Option<Rc<Source<'r>>> {
        if code.instrs.len() * code.n_regs as usize > MAX_WORK {
            return None;
        }
        let mut is_target = vec![false; code.instrs.len() + 1];
        for instr in &code.instrs {
            if let Instr::Jump(label) | Instr::Unless { label, .. } = instr {
                is_target[*label as usize] = true;
            }
        }
        Some(Rc::new(Source { code, routine: None, is_target, live: Live::of(code) }))
    }

    fn routine(&mut self, number: u32) -> Option<Rc<Source<'r>>> {
        if let Some(source) = self.routines.get(&number) {
            return Some(source.clone());
        }
        let rules = self.rules;
        let mut source = self.source(&rules.routines[number as usize].code)?;
        Rc::get_mut(&mut source)?.routine = Some(number);
        self.routines.insert(number, source.clone());
        Some(source)
    }

    /// The block that goes on with a stack.
    fn enter(&mut self, stack: Stack<'r>) -> BlockIdx {
        let point = Point::of(&stack);
        if let Some(block) = self.points.get(&point) {
            return *block;
        }
        let block = self.blocks.len() as BlockIdx;
        self.blocks.push(Vec::new());
        self.points.insert(point, block);
        self.waiting.push((block, stack));
        block
    }

    /// Fills a block; `None` if the new code gets too long.
    fn follow(&mut self, block: BlockIdx, mut stack: Stack<'r>) -> Option<()> {
        let mut out = Vec::new();
        let mut is_first = true;
        loop {
            let top = top_of(&mut stack);
            if self.n_instrs + out.len() > self.limit {
                return None;
            }
            if top.code.is_target[top.pc] && !is_first {
                let next = self.enter(stack);
                out.push(Instr::Jump(next));
                break;
            }
            is_first = false;
            if !self.step(&mut stack, &mut out)? {
                break;
            }
        }
        self.n_instrs += out.len();
        self.blocks[block as usize] = out;
        Some(())
    }

    /// Goes on by one instruction; false if the block ends with it.
    fn step(&mut self, stack: &mut Stack<'r>, out: &mut Vec<Instr>) -> Option<bool> {
        let top = top_of(stack);
        let code = top.code.code;
        let instr = code.instrs.get(top.pc).unwrap_or(&Instr::Return(None));
        top.pc += 1;
        match instr {
            Instr::Jump(label) => top.pc = *label as usize,
            Instr::Unless { condition, label } => match top.known(*condition) {
                Known::Number(0) => top.pc = *label as usize,
                Known::Number(_) => {}
                known => self.branch(stack, *condition, known, *label, out),
            },
            Instr::Return(value) => return Some(self.leave(stack, *value, out)),
            Instr::Fail(_) => {
                out.push(instr.clone());
                return Some(false);
            }
            Instr::Call { routine, args, result } => self.call(stack, *routine, args, *result, out),
            Instr::Put(_) => {}
            Instr::Guard(condition) | Instr::Assume(condition) => match top.known(*condition) {
                Known::Number(0) => {
                    self.keep(top, instr, out);
                    out.push(Instr::Return(None));
                    return Some(false);
                }
                Known::Number(_) => {}
                _ => self.keep(top, instr, out),
            },
            simple => self.simple(top, simple, out),
        }
        Some(true)
    }

    /// A condition that is not known: it is in each of the two ways on.
    fn branch(
        &mut self,
        stack: &mut Stack<'r>,
        condition: Reg,
        known: Known,
        label: u32,
        out: &mut Vec<Instr>,
    ) {
        debug_assert!(!matches!(known, Known::Place(_)), "a place is no condition");
        let mut other = stack.clone();
        let top = top_of(stack);
        let register = top.registers[condition.idx()];
        if known == Known::Bit {
            top.known[condition.idx()] = Known::Number(1);
        }
        let away = top_of(&mut other);
        away.known[condition.idx()] = Known::Number(0);
        away.pc = label as usize;
        let label = self.enter(other);
        out.push(Instr::Unless { condition: register, label });
    }

    /// The end of a call; false if it is that of all code.
    fn leave(&mut self, stack: &mut Stack<'r>, value: Option<Reg>, out: &mut Vec<Instr>) -> bool {
        let ended = stack.pop().expect("the code has not ended");
        let Some(caller) = stack.last_mut() else {
            let value = value.map(|value| self.operand(&ended, value, out));
            out.push(Instr::Return(value));
            return false;
        };
        if let (Some(result), Some(value)) = (ended.result, value) {
            let known = ended.known(value);
            caller.known[result.idx()] = known;
            if matches!(known, Known::Bit | Known::Nothing) {
                let (to, from) = (caller.registers[result.idx()], ended.registers[value.idx()]);
                out.push(Instr::Copy { to, from });
            }
        }
        true
    }

    fn call(
        &mut self,
        stack: &mut Stack<'r>,
        routine: u32,
        args: &[Reg],
        result: Option<Reg>,
        out: &mut Vec<Instr>,
    ) {
        let depth = stack.len();
        let again = stack.iter().any(|activation| activation.code.routine == Some(routine));
        let top = top_of(stack);
        let callee = self.routine(routine).filter(|_| depth < MAX_DEPTH && !again);
        let frame = top.frame + frame_step(top.code.code);
        let fits = |callee: &Source| frame + callee.code.frame as usize <= MOST_FRAME;
        let Some(callee) = callee.filter(|callee| fits(callee)) else {
            let args = args.iter().map(|arg| self.operand(top, *arg, out)).collect();
            let result = result.map(|result| {
                top.known[result.idx()] = Known::Nothing;
                top.registers[result.idx()]
            });
            out.push(Instr::Call { routine, args, result });
            // What it calls begins no sooner than in the old code.
            self.frame = self.frame.max(frame);
            return;
        };
        let n_regs = callee.code.n_regs;
        let registers = self.registers.entry((depth, routine)).or_insert_with(|| {
            let first = self.n_regs;
            self.n_regs += n_regs;
            (first..first + n_regs).map(Reg).collect()
        });
        let registers = registers.clone();
        let mut known = vec![Known::Number(0); n_regs as usize];
        known[0] = Known::Place(frame as i64);
        for (i, arg) in args.iter().enumerate() {
            known[1 + i] = top.known(*arg);
            if matches!(known[1 + i], Known::Bit | Known::Nothing) {
                let from = top.registers[arg.idx()];
                out.push(Instr::Copy { to: registers[1 + i], from });
            }
        }
        self.frame = self.frame.max(frame + callee.code.frame as usize);
        stack.push(Activation { code: callee, pc: 0, known, registers, frame, result });
    }

    /// An instruction that goes on to the next one.
    fn simple(&mut self, top: &mut Activation<'r>, instr: &Instr, out: &mut Vec<Instr>) {
        match instr {
            Instr::Bound { value, low, count, .. } if top.nth(*value, *low, *count).is_some() => {}
            Instr::Element { to, array, index, low, count, stride, .. } => {
                match top.nth(*index, *low, *count) {
                    Some(nth) => {
                        let at = array.plus(nth * u64::from(*stride));
                        self.simple(top, &Instr::Place { to: *to, at }, out);
                    }
                    None => self.keep(top, instr, out),
                }
            }
            _ => match top.evaluate(instr) {
                Some((to, known)) => top.known[to.idx()] = known,
                None => self.keep(top, instr, out),
            },
        }
    }

    /// Leaves an instruction to the new code.
    fn keep(&mut self, top: &mut Activation<'r>, instr: &Instr, out: &mut Vec<Instr>) {
        let mut new = instr.clone();
        new.for_each_read(&mut |read| match read {
            Read::Reg(reg) => *reg = self.operand(top, *reg, out),
            Read::At(at) => *at = top.address(*at),
        });
        if let Some(to) = new.target_mut() {
            top.known[to.idx()] = top.left_open(instr);
            *to = top.registers[to.idx()];
        }
        out.push(new);
    }

    /// A register of the new code that holds what an old one does.
    fn operand(&mut self, of: &Activation, reg: Reg, out: &mut Vec<Instr>) -> Reg {
        match of.known(reg) {
            Known::Number(value) => self.constant(value),
            Known::Place(offset) => {
                let to = self.fresh();
                let at = Address { base: Some(Reg::FRAME), offset };
                out.push(Instr::Place { to, at });
                to
            }
            Known::Bit | Known::Nothing => of.registers[reg.idx()],
        }
    }

    fn constant(&mut self, value: i64) -> Reg {
        if let Some(reg) = self.constants.get(&value) {
            return *reg;
        }
        let reg = self.fresh();
        self.constants.insert(value, reg);
        reg
    }

    fn fresh(&mut self) -> Reg {
        self.n_regs += 1;
        Reg(self.n_regs - 1)
    }
}

impl Activation<'_> {
    fn known(&self, reg: Reg) -> Known {
        self.known[reg.idx()]
    }

    fn number(&self, reg: Reg) -> Option<i64> {
        match self.known(reg) {
            Known::Number(value) => Some(value),
            _ => None,
        }
    }

    /// How far a value is from the least one, if that is known, and it is one
    /// of the `count`.
    fn nth(&self, value: Reg, low: i64, count: u64) -> Option<u64> {
        let nth = self.number(value)?.wrapping_sub(low) as u64;
        (nth < count).then_some(nth)
    }

    fn address(&self, at: Address) -> Address {
        let Some(base) = at.base else { return at };
        match self.known(base) {
            Known::Number(place) => Address { base: None, offset: place + at.offset },
            Known::Place(place) => Address { base: Some(Reg::FRAME), offset: place + at.offset },
            Known::Bit | Known::Nothing => Address { base: Some(self.registers[base.idx()]), ..at },
        }
    }

    /// The register that an instruction sets, and to what, if that is known.
    fn evaluate(&self, instr: &Instr) -> Option<(Reg, Known)> {
        let (to, value) = match instr {
            Instr::Const { to, value } => (to, *value),
            Instr::Copy { to, from } => {
                let known = self.known(*from);
                let is_known = matches!(known, Known::Number(_) | Known::Place(_));
                return is_known.then_some((*to, known));
            }
            Instr::Unary { to, op, of } => (to, op.apply(self.number(*of)?)),
            Instr::Binary { to, op, left, right, .. } => {
                (to, op.apply(self.number(*left)?, self.number(*right)?)?)
            }
            Instr::Place { to, at } => match self.address(*at) {
                Address { base: None, offset } => (to, offset),
                Address { base: Some(Reg::FRAME), offset } => {
                    return Some((*to, Known::Place(offset)));
                }
                _ => return None,
            },
            _ => return None,
        };
        Some((*to, Known::Number(value)))
    }

    /// What is known of the result of an instruction that is left to the new code.
    fn left_open(&self, instr: &Instr) -> Known {
        match instr {
            Instr::Copy { from, .. } => self.known(*from),
            Instr::Unary { op: Unary::Not, .. } | Instr::Same { .. } => Known::Bit,
            Instr::Binary { op, .. } if op.compares() => Known::Bit,
            _ => Known::Nothing,
        }
    }
}

impl Point {
    fn of(stack: &Stack) -> Point {
        let places = stack.iter().map(|a| (a.code.routine, a.pc)).collect();
        let mut known = Vec::new();
        for (depth, activation) in stack.iter().enumerate() {
            for reg in activation.code.live.at(activation.pc) {
                known.push((depth as u32, reg, activation.known[reg as usize]));
            }
        }
        Point { places, known }
    }
}
