//! Statements.

use super::place::{Access, path};
use super::{Checker, Returns};
use crate::murphi::ast;
use crate::murphi::model::*;
use ir::source::Span;

impl Checker<'_> {
    pub(super) fn stmts(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        stmts.iter().filter_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &ast::Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            ast::StmtKind::Assign { target, value } => self.assign(target, value),
            ast::StmtKind::If { arms, otherwise } => {
                let arms = arms
                    .iter()
                    .map(|(c, body)| (self.condition(c, "a condition"), self.stmts(body)))
                    .collect();
                StmtKind::If { arms, otherwise: self.stmts(otherwise) }
            }
            ast::StmtKind::Switch { value, cases, otherwise } => {
                self.switch(value, cases, otherwise.as_deref().unwrap_or(&[]))
            }
            ast::StmtKind::For { quantifier, body } => {
                let (quantifier, body) = self
                    .scoped(|checker| (checker.quantifier(quantifier, false), checker.stmts(body)));
                StmtKind::For { quantifier: quantifier?, body }
            }
            ast::StmtKind::While { condition, body } => {
                let condition = self.condition(condition, "a condition");
                StmtKind::While { condition, body: self.stmts(body) }
            }
            ast::StmtKind::Alias { aliases, body } => self.scoped(|checker| {
                let aliases = checker.aliases(aliases);
                StmtKind::Alias { aliases, body: checker.stmts(body) }
            }),
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
            ast::StmtKind::PutText(text) => StmtKind::PutText(text.clone()),
            ast::StmtKind::Put(expr) => self.put(expr),
            ast::StmtKind::Error(text) => StmtKind::Error(text.clone()),
            ast::StmtKind::Property(property) => self.property_stmt(property),
            ast::StmtKind::Clear(place) => StmtKind::Clear(self.writable(place, "cleared")),
            ast::StmtKind::Undefine(place) => {
                StmtKind::Undefine(self.writable(place, "made undefined"))
            }
            ast::StmtKind::Call(call) => {
                let (function, args) = self.call(call)?;
                StmtKind::Call { function, args }
            }
            ast::StmtKind::MultisetAdd { element, multiset } => self.add(element, multiset),
            ast::StmtKind::MultisetRemove { index, multiset } => self.remove(index, multiset),
            ast::StmtKind::MultisetRemovePred { choice, condition } => {
                let multiset = &choice.multiset;
                let (choice, condition) = self.chosen(choice, condition);
                self.check_changed(multiset, &choice.multiset);
                StmtKind::MultisetRemovePred { choice, condition }
            }
        };
        Some(Stmt { kind, span: stmt.span })
    }

    fn assign(&mut self, target: &ast::Expr, value: &ast::Expr) -> StmtKind {
        let place = self.writable(target, "assigned to");
        let checked = self.expr(value);
        if !self.types().compatible(place.ty, checked.ty) {
            let (wanted, found) = (self.types().describe(place.ty), self.value_of(checked.ty));
            let message = format!("{} has type {wanted}, this is {found}", path(target));
            self.mismatch(value.span, message, place.ty, checked.ty);
        }
        StmtKind::Assign { target: place, value: checked }
    }

    fn switch(
        &mut self,
        value: &ast::Expr,
        cases: &[(Vec<ast::Expr>, Vec<ast::Stmt>)],
        otherwise: &[ast::Stmt],
    ) -> StmtKind {
        let checked = self.expr(value);
        if !self.types().is_simple(checked.ty) {
            let message =
                format!("'switch' takes a simple value, not {}", self.value_of(checked.ty));
            self.error_with_help(value.span, message, "switch on one of its parts");
        }
        let mut checked_cases = Vec::new();
        for (labels, body) in cases {
            let labels = labels.iter().map(|label| self.label(label, checked.ty)).collect();
            checked_cases.push((labels, self.stmts(body)));
        }
        let otherwise = self.stmts(otherwise);
        StmtKind::Switch { value: checked, cases: checked_cases, otherwise }
    }

    fn label(&mut self, label: &ast::Expr, ty: TypeId) -> Expr {
        let checked = self.expr(label);
        if checked.ty == TypeId::UNDEFINED {
            self.error_with_help(
                label.span,
                "no value is equal to 'undefined'",
                "use 'isundefined'",
            );
        } else if self.types().is_simple(ty) && !self.types().compatible(checked.ty, ty) {
            let (wanted, found) = (self.types().describe(ty), self.value_of(checked.ty));
            let message = format!("the switch is on {wanted}, this is {found}");
            self.mismatch(label.span, message, ty, checked.ty);
        }
        checked
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let checked = value.map(|value| self.expr(value));
        match (self.returns, &checked) {
            (Returns::Nothing, Some(_)) => {
                self.error_with_help(span, "a rule returns no value", "write 'return;'");
            }
            (Returns::NoValue, Some(_)) => {
                let help = "write 'return;', or give it a return type";
                self.error_with_help(span, "a procedure returns no value", help);
            }
            (Returns::Value(_), None) => self.error(span, "a function returns a value"),
            (Returns::Value(ty), Some(value)) if !self.types().compatible(value.ty, ty) => {
                let (wanted, found) = (self.types().describe(ty), self.value_of(value.ty));
                let message = format!("the function returns {wanted}, this is {found}");
                self.mismatch(value.span, message, ty, value.ty);
            }
            _ => {}
        }
        StmtKind::Return(checked)
    }

    fn put(&mut self, expr: &ast::Expr) -> StmtKind {
        let checked = self.expr(expr);
        if !self.types().is_simple(checked.ty)
            && let Access::Value = self.access(&checked)
        {
            let message =
                format!("{} that is no variable cannot be put", self.value_of(checked.ty));
            self.error_with_help(expr.span, message, "assign it to a variable first");
        }
        StmtKind::Put(checked)
    }

    fn property_stmt(&mut self, property: &ast::Property) -> StmtKind {
        if property.kind == PropertyKind::Liveness {
            let message = "'liveness' is a property of the model, no statement";
            self.error_with_help(property.span, message, "put it between the rules");
        }
        let condition = self.condition(&property.condition, "a property");
        StmtKind::Property { kind: property.kind, condition, message: property.message.clone() }
    }

    /// The names of a list of aliases, which may build on each other.
    pub(super) fn aliases(&mut self, aliases: &[ast::Alias]) -> Vec<Alias> {
        let mut out = Vec::new();
        for alias in aliases {
            for name in &alias.names {
                out.extend(self.alias(name, &alias.target));
            }
        }
        out
    }

    /// `None` for a constant, whose uses are folded.
    fn alias(&mut self, name: &ast::Spanned<ast::Name>, target: &ast::Expr) -> Option<Alias> {
        let checked = self.expr(target);
        if let Some(value) = checked.value() {
            self.declare(name, super::Symbol::Const(checked.ty, value));
            return None;
        }
        if checked.ty == TypeId::UNKNOWN {
            self.declare(name, super::Symbol::Unknown);
            return None;
        }
        let kind = match self.access(&checked) {
            Access::Write => LocalKind::AliasPlace { writable: true },
            Access::Read(_) => LocalKind::AliasPlace { writable: false },
            Access::Value => LocalKind::AliasValue,
        };
        let local = self.declare_local(name, checked.ty, kind);
        Some(Alias { local, target: checked })
    }

    /// A multiset, and the name of an index in it.
    pub(super) fn choice(&mut self, choice: &ast::Choice) -> Choice {
        let multiset = self.expr(&choice.multiset);
        let ty = match self.types().get(multiset.ty) {
            Type::Multiset { .. } => {
                self.model.types.add(Type::MultisetIndex { multiset: multiset.ty })
            }
            Type::Unknown => TypeId::UNKNOWN,
            _ => {
                self.no_multiset(&choice.multiset, multiset.ty);
                TypeId::UNKNOWN
            }
        };
        let local = self.declare_local(&choice.name, ty, LocalKind::Chosen);
        Choice { local, multiset }
    }

    /// `(i : multiset, condition)`
    pub(super) fn chosen(&mut self, choice: &ast::Choice, condition: &ast::Expr) -> (Choice, Expr) {
        self.scoped(|checker| {
            let choice = checker.choice(choice);
            (choice, checker.condition(condition, "the second argument"))
        })
    }

    fn no_multiset(&mut self, expr: &ast::Expr, ty: TypeId) {
        let message = format!("{} is {}, no multiset", path(expr), self.value_of(ty));
        self.error(expr.span, message);
    }

    fn check_changed(&mut self, expr: &ast::Expr, multiset: &Expr) {
        if let Access::Read(why) = self.access(multiset) {
            self.error(expr.span, format!("{} cannot be changed: {why}", path(expr)));
        }
    }

    fn add(&mut self, element: &ast::Expr, multiset: &ast::Expr) -> StmtKind {
        let checked = self.expr(element);
        let place = self.writable(multiset, "changed");
        match *self.types().get(place.ty) {
            Type::Multiset { element: ty, .. } => {
                if !self.types().compatible(checked.ty, ty) {
                    let (wanted, found) = (self.types().describe(ty), self.value_of(checked.ty));
                    let message = format!("the multiset is of {wanted}, this is {found}");
                    self.error(element.span, message);
                }
            }
            Type::Unknown => {}
            _ => self.no_multiset(multiset, place.ty),
        }
        StmtKind::MultisetAdd { element: checked, multiset: place }
    }

    fn remove(&mut self, index: &ast::Expr, multiset: &ast::Expr) -> StmtKind {
        let checked = self.expr(index);
        let place = self.writable(multiset, "changed");
        match self.types().get(place.ty) {
            Type::Multiset { .. } => {
                let wanted = self.model.types.add(Type::MultisetIndex { multiset: place.ty });
                if checked.ty != wanted && checked.ty != TypeId::UNKNOWN {
                    let found = self.value_of(checked.ty);
                    let message = format!("an index of {} is needed, not {found}", path(multiset));
                    let help = "choose an element: 'choose i : m do ... multisetremove(i, m) ...'";
                    self.error_with_help(index.span, message, help);
                }
            }
            Type::Unknown => {}
            _ => self.no_multiset(multiset, place.ty),
        }
        StmtKind::MultisetRemove { index: checked, multiset: place }
    }
}
