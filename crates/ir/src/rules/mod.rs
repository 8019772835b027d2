//! `Rules`: a system of guarded commands over one record of variables, what
//! Murphi models are lowered to.
//!
//! Why it is not a `System`: a rule is a small sequential program with loops,
//! calls, references and numbers of 64 bits, and nothing here has a process, a
//! location, a channel or an atomic sequence. Both become a `Model`, and their
//! steps, faults and traces are the same.
//!
//! A state is the variables one after the other, in the order of the text. A
//! simple value is kept as its distance from the least value of its type plus
//! one, so 0 is *undefined*, and equal states are equal bytes. Multisets are
//! sorted when a rule ends (see [`canon`]).

mod canon;
pub mod code;
mod interpreter;
mod machine;
mod packing;
mod specialise;
mod stored;
pub mod symmetry;
mod text;
mod values;

pub use canon::{Multiset, multisets, sort_multisets};
pub use code::{Address, Code, Instr, Reg, Width};
pub use interpreter::{Interpreter, deadlock};
pub use machine::{End, FRAMES, MAX_FRAME, Machine, frame_step};
pub use packing::{Packing, Piece};
pub use specialise::{MOST_FRAME, specialise};
pub use stored::Stored;
pub use values::{Walk, statement, variables};

use crate::fault::FaultKind;
use crate::model::Step;
use crate::source::{Sources, Span};
use serde::{Deserialize, Serialize};

/// A type of the table `Rules::types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeIdx(pub u32);

/// A scalarset: values that the model cannot tell apart but by comparing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetIdx(pub u32);

#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub name: String,
    pub language: &'static str,
    pub sources: Sources,
    /// Properties that were read but are not checked, for the result to name.
    pub unchecked: Vec<String>,
    pub types: Vec<Type>,
    /// Sizes of the scalarsets.
    pub sets: Vec<u64>,
    pub variables: Vec<Variable>,
    /// Bytes of a state.
    pub size: u32,
    /// What code calls.
    pub routines: Vec<Routine>,
    pub starts: Vec<Rule>,
    pub rules: Vec<Rule>,
    /// Must hold in every state.
    pub invariants: Vec<Property>,
    /// States where one does not hold are not looked at.
    pub assumptions: Vec<Property>,
    /// Must hold in some state, or be passed by some rule.
    pub covers: Vec<Cover>,
    /// What can go wrong, by the numbers that code uses.
    pub failures: Vec<Failure>,
    /// What is printed, by the numbers that code uses.
    pub texts: Vec<String>,
    /// What counts as a deadlock.
    pub deadlock: Deadlock,
    pub symmetry: Symmetry,
}

/// When a state without a way on is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deadlock {
    Off,
    /// No rule is enabled.
    Stuck,
    /// No rule changes the state.
    #[default]
    Stuttering,
}

impl Deadlock {
    /// As flags and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Deadlock::Off => "off",
            Deadlock::Stuck => "stuck",
            Deadlock::Stuttering => "stuttering",
        }
    }
}

/// Which states count as the same because they differ only in the names of
/// values of scalarsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symmetry {
    Off,
    /// All that do.
    #[default]
    Canonical,
    /// Those for which that is easily found out.
    Heuristic,
}

impl Symmetry {
    /// As flags and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Symmetry::Off => "off",
            Symmetry::Canonical => "canonical",
            Symmetry::Heuristic => "heuristic",
        }
    }
}

/// A type as far as states and people need it.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Simple(Simple),
    Record {
        fields: Vec<Field>,
        size: u32,
    },
    Array {
        index: TypeIdx,
        element: TypeIdx,
        size: u32,
    },
    /// Each slot begins with a byte that tells whether it is taken; free slots
    /// are all zero.
    Multiset {
        slots: u64,
        element: TypeIdx,
        size: u32,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Simple {
    pub low: i64,
    /// How many values there are.
    pub count: u64,
    pub width: Width,
    pub names: Names,
}

/// How the values of a simple type are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Names {
    Numbers,
    Words(Vec<String>),
    /// `name_1` and so on.
    Scalarset {
        name: String,
        set: SetIdx,
    },
    /// The values of these types, one after the other.
    Union(Vec<TypeIdx>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub ty: TypeIdx,
    pub offset: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub ty: TypeIdx,
    pub offset: u32,
}

/// A function or procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    pub name: String,
    pub code: Code,
    pub span: Span,
}

/// A rule or a start state: one instance for each choice of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub name: String,
    pub params: Vec<Param>,
    /// The parameters are in the first registers.
    pub code: Code,
    pub span: Span,
    /// The number of its first instance, counted over all rules of its list.
    pub first: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    pub low: i64,
    pub step: i64,
    pub count: u64,
    /// For names of values; numbers if there is none.
    pub ty: Option<TypeIdx>,
}

/// A condition on states; its code ends by returning it.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    pub name: String,
    pub code: Code,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cover {
    pub name: String,
    /// Evaluated in every state; `None` if it is a statement.
    pub code: Option<Code>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
}

/// Instances are numbered by 32 bits; start states from here on.
const FIRST_START: u32 = 1 << 31;
/// Most instances of all rules.
pub const MAX_INSTANCES: u64 = FIRST_START as u64 - 1;

impl Rule {
    pub fn n_instances(&self) -> u64 {
        self.params.iter().fold(1, |n, p| n.saturating_mul(p.count))
    }

    /// The parameters of an instance: the last one changes fastest.
    pub fn arguments(&self, instance: u64) -> Vec<i64> {
        let mut rest = instance;
        let mut values: Vec<i64> = self
            .params
            .iter()
            .rev()
            .map(|param| {
                let nth = rest % param.count;
                rest /= param.count;
                param.value(nth)
            })
            .collect();
        values.reverse();
        values
    }
}

impl Param {
    pub fn value(&self, nth: u64) -> i64 {
        self.low.wrapping_add(self.step.wrapping_mul(nth as i64))
    }
}

impl Rules {
    pub fn ty(&self, idx: TypeIdx) -> &Type {
        &self.types[idx.0 as usize]
    }

    pub fn size_of(&self, idx: TypeIdx) -> u32 {
        match self.ty(idx) {
            Type::Simple(simple) => simple.width.bytes(),
            Type::Record { size, .. } | Type::Array { size, .. } | Type::Multiset { size, .. } => {
                *size
            }
        }
    }

    /// The step of an instance of a rule.
    pub fn step(rule: &Rule, instance: u64, is_start: bool) -> Step {
        let first = if is_start { FIRST_START } else { 0 };
        Step::of((first + rule.first + instance as u32) as usize)
    }

    /// The rule of a step and the number of its instance; `None` for steps of
    /// another model.
    pub fn rule_of(&self, step: Step) -> Option<(&Rule, u64)> {
        let number = step.action.0;
        let (rules, number) = match number.checked_sub(FIRST_START) {
            Some(number) => (&self.starts, number),
            None => (&self.rules, number),
        };
        let at = rules.partition_point(|rule| rule.first <= number).checked_sub(1)?;
        let instance = u64::from(number - rules[at].first);
        (instance < rules[at].n_instances()).then_some((&rules[at], instance))
    }

    /// What `Model::reached` tells of, in its order: the rules, then the covers.
    pub fn n_reached(&self) -> usize {
        self.rules.len() + self.covers.len()
    }
}
