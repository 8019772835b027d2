//! Expressions.

use super::Checker;
use super::place::{Access, path, wrong};
use super::scope::Symbol;
use crate::murphi::ast::{self, Call};
use crate::murphi::model::*;
use ir::source::Span;

impl Checker<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Number(value) => {
                Expr { kind: ExprKind::Const(*value), ty: TypeId::INT, span }
            }
            ast::ExprKind::Bool(value) => {
                Expr { kind: ExprKind::Const((*value).into()), ty: TypeId::BOOL, span }
            }
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Field(base, field) => self.field(base, field, span),
            ast::ExprKind::Index(base, index) => self.index(base, index, span),
            ast::ExprKind::Call(call) => self.call_expr(call, span),
            ast::ExprKind::Unary(operator, operand) => self.unary(*operator, operand, span),
            ast::ExprKind::Binary(operator, left, right) => {
                self.binary(operator, left, right, span)
            }
            ast::ExprKind::Cond(condition, yes, no) => self.conditional(condition, yes, no, span),
            ast::ExprKind::Quantified { forall, quantifier, body } => {
                self.quantified(*forall, quantifier, body, span)
            }
            ast::ExprKind::IsUndefined(place) => self.is_undefined(place, span),
            ast::ExprKind::IsMember(value, ty) => self.is_member(value, ty, span),
            ast::ExprKind::MultisetCount { choice, condition } => {
                let (choice, condition) = self.chosen(choice, condition);
                let (choice, condition) = (Box::new(choice), Box::new(condition));
                let kind = ExprKind::MultisetCount { choice, condition };
                Expr { kind, ty: TypeId::INT, span }
            }
            ast::ExprKind::Wrong => wrong(span),
        }
    }

    /// An expression that has to be true or false; `what` it is.
    pub(super) fn condition(&mut self, expr: &ast::Expr, what: &str) -> Expr {
        let checked = self.expr(expr);
        if !matches!(checked.ty, TypeId::BOOL | TypeId::UNKNOWN) {
            let message = format!("{what} is a boolean, not {}", self.value_of(checked.ty));
            match self.types().is_number(checked.ty) {
                true => self.error_with_help(expr.span, message, "compare it, as in 'x != 0'"),
                false => self.error(expr.span, message),
            }
        }
        checked
    }

    fn conditional(
        &mut self,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.condition(condition, "what stands before '?'");
        let yes = self.expr(yes);
        let no = self.expr(no);
        let Some(ty) = self.join(yes.ty, no.ty) else {
            let (yes_text, no_text) = (self.value_of(yes.ty), self.value_of(no.ty));
            let message = format!("one side of ':' is {yes_text}, the other {no_text}");
            self.error(yes.span.to(no.span), message);
            return wrong(span);
        };
        let value = condition.value().and_then(|c| if c != 0 { yes.value() } else { no.value() });
        let kind = match value {
            Some(value) => ExprKind::Const(value),
            None => ExprKind::Cond(Box::new(condition), Box::new(yes), Box::new(no)),
        };
        Expr { kind, ty, span }
    }

    /// The type of what is of one type or the other.
    fn join(&self, a: TypeId, b: TypeId) -> Option<TypeId> {
        let types = self.types();
        if a == b || !types.compatible(a, b) {
            return (a == b).then_some(a);
        }
        Some(match (types.get(a), types.get(b)) {
            (Type::Unknown, _) | (_, Type::Unknown) => TypeId::UNKNOWN,
            (Type::Undefined, _) => b,
            (_, Type::Undefined) => a,
            (Type::Union { members: left }, Type::Union { members: right }) => {
                // Neither can hold all, unless one has all members of the other.
                match (
                    right.iter().all(|m| left.contains(m)),
                    left.iter().all(|m| right.contains(m)),
                ) {
                    (true, _) => a,
                    (_, true) => b,
                    _ => return None,
                }
            }
            (Type::Union { .. }, _) => a,
            (_, Type::Union { .. }) => b,
            _ => TypeId::INT,
        })
    }

    fn quantified(
        &mut self,
        forall: bool,
        quantifier: &ast::Quantifier,
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let word = if forall { "forall" } else { "exists" };
        self.scoped(|checker| {
            let quantifier = checker.quantifier(quantifier, false);
            let body = checker.condition(body, &format!("the body of '{word}'"));
            let Some(quantifier) = quantifier else {
                return Expr { ty: TypeId::BOOL, ..wrong(span) };
            };
            let (quantifier, body) = (Box::new(quantifier), Box::new(body));
            let kind = ExprKind::Quantified { forall, quantifier, body };
            Expr { kind, ty: TypeId::BOOL, span }
        })
    }

    fn is_undefined(&mut self, expr: &ast::Expr, span: Span) -> Expr {
        let place = self.expr(expr);
        if place.ty == TypeId::UNKNOWN {
            return Expr { ty: TypeId::BOOL, ..wrong(span) };
        }
        if let Access::Value = self.access(&place) {
            self.error(expr.span, "'isundefined' is for variables, and this is none");
        } else if !self.types().is_simple(place.ty) {
            let what = self.value_of(place.ty);
            let message = format!("{} is {what}, only its parts can be undefined", path(expr));
            self.error_with_help(expr.span, message, "ask for one of its parts");
        }
        Expr { kind: ExprKind::IsUndefined(Box::new(place)), ty: TypeId::BOOL, span }
    }

    fn is_member(&mut self, value: &ast::Expr, ty: &ast::TypeExpr, span: Span) -> Expr {
        let checked = self.expr(value);
        let member = self.type_expr(ty);
        if checked.ty == TypeId::UNKNOWN || member == TypeId::UNKNOWN {
            return Expr { ty: TypeId::BOOL, ..wrong(span) };
        }
        match self.types().get(checked.ty) {
            Type::Union { members } if members.contains(&member) => {}
            Type::Union { .. } => {
                let member = self.types().describe(member);
                let union = self.types().describe(checked.ty);
                self.error(ty.span, format!("{member} is no member of {union}"));
            }
            _ => {
                let what = self.value_of(checked.ty);
                let message = format!("'ismember' is for values of unions, not {what}");
                self.error(value.span, message);
            }
        }
        Expr { kind: ExprKind::IsMember(Box::new(checked), member), ty: TypeId::BOOL, span }
    }

    fn call_expr(&mut self, call: &Call, span: Span) -> Expr {
        let Some((function, args)) = self.call(call) else { return wrong(span) };
        match self.model.functions[function.0 as usize].result {
            Some(ty) => Expr { kind: ExprKind::Call { function, args }, ty, span },
            None => {
                let message = format!("procedure '{}' returns no value", call.function.node);
                self.error_with_help(span, message, "give it a return type: '... ) : T;'");
                wrong(span)
            }
        }
    }

    pub(super) fn call(&mut self, call: &Call) -> Option<(FunctionId, Vec<Expr>)> {
        let name = &call.function;
        let symbol = self.scopes.find(&name.node);
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let id = match symbol {
            Some(Symbol::Function(id)) => id,
            Some(Symbol::Unknown) => return None,
            Some(_) => {
                let message = format!("'{}' is no function", name.node);
                self.error_with_help(name.span, message, "an array is indexed by 'a[i]'");
                return None;
            }
            None => {
                self.undeclared(&name.node, name.span, "function");
                return None;
            }
        };
        let function = &self.model.functions[id.0 as usize];
        let n_params = function.n_params;
        if n_params != args.len() {
            let s = if n_params == 1 { "" } else { "s" };
            let message =
                format!("'{}' takes {n_params} argument{s}, not {}", name.node, args.len());
            self.error(name.span, message);
            return None;
        }
        let params: Vec<(TypeId, bool)> = function.locals[..n_params]
            .iter()
            .map(|p| (p.ty, p.kind == LocalKind::RefParam))
            .collect();
        for (i, (ty, by_reference)) in params.into_iter().enumerate() {
            self.check_arg(&call.args[i], &args[i], ty, by_reference);
        }
        Some((id, args))
    }

    fn check_arg(&mut self, expr: &ast::Expr, arg: &Expr, ty: TypeId, by_reference: bool) {
        if arg.ty == TypeId::UNKNOWN || ty == TypeId::UNKNOWN {
            return;
        }
        if !self.types().compatible(arg.ty, ty) {
            let (found, wanted) = (self.value_of(arg.ty), self.types().describe(ty));
            let message = format!("the parameter has type {wanted}, this is {found}");
            return self.mismatch(expr.span, message, ty, arg.ty);
        }
        if !by_reference {
            return;
        }
        match self.access(arg) {
            Access::Value => {
                let message = "a 'var' parameter takes a variable, and this is none";
                self.error_with_help(expr.span, message, "pass a variable, or drop the 'var'");
            }
            Access::Read(why) => {
                let message = format!("a 'var' parameter takes what can be written: {why}");
                self.error_with_help(expr.span, message, "pass a copy of it in a variable");
            }
            Access::Write if arg.ty != ty => {
                let (found, wanted) = (self.types().describe(arg.ty), self.types().describe(ty));
                let message =
                    format!("the 'var' parameter has type {wanted}, the variable type {found}");
                self.error_with_help(expr.span, message, "give both the same type");
            }
            Access::Write => {}
        }
    }
}
