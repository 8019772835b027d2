//! Types, variables and scopes; the layout of frames.

use super::Lowerer;
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Bound, Decl, Name, Spanned, Type, VarInit, Visibility};
use ir::scalar::{Kind, Repr, Scalar};
use ir::source::Span;
use ir::system::{Cell, Chan, ChanIdx, Expr, Frame, Init, Place, Space};
use std::collections::HashMap;
use std::rc::Rc;

/// Largest frame, in bytes: larger models could not be explored anyway.
const MAX_FRAME: u64 = 1 << 20;
/// Names that no variable may have.
const PREDEFINED: [&str; 5] = ["_", "_pid", "_nr_pr", "_last", "_priority"];

/// The type of a variable or field, without its array bound.
#[derive(Debug, Clone)]
pub(super) enum VarType {
    Scalar(Scalar),
    Record(Rc<Record>),
}

impl VarType {
    pub fn size(&self) -> u32 {
        match self {
            VarType::Scalar(s) => s.repr.size(),
            VarType::Record(r) => r.size,
        }
    }
}

#[derive(Debug)]
pub(super) struct Record {
    pub name: Name,
    pub fields: Vec<RecordField>,
    pub size: u32,
}

#[derive(Debug, Clone)]
pub(super) struct RecordField {
    pub name: Name,
    pub ty: VarType,
    pub bound: Option<u32>,
    pub offset: u32,
    pub init: FieldInit,
}

/// How each variable of a type comes to its first value.
#[derive(Debug, Clone)]
pub(super) enum FieldInit {
    Zero,
    Value(Expr),
    List(Vec<i32>),
    Chan(ChanIdx),
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub space: Space,
    pub offset: u32,
    pub ty: VarType,
    pub bound: Option<u32>,
    /// The value it starts with, if it is a constant.
    pub value: Option<i32>,
}

/// Names of one block; the last is the innermost.
#[derive(Default)]
pub(super) struct Scopes {
    pub blocks: Vec<HashMap<Name, Variable>>,
    /// Numbers of the open blocks: a path that tells blocks apart.
    pub path: Vec<u32>,
    pub next_block: u32,
}

impl Scopes {
    pub fn open(&mut self) {
        self.blocks.push(HashMap::new());
        self.path.push(self.next_block);
        self.next_block += 1;
    }

    pub fn close(&mut self) {
        self.blocks.pop();
        self.path.pop();
    }
}

