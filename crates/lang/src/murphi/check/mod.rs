//! Checking: the syntax tree to the checked tree.
//!
//! Names mean what they were declared as last, in the innermost scope, above
//! the place of use. Whatever is wrong is reported where it is, gets the type
//! `UNKNOWN`, and is not the cause of further messages.

mod decl;
mod expr;
mod operator;
mod place;
mod rule;
mod scope;
mod stmt;
pub mod symmetry;

use super::ast::{self, Item, Name, Program, Spanned};
use super::model::*;
use crate::diagnostic::Diagnostic;
use ir::source::Span;
use scope::{Scopes, Symbol};
use std::rc::Rc;

/// More errors than this help nobody.
const MAX_ERRORS: usize = 50;
/// A variable with more parts would make states that no search can keep.
const MAX_CELLS: u64 = 1 << 24;

pub fn check(program: &Program, diagnostics: &mut Vec<Diagnostic>) -> Model {
    let n_errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let mut checker = Checker {
        model: Model::default(),
        scopes: Scopes::new(program),
        locals: Vec::new(),
        binders: Vec::new(),
        returns: Returns::Nothing,
        n_errors,
        lost_names: program.lost_names,
        diagnostics,
    };
    for item in &program.items {
        match item {
            Item::Decl(decl) => checker.decl(decl),
            Item::Function(function) => checker.function(function),
            Item::Rule(rule) => checker.rule(rule),
        }
    }
    checker.warn_of_no_start_state();
    checker.model
}

/// What `return` may return.
#[derive(Clone, Copy)]
enum Returns {
    /// In a rule.
    Nothing,
    /// In a procedure.
    NoValue,
    Value(TypeId),
}

struct Checker<'d> {
    model: Model,
    scopes: Scopes,
    /// Of the rule or function that is being checked.
    locals: Vec<Local>,
    /// What encloses the rule that is being checked.
    binders: Vec<Rc<Binder>>,
    returns: Returns,
    n_errors: usize,
    lost_names: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn types(&self) -> &Types {
        &self.model.types
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    fn error_with_help(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(Diagnostic::error(span, message).help(help));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.n_errors < MAX_ERRORS {
            self.n_errors += 1;
            self.diagnostics.push(diagnostic);
        }
    }

    fn warn_of_no_start_state(&mut self) {
        if self.model.start_states.is_empty() && self.n_errors == 0 {
            let message = "there is no start state, so there is nothing to check";
            let help = "write 'startstate begin ... end;'";
            self.diagnostics.push(Diagnostic::warning(Span::NONE, message).help(help));
        }
    }

    /// Checks what is inside a scope of its own.
    fn scoped<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.open();
        let result = check(self);
        self.scopes.close();
        result
    }

    fn declare(&mut self, name: &Spanned<Name>, symbol: Symbol) {
        if !self.scopes.declare(&name.node, symbol) {
            let message = format!("'{}' is declared twice", name.node);
            self.error_with_help(name.span, message, "give one of them another name");
        }
    }

    /// Declares a name that stands for one value at a time.
    fn declare_local(&mut self, name: &Spanned<Name>, ty: TypeId, kind: LocalKind) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: name.node.clone(), ty, kind, span: name.span });
        self.declare(name, Symbol::Local(id));
        id
    }

    fn function(&mut self, function: &ast::Function) {
        self.locals.clear();
        self.scopes.open();
        // The parameters' names must not hide the types of other parameters.
        let types: Vec<TypeId> =
            function.params.iter().map(|p| self.type_expr(&p.decl.ty)).collect();
        let result = function.result.as_ref().map(|ty| self.type_expr(ty));
        for (param, ty) in function.params.iter().zip(types) {
            let kind = if param.by_reference { LocalKind::RefParam } else { LocalKind::Param };
            for name in &param.decl.names {
                self.declare_local(name, ty, kind);
            }
        }
        let id = FunctionId(self.model.functions.len() as u32);
        self.model.functions.push(Function {
            name: function.name.node.clone(),
            n_params: self.locals.len(),
            result,
            locals: self.locals.clone(),
            body: Vec::new(),
            span: function.name.span,
        });
        if !self.scopes.declare_outside(&function.name.node, Symbol::Function(id)) {
            let message = format!("'{}' is declared twice", function.name.node);
            self.error_with_help(function.name.span, message, "give one of them another name");
        }
        self.returns = result.map_or(Returns::NoValue, Returns::Value);
        self.local_decls(&function.decls);
        let body = self.stmts(&function.body);
        self.scopes.close();
        let checked = &mut self.model.functions[id.0 as usize];
        checked.body = body;
        checked.locals = std::mem::take(&mut self.locals);
        self.returns = Returns::Nothing;
    }
}
