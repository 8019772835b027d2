//! Types of a random model: few values each, so that there are few states.

use super::generate::Generator;
use crate::fuzz::item::Item;

pub type TyIdx = usize;

#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Bool,
    Range { low: i64, high: i64 },
    Enum(Vec<String>),
    Scalarset(i64),
    Record(Vec<(String, TyIdx)>),
    Array { index: TyIdx, element: TyIdx },
}

/// A type, and how a model writes it: by its name or as it is.
#[derive(Debug, Clone)]
pub struct Declared {
    pub text: String,
    pub ty: Type,
}

/// The first type of every model.
pub const BOOL: TyIdx = 0;

/// Ranges with few values.
const SMALL: [(i64, i64); 7] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (-1, 1), (-2, 0)];
/// Ranges of which a model uses few values.
const WIDE: [(i64, i64); 10] = [
    (0, 254),
    (0, 255),
    (-1, 300),
    (0, 65_535),
    (-5, 70_000),
    (65_530, 65_999),
    (-70_000, -300),
    (-3_000_000, 3_000_000),
    (0, 0xFFFF_FFFF),
    (-1, 5_000_000_000),
];

impl Generator {
    pub fn declare_types(&mut self, items: &mut Vec<Item>) {
        self.types.push(Declared { text: "boolean".into(), ty: Type::Bool });
        for _ in 0..2 + self.rng.below(2) {
            let wide = self.rng.chance(25);
            let (low, high) = *self.rng.pick(if wide { &WIDE } else { &SMALL });
            self.range_type(low, high, items);
        }
        for _ in 0..self.rng.weighted(&[40, 50, 10]) {
            let n = 2 + self.rng.below(2);
            let members: Vec<String> = (0..n).map(|_| self.name("m")).collect();
            let text = format!("enum {{ {} }}", members.join(", "));
            self.add_type("E", &text, Type::Enum(members), items);
        }
        for _ in 0..self.rng.weighted(&[40, 45, 15]) {
            let size = 2 + self.rng.weighted(&[45, 45, 10]) as i64;
            let text = format!("scalarset({size})");
            self.add_type("S", &text, Type::Scalarset(size), items);
        }
        for _ in 0..1 + self.rng.below(3) {
            if self.rng.chance(40) {
                self.record_type(items);
            } else {
                self.array_type(items);
            }
        }
    }

    /// Adds a type under a new name, which is declared.
    fn add_type(&mut self, prefix: &str, text: &str, ty: Type, items: &mut Vec<Item>) -> TyIdx {
        let name = self.name(prefix);
        items.push(Item::Line(format!("type {name}: {text};")));
        self.types.push(Declared { text: name, ty });
        self.types.len() - 1
    }

    fn range_type(&mut self, low: i64, high: i64, items: &mut Vec<Item>) {
        let ty = Type::Range { low, high };
        let (low, high) = (self.bound(low, items), self.bound(high, items));
        let text = format!("{low}..{high}");
        if self.rng.chance(50) {
            self.add_type("R", &text, ty, items);
        } else {
            self.types.push(Declared { text, ty });
        }
    }

    /// A bound as a number or as a constant with this value.
    fn bound(&mut self, value: i64, items: &mut Vec<Item>) -> String {
        if self.rng.chance(75) {
            return value.to_string();
        }
        let name = self.name("K");
        let text = match self.rng.below(3) {
            0 => format!("{} + 1", value - 1),
            1 => format!("{} * 1", value),
            _ => value.to_string(),
        };
        items.push(Item::Line(format!("const {name}: {text};")));
        self.constants.push((name.clone(), value));
        name
    }

    /// The type of numbers from `low` to `high`, as variables of loops have it.
    pub fn numbers(&mut self, low: i64, high: i64) -> TyIdx {
        let ty = Type::Range { low, high };
        let found = self.types.iter().position(|t| t.ty == ty);
        found.unwrap_or_else(|| {
            self.types.push(Declared { text: format!("{low}..{high}"), ty });
            self.types.len() - 1
        })
    }

