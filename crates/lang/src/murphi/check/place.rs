//! Names, and places that are made of them.

use super::Checker;
use super::scope::Symbol;
use crate::murphi::ast::{self, Name, Spanned};
use crate::murphi::model::*;
use ir::source::Span;

/// What may be done with the place that an expression denotes.
pub(super) enum Access {
    Write,
    /// With the reason why it may not be written.
    Read(String),
    /// It is a value, no place.
    Value,
}

pub(super) fn wrong(span: Span) -> Expr {
    Expr { kind: ExprKind::Wrong, ty: TypeId::UNKNOWN, span }
}

/// A designator as messages name it.
pub(super) fn path(expr: &ast::Expr) -> String {
    fn write(expr: &ast::Expr, out: &mut String) {
        match &expr.kind {
            ast::ExprKind::Name(name) => out.push_str(name),
            ast::ExprKind::Field(record, field) => {
                write(record, out);
                out.push('.');
                out.push_str(&field.node);
            }
            ast::ExprKind::Index(array, _) => {
                write(array, out);
                out.push_str("[...]");
            }
            ast::ExprKind::Call(call) => {
                out.push_str(&call.function.node);
                out.push_str("(...)");
            }
            _ => {}
        }
    }
    let mut out = String::new();
    write(expr, &mut out);
    if out.is_empty() { "this".into() } else { format!("'{out}'") }
}

