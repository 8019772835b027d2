//! The types of a model, each once.
//!
//! Types are equal if they have the same structure, as in Rumur, so a
//! [`TypeId`] says all about equality. Scalarsets are the exception: each
//! `scalarset(N)` in the text is a type of its own, as in CMurphi. Rumur lets
//! two of the same size be mixed, but then their symmetry is lost.

use super::ast::Name;
use std::collections::HashMap;
use std::fmt::Write;

/// Values of constants: those of 64 bits with and without a sign, and room to
/// find out that a result is neither.
pub type Value = i128;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

impl TypeId {
    /// Something is wrong and has been reported; goes with everything.
    pub const UNKNOWN: TypeId = TypeId(0);
    /// Numbers without bounds: results of arithmetic.
    pub const INT: TypeId = TypeId(1);
    pub const BOOL: TypeId = TypeId(2);
    /// The type of `undefined`, which goes with all simple types.
    pub const UNDEFINED: TypeId = TypeId(3);
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    Unknown,
    Int,
    /// `false` is 0, `true` is 1.
    Bool,
    Undefined,
    Range {
        low: Value,
        high: Value,
    },
    /// A member's value is its place, from 0.
    Enum {
        members: Vec<Name>,
    },
    /// Values are 0 to `size - 1`; the model cannot name them.
    Scalarset {
        size: u64,
        /// Tells scalarsets of the same size apart.
        number: u32,
    },
    /// Each member is a scalarset, an enumeration or a boolean, and there once.
    Union {
        members: Vec<TypeId>,
    },
    Record {
        fields: Vec<(Name, TypeId)>,
    },
    Array {
        index: TypeId,
        element: TypeId,
    },
    Multiset {
        size: u64,
        element: TypeId,
    },
    /// A place in a multiset of this type: what `choose` chooses.
    MultisetIndex {
        multiset: TypeId,
    },
}

/// How many levels a type has at most; limits what recursion over types needs.
const MAX_LEVELS: u32 = 100;
/// Longer descriptions of types are cut in messages.
const MAX_DESCRIPTION: usize = 60;

#[derive(Debug, Clone)]
struct Entry {
    ty: Type,
    /// Under which the type was declared first.
    name: Option<Name>,
    /// Simple values in a value of this type.
    cells: u64,
    levels: u32,
}

#[derive(Debug, Clone)]
pub struct Types {
    entries: Vec<Entry>,
    ids: HashMap<Type, TypeId>,
    n_scalarsets: u32,
}

impl Default for Types {
    fn default() -> Types {
        let mut types = Types { entries: Vec::new(), ids: HashMap::new(), n_scalarsets: 0 };
        for ty in [Type::Unknown, Type::Int, Type::Bool, Type::Undefined] {
            types.add(ty);
        }
        types
    }
}

impl Types {
    /// The id of `ty`, which is added if it is new.
    pub fn add(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = TypeId(self.entries.len() as u32);
        let (cells, levels) = self.measure(&ty);
        self.entries.push(Entry { ty: ty.clone(), name: None, cells, levels });
        self.ids.insert(ty, id);
        id
    }

    pub fn add_scalarset(&mut self, size: u64) -> TypeId {
        self.n_scalarsets += 1;
        self.add(Type::Scalarset { size, number: self.n_scalarsets })
    }

    /// Gives a type the name it was declared by, if it has none yet.
    pub fn set_name(&mut self, id: TypeId, name: &Name) {
        if id > TypeId::UNDEFINED {
            self.entries[id.0 as usize].name.get_or_insert_with(|| name.clone());
        }
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.entries[id.0 as usize].ty
    }

    pub fn name(&self, id: TypeId) -> Option<&Name> {
        self.entries[id.0 as usize].name.as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.entries.iter().enumerate().map(|(i, entry)| (TypeId(i as u32), &entry.ty))
    }

    /// How many simple values there are in a value of the type; `u64::MAX` for
    /// more than can be counted.
    pub fn cells(&self, id: TypeId) -> u64 {
        self.entries[id.0 as usize].cells
    }

    /// True if the type has so many levels that nothing can be built upon it.
    pub fn is_too_deep(&self, id: TypeId) -> bool {
        self.entries[id.0 as usize].levels >= MAX_LEVELS
    }

    fn measure(&self, ty: &Type) -> (u64, u32) {
        let levels = |id: TypeId| self.entries[id.0 as usize].levels + 1;
        match ty {
            Type::Record { fields } => (
                fields.iter().fold(0, |sum, (_, f)| sum.saturating_add(self.cells(*f))),
                fields.iter().map(|(_, f)| levels(*f)).max().unwrap_or(1),
            ),
            Type::Array { index, element } => {
                let n = self.n_values(*index).unwrap_or(u64::MAX);
                (n.saturating_mul(self.cells(*element)), levels(*element))
            }
            Type::Multiset { size, element } => {
                (size.saturating_mul(self.cells(*element)), levels(*element))
            }
            _ => (1, 0),
        }
    }