impl Lowerer<'_> {
    pub(super) fn lookup(&self, name: &Name) -> Option<&Variable> {
        let local = self.scopes.blocks.iter().rev().find_map(|block| block.get(name));
        local.or_else(|| self.globals.get(name))
    }

    /// The scalar of a type that is no record.
    fn scalar(&mut self, ty: &Spanned<Type>, bits: Option<i32>, span: Span) -> Option<Scalar> {
        let kind = match &ty.node {
            Type::Bit => Kind::Bit,
            Type::Bool => Kind::Bool,
            Type::Byte => Kind::Byte,
            Type::Pid => Kind::Pid,
            Type::Short => Kind::Short,
            Type::Int => Kind::Int,
            Type::Unsigned => Kind::Unsigned,
            Type::Chan => Kind::Chan,
            Type::Mtype(kind) => Kind::Enum(self.enum_idx(kind.as_ref(), ty.span)),
            Type::Named(_) => return None,
        };
        let mut scalar = Scalar::new(kind);
        match (bits, &scalar.kind) {
            (Some(n), Kind::Unsigned) if (1..=31).contains(&n) => {
                scalar.repr = Repr::Unsigned(n as u8);
            }
            (Some(n), Kind::Unsigned) => {
                self.error(Diagnostic::error(span, format!("width {n} is not in 1..31")));
            }
            (Some(_), _) => {
                self.error(Diagnostic::error(span, "only 'unsigned' can have a width"));
            }
            (None, Kind::Unsigned) => self.error(
                Diagnostic::error(span, "'unsigned' without a width")
                    .help("write the number of bits, as in 'unsigned x : 5'"),
            ),
            (None, _) => {}
        }
        Some(scalar)
    }

    fn enum_idx(&mut self, kind: Option<&Name>, span: Span) -> usize {
        let name = kind.map_or("mtype", |n| n);
        match self.system.enums.iter().position(|e| e.name == name) {
            Some(idx) => idx,
            None => {
                if let Some(kind) = kind {
                    let message = format!("there is no 'mtype:{kind}'");
                    self.error(Diagnostic::warning(span, message));
                }
                self.system.enums.push(ir::system::Enum { name: name.into(), names: vec![] });
                self.system.enums.len() - 1
            }
        }
    }

    pub(super) fn var_type(
        &mut self,
        ty: &Spanned<Type>,
        bits: Option<i32>,
        span: Span,
    ) -> Option<VarType> {
        if let Type::Named(name) = &ty.node {
            let record = self.records.get(name).cloned();
            if record.is_none() {
                self.error(Diagnostic::error(ty.span, format!("unknown type '{name}'")));
            }
            return record.map(VarType::Record);
        }
        self.scalar(ty, bits, span).map(VarType::Scalar)
    }

    /// The bound of an array, `None` for a plain variable.
    fn bound(&mut self, bound: Option<&Bound>) -> Option<u32> {
        let (value, span) = match bound? {
            Bound::Number(n) => (n.node, n.span),
            Bound::Variable(name) => (self.initial_value(name).unwrap_or(8), name.span),
        };
        if value <= 0 || value as u64 > MAX_FRAME {
            let message = format!("an array cannot have {value} elements");
            self.error(Diagnostic::error(span, message));
            return Some(1);
        }
        Some(value as u32)
    }

    /// The value a variable starts with, where Spin allows that as a constant.
    pub(super) fn initial_value(&mut self, name: &Spanned<Name>) -> Option<i32> {
        let value = self.lookup(&name.node).and_then(|v| v.value);
        if value.is_none() {
            let message = format!("expected a constant, found '{}'", name.node);
            self.error(Diagnostic::error(name.span, message));
        }
        value
    }

    pub(super) fn chan_type(
        &mut self,
        name: &str,
        slots: &Spanned<i32>,
        fields: &[Spanned<Type>],
    ) -> ChanIdx {
        if !(0..=0xFFFF).contains(&slots.node) {
            let message = format!("a channel cannot have {} slots", slots.node);
            self.error(Diagnostic::error(slots.span, message));
        }
        let mut scalars = Vec::new();
        for field in fields {
            if field.node == Type::Unsigned {
                let message = "'unsigned' cannot be a message field";
                self.error(Diagnostic::error(field.span, message).help("use 'byte' or 'int'"));
            } else if let Some(ty) = self.var_type(field, None, field.span) {
                if ty.size() as u64 > MAX_FRAME {
                    self.error(Diagnostic::error(field.span, "this message is too large"));
                } else {
                    add_message_fields(&ty, &mut scalars);
                }
            }
        }
        // Spin keeps a lone bit in a byte.
        if let [only] = &mut scalars[..] {
            only.repr = if only.repr == Repr::Unsigned(1) { Repr::U8 } else { only.repr };
        }
        let slots = slots.node.clamp(0, 0xFFFF) as u16;
        if slots as u64 * scalars.iter().map(|s| s.repr.size() as u64).sum::<u64>() > MAX_FRAME {
            let span = fields.first().map_or(Span::NONE, |f| f.span);
            self.error(Diagnostic::error(span, "this channel is too large"));
        }
        self.system.chans.push(Chan { name: name.into(), slots, fields: scalars });
        ChanIdx(self.system.chans.len() as u32 - 1)
    }

    /// A record type from its declaration.
    pub(super) fn record(&mut self, name: &Spanned<Name>, decls: &[Decl]) {
        let mut fields: Vec<RecordField> = Vec::new();
        let mut size = 0u64;
        for decl in decls {
            for var in &decl.vars {
                let Some(mut ty) = self.var_type(&decl.ty, var.bits, var.name.span) else {
                    continue;
                };
                let bound = self.bound(var.bound.as_ref());
                widen_bits(&mut ty, bound.is_some());
                if fields.iter().any(|f| f.name == var.name.node) {
                    let message = format!("field '{}' is declared twice", var.name.node);
                    self.error(Diagnostic::error(var.name.span, message));
                }
                let init = self.field_init(&ty, bound, var);
                let offset = size as u32;
                size += ty.size() as u64 * bound.unwrap_or(1) as u64;
                if size > MAX_FRAME {
                    let message = format!("type '{}' is too large", name.node);
                    self.error(Diagnostic::error(name.span, message));
                    // Stays too large, so that nothing is laid out with it.
                    size = MAX_FRAME + 1;
                }
                fields.push(RecordField { name: var.name.node.clone(), ty, bound, offset, init });
            }
        }
        let record = Record { name: name.node.clone(), fields, size: size as u32 };
        if self.records.insert(name.node.clone(), Rc::new(record)).is_some() {
            let message = format!("type '{}' is declared twice", name.node);
            self.error(Diagnostic::error(name.span, message));
        }
    }

    /// Checks an initialiser against the type and lowers it.
    fn field_init(&mut self, ty: &VarType, bound: Option<u32>, var: &ast::VarDecl) -> FieldInit {
        let span = var.name.span;
        let is_chan = matches!(ty, VarType::Scalar(s) if s.kind == Kind::Chan);
        match &var.init {
            None => FieldInit::Zero,
            Some(_) if matches!(ty, VarType::Record(_)) => {
                self.error(Diagnostic::error(span, "a record cannot have an initial value"));
                FieldInit::Zero
            }
            Some(VarInit::Chan { slots, fields }) if is_chan => {
                FieldInit::Chan(self.chan_type(&var.name.node, slots, fields))
            }
            Some(VarInit::Chan { .. }) => {
                let message = format!("'{}' is no channel", var.name.node);
                self.error(Diagnostic::error(span, message));
                FieldInit::Zero
            }
            Some(VarInit::List(values)) => {
                match bound {
                    None => {
                        let message = format!("'{}' is no array", var.name.node);
                        self.error(Diagnostic::error(span, message));
                    }
                    Some(n) if values.len() > n as usize => {
                        let message = format!("more than {n} values for '{}'", var.name.node);
                        self.error(Diagnostic::error(span, message));
                    }
                    Some(_) => {}
                }
                FieldInit::List(values.iter().map(|v| v.node).collect())
            }
            Some(VarInit::Expr(expr)) => {
                self.first_value(expr).map_or(FieldInit::Zero, FieldInit::Value)
            }
        }
    }

    pub(super) fn first_value(&mut self, expr: &ast::Expr) -> Option<Expr> {
        if contains_run(expr) {
            self.error(Diagnostic::error(expr.span, "'run' in an initial value"));
            return None;
        }
        self.expr(expr)
    }

    /// Declares the variables of `decl` in the globals or the innermost block.
    /// With `init`, the frame's initialisers give them their values.
    pub(super) fn declare(&mut self, decl: &Decl, space: Space, init: bool) {
        let hidden = decl.visibility == Some(Visibility::Hidden) && space == Space::Global;
        for var in &decl.vars {
            let Some(mut ty) = self.var_type(&decl.ty, var.bits, var.name.span) else { continue };
            let bound = self.bound(var.bound.as_ref());
            widen_bits(&mut ty, bound.is_some() || hidden);
            let field_init = if init { self.field_init(&ty, bound, var) } else { FieldInit::Zero };
            let value = match &field_init {
                FieldInit::Value(Expr::Const(v)) if bound.is_none() => Some(*v),
                _ => None,
            };
            let size = ty.size() as u64 * bound.unwrap_or(1) as u64;
            let frame = self.frame(space);
            if frame.size as u64 + size > MAX_FRAME {
                let message = format!("no room for '{}': the state is too large", var.name.node);
                self.error(Diagnostic::error(var.name.span, message));
                continue;
            }
            let offset = frame.size;
            frame.size += size as u32;
            let name = var.name.node.clone();
            add_cells(frame, &name, &ty, bound, offset, hidden);
            let base = Base { space, offset };
            let mut inits = Vec::new();
            add_inits(&mut inits, base, &ty, bound, &field_init);
            self.frame(space).init.extend(inits);
            self.bind(&var.name, Variable { space, offset, ty, bound, value });
        }
    }

    fn bind(&mut self, name: &Spanned<Name>, variable: Variable) {
        if PREDEFINED.contains(&&*name.node) {
            let message = format!("'{}' is a name that the language has defined", name.node);
            self.error(Diagnostic::error(name.span, message).help("take another name"));
            return;
        }
        let names = match variable.space {
            Space::Global => &mut self.globals,
            Space::Local => match self.scopes.blocks.last_mut() {
                Some(block) => block,
                None => return,
            },
        };
        if names.insert(name.node.clone(), variable).is_some() {
            let message = format!("'{}' is declared twice", name.node);
            self.error(Diagnostic::error(name.span, message).help("give one of them another name"));
        }
    }

    pub(super) fn frame(&mut self, space: Space) -> &mut Frame {
        match space {
            Space::Global => &mut self.system.globals,
            Space::Local => &mut self.locals,
        }
    }
}

