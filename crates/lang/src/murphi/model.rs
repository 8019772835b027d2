//! The checked tree of a Murphi model: names are resolved, types are known,
//! constants are values.
//!
//! Invariant of a model that was accepted: no `UNKNOWN` type and no
//! [`ExprKind::Wrong`] in it; conditions are boolean; what is assigned to is a
//! place that may be written; both sides of an assignment, a comparison or an
//! argument and its parameter are [`Types::compatible`]. What is left to check
//! when the model runs: that values are defined, in range, and of the right
//! member of a union; that divisors and steps are not 0; that multisets do not
//! overflow and that functions return.
//!
//! Rules are flat: each carries what encloses it, outermost first.

use super::ast::Name;
pub use super::ast::PropertyKind;
pub use super::types::{Type, TypeId, Types, Value};
use ir::source::Span;
use std::rc::Rc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GlobalId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// A place in the `locals` of the rule or function that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocalId(pub u32);

#[derive(Debug, Default)]
pub struct Model {
    pub types: Types,
    /// `undefined` is used as a value, which only CMurphi knows.
    pub uses_undefined: bool,
    /// Named constants, members of enumerations not among them.
    pub constants: Vec<Constant>,
    /// The variables of the state, in the order of the file.
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    /// In the order of the file.
    pub start_states: Vec<Rule>,
    pub rules: Vec<Rule>,
    pub properties: Vec<Property>,
}

#[derive(Debug, Clone)]
pub struct Constant {
    pub name: Name,
    pub ty: TypeId,
    pub value: Value,
    pub span: Span,
}

#[derive(Debug)]
pub struct Global {
    pub name: Name,
    pub ty: TypeId,
    pub span: Span,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    /// The first `locals` are the parameters.
    pub n_params: usize,
    /// `None` for a procedure.
    pub result: Option<TypeId>,
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// A rule, or a start state, which has no guard.
#[derive(Debug)]
pub struct Rule {
    pub name: Option<Name>,
    /// What encloses it, outermost first.
    pub binders: Vec<Rc<Binder>>,
    pub guard: Option<Expr>,
    /// What binders bind, then what is declared in the rule, then what its
    /// statements and expressions bind.
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// `invariant` and the like between rules.
#[derive(Debug)]
pub struct Property {
    pub kind: PropertyKind,
    pub name: Option<Name>,
    pub binders: Vec<Rc<Binder>>,
    pub locals: Vec<Local>,
    pub condition: Expr,
    pub span: Span,
}

/// What gives a name its value, around rules or statements.
#[derive(Debug)]
pub enum Binder {
    Quantifier(Quantifier),
    Alias(Alias),
    /// One instance for each element of the multiset.
    Choose(Choice),
}

#[derive(Debug)]
pub struct Quantifier {
    pub local: LocalId,
    pub domain: Domain,
    pub span: Span,
}

#[derive(Debug)]
pub enum Domain {
    /// All values of a simple type.
    Type(TypeId),
    /// `from` to `to`, which is included; constants if it encloses rules.
    Steps { from: Expr, to: Expr, by: Expr },
}

/// A name for a place (`Local::kind` says whether it may be written) or for a
/// value; the target is evaluated once, where the alias is declared.
#[derive(Debug)]
pub struct Alias {
    pub local: LocalId,
    pub target: Expr,
}

#[derive(Debug)]
pub struct Choice {
    pub local: LocalId,
    pub multiset: Expr,
}

#[derive(Debug, Clone)]
pub struct Local {
    pub name: Name,
    pub ty: TypeId,
    pub kind: LocalKind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalKind {
    /// Passed by value, not to be written.
    Param,
    /// `var`: the caller's place.
    RefParam,
    Variable,
    /// Of a ruleset, a loop, `forall` or `exists`.
    Quantified,
    /// An index that `choose`, `multisetcount` or `multisetremovepred` binds.
    Chosen,
    /// Another name of a place.
    AliasPlace {
        writable: bool,
    },
    /// Another name of a value.
    AliasValue,
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind {
    Assign {
        target: Expr,
        value: Expr,
    },
    If {
        arms: Vec<(Expr, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    /// The first case with an equal label.
    Switch {
        value: Expr,
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    For {
        quantifier: Quantifier,
        body: Vec<Stmt>,
    },
    While {
        condition: Expr,
        body: Vec<Stmt>,
    },
    Alias {
        aliases: Vec<Alias>,
        body: Vec<Stmt>,
    },
    Return(Option<Expr>),
    PutText(Name),
    Put(Expr),
    Error(Name),
    /// Never of kind `Liveness`.
    Property {
        kind: PropertyKind,
        condition: Expr,
        message: Option<Name>,
    },
    /// To the least value; multisets are emptied.
    Clear(Expr),
    Undefine(Expr),
    /// A function's result is dropped.
    Call {
        function: FunctionId,
        args: Vec<Expr>,
    },
    MultisetAdd {
        element: Expr,
        multiset: Expr,
    },
    MultisetRemove {
        index: Expr,
        multiset: Expr,
    },
    MultisetRemovePred {
        choice: Choice,
        condition: Expr,
    },
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: TypeId,
    pub span: Span,
}

#[derive(Debug)]
pub enum ExprKind {
    /// A value of the expression's type; all that is constant and has a value
    /// without error is one.
    Const(Value),
    Undefined,
    Global(GlobalId),
    Local(LocalId),
    /// The field's place in the record.
    Field(Box<Expr>, usize),
    /// An element of an array, or of a multiset if the index is a `MultisetIndex`.
    Index(Box<Expr>, Box<Expr>),
    Call {
        function: FunctionId,
        /// Places for parameters that are `RefParam`s.
        args: Vec<Expr>,
    },
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantified {
        forall: bool,
        quantifier: Box<Quantifier>,
        body: Box<Expr>,
    },
    IsUndefined(Box<Expr>),
    IsMember(Box<Expr>, TypeId),
    MultisetCount {
        choice: Box<Choice>,
        condition: Box<Expr>,
    },
    Wrong,
}

pub use super::ast::Unary;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `->`, `or` and `and` do not evaluate their right side if the left decides.
    Implies,
    Or,
    And,
    /// Of values of any type, also of those with parts.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    /// Towards zero, as in C.
    Div,
    Rem,
    BitOr,
    BitXor,
    BitAnd,
    /// A negative distance shifts the other way.
    Shl,
    Shr,
}

impl Expr {
    /// The value, if the expression is a constant.
    pub fn value(&self) -> Option<Value> {
        match self.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        }
    }
}
