//! What names mean.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::murphi::ast::{Decl, Item, Name, Program};
use crate::murphi::model::*;
use ir::source::Span;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol {
    Const(TypeId, Value),
    Type(TypeId),
    Global(GlobalId),
    Local(LocalId),
    Function(FunctionId),
    /// Its declaration is wrong.
    Unknown,
}

pub(super) struct Scopes {
    /// The scope of the model first, the innermost last.
    scopes: Vec<HashMap<Name, Symbol>>,
    /// Names that the model declares somewhere.
    declared: HashSet<Name>,
    /// Names that were reported as undeclared: once is enough.
    reported: HashSet<Name>,
    /// Names whose declaration is being read.
    pub declaring: Vec<Name>,
}

impl Scopes {
    pub fn new(program: &Program) -> Scopes {
        let mut declared = HashSet::new();
        for item in &program.items {
            match item {
                Item::Decl(Decl::Const { names, .. } | Decl::Type { names, .. }) => {
                    declared.extend(names.iter().map(|n| n.node.clone()))
                }
                Item::Decl(Decl::Var(var)) => {
                    declared.extend(var.names.iter().map(|n| n.node.clone()));
                }
                Item::Function(function) => {
                    declared.insert(function.name.node.clone());
                }
                Item::Rule(_) => {}
            }
        }
        Scopes {
            scopes: vec![HashMap::new()],
            declared,
            reported: HashSet::new(),
            declaring: Vec::new(),
        }
    }

    pub fn open(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub fn close(&mut self) {
        self.scopes.pop();
    }

    pub fn is_global(&self) -> bool {
        self.scopes.len() == 1
    }

    /// False if the innermost scope has the name already, which then keeps its
    /// first meaning.
    pub fn declare(&mut self, name: &Name, symbol: Symbol) -> bool {
        let innermost = self.scopes.len() - 1;
        declare_in(&mut self.scopes[innermost], name, symbol)
    }

    /// Declares a name in the scope of the model.
    pub fn declare_outside(&mut self, name: &Name, symbol: Symbol) -> bool {
        declare_in(&mut self.scopes[0], name, symbol)
    }

    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// A declared name that differs in few letters, or only in case.
    fn similar(&self, name: &str) -> Option<&Name> {
        let limit = (name.chars().count() / 3).min(2);
        self.scopes
            .iter()
            .flat_map(|scope| scope.keys())
            .map(|known| {
                let same = known.eq_ignore_ascii_case(name);
                (if same { 0 } else { distance(known, name, limit) }, known)
            })
            .filter(|(distance, _)| *distance <= limit)
            .min()
            .map(|(_, known)| known)
    }
}

fn declare_in(scope: &mut HashMap<Name, Symbol>, name: &Name, symbol: Symbol) -> bool {
    if scope.contains_key(name) {
        return false;
    }
    scope.insert(name.clone(), symbol);
    true
}

/// Letters to be inserted, removed or changed, or more than `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit || a.len() > 60 {
        return limit + 1;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl Checker<'_> {
    /// Says that `name` is unknown; `what` it should be.
    pub(super) fn undeclared(&mut self, name: &Name, span: Span, what: &str) {
        if !self.scopes.reported.insert(name.clone()) {
            return;
        }
        if self.scopes.declaring.contains(name) {
            return self.error(span, format!("'{name}' is used in its own declaration"));
        }
        if self.scopes.declared.contains(name) {
            let message = format!("'{name}' is used before its declaration");
            let help = "move the declaration in front of what uses it";
            return self.error_with_help(span, message, help);
        }
        // A name may be missing because its declaration could not be read.
        if self.lost_names {
            return;
        }
        let diagnostic = Diagnostic::error(span, format!("undeclared {what} '{name}'"));
        let diagnostic = match self.scopes.similar(name) {
            Some(near) => diagnostic.help(format!("did you mean '{near}'?")),
            None => diagnostic,
        };
        self.report(diagnostic);
    }
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_of_names() {
        assert_eq!(distance("counter", "countr", 2), 1);
        assert_eq!(distance("ab", "ba", 2), 2);
        assert_eq!(distance("x", "x", 1), 0);
        assert!(distance("short", "muchlonger", 2) > 2);
    }
}
