//! Expressions and variable references.

use super::Lowerer;
use super::types::{VarType, Variable};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, ExprKind, Name, Probe, RecvArg, RecvArgKind, RefPart, VarRef};
use ir::scalar::{Kind, Repr, Scalar};
use ir::source::Span;
use ir::system::{Cell, Expr, Field, Index, LocIdx, Place, ProcIdx, Receive, Space};

/// A variable reference that may still be a record or an array.
struct Resolved {
    place: Place,
    ty: VarType,
    /// The bound of an array that has no index yet.
    bound: Option<u32>,
}

impl Lowerer<'_> {
    /// Lowers an expression; `None` if an error was reported.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Option<Expr> {
        Some(match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Var(var) => match self.predefined(var) {
                Some(expr) => expr,
                None => Expr::Load(Box::new(self.place(var)?)),
            },
            ExprKind::Unary(op, e) => Expr::Unary(*op, Box::new(self.expr(e)?)),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                Expr::Binary(*op, Box::new(a?), Box::new(b?))
            }
            ExprKind::Cond(c, a, b) => {
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                Expr::Cond(Box::new(c?), Box::new(a?), Box::new(b?))
            }
            ExprKind::Run { proc, args, priority } => self.run(proc, args, *priority)?,
            ExprKind::Len(chan) => Expr::Len(Box::new(self.chan(chan)?)),
            ExprKind::Probe(probe, chan) => {
                let chan = Box::new(self.chan(chan)?);
                match probe {
                    Probe::Full => Expr::Full(chan),
                    Probe::Empty => Expr::Empty(chan),
                    Probe::NotFull => Expr::NotFull(chan),
                    Probe::NotEmpty => Expr::NotEmpty(chan),
                }
            }
            ExprKind::Poll { chan, random, args } => {
                let mut receive = self.receive(chan, *random, true, args)?;
                // A poll assigns nothing: its variables match any value.
                for field in receive.fields.iter_mut().filter(|f| matches!(f, Field::Bind(_))) {
                    *field = Field::Any;
                }
                Expr::Poll(Box::new(receive))
            }
            ExprKind::Timeout => {
                self.system.uses.timeout |= !self.in_claim;
                Expr::Timeout
            }
            ExprKind::Temporal(operands) => {
                for operand in operands {
                    self.expr(operand);
                }
                if !self.in_claim {
                    let message = "temporal operator outside 'ltl'";
                    self.error(Diagnostic::error(expr.span, message));
                }
                Expr::Const(1)
            }
            _ => self.process_expr(expr)?,
        })
    }

    /// Expressions about processes.
    fn process_expr(&mut self, expr: &ast::Expr) -> Option<Expr> {
        self.system.uses.control |= !self.in_claim;
        Some(match &expr.kind {
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::Enabled(pid) => {
                self.uses_enabled = self.uses_enabled.or(Some(expr.span));
                Expr::Enabled(Box::new(self.expr(pid)?))
            }
            ExprKind::PcValue(pid) => Expr::PcValue(Box::new(self.expr(pid)?)),
            ExprKind::GetPriority(pid) => {
                self.uses_priority = self.uses_priority.or(Some(expr.span));
                Expr::Priority(Box::new(self.expr(pid)?))
            }
            ExprKind::RemoteLabel { proc, pid, label } => {
                let idx = self.proc_idx(proc)?;
                let pid = Box::new(self.remote_pid(idx, pid.as_deref())?);
                // The location is known when all process types are.
                let loc = LocIdx(self.remote_labels.len() as u32);
                self.remote_labels.push((idx, label.clone()));
                Expr::At { pid, loc }
            }
            ExprKind::RemoteVar { proc, pid, var } => {
                let idx = self.proc_idx(proc)?;
                let pid = Box::new(self.remote_pid(idx, pid.as_deref())?);
                let place = Box::new(self.remote_place(idx, &proc.node, var)?);
                Expr::Remote { pid, place }
            }
            _ => return None,
        })
    }

    fn proc_idx(&mut self, proc: &ast::Spanned<Name>) -> Option<ProcIdx> {
        let idx = self.proc_names.get(&proc.node).copied();
        if idx.is_none() {
            let message = format!("there is no process type '{}'", proc.node);
            self.error(Diagnostic::error(proc.span, message));
        }
        idx
    }

    fn remote_pid(&mut self, idx: ProcIdx, pid: Option<&ast::Expr>) -> Option<Expr> {
        match pid {
            Some(pid) => self.expr(pid),
            None => Some(Expr::TheProcess(idx)),
        }
    }

    /// A variable of another process type, by the name of its cell.
    fn remote_place(&mut self, idx: ProcIdx, proc: &Name, var: &VarRef) -> Option<Place> {
        let part = &var.parts[0];
        let find = |cells: &[Cell], name: &str| cells.iter().find(|c| c.name == name).cloned();
        let frame = match self.process {
            Some(process) if process == idx => &self.locals,
            _ => &self.system.procs[idx.idx()].frame,
        };
        let element = format!("{}[0]", part.name);
        let array_len = || {
            let prefix = format!("{}[", part.name);
            frame.cells.iter().filter(|c| c.name.starts_with(&prefix)).count() as u32
        };
        let (cell, bound) = match (&part.index, var.parts.len()) {
            (None, 1) => (find(&frame.cells, &part.name), None),
            (Some(_), 1) => (find(&frame.cells, &element), Some(array_len())),
            _ => {
                let message = "a field of another process's record cannot be read";
                self.error(Diagnostic::error(var.span, message));
                return None;
            }
        };
        let Some(cell) = cell else {
            let message = format!("process type '{proc}' has no variable '{}'", part.name);
            let help = "it must be declared before this place";
            self.error(Diagnostic::error(var.span, message).help(help));
            return None;
        };
        let indices = match (&part.index, bound) {
            (Some(index), Some(bound)) => {
                let stride = cell.ty.repr.size();
                vec![Index { expr: self.expr(index)?, bound, stride }]
            }
            _ => Vec::new(),
        };
        Some(Place { space: Space::Local, offset: cell.offset, indices, ty: cell.ty })
    }

    fn run(
        &mut self,
        proc: &ast::Spanned<Name>,
        args: &[ast::Expr],
        priority: Option<i32>,
    ) -> Option<Expr> {
        let idx = self.proc_idx(proc);
        if self.in_claim {
            self.error(Diagnostic::error(proc.span, "'run' outside a process type"));
        }
        if priority.is_some() {
            self.uses_priority = self.uses_priority.or(Some(proc.span));
        }
        let mut values = Vec::new();
        let mut complete = true;
        for arg in args {
            complete &= self.message_arg(arg, &mut values).is_some();
        }
        let proc_idx = idx?;
        if complete {
            self.run_counts.push((proc_idx, values.len(), proc.span));
        }
        let priority = self.priority_value(priority, proc.span);
        complete.then_some(Expr::Run { proc: proc_idx, args: values, priority })
    }

    pub(super) fn priority_value(&mut self, priority: Option<i32>, span: Span) -> u8 {
        match priority {
            None => 1,
            Some(p @ 1..=255) => p as u8,
            Some(p) => {
                self.error(Diagnostic::error(span, format!("priority {p} is not in 1..255")));
                1
            }
        }
    }

    /// An argument of a send or `run`: a record stands for all its fields.
    pub(super) fn message_arg(&mut self, arg: &ast::Expr, out: &mut Vec<Expr>) -> Option<()> {
        if let ExprKind::Var(var) = &arg.kind
            && self.predefined(var).is_none()
        {
            // In an event trace `c!_` means any value.
            if self.in_claim && var.parts.len() == 1 && &*var.parts[0].name == "_" {
                out.push(Expr::Const(0));
                return Some(());
            }
            let resolved = self.resolve(var)?;
            if matches!(resolved.ty, VarType::Record(_)) {
                let mut places = Vec::new();
                leaves(&resolved, &mut places);
                out.extend(places.into_iter().map(|p| Expr::Load(Box::new(p))));
                return Some(());
            }
            out.push(Expr::Load(Box::new(self.scalar_place(resolved, var)?)));
            return Some(());
        }
        out.push(self.expr(arg)?);
        Some(())
    }

    pub(super) fn receive(
        &mut self,
        chan: &VarRef,
        random: bool,
        keep: bool,
        args: &[RecvArg],
    ) -> Option<Receive> {
        let chan = self.chan(chan);
        let mut fields = Vec::new();
        let mut complete = true;
        for arg in args {
            complete &= self.receive_arg(arg, &mut fields).is_some();
        }
        let chan = chan?;
        complete.then_some(Receive { chan, random, keep, fields })
    }

    fn receive_arg(&mut self, arg: &RecvArg, fields: &mut Vec<Field>) -> Option<()> {
        match &arg.kind {
            RecvArgKind::Const(value) => fields.push(Field::Match(Expr::Const(*value))),
            RecvArgKind::Eval(expr) => {
                let value = self.expr(expr)?;
                fields.push(Field::Match(value));
            }
            RecvArgKind::Var(var) if var.parts.len() == 1 && &*var.parts[0].name == "_" => {
                fields.push(Field::Any);
            }
            RecvArgKind::Var(var) => {
                if self.predefined(var).is_some() {
                    let message = format!("'{}' cannot be assigned to", var.parts[0].name);
                    let help = "to match its value, write 'eval(...)'";
                    self.error(Diagnostic::error(var.span, message).help(help));
                    return None;
                }
                let resolved = self.resolve(var)?;
                if matches!(resolved.ty, VarType::Record(_)) {
                    let mut places = Vec::new();
                    leaves(&resolved, &mut places);
                    fields.extend(places.into_iter().map(Field::Bind));
                } else {
                    let place = self.scalar_place(resolved, var)?;
                    fields.push(Field::Bind(place));
                }
            }
        }
        Some(())
    }

    /// A reference to a channel variable.
    pub(super) fn chan(&mut self, var: &VarRef) -> Option<Expr> {
        if self.predefined(var).is_some() {
            let message = format!("'{}' is no channel", var.parts[0].name);
            self.error(Diagnostic::error(var.span, message));
            return None;
        }
        let place = self.place(var)?;
        if place.ty.kind != Kind::Chan {
            let name = &var.parts.last().expect("a reference has a part").name;
            let message = format!("'{name}' is no channel");
            self.error(Diagnostic::error(var.span, message));
            return None;
        }
        Some(Expr::Load(Box::new(place)))
    }

    /// `_pid` and its kin.
    pub(super) fn predefined(&mut self, var: &VarRef) -> Option<Expr> {
        let [RefPart { name, index: None, .. }] = &var.parts[..] else { return None };
        match &**name {
            "_pid" => Some(Expr::Pid),
            "_nr_pr" => Some(Expr::ProcessCount),
            "_last" => {
                self.system.uses.last |= !self.in_claim;
                Some(Expr::Last)
            }
            "_priority" => {
                self.uses_priority = self.uses_priority.or(Some(var.span));
                Some(Expr::Priority(Box::new(Expr::Pid)))
            }
            _ => None,
        }
    }

    /// A reference to a scalar.
    pub(super) fn place(&mut self, var: &VarRef) -> Option<Place> {
        let resolved = self.resolve(var)?;
        self.scalar_place(resolved, var)
    }

    fn scalar_place(&mut self, resolved: Resolved, var: &VarRef) -> Option<Place> {
        let name = &var.parts.last().expect("a reference has a part").name;
        let (message, help) = match (&resolved.ty, resolved.bound) {
            (_, Some(_)) => (format!("'{name}' is an array"), format!("write '{name}[index]'")),
            (VarType::Record(r), None) => (
                format!("'{name}' is a record of type '{}'", r.name),
                format!("write '{name}.field'"),
            ),
            (VarType::Scalar(_), None) => return Some(resolved.place),
        };
        self.error(Diagnostic::error(var.span, message).help(help));
        None
    }

    fn resolve(&mut self, var: &VarRef) -> Option<Resolved> {
        let first = &var.parts[0];
        if &*first.name == "_" && var.parts.len() == 1 {
            let message = "'_' can be assigned to, but not read";
            self.error(Diagnostic::error(var.span, message));
            return None;
        }
        let Some(variable) = self.lookup(&first.name).cloned() else {
            self.undeclared(first);
            return None;
        };
        let Variable { space, offset, ty, bound, .. } = variable;
        // The type of the place is set when a scalar is reached.
        let place = Place { space, offset, indices: Vec::new(), ty: Scalar::INT };
        let mut resolved = self.index(Resolved { place, ty, bound }, first)?;
        for part in &var.parts[1..] {
            resolved = self.field(resolved, part)?;
        }
        if let VarType::Scalar(scalar) = &resolved.ty {
            resolved.place.ty = scalar.clone();
        }
        Some(resolved)
    }

    fn undeclared(&mut self, part: &RefPart) {
        let near = self.similar_name(&part.name);
        let message = format!("undeclared variable '{}'", part.name);
        let mut diagnostic = Diagnostic::error(part.span, message);
        if &*part.name == "while" {
            let help = "write 'do :: condition -> ... :: else -> break od'";
            diagnostic = diagnostic.help(help);
        } else if let Some(near) = near {
            diagnostic = diagnostic.help(format!("did you mean '{near}'?"));
        }
        self.error(diagnostic);
    }

    fn similar_name(&self, name: &str) -> Option<Name> {
        let names = self.scopes.blocks.iter().flat_map(|b| b.keys()).chain(self.globals.keys());
        // Of very short names all are similar.
        let near = names.filter(|n| name.len() > 2 && edit_distance(n, name) <= 1 + name.len() / 5);
        near.min_by_key(|n| (edit_distance(n, name), (*n).clone())).cloned()
    }

    fn field(&mut self, from: Resolved, part: &RefPart) -> Option<Resolved> {
        if from.bound.is_some() {
            self.error(Diagnostic::error(part.span, "an array has no fields").help("add an index"));
            return None;
        }
        let VarType::Record(record) = &from.ty else {
            let message = format!("no field '{}' in a variable that is no record", part.name);
            self.error(Diagnostic::error(part.span, message));
            return None;
        };
        let Some(field) = record.fields.iter().find(|f| f.name == part.name) else {
            let message = format!("type '{}' has no field '{}'", record.name, part.name);
            let names: Vec<String> =
                record.fields.iter().map(|f| format!("'{}'", f.name)).collect();
            let help = format!("its fields are {}", names.join(", "));
            self.error(Diagnostic::error(part.span, message).help(help));
            return None;
        };
        let (ty, bound) = (field.ty.clone(), field.bound);
        let mut place = from.place;
        place.offset += field.offset;
        self.index(Resolved { place, ty, bound }, part)
    }

    /// Applies the index of a part, if it has one.
    fn index(&mut self, mut of: Resolved, part: &RefPart) -> Option<Resolved> {
        let Some(index) = &part.index else { return Some(of) };
        let value = self.expr(index)?;
        let stride = of.ty.size();
        match (of.bound, value) {
            (Some(bound), Expr::Const(i)) if (0..bound as i64).contains(&(i as i64)) => {
                of.place.offset += i as u32 * stride;
            }
            (Some(bound), expr) => of.place.indices.push(Index { expr, bound, stride }),
            // Spin takes `x[0]` for `x`.
            (None, Expr::Const(0)) => {}
            (None, _) => {
                let message = format!("'{}' is no array", part.name);
                self.error(Diagnostic::error(part.span, message));
                return None;
            }
        }
        of.bound = None;
        Some(of)
    }

    /// The hidden cell behind `_` when it is assigned to.
    pub(super) fn scratch(&mut self) -> Place {
        let name: Name = "_".into();
        if !self.globals.contains_key(&name) {
            let offset = self.system.globals.size;
            self.system.globals.size += 4;
            let cell = Cell { name: "_".into(), ty: Scalar::INT, offset, hidden: true };
            self.system.globals.cells.push(cell);
            let (ty, space) = (VarType::Scalar(Scalar::INT), Space::Global);
            let variable = Variable { space, offset, ty, bound: None, value: None };
            self.globals.insert(name.clone(), variable);
        }
        let offset = self.globals[&name].offset;
        Place { space: Space::Global, offset, indices: Vec::new(), ty: Scalar::INT }
    }
}

/// All scalars of a record variable, in order.
fn leaves(of: &Resolved, out: &mut Vec<Place>) {
    fn walk(base: &Place, ty: &VarType, bound: Option<u32>, offset: u32, out: &mut Vec<Place>) {
        for i in 0..bound.unwrap_or(1) {
            let at = offset + i * ty.size();
            match ty {
                VarType::Scalar(scalar) => {
                    out.push(Place { offset: base.offset + at, ty: scalar.clone(), ..base.clone() })
                }
                VarType::Record(record) => {
                    for field in &record.fields {
                        walk(base, &field.ty, field.bound, at + field.offset, out);
                    }
                }
            }
        }
    }
    walk(&of.place, &of.ty, of.bound, 0, out);
}

/// Places of all scalars of a parameter.
pub(super) fn param_places(variable: &Variable) -> Vec<Place> {
    let place = Place {
        space: variable.space,
        offset: variable.offset,
        indices: Vec::new(),
        ty: Scalar { kind: Kind::Int, repr: Repr::I32 },
    };
    let resolved = Resolved { place, ty: variable.ty.clone(), bound: variable.bound };
    let mut out = Vec::new();
    leaves(&resolved, &mut out);
    out
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + (ca != *cb) as usize;
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
