//! Code of rules, routines and properties: instructions on registers and on
//! memory, which is a state with the frames of locals behind it.
//!
//! Registers hold numbers of 64 bits; arithmetic wraps around. Register 0 is
//! the place of the own frame, the parameters follow. An address is a place in
//! memory, counted from the start of the state; so references to variables of
//! the state and to locals are the same.

/// A register of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

impl Reg {
    /// Where the locals of the code are.
    pub const FRAME: Reg = Reg(0);

    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Bytes that a simple value takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    W1,
    W2,
    W4,
    W8,
}

impl Width {
    /// What so many values and `undefined` need.
    pub fn of(count: u64) -> Width {
        match count {
            0..=0xFF => Width::W1,
            0x100..=0xFFFF => Width::W2,
            0x1_0000..=0xFFFF_FFFF => Width::W4,
            _ => Width::W8,
        }
    }

    pub fn bytes(self) -> u32 {
        match self {
            Width::W1 => 1,
            Width::W2 => 2,
            Width::W4 => 4,
            Width::W8 => 8,
        }
    }

    #[inline(always)]
    pub fn load(self, memory: &[u8], at: usize) -> u64 {
        match self {
            Width::W1 => memory[at].into(),
            Width::W2 => u16::from_le_bytes([memory[at], memory[at + 1]]).into(),
            Width::W4 => {
                let bytes = memory[at..at + 4].try_into().expect("four bytes");
                u32::from_le_bytes(bytes).into()
            }
            Width::W8 => {
                let bytes = memory[at..at + 8].try_into().expect("eight bytes");
                u64::from_le_bytes(bytes)
            }
        }
    }