    fn record_type(&mut self, items: &mut Vec<Item>) {
        let mut fields = Vec::new();
        for i in 0..1 + self.rng.below(3) {
            let ty = self.pick_type(|_, ty| !matches!(ty, Type::Record(_)), 3.0);
            fields.push((format!("f{i}"), ty));
        }
        let list: Vec<String> =
            fields.iter().map(|(name, ty)| format!("{name}: {};", self.types[*ty].text)).collect();
        let text = format!("record {} {}", list.join(" "), self.end("record"));
        self.add_type("T", &text, Type::Record(fields), items);
    }

    fn array_type(&mut self, items: &mut Vec<Item>) {
        let index = self.pick_type(|g, ty| g.n_values(ty).is_some_and(|n| n <= 4), 3.0);
        let element = self.pick_type(|_, _| true, 3.5);
        let text = format!("array [{}] of {}", self.types[index].text, self.types[element].text);
        let ty = Type::Array { index, element };
        // Arrays without a name are types of their own to none of the tools.
        if self.rng.chance(70) {
            self.add_type("A", &text, ty, items);
        } else {
            self.types.push(Declared { text, ty });
        }
    }

    /// A type with at most so many bits; `boolean` if there is no other.
    pub fn pick_type(&mut self, want: impl Fn(&Self, &Type) -> bool, bits: f64) -> TyIdx {
        let fits = |i: &TyIdx| want(self, &self.types[*i].ty) && self.bits(*i) <= bits;
        let fitting: Vec<TyIdx> = (0..self.types.len()).filter(fits).collect();
        if fitting.is_empty() {
            return BOOL;
        }
        // Scalarsets are what symmetry is about.
        let symmetric: Vec<TyIdx> = fitting.iter().copied().filter(|i| self.has_sets(*i)).collect();
        if !symmetric.is_empty() && self.rng.chance(35) {
            return *self.rng.pick(&symmetric);
        }
        *self.rng.pick(&fitting)
    }

    pub fn ty(&self, idx: TyIdx) -> &Type {
        &self.types[idx].ty
    }

    pub fn is_simple(&self, idx: TyIdx) -> bool {
        !matches!(self.ty(idx), Type::Record(_) | Type::Array { .. })
    }

    pub fn is_range(&self, idx: TyIdx) -> bool {
        matches!(self.ty(idx), Type::Range { .. })
    }

    pub fn is_scalarset(&self, idx: TyIdx) -> bool {
        matches!(self.ty(idx), Type::Scalarset(_))
    }

    /// Values of a simple type.
    pub fn n_values(&self, ty: &Type) -> Option<i64> {
        match ty {
            Type::Bool => Some(2),
            Type::Range { low, high } => Some(high - low + 1),
            Type::Enum(members) => Some(members.len() as i64),
            Type::Scalarset(size) => Some(*size),
            Type::Record(_) | Type::Array { .. } => None,
        }
    }

    /// It is a simple type that a model uses all values of.
    pub fn has_few_values(&self, idx: TyIdx) -> bool {
        self.n_values(self.ty(idx)).is_some_and(|n| n <= 5)
    }

    /// The logarithm of the number of values that a model uses of a type.
    pub fn bits(&self, idx: TyIdx) -> f64 {
        match self.ty(idx) {
            Type::Record(fields) => fields.iter().map(|(_, ty)| self.bits(*ty)).sum(),
            Type::Array { index, element } => {
                let n = self.n_values(self.ty(*index)).unwrap_or(1);
                n as f64 * self.bits(*element)
            }
            ty => (self.n_values(ty).unwrap_or(1).min(5) as f64).log2(),
        }
    }

    /// A scalarset has something to do with the type.
    pub fn has_sets(&self, idx: TyIdx) -> bool {
        match self.ty(idx) {
            Type::Scalarset(_) => true,
            Type::Record(fields) => fields.iter().any(|(_, ty)| self.has_sets(*ty)),
            Type::Array { index, element } => self.has_sets(*index) || self.has_sets(*element),
            _ => false,
        }
    }

    /// Values of scalarsets are parts of values of the type.
    pub fn holds_sets(&self, idx: TyIdx) -> bool {
        match self.ty(idx) {
            Type::Scalarset(_) => true,
            Type::Record(fields) => fields.iter().any(|(_, ty)| self.holds_sets(*ty)),
            Type::Array { element, .. } => self.holds_sets(*element),
            _ => false,
        }
    }
}