impl Checker<'_> {
    /// "a number", "a record" or the like, as messages name what has this type.
    pub(super) fn value_of(&self, ty: TypeId) -> String {
        let types = self.types();
        match types.get(ty) {
            Type::Int | Type::Range { .. } => "a number".into(),
            Type::Bool => "a boolean".into(),
            Type::Undefined => "'undefined'".into(),
            Type::Scalarset { .. } => format!("a value of the scalarset {}", types.describe(ty)),
            Type::Union { .. } => format!("a value of the union {}", types.describe(ty)),
            Type::Enum { .. } => format!("a value of the enumeration {}", types.describe(ty)),
            Type::Record { .. } => format!("a record of type {}", types.describe(ty)),
            Type::Array { .. } => format!("an array of type {}", types.describe(ty)),
            Type::Multiset { .. } => format!("a multiset of type {}", types.describe(ty)),
            Type::MultisetIndex { .. } => "an index of a multiset".into(),
            Type::Unknown => "unknown".into(),
        }
    }

    /// Reports that two types do not go together, with what is often meant.
    pub(super) fn mismatch(&mut self, span: Span, message: String, a: TypeId, b: TypeId) {
        let help = match (self.types().get(a), self.types().get(b)) {
            (Type::Scalarset { .. }, Type::Scalarset { .. }) => {
                "each 'scalarset(...)' is a type of its own: use the same name for both"
            }
            (Type::Scalarset { .. }, Type::Int | Type::Range { .. })
            | (Type::Int | Type::Range { .. }, Type::Scalarset { .. }) => {
                "values of a scalarset have no names: let a ruleset choose one"
            }
            (Type::Array { .. }, Type::Array { .. })
            | (Type::Record { .. }, Type::Record { .. }) => {
                "the types of all their parts must be the same"
            }
            _ => return self.error(span, message),
        };
        self.error_with_help(span, message, help);
    }

    pub(super) fn name(&mut self, name: &Name, span: Span) -> Expr {
        let (kind, ty) = match self.scopes.find(name) {
            Some(Symbol::Const(ty, value)) => (ExprKind::Const(value), ty),
            Some(Symbol::Global(id)) => {
                (ExprKind::Global(id), self.model.globals[id.0 as usize].ty)
            }
            Some(Symbol::Local(id)) => (ExprKind::Local(id), self.locals[id.0 as usize].ty),
            Some(Symbol::Type(_)) => {
                self.error(span, format!("'{name}' is a type, no value"));
                return wrong(span);
            }
            Some(Symbol::Function(id)) => {
                let message = format!("'{name}' is a function");
                let empty = self.model.functions[id.0 as usize].n_params == 0;
                let help = format!("call it: '{name}({})'", if empty { "" } else { "..." });
                self.error_with_help(span, message, help);
                return wrong(span);
            }
            Some(Symbol::Unknown) => return wrong(span),
            None if name.eq_ignore_ascii_case("undefined") => {
                self.model.uses_undefined = true;
                (ExprKind::Undefined, TypeId::UNDEFINED)
            }
            None => {
                self.undeclared(name, span, "name");
                return wrong(span);
            }
        };
        Expr { kind, ty, span }
    }

    pub(super) fn field(&mut self, base: &ast::Expr, field: &Spanned<Name>, span: Span) -> Expr {
        let record = self.expr(base);
        let fields = match self.types().get(record.ty) {
            Type::Record { fields } => fields,
            Type::Unknown => return wrong(span),
            Type::Array { .. } | Type::Multiset { .. } => {
                let what = self.value_of(record.ty);
                let message = format!("{} is {what}, it has no fields", path(base));
                self.error_with_help(field.span, message, "index it first: 'a[i].f'");
                return wrong(span);
            }
            _ => {
                let what = self.value_of(record.ty);
                self.error(field.span, format!("{} is {what}, it has no fields", path(base)));
                return wrong(span);
            }
        };
        if let Some(place) = fields.iter().position(|(name, _)| *name == field.node) {
            let ty = fields[place].1;
            return Expr { kind: ExprKind::Field(Box::new(record), place), ty, span };
        }
        let names: Vec<String> = fields.iter().take(8).map(|(n, _)| format!("'{n}'")).collect();
        let message = format!("{} has no field '{}'", path(base), field.node);
        self.error_with_help(field.span, message, format!("its fields are {}", names.join(", ")));
        wrong(span)
    }

    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let array = self.expr(base);
        let place = self.expr(index);
        let (wanted, ty) = match *self.types().get(array.ty) {
            Type::Array { index, element } => (index, element),
            Type::Multiset { element, .. } => {
                let wanted = Type::MultisetIndex { multiset: array.ty };
                (self.model.types.add(wanted), element)
            }
            Type::Unknown => return wrong(span),
            _ => {
                let what = self.value_of(array.ty);
                self.error(base.span, format!("{} is {what}, no array", path(base)));
                return wrong(span);
            }
        };
        if place.ty == TypeId::UNDEFINED || !self.types().compatible(place.ty, wanted) {
            self.wrong_index(base, &place, wanted);
            return wrong(span);
        }
        self.check_index(base, &place, wanted);
        Expr { kind: ExprKind::Index(Box::new(array), Box::new(place)), ty, span }
    }

    fn wrong_index(&mut self, base: &ast::Expr, index: &Expr, wanted: TypeId) {
        let found = self.value_of(index.ty);
        let wanted_text = self.types().describe(wanted);
        if let Type::MultisetIndex { .. } = self.types().get(wanted) {
            let message = format!("the multiset {} cannot be indexed by {found}", path(base));
            let help = "choose an element: 'choose i : m do ... m[i] ... end'";
            return self.error_with_help(index.span, message, help);
        }
        let message = format!("{} is indexed by {wanted_text}, not by {found}", path(base));
        self.mismatch(index.span, message, wanted, index.ty);
    }

    /// An index that is out of bounds whenever it is used is not an error to
    /// Rumur, which finds it when it runs, so it is a warning.
    fn check_index(&mut self, base: &ast::Expr, index: &Expr, wanted: TypeId) {
        if let (Some(value), Type::Range { low, high }) = (index.value(), self.types().get(wanted))
            && !(*low..=*high).contains(&value)
        {
            let message = format!("{} has no element {value}", path(base));
            let help = format!("its indices are {low}..{high}");
            let warning = crate::diagnostic::Diagnostic::warning(index.span, message).help(help);
            self.diagnostics.push(warning);
        }
    }

    pub(super) fn access(&self, expr: &Expr) -> Access {
        let mut expr = expr;
        while let ExprKind::Field(base, _) | ExprKind::Index(base, _) = &expr.kind {
            expr = base;
        }
        let id = match &expr.kind {
            ExprKind::Global(_) | ExprKind::Wrong => return Access::Write,
            ExprKind::Local(id) => id,
            _ => return Access::Value,
        };
        let Local { name, kind, .. } = &self.locals[id.0 as usize];
        match kind {
            LocalKind::RefParam | LocalKind::Variable => Access::Write,
            LocalKind::AliasPlace { writable: true } => Access::Write,
            LocalKind::Param => Access::Read(format!("'{name}' is a parameter without 'var'")),
            LocalKind::Quantified => Access::Read(format!("'{name}' is bound by a quantifier")),
            LocalKind::Chosen => Access::Read(format!("'{name}' is an index that was chosen")),
            LocalKind::AliasPlace { .. } => {
                Access::Read(format!("'{name}' is an alias of what cannot be written"))
            }
            LocalKind::AliasValue => Access::Value,
        }
    }

    /// A place that is written: `verb` says how, as in "assigned to".
    pub(super) fn writable(&mut self, expr: &ast::Expr, verb: &str) -> Expr {
        let place = self.expr(expr);
        if place.ty == TypeId::UNKNOWN {
            return place;
        }
        match self.access(&place) {
            Access::Write => {}
            Access::Read(why) => {
                let shown = path(expr);
                let why = match why.strip_prefix(&shown) {
                    Some(rest) => format!("it{rest}"),
                    None => why,
                };
                let message = format!("{shown} cannot be {verb}: {why}");
                let by_value = why.ends_with("without 'var'");
                match by_value {
                    true => self.error_with_help(
                        expr.span,
                        message,
                        "declare it with 'var', or copy it to a variable",
                    ),
                    false => self.error_with_help(expr.span, message, "copy it to a variable"),
                }
            }
            Access::Value => {
                let what = if place.value().is_some() { "a constant" } else { "no variable" };
                self.error(expr.span, format!("{} cannot be {verb}: it is {what}", path(expr)));
            }
        }
        place
    }
}
