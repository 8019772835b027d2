//! The syntax tree of a Promela model, names not yet resolved.

use ir::source::Span;
use std::rc::Rc;

pub type Name = Rc<str>;

#[derive(Debug, Clone)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

/// Units in the order of the file: Spin numbers statements in that order.
#[derive(Debug, Default)]
pub struct Program {
    pub units: Vec<Unit>,
}

#[derive(Debug)]
pub enum Unit {
    Proctype(Proctype),
    Init { priority: Option<i32>, body: Body, span: Span },
    Never(Claim),
    Trace(Claim),
    Ltl { name: Option<Name>, formula: Expr },
    Decl(Decl),
    Mtype { kind: Option<Name>, names: Vec<Spanned<Name>> },
    Typedef { name: Spanned<Name>, fields: Vec<Decl> },
}

#[derive(Debug)]
pub struct Proctype {
    pub name: Spanned<Name>,
    /// Instances to start with, if `active`.
    pub active: Option<ActiveCount>,
    pub deterministic: bool,
    pub params: Vec<Decl>,
    pub priority: Option<i32>,
    pub provided: Option<Expr>,
    pub body: Body,
}

#[derive(Debug)]
pub enum ActiveCount {
    Number(i32),
    /// The initial value of a variable.
    Variable(Spanned<Name>),
}

#[derive(Debug)]
pub struct Claim {
    pub name: Option<Name>,
    pub negated: bool,
    pub span: Span,
    pub body: Body,
}

/// A sequence in braces; `end` is the closing brace.
#[derive(Debug)]
pub struct Body {
    pub steps: Vec<Stmt>,
    pub end: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Chan,
    Mtype(Option<Name>),
    Named(Name),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Hidden,
    Show,
    Local,
}

#[derive(Debug)]
pub struct Decl {
    pub visibility: Option<Visibility>,
    pub ty: Spanned<Type>,
    pub vars: Vec<VarDecl>,
}

#[derive(Debug)]
pub struct VarDecl {
    pub name: Spanned<Name>,
    pub bits: Option<i32>,
    pub bound: Option<Bound>,
    pub init: Option<VarInit>,
}

#[derive(Debug)]
pub enum Bound {
    Number(Spanned<i32>),
    /// The initial value of a variable, as Spin allows with a warning.
    Variable(Spanned<Name>),
}

#[derive(Debug)]
pub enum VarInit {
    Expr(Expr),
    List(Vec<Spanned<i32>>),
    Chan { slots: Spanned<i32>, fields: Vec<Spanned<Type>> },
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind {
    Decl(Decl),
    Exclusive {
        receive: bool,
        chans: Vec<VarRef>,
    },
    Label(Spanned<Name>, Box<Stmt>),
    Unless(Box<Stmt>, Box<Stmt>),
    Block(Body),
    Atomic(Body),
    Dstep(Body),
    If(Vec<Body>),
    Do(Vec<Body>),
    For {
        var: VarRef,
        range: ForRange,
        body: Body,
    },
    /// `plain`: a simple name and two numbers; Spin treats that form in its own way.
    Select {
        var: VarRef,
        low: Expr,
        high: Expr,
        plain: bool,
    },
    Break,
    Goto(Spanned<Name>),
    Assign(VarRef, Expr),
    /// `x++` (1) or `x--` (-1).
    Step(VarRef, i32),
    Send {
        chan: VarRef,
        sorted: bool,
        args: Vec<Expr>,
    },
    Receive {
        chan: VarRef,
        random: bool,
        keep: bool,
        args: Vec<RecvArg>,
    },
    Assert(Expr),
    Print {
        format: Name,
        args: Vec<Expr>,
    },
    Printm(Expr),
    SetPriority(Expr, Expr),
    Expr(Expr),
    Else,
}

#[derive(Debug)]
pub enum ForRange {
    Numbers(Expr, Expr),
    In(VarRef),
}

#[derive(Debug, Clone)]
pub struct RecvArg {
    pub kind: RecvArgKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum RecvArgKind {
    Var(VarRef),
    Eval(Expr),
    Const(i32),
}

/// `a[i].b.c[j]`
#[derive(Debug, Clone)]
pub struct VarRef {
    pub parts: Vec<RefPart>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct RefPart {
    pub name: Name,
    pub index: Option<Box<Expr>>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    Const(i32),
    Var(VarRef),
    Unary(ir::system::Unary, Box<Expr>),
    Binary(ir::system::Binary, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        proc: Spanned<Name>,
        args: Vec<Expr>,
        priority: Option<i32>,
    },
    Len(VarRef),
    Probe(Probe, VarRef),
    Poll {
        chan: VarRef,
        random: bool,
        args: Vec<RecvArg>,
    },
    Timeout,
    NonProgress,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    RemoteLabel {
        proc: Spanned<Name>,
        pid: Option<Box<Expr>>,
        label: Spanned<Name>,
    },
    RemoteVar {
        proc: Spanned<Name>,
        pid: Option<Box<Expr>>,
        var: VarRef,
    },
    /// A temporal operator, allowed in `ltl` only: its operands.
    Temporal(Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    Full,
    Empty,
    NotFull,
    NotEmpty,
}
