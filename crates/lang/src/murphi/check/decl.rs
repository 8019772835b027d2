//! Declarations, types and constants.

use super::scope::Symbol;
use super::{Checker, MAX_CELLS};
use crate::murphi::ast::{self, Decl, Name, Spanned, TypeExprKind};
use crate::murphi::model::*;
use ir::source::Span;
use std::collections::HashSet;

/// A larger scalarset or multiset is hardly meant.
const MAX_SIZE: Value = 1 << 20;

impl Checker<'_> {
    pub(super) fn decl(&mut self, decl: &Decl) {
        let (Decl::Const { names, .. }
        | Decl::Type { names, .. }
        | Decl::Var(ast::VarDecl { names, .. })) = decl;
        self.scopes.declaring = names.iter().map(|n| n.node.clone()).collect();
        match decl {
            Decl::Const { names, value } => self.const_decl(names, value),
            Decl::Type { names, ty } => self.type_decl(names, ty),
            Decl::Var(var) => {
                let ty = self.type_expr(&var.ty);
                for name in &var.names {
                    self.check_cells(name, ty);
                    self.var_decl(name, ty);
                }
            }
        }
        self.scopes.declaring.clear();
    }

    fn type_decl(&mut self, names: &[Spanned<Name>], ty: &ast::TypeExpr) {
        let ty = self.type_expr(ty);
        for name in names {
            if self.scopes.is_global() {
                self.model.types.set_name(ty, &name.node);
            }
            self.declare(name, Symbol::Type(ty));
        }
    }

    pub(super) fn local_decls(&mut self, decls: &[Decl]) {
        for decl in decls {
            self.decl(decl);
        }
    }

    fn var_decl(&mut self, name: &Spanned<Name>, ty: TypeId) {
        if !self.scopes.is_global() {
            self.declare_local(name, ty, LocalKind::Variable);
            return;
        }
        let id = GlobalId(self.model.globals.len() as u32);
        self.model.globals.push(Global { name: name.node.clone(), ty, span: name.span });
        self.declare(name, Symbol::Global(id));
    }

    fn check_cells(&mut self, name: &Spanned<Name>, ty: TypeId) {
        let cells = self.types().cells(ty);
        if cells > MAX_CELLS {
            let message = format!("'{}' has more than {MAX_CELLS} parts", name.node);
            self.error_with_help(name.span, message, "make the arrays in its type smaller");
        }
    }

    fn const_decl(&mut self, names: &[Spanned<Name>], value: &ast::Expr) {
        let constant = self.constant(value);
        for name in names {
            let Some((ty, value)) = constant else {
                self.declare(name, Symbol::Unknown);
                continue;
            };
            let span = name.span;
            self.model.constants.push(Constant { name: name.node.clone(), ty, value, span });
            self.declare(name, Symbol::Const(ty, value));
        }
    }

    /// The value of an expression that has to be constant.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<(TypeId, Value)> {
        let checked = self.expr(expr);
        if checked.ty == TypeId::UNKNOWN {
            return None;
        }
        if let Some(value) = super::operator::certain_value(&checked) {
            return Some((checked.ty, value));
        }
        self.not_constant(&checked);
        None
    }

    fn constant_number(&mut self, expr: &ast::Expr, what: &str) -> Option<Value> {
        let (ty, value) = self.constant(expr)?;
        if !self.types().is_number(ty) {
            let message = format!("{what} is a number, not {}", self.value_of(ty));
            self.error(expr.span, message);
            return None;
        }
        Some(value)
    }

    /// Says why an expression is no constant, at the part that is to blame.
    fn not_constant(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary(operator, left, right) => match (left.value(), right.value()) {
                (None, _) => self.not_constant(left),
                (_, None) => self.not_constant(right),
                (_, Some(0)) if matches!(operator, Binary::Div | Binary::Rem) => {
                    self.error(expr.span, "division by zero");
                }
                _ => self.error(expr.span, "the result does not fit into 64 bits"),
            },
            ExprKind::Unary(_, operand) => match operand.value() {
                None => self.not_constant(operand),
                Some(_) => self.error(expr.span, "the result does not fit into 64 bits"),
            },
            ExprKind::Global(id) => {
                let name = self.model.globals[id.0 as usize].name.clone();
                self.variable_not_constant(expr.span, &name);
            }
            ExprKind::Local(id) => {
                let name = self.locals[id.0 as usize].name.clone();
                self.variable_not_constant(expr.span, &name);
            }
            ExprKind::Cond(condition, yes, no) => {
                let part = [condition, yes, no].into_iter().find(|part| part.value().is_none());
                if let Some(part) = part {
                    self.not_constant(part);
                }
            }
            // It has been reported.
            ExprKind::Wrong => {}
            ExprKind::Call { .. } => self.error(expr.span, "a call is no constant"),
            _ => self.error(expr.span, "this is no constant"),
        }
    }

    fn variable_not_constant(&mut self, span: Span, name: &str) {
        self.error(span, format!("'{name}' is a variable, but a constant is needed here"));
    }

    pub(super) fn type_expr(&mut self, ty: &ast::TypeExpr) -> TypeId {
        match &ty.kind {
            TypeExprKind::Boolean => TypeId::BOOL,
            TypeExprKind::Named(name) => self.named_type(name, ty.span),
            TypeExprKind::Range(low, high) => self.range(low, high, ty.span),
            TypeExprKind::Enum(names) => self.enumeration(names),
            TypeExprKind::Record(fields) => self.record(fields),
            TypeExprKind::Array { index, element } => self.array(index, element),
            TypeExprKind::Scalarset(size) => match self.size(size, "scalarset") {
                Some(size) => self.model.types.add_scalarset(size),
                None => TypeId::UNKNOWN,
            },
            TypeExprKind::Union(members) => self.union(members),
            TypeExprKind::Multiset { size, element } => {
                let size = self.size(size, "multiset");
                let element_ty = self.part(element);
                match size {
                    Some(size) if element_ty != TypeId::UNKNOWN => {
                        self.model.types.add(Type::Multiset { size, element: element_ty })
                    }
                    _ => TypeId::UNKNOWN,
                }
            }
            TypeExprKind::Wrong => TypeId::UNKNOWN,
        }
    }

    /// The type of a part of something; `UNKNOWN` if it is nested too deeply.
    fn part(&mut self, ty: &ast::TypeExpr) -> TypeId {
        let id = self.type_expr(ty);
        if self.types().is_too_deep(id) {
            self.error(ty.span, "the type is nested too deeply");
            return TypeId::UNKNOWN;
        }
        id
    }

    fn named_type(&mut self, name: &Name, span: Span) -> TypeId {
        match self.scopes.find(name) {
            Some(Symbol::Type(ty)) => return ty,
            Some(Symbol::Unknown) => {}
            Some(Symbol::Function(_)) => {
                self.error(span, format!("'{name}' is a function, no type"))
            }
            Some(Symbol::Const(..)) => {
                let message = format!("'{name}' is a constant, no type");
                self.error_with_help(span, message, "a range is written 'low..high'");
            }
            Some(_) => self.error(span, format!("'{name}' is a variable, no type")),
            None => self.undeclared(name, span, "type"),
        }
        TypeId::UNKNOWN
    }

    fn range(&mut self, low: &ast::Expr, high: &ast::Expr, span: Span) -> TypeId {
        let low = self.constant_number(low, "the lower bound of a range");
        let high = self.constant_number(high, "the upper bound of a range");
        let (Some(low), Some(high)) = (low, high) else { return TypeId::UNKNOWN };
        if high < low {
            self.error(span, format!("the range is empty: {high} is less than {low}"));
            return TypeId::UNKNOWN;
        }
        // As in Rumur, 64 bits hold all values and 'undefined'.
        let signed = low < 0 && high > i64::MAX.into();
        if signed || high - low >= u64::MAX.into() {
            self.error(span, "the range does not fit into 64 bits together with 'undefined'");
            return TypeId::UNKNOWN;
        }
        self.model.types.add(Type::Range { low, high })
    }

    fn enumeration(&mut self, names: &[Spanned<Name>]) -> TypeId {
        let members: Vec<Name> = names.iter().map(|n| n.node.clone()).collect();
        let ty = self.model.types.add(Type::Enum { members });
        for (value, name) in names.iter().enumerate() {
            self.declare(name, Symbol::Const(ty, value as Value));
        }
        ty
    }

    fn record(&mut self, decls: &[ast::VarDecl]) -> TypeId {
        let mut fields = Vec::new();
        let mut known = HashSet::new();
        let mut wrong = false;
        for decl in decls {
            let ty = self.part(&decl.ty);
            wrong |= ty == TypeId::UNKNOWN;
            for name in &decl.names {
                if !known.insert(name.node.clone()) {
                    let message = format!("field '{}' appears twice", name.node);
                    self.error(name.span, message);
                    wrong = true;
                }
                fields.push((name.node.clone(), ty));
            }
        }
        if wrong { TypeId::UNKNOWN } else { self.model.types.add(Type::Record { fields }) }
    }

    fn array(&mut self, index: &ast::TypeExpr, element: &ast::TypeExpr) -> TypeId {
        let index_ty = self.type_expr(index);
        let element_ty = self.part(element);
        if index_ty == TypeId::UNKNOWN || element_ty == TypeId::UNKNOWN {
            return TypeId::UNKNOWN;
        }
        if self.types().n_values(index_ty).is_none() {
            let message = format!("an array cannot be indexed by {}", self.value_of(index_ty));
            let help = "index it by a range, an enumeration, a scalarset, a union or a boolean";
            self.error_with_help(index.span, message, help);
            return TypeId::UNKNOWN;
        }
        self.model.types.add(Type::Array { index: index_ty, element: element_ty })
    }

    /// The size of a scalarset or a multiset.
    fn size(&mut self, expr: &ast::Expr, what: &str) -> Option<u64> {
        let size = self.constant_number(expr, &format!("the size of a {what}"))?;
        if !(1..=MAX_SIZE).contains(&size) {
            let message = format!("a {what} cannot have size {size}");
            self.error_with_help(expr.span, message, format!("sizes are 1 to {MAX_SIZE}"));
            return None;
        }
        Some(size as u64)
    }

    /// Members of unions in a union are members of it.
    fn union(&mut self, parts: &[ast::TypeExpr]) -> TypeId {
        let mut members = Vec::new();
        let mut wrong = false;
        for part in parts {
            let ty = self.type_expr(part);
            let inner = match self.types().get(ty) {
                Type::Union { members } => members.clone(),
                Type::Scalarset { .. } | Type::Enum { .. } | Type::Bool => vec![ty],
                Type::Unknown => {
                    wrong = true;
                    continue;
                }
                _ => {
                    let message = format!("a union cannot have {} in it", self.value_of(ty));
                    let help = "a union is of scalarsets and enumerations";
                    self.error_with_help(part.span, message, help);
                    wrong = true;
                    continue;
                }
            };
            for member in inner {
                if members.contains(&member) {
                    let message =
                        format!("{} is in this union twice", self.types().describe(member));
                    self.error(part.span, message);
                } else {
                    members.push(member);
                }
            }
        }
        if wrong { TypeId::UNKNOWN } else { self.model.types.add(Type::Union { members }) }
    }
}