    #[inline(always)]
    pub fn store(self, memory: &mut [u8], at: usize, value: u64) {
        match self {
            Width::W1 => memory[at] = value as u8,
            Width::W2 => memory[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
            Width::W4 => memory[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
            Width::W8 => memory[at..at + 8].copy_from_slice(&value.to_le_bytes()),
        }
    }
}

/// A place in memory: what a register holds, and some bytes further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    pub base: Option<Reg>,
    pub offset: i64,
}

impl Address {
    pub fn plus(self, bytes: u64) -> Address {
        Address { offset: self.offset + bytes as i64, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Code {
    /// Parameters, in registers 1 and up.
    pub n_params: u32,
    pub n_regs: u32,
    /// Bytes of locals.
    pub frame: u32,
    pub instrs: Vec<Instr>,
}

/// A place in the code.
pub type Label = u32;
/// A place in `Rules::failures`.
pub type FailureIdx = u32;

#[derive(Debug, Clone, PartialEq)]
pub enum Instr {
    Const {
        to: Reg,
        value: i64,
    },
    Copy {
        to: Reg,
        from: Reg,
    },
    Unary {
        to: Reg,
        op: Unary,
        of: Reg,
    },
    /// `failure` is for divisions by zero.
    Binary {
        to: Reg,
        op: Binary,
        left: Reg,
        right: Reg,
        failure: FailureIdx,
    },
    /// A simple value; it is a failure if it is undefined.
    Read {
        to: Reg,
        at: Address,
        width: Width,
        low: i64,
        failure: FailureIdx,
    },
    /// It is a failure if the value is not one of the `count` from `low` on.
    Write {
        at: Address,
        width: Width,
        low: i64,
        count: u64,
        from: Reg,
        failure: FailureIdx,
    },
    /// What is in memory, undefined or not.
    Load {
        to: Reg,
        at: Address,
        width: Width,
    },
    Store {
        at: Address,
        width: Width,
        from: Reg,
    },
    /// It is a failure if the value is not one of the `count` from `low` on.
    Bound {
        value: Reg,
        low: i64,
        count: u64,
        failure: FailureIdx,
    },
    /// Where the element with this index is in an array of `count` from `low` on.
    Element {
        to: Reg,
        array: Address,
        index: Reg,
        low: i64,
        count: u64,
        stride: u32,
        failure: FailureIdx,
    },
    /// A reference.
    Place {
        to: Reg,
        at: Address,
    },
    Move {
        to: Address,
        from: Address,
        len: u32,
    },
    Zero {
        at: Address,
        len: u32,
    },
    Same {
        to: Reg,
        left: Address,
        right: Address,
        len: u32,
    },
    Jump(Label),
    /// Goes there if the register is 0.
    Unless {
        condition: Reg,
        label: Label,
    },
    /// The rule is not enabled if the register is 0.
    Guard(Reg),
    /// The state is not looked at if the register is 0.
    Assume(Reg),
    /// The cover of this number has been passed.
    Cover(u32),
    Call {
        routine: u32,
        args: Vec<Reg>,
        result: Option<Reg>,
    },
    /// Ends the code.
    Return(Option<Reg>),
    Fail(FailureIdx),
    /// In loops that might not end; too many of them are a failure.
    Tick(FailureIdx),
    Put(Put),
}

/// What an instruction takes: the value of a register, or an address.
pub enum Read<'i> {
    Reg(&'i mut Reg),
    At(&'i mut Address),
}

impl Instr {
    /// The register that is set.
    pub fn target(&self) -> Option<Reg> {
        self.clone().target_mut().copied()
    }

    pub fn target_mut(&mut self) -> Option<&mut Reg> {
        match self {
            Instr::Const { to, .. }
            | Instr::Copy { to, .. }
            | Instr::Unary { to, .. }
            | Instr::Binary { to, .. }
            | Instr::Read { to, .. }
            | Instr::Load { to, .. }
            | Instr::Element { to, .. }
            | Instr::Place { to, .. }
            | Instr::Same { to, .. } => Some(to),
            Instr::Call { result, .. } => result.as_mut(),
            _ => None,
        }
    }

    /// All that is read.
    pub fn for_each_read(&mut self, visit: &mut dyn FnMut(Read)) {
        match self {
            Instr::Const { .. }
            | Instr::Jump(_)
            | Instr::Cover(_)
            | Instr::Return(None)
            | Instr::Fail(_)
            | Instr::Tick(_)
            | Instr::Put(Put::Text(_)) => {}
            Instr::Copy { from: reg, .. }
            | Instr::Unary { of: reg, .. }
            | Instr::Bound { value: reg, .. }
            | Instr::Unless { condition: reg, .. }
            | Instr::Guard(reg)
            | Instr::Assume(reg)
            | Instr::Return(Some(reg))
            | Instr::Put(Put::Number(reg) | Put::Value { value: reg, .. }) => visit(Read::Reg(reg)),
            Instr::Binary { left, right, .. } => {
                visit(Read::Reg(left));
                visit(Read::Reg(right));
            }
            Instr::Read { at, .. }
            | Instr::Load { at, .. }
            | Instr::Place { at, .. }
            | Instr::Zero { at, .. }
            | Instr::Put(Put::Place { at, .. }) => visit(Read::At(at)),
            Instr::Write { at, from, .. }
            | Instr::Store { at, from, .. }
            | Instr::Element { array: at, index: from, .. } => {
                visit(Read::At(at));
                visit(Read::Reg(from));
            }
            Instr::Move { to: left, from: right, .. } | Instr::Same { left, right, .. } => {
                visit(Read::At(left));
                visit(Read::At(right));
            }
            Instr::Call { args, .. } => args.iter_mut().for_each(|arg| visit(Read::Reg(arg))),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Put {
    /// Of `Rules::texts`.
    Text(u32),
    Number(Reg),
    Value {
        value: Reg,
        ty: super::TypeIdx,
    },
    /// A variable, whose name is among `Rules::texts`, with all its parts.
    Place {
        name: u32,
        at: Address,
        ty: super::TypeIdx,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Not,
    BitNot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitOr,
    BitXor,
    BitAnd,
    /// A negative distance shifts the other way.
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    // The same for numbers of 64 bits without a sign.
    UnsignedDiv,
    UnsignedRem,
    UnsignedShr,
    UnsignedLt,
    UnsignedLe,
}

impl Unary {
    #[inline]
    pub fn apply(self, of: i64) -> i64 {
        match self {
            Unary::Neg => of.wrapping_neg(),
            Unary::Not => (of == 0) as i64,
            Unary::BitNot => !of,
        }
    }
}

impl Binary {
    /// Whether the result is 0 or 1.
    pub fn compares(self) -> bool {
        use Binary::{Eq, Le, Lt, Ne, UnsignedLe, UnsignedLt};
        matches!(self, Eq | Ne | Lt | Le | UnsignedLt | UnsignedLe)
    }

    /// The operation on numbers without a sign.
    pub fn unsigned(self) -> Binary {
        match self {
            Binary::Div => Binary::UnsignedDiv,
            Binary::Rem => Binary::UnsignedRem,
            Binary::Shr => Binary::UnsignedShr,
            Binary::Lt => Binary::UnsignedLt,
            Binary::Le => Binary::UnsignedLe,
            other => other,
        }
    }

    /// `None` if the right side of a division is 0.
    #[inline]
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        Some(match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div if b == 0 => return None,
            Binary::Rem if b == 0 => return None,
            Binary::Div => a.wrapping_div(b),
            Binary::Rem => a.wrapping_rem(b),
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::BitAnd => a & b,
            Binary::Shl => shift(a, b),
            Binary::Shr => shift(a, b.checked_neg().unwrap_or(i64::MAX)),
            Binary::Eq => (a == b) as i64,
            Binary::Ne => (a != b) as i64,
            Binary::Lt => (a < b) as i64,
            Binary::Le => (a <= b) as i64,
            Binary::UnsignedDiv => (a as u64).checked_div(b as u64)? as i64,
            Binary::UnsignedRem => (a as u64).checked_rem(b as u64)? as i64,
            Binary::UnsignedShr => {
                (a as u64).checked_shr(b.try_into().unwrap_or(64)).unwrap_or(0) as i64
            }
            Binary::UnsignedLt => ((a as u64) < b as u64) as i64,
            Binary::UnsignedLe => (a as u64 <= b as u64) as i64,
        })
    }
}

/// To the left; by a negative distance to the right, as numbers with a sign.
/// Farther than a number is long nothing is left, also of negative ones: so
/// Rumur has it.
fn shift(value: i64, by: i64) -> i64 {
    match by {
        0..=63 => value << by,
        -63..=-1 => value >> -by,
        _ => 0,
    }
}

/// Iterations of loops that one rule may take.
pub const MAX_TICKS: u64 = 10_000_000;
