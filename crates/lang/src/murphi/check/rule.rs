//! Rules and what encloses them.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::murphi::ast;
use crate::murphi::model::*;
use ir::source::Span;
use std::rc::Rc;

/// Each rule lists what encloses it, so this bounds the size of the tree.
const MAX_BINDERS: usize = 1000;

impl Checker<'_> {
    pub(super) fn rule(&mut self, rule: &ast::Rule) {
        match rule {
            ast::Rule::Ruleset { quantifiers, rules } => self.enclosed(rules, |checker| {
                for quantifier in quantifiers {
                    if let Some(checked) = checker.quantifier(quantifier, true) {
                        checker.bind(Binder::Quantifier(checked), quantifier.span);
                    }
                }
            }),
            ast::Rule::Alias { aliases, rules } => self.enclosed(rules, |checker| {
                for alias in checker.aliases(aliases) {
                    let span = alias.target.span;
                    checker.bind(Binder::Alias(alias), span);
                }
            }),
            ast::Rule::Choose { choice, rules } => self.enclosed(rules, |checker| {
                let checked = checker.choice(choice);
                checker.bind(Binder::Choose(checked), choice.name.span);
            }),
            ast::Rule::Simple(rule) => {
                let checked = self.leaf(|c| c.simple_rule(rule));
                self.model.rules.push(checked);
            }
            ast::Rule::Start { name, decls, body, span } => {
                let checked = self.leaf(|checker| {
                    checker.local_decls(decls);
                    let body = checker.stmts(body);
                    checker.finish(name, None, body, *span)
                });
                self.model.start_states.push(checked);
            }
            ast::Rule::Property(property) => {
                let checked = self.leaf(|c| c.property(property));
                self.model.properties.push(checked);
            }
        }
    }

    fn bind(&mut self, binder: Binder, span: Span) {
        if self.binders.len() < MAX_BINDERS {
            self.binders.push(Rc::new(binder));
        } else {
            self.error(span, "too many parameters around a rule");
        }
    }

    /// Checks rules inside of what `bind` binds.
    fn enclosed(&mut self, rules: &[ast::Rule], bind: impl FnOnce(&mut Self)) {
        let (n_binders, n_locals) = (self.binders.len(), self.locals.len());
        self.scoped(|checker| {
            bind(checker);
            for rule in rules {
                checker.rule(rule);
            }
        });
        self.binders.truncate(n_binders);
        self.locals.truncate(n_locals);
    }

    /// Checks something that contains no rules; what it declares ends with it.
    fn leaf<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let n_locals = self.locals.len();
        let checked = self.scoped(check);
        self.locals.truncate(n_locals);
        checked
    }

    fn finish(
        &mut self,
        name: &Option<ast::Name>,
        guard: Option<Expr>,
        body: Vec<Stmt>,
        span: Span,
    ) -> Rule {
        let (binders, locals) = (self.binders.clone(), self.locals.clone());
        Rule { name: name.clone(), binders, guard, locals, body, span }
    }

    fn simple_rule(&mut self, rule: &ast::SimpleRule) -> Rule {
        let guard = rule.guard.as_ref().map(|guard| self.condition(guard, "a guard"));
        self.local_decls(&rule.decls);
        let body = self.stmts(&rule.body);
        self.finish(&rule.name, guard, body, rule.span)
    }

    fn property(&mut self, property: &ast::Property) -> Property {
        let condition = self.condition(&property.condition, "a property");
        if property.kind == PropertyKind::Liveness {
            let message = "liveness properties are not checked yet";
            self.diagnostics.push(Diagnostic::warning(property.span, message));
        }
        Property {
            kind: property.kind,
            name: property.message.clone(),
            binders: self.binders.clone(),
            locals: self.locals.clone(),
            condition,
            span: property.span,
        }
    }

    /// Declares the variable of a quantifier; `None` if its domain is wrong.
    pub(super) fn quantifier(
        &mut self,
        quantifier: &ast::Quantifier,
        around_rules: bool,
    ) -> Option<Quantifier> {
        let domain = match &quantifier.domain {
            ast::Domain::Type(ty) => self.type_domain(ty),
            ast::Domain::Steps { from, to, by } => {
                self.steps(from, to, by.as_ref(), quantifier.span, around_rules)
            }
        };
        let (ty, domain) = match domain {
            Some((ty, domain)) => (ty, Some(domain)),
            None => (TypeId::UNKNOWN, None),
        };
        let local = self.declare_local(&quantifier.name, ty, LocalKind::Quantified);
        Some(Quantifier { local, domain: domain?, span: quantifier.span })
    }

    fn type_domain(&mut self, ty: &ast::TypeExpr) -> Option<(TypeId, Domain)> {
        let id = self.type_expr(ty);
        if id == TypeId::UNKNOWN {
            return None;
        }
        if self.types().n_values(id).is_none() {
            let message =
                format!("there is no going through all values of {}", self.types().describe(id));
            let help = "use a range, an enumeration, a scalarset, a union or boolean";
            self.error_with_help(ty.span, message, help);
            return None;
        }
        Some((id, Domain::Type(id)))
    }

    fn steps(
        &mut self,
        from: &ast::Expr,
        to: &ast::Expr,
        by: Option<&ast::Expr>,
        span: Span,
        around_rules: bool,
    ) -> Option<(TypeId, Domain)> {
        let from = self.bound(from, around_rules);
        let to = self.bound(to, around_rules);
        let by = match by {
            Some(by) => self.bound(by, around_rules),
            None => Some(Expr { kind: ExprKind::Const(1), ty: TypeId::INT, span }),
        };
        let (from, to, by) = (from?, to?, by?);
        if by.value() == Some(0) {
            self.error(by.span, "steps of 0 lead nowhere");
            return None;
        }
        let mut ty = TypeId::INT;
        if let (Some(low), Some(high)) = (from.value(), to.value()) {
            if let Some(step) = by.value()
                && (low < high && step < 0 || low > high && step > 0)
            {
                let message = format!("steps of {step} do not lead from {low} to {high}");
                self.error_with_help(span, message, format!("write 'by {}'", -step));
                return None;
            }
            ty = self.model.types.add(Type::Range { low: low.min(high), high: low.max(high) });
        }
        Some((ty, Domain::Steps { from, to, by }))
    }

    fn bound(&mut self, expr: &ast::Expr, constant: bool) -> Option<Expr> {
        let checked = match constant {
            true => {
                let (ty, value) = self.constant(expr)?;
                Expr { kind: ExprKind::Const(value), ty, span: expr.span }
            }
            false => self.expr(expr),
        };
        if checked.ty == TypeId::UNKNOWN {
            return None;
        }
        if !self.types().is_number(checked.ty) {
            let message = format!("a bound is a number, not {}", self.value_of(checked.ty));
            let help = "write 'x : T' to go through all values of a type";
            self.error_with_help(expr.span, message, help);
            return None;
        }
        Some(checked)
    }
}