/// Bits in arrays, and hidden ones, take a byte each and keep all of it, as in Spin.
fn widen_bits(ty: &mut VarType, in_array: bool) {
    if let VarType::Scalar(scalar) = ty
        && in_array
        && scalar.repr == Repr::Unsigned(1)
        && matches!(scalar.kind, Kind::Bit | Kind::Bool)
    {
        scalar.repr = Repr::U8;
    }
}

fn add_message_fields(ty: &VarType, out: &mut Vec<Scalar>) {
    match ty {
        VarType::Scalar(s) => out.push(s.clone()),
        VarType::Record(record) => {
            for field in &record.fields {
                for _ in 0..field.bound.unwrap_or(1) {
                    add_message_fields(&field.ty, out);
                }
            }
        }
    }
}

fn add_cells(
    frame: &mut Frame,
    name: &str,
    ty: &VarType,
    bound: Option<u32>,
    offset: u32,
    hidden: bool,
) {
    for i in 0..bound.unwrap_or(1) {
        let name = if bound.is_some() { format!("{name}[{i}]") } else { name.to_string() };
        let offset = offset + i * ty.size();
        match ty {
            VarType::Scalar(ty) => frame.cells.push(Cell { name, ty: ty.clone(), offset, hidden }),
            VarType::Record(record) => {
                for field in &record.fields {
                    let name = format!("{name}.{}", field.name);
                    let at = offset + field.offset;
                    add_cells(frame, &name, &field.ty, field.bound, at, hidden);
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Base {
    space: Space,
    offset: u32,
}

fn add_inits(out: &mut Vec<Init>, base: Base, ty: &VarType, bound: Option<u32>, init: &FieldInit) {
    let count = bound.unwrap_or(1);
    if let VarType::Record(record) = ty {
        for i in 0..count {
            for field in &record.fields {
                let offset = base.offset + i * record.size + field.offset;
                add_inits(out, Base { offset, ..base }, &field.ty, field.bound, &field.init);
            }
        }
        return;
    }
    let VarType::Scalar(scalar) = ty else { return };
    let place = |i: u32| Place {
        space: base.space,
        offset: base.offset + i * scalar.repr.size(),
        indices: Vec::new(),
        ty: scalar.clone(),
    };
    match init {
        FieldInit::Zero | FieldInit::Value(Expr::Const(0)) => {}
        FieldInit::Value(expr) => {
            out.extend((0..count).map(|i| Init::Assign(place(i), expr.clone())));
        }
        FieldInit::List(values) => {
            // The last value is that of all elements behind it.
            let value = |i: u32| *values.get(i as usize).or(values.last()).unwrap_or(&0);
            out.extend((0..count).map(|i| Init::Assign(place(i), Expr::Const(value(i)))));
        }
        FieldInit::Chan(chan) => {
            let stride = scalar.repr.size();
            out.push(Init::Channels { offset: base.offset, stride, count, chan: *chan });
        }
    }
}

fn contains_run(expr: &ast::Expr) -> bool {
    use ast::ExprKind::*;
    match &expr.kind {
        Run { .. } => true,
        Unary(_, e) => contains_run(e),
        Binary(_, a, b) => contains_run(a) || contains_run(b),
        Cond(a, b, c) => contains_run(a) || contains_run(b) || contains_run(c),
        _ => false,
    }
}
