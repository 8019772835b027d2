//! Variables and their parts.

use super::generate::Generator;
use super::types::{TyIdx, Type};

#[derive(Debug, Clone)]
pub struct Var {
    pub name: String,
    pub ty: TyIdx,
    /// The variable that it is, or is a part of.
    pub root: String,
    pub writable: bool,
    /// Never undefined where it can be read.
    pub solid: bool,
    /// Bound by a quantifier: a value, no place.
    pub bound: bool,
    /// A `var` parameter: it may be a part of any other variable.
    pub shared: bool,
    pub local: bool,
}

impl Var {
    /// A variable that may be undefined.
    pub fn new(name: &str, ty: TyIdx) -> Var {
        Var {
            name: name.into(),
            ty,
            root: name.into(),
            writable: true,
            solid: false,
            bound: false,
            shared: false,
            local: false,
        }
    }

    pub fn bound(name: &str, ty: TyIdx) -> Var {
        Var { writable: false, solid: true, bound: true, ..Var::new(name, ty) }
    }
}

/// A part of a variable, as a model writes it.
#[derive(Debug, Clone)]
pub struct Place {
    pub text: String,
    pub ty: TyIdx,
    pub var: Var,
    /// Its indices do not change within a rule.
    pub stable: bool,
}

/// What a place is needed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use {
    Read,
    Write,
    Undefine,
}

impl Generator {
    /// A part of some variable, of a type that is wanted.
    pub fn place(&mut self, usage: Use, want: impl Fn(&Self, TyIdx) -> bool) -> Option<Place> {
        let all: Vec<Var> = self.scope.iter().chain(&self.globals).cloned().collect();
        let fits = |v: &&Var| self.usable(v, usage) && self.has_part(v.ty, &want);
        let vars: Vec<&Var> = all.iter().filter(fits).collect();
        if vars.is_empty() {
            return None;
        }
        let var = (*self.rng.pick(&vars)).clone();
        let place = Place { text: var.name.clone(), ty: var.ty, var, stable: true };
        self.part(place, &want)
    }

    fn usable(&self, var: &Var, usage: Use) -> bool {
        let context = &self.context;
        if context.safe && var.shared || context.avoided.as_ref() == Some(&var.root) {
            return false;
        }
        let writable = var.writable && (var.local || !context.pure_only);
        match usage {
            Use::Read => true,
            Use::Write => writable,
            Use::Undefine => writable && !var.solid && !var.shared,
        }
    }

    /// A value of the type has a part that is wanted, or is one.
    fn has_part(&self, ty: TyIdx, want: &impl Fn(&Self, TyIdx) -> bool) -> bool {
        want(self, ty)
            || match self.ty(ty) {
                Type::Record(fields) => fields.iter().any(|(_, ty)| self.has_part(*ty, want)),
                Type::Array { element, .. } => self.has_part(*element, want),
                _ => false,
            }
    }

    /// A part of a place that is wanted; none if there is no index for it.
    pub fn part(&mut self, place: Place, want: &impl Fn(&Self, TyIdx) -> bool) -> Option<Place> {
        let mut place = place;
        loop {
            let deeper = match self.ty(place.ty).clone() {
                Type::Record(fields) => {
                    let mut fields = fields;
                    fields.retain(|(_, ty)| self.has_part(*ty, want));
                    fields
                }
                Type::Array { element, .. } if self.has_part(element, want) => {
                    vec![(String::new(), element)]
                }
                _ => Vec::new(),
            };
            if deeper.is_empty() || want(self, place.ty) && self.rng.chance(60) {
                return want(self, place.ty).then_some(place);
            }
            let (field, ty) = self.rng.pick(&deeper).clone();
            if let Type::Array { index, .. } = *self.ty(place.ty) {
                let (text, stable) = self.index(index)?;
                place.text = format!("{}[{text}]", place.text);
                place.stable &= stable;
            } else {
                place.text = format!("{}.{field}", place.text);
            }
            place.ty = ty;
        }
    }

    /// An index of this type, and whether it always has the same value.
    fn index(&mut self, ty: TyIdx) -> Option<(String, bool)> {
        let bound: Vec<Var> =
            self.scope.iter().filter(|v| v.bound && v.ty == ty).cloned().collect();
        if !bound.is_empty() && self.rng.chance(70) {
            return Some((self.rng.pick(&bound).name.clone(), true));
        }
        if !self.context.safe && self.rng.chance(30) {
            return Some((self.value(ty, 1)?, false));
        }
        Some((self.literal(ty)?, true))
    }

    /// A constant of a simple type; of a scalarset, a value that was chosen.
    pub fn literal(&mut self, ty: TyIdx) -> Option<String> {
        Some(match self.ty(ty).clone() {
            Type::Bool => self.rng.pick(&["true", "false"]).to_string(),
            Type::Enum(members) => self.rng.pick(&members).clone(),
            Type::Range { low, high } => {
                let value = match self.rng.below(4) {
                    0 => high,
                    1 => (low + 1).min(high),
                    _ => low,
                };
                let same = self.constants.iter().find(|(_, v)| *v == value);
                match same {
                    Some((name, _)) => name.clone(),
                    None if value < 0 => format!("({value})"),
                    None => value.to_string(),
                }
            }
            _ => {
                let of = |v: &&Var| v.bound && v.ty == ty;
                let bound: Vec<Var> = self.scope.iter().filter(of).cloned().collect();
                if bound.is_empty() {
                    return None;
                }
                self.rng.pick(&bound).name.clone()
            }
        })
    }

    /// True in `percent` of 100 calls, where something may fail.
    pub fn may_fail(&mut self, percent: usize) -> bool {
        self.risky && !self.context.safe && self.rng.chance(percent)
    }

    /// The value of a place; mostly such that it does not matter if it is
    /// undefined.
    pub fn read(&mut self, place: &Place) -> Option<String> {
        let is_known = !self.context.safe && self.known.contains(&place.text);
        if place.var.solid || is_known || self.may_fail(7) {
            return Some(place.text.clone());
        }
        match self.literal(place.ty) {
            Some(literal) => Some(format!("(isundefined({0}) ? {literal} : {0})", place.text)),
            None => self.may_fail(60).then(|| place.text.clone()),
        }
    }
}
