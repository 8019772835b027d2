//! Types: how many bytes, which values.

use super::Lower;
use crate::murphi::model::{Domain, Type, TypeId};
use ir::rules::{Field, Names, SetIdx, Simple, Type as Lowered, TypeIdx, Width};

impl Lower<'_> {
    /// Bytes of a value; saturates.
    pub(super) fn bytes(&self, id: TypeId) -> u64 {
        let types = &self.model.types;
        match types.get(id) {
            Type::Record { fields } => {
                fields.iter().fold(0, |sum, (_, ty)| sum.saturating_add(self.bytes(*ty)))
            }
            Type::Array { index, element } => {
                types.n_values(*index).unwrap_or(u64::MAX).saturating_mul(self.bytes(*element))
            }
            Type::Multiset { size, element } => {
                size.saturating_mul(self.bytes(*element).saturating_add(1))
            }
            _ => Width::of(types.n_values(id).unwrap_or(u64::MAX)).bytes().into(),
        }
    }

    /// True for simple types whose values the model can store.
    pub(super) fn is_named(&self, id: TypeId) -> bool {
        let types = &self.model.types;
        types.is_simple(id) && types.n_values(id).is_some()
    }

    /// Bounds of a simple type: the least value, and how many there are.
    pub(super) fn bounds(&self, id: TypeId) -> (i64, u64) {
        let low = match self.model.types.get(id) {
            Type::Range { low, .. } => *low as i64,
            _ => 0,
        };
        (low, self.model.types.n_values(id).unwrap_or(0))
    }

    pub(super) fn width(&self, id: TypeId) -> Width {
        Width::of(self.bounds(id).1)
    }

    /// The type in the table, where it is put if it is not there yet.
    pub(super) fn ty(&mut self, id: TypeId) -> TypeIdx {
        if let Some(idx) = self.types[id.0 as usize] {
            return idx;
        }
        let lowered = self.lower_type(id);
        self.rules.types.push(lowered);
        let idx = TypeIdx(self.rules.types.len() as u32 - 1);
        self.types[id.0 as usize] = Some(idx);
        idx
    }

    fn lower_type(&mut self, id: TypeId) -> Lowered {
        let size = self.bytes(id) as u32;
        let (low, count) = self.bounds(id);
        let names = match self.model.types.get(id) {
            Type::Record { fields } => {
                let mut offset = 0;
                let mut lowered = Vec::new();
                for (name, ty) in fields {
                    let ty = self.ty(*ty);
                    lowered.push(Field { name: name.to_string(), ty, offset });
                    offset += self.rules.size_of(ty);
                }
                return Lowered::Record { fields: lowered, size };
            }
            Type::Array { index, element } => {
                let (index, element) = (self.ty(*index), self.ty(*element));
                return Lowered::Array { index, element, size };
            }
            Type::Multiset { size: slots, element } => {
                return Lowered::Multiset { slots: *slots, element: self.ty(*element), size };
            }
            Type::Bool => Names::Words(vec!["false".into(), "true".into()]),
            Type::Enum { members } => Names::Words(members.iter().map(|m| m.to_string()).collect()),
            Type::Scalarset { size, .. } => {
                self.rules.sets.push(*size);
                let set = SetIdx(self.rules.sets.len() as u32 - 1);
                let name = self.model.types.name(id);
                Names::Scalarset { name: name.map_or("scalarset".into(), |n| n.to_string()), set }
            }
            Type::Union { members } => Names::Union(members.iter().map(|m| self.ty(*m)).collect()),
            _ => Names::Numbers,
        };
        Lowered::Simple(Simple { low, count, width: Width::of(count), names })
    }

    pub(super) fn n_slots(&self, multiset: TypeId) -> u64 {
        match self.model.types.get(multiset) {
            Type::Multiset { size, .. } => *size,
            _ => 0,
        }
    }

    /// First value, step and number of values, if they are constants.
    pub(super) fn domain(&self, domain: &Domain) -> Option<(i64, i64, u64)> {
        match domain {
            Domain::Type(ty) => {
                let (low, count) = self.bounds(*ty);
                Some((low, 1, count))
            }
            Domain::Steps { from, to, by } => {
                let (from, to, by) = (from.value()?, to.value()?, by.value()?);
                let n = if by == 0 { -1 } else { (to - from) / by };
                let there = to == from || (to > from) == (by > 0);
                let count = if there { u64::try_from(n + 1).unwrap_or(0) } else { 0 };
                Some((from as i64, by as i64, count))
            }
        }
    }
}
