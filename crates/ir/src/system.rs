//! `System`: what every front-end lowers to and everything else works on.
//!
//! A system is a set of typed variables, channels and process types. A process
//! is an automaton: locations with an ordered list of actions. An action
//! consists of operations; it is *enabled* if its first operation does not
//! block. The operations after the first may not block (a front-end lowers a
//! `d_step` to one action with a [`Block`]; there, blocking is a fault).
//!
//! Execution: a *step* is one action of one process. A step whose action is
//! `atomic` must be followed by a step of the same process while that process
//! is enabled; a send on a rendezvous channel by a matching receive. States in
//! between are not states of the system: they are neither stored nor counted.

use crate::scalar::Scalar;
use crate::source::{Sources, Span};
use serde::{Deserialize, Serialize};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident $prefix:literal),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

index! {
    /// A process type, index into `System::procs`.
    ProcIdx "p",
    /// A channel type, index into `System::chans`.
    ChanIdx "q",
    /// A location of a process type, index into `Proc::locations`.
    LocIdx "l",
    /// An action of the system, counted over all process types: index into `System::actions`.
    ActionIdx "a"
}

/// A whole model.
#[derive(Debug, Clone, Default)]
pub struct System {
    pub name: String,
    pub language: &'static str,
    pub sources: Sources,
    pub enums: Vec<Enum>,
    pub chans: Vec<Chan>,
    /// Global cells; the hidden ones come first (see `Layout`).
    pub globals: Frame,
    pub procs: Vec<Proc>,
    pub actions: Vec<Action>,
    /// Processes that run from the start, in order of their numbers.
    pub start: Vec<Start>,
    pub uses: Uses,
    /// Properties that were read but are not checked, for the result to name.
    pub unchecked: Vec<String>,
}

/// Parts of the language that cost something in every state, so only if used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uses {
    pub timeout: bool,
    pub last: bool,
    pub priority: bool,
    /// Some expression looks at locations or enabledness of other processes.
    pub control: bool,
    /// Some process claims channels for itself.
    pub claims: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enum {
    pub name: String,
    /// Names by value; empty where a value has no name.
    pub names: Vec<String>,
}

/// A channel type: one declaration of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chan {
    pub name: String,
    /// Messages it holds; 0 is a rendezvous.
    pub slots: u16,
    pub fields: Vec<Scalar>,
}

/// The variables of the globals or of a process, flattened to scalars.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    pub cells: Vec<Cell>,
    /// Bytes of all cells that are in states. Behind them come channels that are
    /// always the same ones: expressions have their numbers instead.
    pub size: u32,
    /// Run once, in order, when the frame comes to life.
    pub init: Vec<Init>,
}

/// One scalar: a variable, an array element or a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub name: String,
    pub ty: Scalar,
    /// From the start of the frame.
    pub offset: u32,
    /// Not part of the state as far as equality goes.
    pub hidden: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    Assign(Place, Expr),
    /// Creates a channel of its own for each cell in `count` cells from `offset`.
    Channels {
        offset: u32,
        stride: u32,
        count: u32,
        chan: ChanIdx,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Proc {
    pub name: String,
    pub span: Span,
    /// The first cells of the frame are the parameters.
    pub params: Vec<Place>,
    pub frame: Frame,
    pub locations: Vec<Location>,
    pub initial: LocIdx,
    pub provided: Option<Expr>,
    /// Two enabled actions at one location are a fault.
    pub deterministic: bool,
    /// Channels that only this process may use.
    pub claims: Vec<Claim>,
}

/// A promise that no other process receives from (`xr`) or sends to (`xs`) a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub receive: bool,
    pub chan: Expr,
}

/// A control location. Location 0 is never entered, as in Spin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Location {
    /// Tried in this order.
    pub actions: Vec<ActionIdx>,
    pub labels: Vec<String>,
    /// A process may stay here for ever without that being a deadlock.
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub proc: ProcIdx,
    pub priority: u8,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub proc: ProcIdx,
    pub ops: Vec<Op>,
    /// `None` after the process has ended.
    pub target: Option<LocIdx>,
    pub atomic: bool,
    /// Number of the `unless` escape this action belongs to, 0 if none. Once
    /// an action has run at a location, those of another number are not tried.
    pub escape: u32,
    pub span: Span,
    /// The statement as it is shown to people.
    pub text: String,
    /// Number of the statement in Spin's trail files.
    pub trail_id: u32,
    /// Actions that a reduction has merged into this one, in order.
    pub then: Vec<ActionIdx>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Skip,
    /// Enabled if no earlier action of the process at this location is.
    Else,
    /// Enabled if the expression is not zero.
    Cond(Expr),
    Assign(Place, Expr),
    Send {
        chan: Expr,
        sorted: bool,
        args: Vec<Expr>,
    },
    Receive(Receive),
    Assert(Expr),
    Print {
        format: String,
        args: Vec<Expr>,
    },
    SetPriority {
        pid: Expr,
        priority: Expr,
    },
    /// The process ends; blocks unless it is the youngest.
    Exit,
    Block(Box<Block>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Receive {
    pub chan: Expr,
    /// Any message that matches, not only the first (`??`).
    pub random: bool,
    /// The message stays in the channel (`?<...>`).
    pub keep: bool,
    pub fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    Match(Expr),
    Bind(Place),
    Any,
}

/// A deterministic sequence that runs as one step (`d_step`).
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The block is enabled if one of these is; if there is none, always.
    pub guards: Vec<Op>,
    pub entry: u32,
    pub nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Do {
        op: Op,
        next: u32,
        span: Span,
    },
    /// Goes on at the first option that does not block.
    Select {
        options: Vec<u32>,
        span: Span,
    },
    Done,
}

