//! The syntax tree of a Murphi model, names not yet resolved.

use ir::source::Span;
use std::rc::Rc;

pub type Name = Rc<str>;

#[derive(Debug, Clone)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

/// Items in the order of the file: a name is known from its declaration on.
#[derive(Debug, Default)]
pub struct Program {
    pub items: Vec<Item>,
    /// Declarations were skipped, so names may be missing through no fault of
    /// those who use them.
    pub lost_names: bool,
}

#[derive(Debug)]
pub enum Item {
    Decl(Decl),
    Function(Function),
    Rule(Rule),
}

#[derive(Debug)]
pub enum Decl {
    Const { names: Vec<Spanned<Name>>, value: Expr },
    Type { names: Vec<Spanned<Name>>, ty: TypeExpr },
    Var(VarDecl),
}

/// `a, b : T`: a variable, a field or a parameter.
#[derive(Debug)]
pub struct VarDecl {
    pub names: Vec<Spanned<Name>>,
    pub ty: TypeExpr,
}

#[derive(Debug)]
pub struct TypeExpr {
    pub kind: TypeExprKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum TypeExprKind {
    Boolean,
    Named(Name),
    Range(Expr, Expr),
    Enum(Vec<Spanned<Name>>),
    Record(Vec<VarDecl>),
    Array {
        index: Box<TypeExpr>,
        element: Box<TypeExpr>,
    },
    Scalarset(Expr),
    Union(Vec<TypeExpr>),
    Multiset {
        size: Expr,
        element: Box<TypeExpr>,
    },
    /// It could not be read and has been reported.
    Wrong,
}

/// A function, or a procedure if it has no return type.
#[derive(Debug)]
pub struct Function {
    pub name: Spanned<Name>,
    pub params: Vec<Param>,
    pub result: Option<TypeExpr>,
    pub decls: Vec<Decl>,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub struct Param {
    pub by_reference: bool,
    pub decl: VarDecl,
}

#[derive(Debug)]
pub enum Rule {
    Simple(SimpleRule),
    Start { name: Option<Name>, decls: Vec<Decl>, body: Vec<Stmt>, span: Span },
    Property(Property),
    Ruleset { quantifiers: Vec<Quantifier>, rules: Vec<Rule> },
    Alias { aliases: Vec<Alias>, rules: Vec<Rule> },
    Choose { choice: Choice, rules: Vec<Rule> },
}

#[derive(Debug)]
pub struct SimpleRule {
    pub name: Option<Name>,
    pub guard: Option<Expr>,
    pub decls: Vec<Decl>,
    pub body: Vec<Stmt>,
    /// The word `rule` and its name.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// `invariant`, or `assert`, which Rumur takes for the same.
    Assert,
    Assume,
    Cover,
    Liveness,
}

/// Between rules or as a statement.
#[derive(Debug)]
pub struct Property {
    pub kind: PropertyKind,
    pub condition: Expr,
    pub message: Option<Name>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Quantifier {
    pub name: Spanned<Name>,
    pub domain: Domain,
    pub span: Span,
}

#[derive(Debug)]
pub enum Domain {
    Type(TypeExpr),
    Steps { from: Expr, to: Expr, by: Option<Expr> },
}

#[derive(Debug)]
pub struct Alias {
    pub names: Vec<Spanned<Name>>,
    pub target: Expr,
}

/// `i : multiset`
#[derive(Debug)]
pub struct Choice {
    pub name: Spanned<Name>,
    pub multiset: Box<Expr>,
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind {
    Assign { target: Expr, value: Expr },
    If { arms: Vec<(Expr, Vec<Stmt>)>, otherwise: Vec<Stmt> },
    Switch { value: Expr, cases: Vec<(Vec<Expr>, Vec<Stmt>)>, otherwise: Option<Vec<Stmt>> },
    For { quantifier: Quantifier, body: Vec<Stmt> },
    While { condition: Expr, body: Vec<Stmt> },
    Alias { aliases: Vec<Alias>, body: Vec<Stmt> },
    Return(Option<Expr>),
    PutText(Name),
    Put(Expr),
    Error(Name),
    Property(Property),
    Clear(Expr),
    Undefine(Expr),
    Call(Call),
    MultisetAdd { element: Expr, multiset: Expr },
    MultisetRemove { index: Expr, multiset: Expr },
    MultisetRemovePred { choice: Choice, condition: Expr },
}

#[derive(Debug)]
pub struct Call {
    pub function: Spanned<Name>,
    pub args: Vec<Expr>,
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Levels of expressions under this one, so that nobody has to recurse
    /// deeper than the parser allows.
    pub depth: u16,
}

#[derive(Debug)]
pub enum ExprKind {
    Number(i128),
    Bool(bool),
    Name(Name),
    Field(Box<Expr>, Spanned<Name>),
    Index(Box<Expr>, Box<Expr>),
    Call(Call),
    Unary(Unary, Box<Expr>),
    Binary(Spanned<Binary>, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantified {
        forall: bool,
        quantifier: Box<Quantifier>,
        body: Box<Expr>,
    },
    IsUndefined(Box<Expr>),
    IsMember(Box<Expr>, Box<TypeExpr>),
    MultisetCount {
        choice: Choice,
        condition: Box<Expr>,
    },
    /// It could not be read and has been reported.
    Wrong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Not,
    Neg,
    BitNot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Implies,
    /// `||`, `∨`
    Or,
    /// `&&`, `∧`
    And,
    /// `|`: bits or truth values, by the type of what it joins.
    Pipe,
    Xor,
    /// `&`: bits or truth values, by the type of what it joins.
    Amp,
    Lt,
    Le,
    Eq,
    Ne,
    Ge,
    Gt,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    pub fn text(self) -> &'static str {
        match self {
            Binary::Implies => "->",
            Binary::Or => "||",
            Binary::And => "&&",
            Binary::Pipe => "|",
            Binary::Xor => "^",
            Binary::Amp => "&",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Eq => "=",
            Binary::Ne => "!=",
            Binary::Ge => ">=",
            Binary::Gt => ">",
            Binary::Shl => "<<",
            Binary::Shr => ">>",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
        }
    }
}
