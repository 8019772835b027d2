//! Warnings where a model tells values of a scalarset apart, so that states
//! that differ only in their names are not alike.
//!
//! What the types do not forbid and is looked for: a scalarset that is set to
//! its first value, and loops over a scalarset whose result depends on the
//! order of its values.

use crate::diagnostic::Diagnostic;
use crate::murphi::model::*;

/// What a scalarset is told apart by, in the order of the model.
pub fn warnings(model: &Model) -> Vec<Diagnostic> {
    let mut finder = Finder { model, warnings: Vec::new() };
    if !model.types.iter().any(|(_, ty)| matches!(ty, Type::Scalarset { .. })) {
        return Vec::new();
    }
    let rules = model.start_states.iter().chain(&model.rules).map(|rule| &rule.body);
    for body in model.functions.iter().map(|f| &f.body).chain(rules) {
        finder.stmts(body, &[]);
    }
    finder.warnings
}

struct Finder<'m> {
    model: &'m Model,
    warnings: Vec<Diagnostic>,
}

impl Finder<'_> {
    /// `loops` are the variables of loops over scalarsets around it.
    fn stmts(&mut self, stmts: &[Stmt], loops: &[LocalId]) {
        for stmt in stmts {
            self.stmt(stmt, loops);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, loops: &[LocalId]) {
        match &stmt.kind {
            StmtKind::Clear(target) if self.has_scalarset(target.ty) => {
                let message =
                    "'clear' gives a scalarset its first value, which breaks its symmetry";
                let help = "use 'undefine', or search with '--symmetry off'";
                self.warnings.push(Diagnostic::warning(stmt.span, message).help(help));
            }
            // What is summed up in a variable does not depend on the order.
            StmtKind::Assign { target, value } if !mentions(value, root(target)) => {
                let mut names = loops.iter().map(|local| Name::Local(*local));
                if names.any(|l| mentions(value, l) && !mentions(target, l)) {
                    self.ordered(stmt, "the last value wins");
                }
            }
            StmtKind::Return(Some(value))
                if loops.iter().any(|l| mentions(value, Name::Local(*l))) =>
            {
                self.ordered(stmt, "the first value is returned");
            }
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| self.stmts(body, loops));
                self.stmts(otherwise, loops);
            }
            StmtKind::Switch { cases, otherwise, .. } => {
                cases.iter().for_each(|(_, body)| self.stmts(body, loops));
                self.stmts(otherwise, loops);
            }
            StmtKind::For { quantifier, body } => match quantifier.domain {
                Domain::Type(ty) if self.has_scalarset(ty) => {
                    self.stmts(body, &[loops, &[quantifier.local]].concat());
                }
                _ => self.stmts(body, loops),
            },
            StmtKind::While { body, .. } | StmtKind::Alias { body, .. } => self.stmts(body, loops),
            _ => {}
        }
    }

    fn ordered(&mut self, stmt: &Stmt, what: &str) {
        let message = format!("{what} of a loop over a scalarset, which breaks its symmetry");
        let help = "let a ruleset choose the value, or search with '--symmetry off'";
        self.warnings.push(Diagnostic::warning(stmt.span, message).help(help));
    }

    fn has_scalarset(&self, ty: TypeId) -> bool {
        match self.model.types.get(ty) {
            Type::Scalarset { size, .. } => *size > 1,
            Type::Union { members } => members.iter().any(|m| self.has_scalarset(*m)),
            Type::Record { fields } => fields.iter().any(|(_, ty)| self.has_scalarset(*ty)),
            Type::Array { element, .. } => self.has_scalarset(*element),
            // Multisets are emptied.
            _ => false,
        }
    }
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Global(GlobalId),
    Local(LocalId),
    Other,
}

/// The variable that a place is a part of.
fn root(place: &Expr) -> Name {
    match &place.kind {
        ExprKind::Global(id) => Name::Global(*id),
        ExprKind::Local(id) => Name::Local(*id),
        ExprKind::Field(of, _) | ExprKind::Index(of, _) => root(of),
        _ => Name::Other,
    }
}

/// Whether the value of an expression may depend on a variable.
fn mentions(expr: &Expr, name: Name) -> bool {
    let any = |exprs: &[&Expr]| exprs.iter().any(|e| mentions(e, name));
    match &expr.kind {
        ExprKind::Local(id) => name == Name::Local(*id),
        ExprKind::Global(id) => name == Name::Global(*id),
        ExprKind::Field(of, _)
        | ExprKind::Unary(_, of)
        | ExprKind::IsUndefined(of)
        | ExprKind::IsMember(of, _) => any(&[of]),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => any(&[a, b]),
        ExprKind::Cond(a, b, c) => any(&[a, b, c]),
        ExprKind::Call { args, .. } => args.iter().any(|arg| mentions(arg, name)),
        ExprKind::Quantified { body, .. } => any(&[body]),
        ExprKind::MultisetCount { choice, condition } => any(&[&choice.multiset, condition]),
        ExprKind::Const(_) | ExprKind::Undefined | ExprKind::Wrong => false,
    }
}
