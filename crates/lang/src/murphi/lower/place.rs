//! Places: where variables and their parts are.

use super::bound;
use super::coder::{Binding, Coder};
use crate::murphi::model::{Alias, Expr, ExprKind, Type, TypeId};
use ir::fault::FaultKind;
use ir::rules::{Address, Instr, Reg};

impl Coder<'_, '_> {
    /// Where a value with parts, or a variable, is; `None` for simple values
    /// that are nowhere.
    pub fn place(&mut self, expr: &Expr) -> Option<Address> {
        match &expr.kind {
            ExprKind::Global(id) => {
                let offset = self.lower.rules.variables[id.0 as usize].offset;
                Some(Address { base: None, offset: offset.into() })
            }
            ExprKind::Local(id) => match bound(self.bindings[id.0 as usize]) {
                Binding::Place(at) => Some(at),
                Binding::Value(_) => None,
            },
            ExprKind::Field(record, field) => {
                let at = self.place(record)?;
                let Type::Record { fields } = self.lower.model.types.get(record.ty) else {
                    return None;
                };
                let before = fields[..*field].iter().map(|(_, ty)| self.lower.bytes(*ty)).sum();
                Some(at.plus(before))
            }
            ExprKind::Index(array, index) => self.element(array, index),
            ExprKind::Call { function, args } if !self.is_simple(expr.ty) => {
                let result = self.temporary(expr.ty);
                self.call(*function, args, Some(result));
                Some(result)
            }
            ExprKind::Cond(condition, a, b) if !self.is_simple(expr.ty) => {
                let to = self.register();
                let condition = self.value(condition);
                let otherwise = self.unless(condition);
                if let Some(at) = self.place(a) {
                    self.emit(Instr::Place { to, at });
                }
                let end = self.jump();
                self.land(otherwise);
                if let Some(at) = self.place(b) {
                    self.emit(Instr::Place { to, at });
                }
                self.land(end);
                Some(Address { base: Some(to), offset: 0 })
            }
            _ => None,
        }
    }

    pub fn is_simple(&self, ty: TypeId) -> bool {
        self.lower.model.types.is_simple(ty)
    }

    fn element(&mut self, array: &Expr, index: &Expr) -> Option<Address> {
        let at = self.place(array)?;
        let (index_ty, stride, skip) = match *self.lower.model.types.get(array.ty) {
            Type::Array { index, element } => (index, self.lower.bytes(element), 0),
            // In front of each element is a byte that tells whether it is there.
            Type::Multiset { element, .. } => (index.ty, self.lower.bytes(element) + 1, 1),
            _ => return None,
        };
        let (low, count) = self.lower.bounds(index_ty);
        if let Some(value) = index.value() {
            let nth = (value as i64).wrapping_sub(low) as u64;
            if index.ty == index_ty && nth < count {
                return Some(at.plus(nth * stride + skip));
            }
        }
        let value = self.value(index);
        let value = self.coerce(value, index.ty, index_ty, index.span);
        let message = format!(
            "the index {} is outside of {}",
            self.quote(index.span),
            self.lower.model.types.describe(index_ty)
        );
        let failure = self.failure(FaultKind::ArrayIndex, message, index.span);
        Some(self.nth(at, value, low, count, stride as u32, failure).plus(skip))
    }

    /// The element of an array for a value of its index.
    pub fn nth(
        &mut self,
        array: Address,
        index: Reg,
        low: i64,
        count: u64,
        stride: u32,
        failure: u32,
    ) -> Address {
        let to = self.register();
        self.emit(Instr::Element { to, array, index, low, count, stride, failure });
        Address { base: Some(to), offset: 0 }
    }

    /// Binds the name of an alias: a place stays where it is now, whatever
    /// becomes of its indices.
    pub fn alias(&mut self, alias: &Alias) {
        let binding = match self.place(&alias.target) {
            Some(at) => Binding::Place(at),
            None => Binding::Value(self.value(&alias.target)),
        };
        self.bind(alias.local, binding);
    }

    /// Gives the parts of a place their least values.
    pub fn clear(&mut self, at: Address, ty: TypeId) {
        let types = &self.lower.model.types;
        match types.get(ty) {
            Type::Record { fields } => {
                let mut offset = 0;
                for (_, ty) in fields {
                    self.clear(at.plus(offset), *ty);
                    offset += self.lower.bytes(*ty);
                }
            }
            Type::Array { index, element } => {
                let (count, element) = (types.n_values(*index).unwrap_or(0), *element);
                let stride = self.lower.bytes(element);
                if count <= UNROLLED {
                    for i in 0..count {
                        self.clear(at.plus(i * stride), element);
                    }
                    return;
                }
                self.counted(count, |coder, nth| {
                    // The counter never leaves the array.
                    let each = coder.nth(at, nth, 0, count, stride as u32, 0);
                    coder.clear(each, element);
                });
            }
            Type::Multiset { .. } => self.undefine(at, ty),
            _ => {
                let (width, least) = (self.lower.width(ty), self.constant(1));
                self.emit(Instr::Store { at, width, from: least });
            }
        }
    }

    pub fn undefine(&mut self, at: Address, ty: TypeId) {
        let len = self.lower.bytes(ty) as u32;
        self.emit(Instr::Zero { at, len });
    }
}

/// Arrays with no more elements are cleared without a loop.
const UNROLLED: u64 = 8;