    /// How many values a simple type has, `undefined` not counted.
    pub fn n_values(&self, id: TypeId) -> Option<u64> {
        Some(match self.get(id) {
            Type::Bool => 2,
            Type::Range { low, high } => (high - low + 1).clamp(0, u64::MAX.into()) as u64,
            Type::Enum { members } => members.len() as u64,
            Type::Scalarset { size, .. } => *size,
            Type::Union { members } => members
                .iter()
                .map(|m| self.n_values(*m))
                .try_fold(0u64, |sum, n| sum.checked_add(n?))?,
            Type::MultisetIndex { multiset } => match self.get(*multiset) {
                Type::Multiset { size, .. } => *size,
                _ => return None,
            },
            _ => return None,
        })
    }

    pub fn is_number(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Int | Type::Range { .. })
    }

    /// True if values of the type have no parts.
    pub fn is_simple(&self, id: TypeId) -> bool {
        !matches!(self.get(id), Type::Record { .. } | Type::Array { .. } | Type::Multiset { .. })
    }

    /// True if a value of one type can be compared with one of the other, and
    /// assigned to a variable of it, if need be after a check when it runs.
    pub fn compatible(&self, a: TypeId, b: TypeId) -> bool {
        if a == b || a == TypeId::UNKNOWN || b == TypeId::UNKNOWN {
            return true;
        }
        if a == TypeId::UNDEFINED || b == TypeId::UNDEFINED {
            return self.is_simple(a) && self.is_simple(b);
        }
        match (self.get(a), self.get(b)) {
            (Type::Int | Type::Range { .. }, Type::Int | Type::Range { .. }) => true,
            (Type::Union { members: a }, Type::Union { members: b }) => {
                a.iter().any(|member| b.contains(member))
            }
            (Type::Union { members }, _) => members.contains(&b),
            (_, Type::Union { members }) => members.contains(&a),
            _ => false,
        }
    }

    /// The type as messages name it.
    pub fn describe(&self, id: TypeId) -> String {
        let entry = &self.entries[id.0 as usize];
        if let (Some(name), false) = (&entry.name, matches!(entry.ty, Type::Range { .. })) {
            return format!("'{name}'");
        }
        let mut text = String::new();
        self.write(id, &mut text);
        if text.chars().count() > MAX_DESCRIPTION {
            text = text.chars().take(MAX_DESCRIPTION).chain(" ...".chars()).collect();
        }
        format!("'{text}'")
    }

    fn write(&self, id: TypeId, out: &mut String) {
        let entry = &self.entries[id.0 as usize];
        if out.len() > 2 * MAX_DESCRIPTION {
            return;
        }
        if let (Some(name), false) = (&entry.name, matches!(entry.ty, Type::Range { .. })) {
            out.push_str(name);
            return;
        }
        match &entry.ty {
            Type::Unknown => out.push_str("unknown"),
            Type::Int => out.push_str("number"),
            Type::Bool => out.push_str("boolean"),
            Type::Undefined => out.push_str("undefined"),
            Type::Range { low, high } => {
                let _ = write!(out, "{low}..{high}");
            }
            Type::Enum { members } => {
                let shown = members.iter().take(8).map(|m| &**m).collect::<Vec<_>>().join(", ");
                let more = if members.len() > 8 { ", ..." } else { "" };
                let _ = write!(out, "enum {{{shown}{more}}}");
            }
            Type::Scalarset { size, .. } => {
                let _ = write!(out, "scalarset({size})");
            }
            Type::Union { members } => self.write_union(members, out),
            Type::Record { fields } => {
                out.push_str("record");
                for (name, ty) in fields.iter().take(8) {
                    let _ = write!(out, " {name} : ");
                    self.write(*ty, out);
                    out.push(';');
                }
                out.push_str(if fields.len() > 8 { " ... end" } else { " end" });
            }
            Type::Array { index, element } => {
                out.push_str("array [");
                self.write(*index, out);
                out.push_str("] of ");
                self.write(*element, out);
            }
            Type::Multiset { size, element } => {
                let _ = write!(out, "multiset [{size}] of ");
                self.write(*element, out);
            }
            Type::MultisetIndex { multiset } => {
                out.push_str("index of ");
                self.write(*multiset, out);
            }
        }
    }

    fn write_union(&self, members: &[TypeId], out: &mut String) {
        out.push_str("union {");
        for (i, member) in members.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            self.write(*member, out);
        }
        out.push('}');
    }
}