/// A scalar in memory: a cell, or an element found by indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub space: Space,
    /// Of the element with all indices 0, from the start of the frame.
    pub offset: u32,
    pub indices: Vec<Index>,
    pub ty: Scalar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Global,
    Local,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    pub expr: Expr,
    pub bound: u32,
    pub stride: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Const(i32),
    Load(Box<Place>),
    /// A variable of another process; 0 if there is no such process.
    Remote {
        pid: Box<Expr>,
        place: Box<Place>,
    },
    /// Another process is at this location.
    At {
        pid: Box<Expr>,
        loc: LocIdx,
    },
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Len(Box<Expr>),
    Full(Box<Expr>),
    Empty(Box<Expr>),
    NotFull(Box<Expr>),
    NotEmpty(Box<Expr>),
    /// Whether the receive could run; changes nothing.
    Poll(Box<Receive>),
    Run {
        proc: ProcIdx,
        args: Vec<Expr>,
        priority: u8,
    },
    /// Nothing else in the system is enabled.
    Timeout,
    Pid,
    ProcessCount,
    Last,
    Enabled(Box<Expr>),
    /// The location number of a process (`pc_value`).
    PcValue(Box<Expr>),
    Priority(Box<Expr>),
    /// The number of the process of this type, if there is just one.
    TheProcess(ProcIdx),
    /// No process is at a progress location (`np_`).
    NonProgress,
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
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Unary {
    #[inline]
    pub fn apply(self, of: i32) -> i32 {
        match self {
            Unary::Neg => of.wrapping_neg(),
            Unary::Not => (of == 0) as i32,
            Unary::BitNot => !of,
        }
    }
}

impl Binary {
    /// `None` if the right side of a division is 0.
    #[inline]
    pub fn apply(self, a: i32, b: i32) -> Option<i32> {
        Some(match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div | Binary::Rem if b == 0 => return None,
            Binary::Div => a.wrapping_div(b),
            Binary::Rem => a.wrapping_rem(b),
            Binary::And => (a != 0 && b != 0) as i32,
            Binary::Or => (a != 0 || b != 0) as i32,
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::Shl => a.wrapping_shl(b as u32),
            Binary::Shr => a.wrapping_shr(b as u32),
            Binary::Eq => (a == b) as i32,
            Binary::Ne => (a != b) as i32,
            Binary::Lt => (a < b) as i32,
            Binary::Le => (a <= b) as i32,
            Binary::Gt => (a > b) as i32,
            Binary::Ge => (a >= b) as i32,
        })
    }
}

impl Frame {
    /// The cells of channels that come to life with the frame, in the order of
    /// the numbers of the channels.
    pub fn channel_cells(&self) -> impl Iterator<Item = u32> {
        self.init.iter().flat_map(|init| match *init {
            Init::Channels { offset, stride, count, .. } => {
                (0..count).map(|i| offset + i * stride).collect()
            }
            Init::Assign(..) => Vec::new(),
        })
    }
}

impl System {
    pub fn proc(&self, idx: ProcIdx) -> &Proc {
        &self.procs[idx.idx()]
    }

    pub fn action(&self, idx: ActionIdx) -> &Action {
        &self.actions[idx.idx()]
    }

    /// A value as people write it: `true`, an enumeration's name, or the number.
    pub fn show_value(&self, ty: &Scalar, value: i32) -> String {
        use crate::scalar::Kind;
        match ty.kind {
            Kind::Bool if value == 0 => "false".into(),
            Kind::Bool if value == 1 => "true".into(),
            Kind::Enum(e) => self
                .enums
                .get(e)
                .and_then(|e| e.names.get(value as usize))
                .filter(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| value.to_string()),
            _ => value.to_string(),
        }
    }
}
