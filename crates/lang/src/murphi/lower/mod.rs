//! From the checked tree to `ir::rules::Rules`.
//!
//! Order: rules, start states and properties keep that of the file. The
//! instances of a rule are numbered with its last parameter changing fastest.

mod call;
mod coder;
mod expr;
mod multiset;
mod place;
mod quantifier;
mod stmt;
mod types;

use super::model::{self, Binder, Model, PropertyKind, Type};
use crate::diagnostic::Diagnostic;
use coder::{Binding, Coder};
use ir::rules::{Code, Cover, Failure, Param, Property, Routine, Rule, Rules, TypeIdx};
use ir::source::{Sources, Span};

/// States with more bytes than this are not for a model checker.
const MAX_STATE: u64 = 1 << 20;

/// The largest number with a sign.
const MAX_SIGNED: i128 = i64::MAX as i128;

struct Lower<'m> {
    model: &'m Model,
    rules: Rules,
    /// By `TypeId`, where it is in the table of types.
    types: Vec<Option<TypeIdx>>,
    diagnostics: Vec<Diagnostic>,
    /// To assign a variable that is undefined makes the other one undefined, as
    /// in CMurphi; it is an error in Rumur. What Rumur does not know tells
    /// which of them a model is made for.
    copies_undefined: bool,
    /// Some numbers are above those with a sign: all are without one, as in Rumur.
    unsigned: bool,
}

/// Lowers a model that was accepted. What is too large to run is an error.
pub fn lower(model: &Model, name: &str, sources: Sources) -> Result<Rules, Vec<Diagnostic>> {
    let rules = Rules { name: name.into(), language: "murphi", sources, ..Rules::default() };
    let n_types = model.types.iter().count();
    let mut types = model.types.iter().map(|(_, ty)| ty);
    let foreign = |ty: &Type| matches!(ty, Type::Union { .. } | Type::Multiset { .. });
    let copies_undefined = model.uses_undefined || types.any(foreign);
    let (types, diagnostics) = (vec![None; n_types], Vec::new());
    let unsigned = model.constants.iter().any(|c| c.value > MAX_SIGNED)
        || model
            .types
            .iter()
            .any(|(_, ty)| matches!(ty, Type::Range { high, .. } if *high > MAX_SIGNED));
    let mut lower = Lower { model, rules, types, diagnostics, copies_undefined, unsigned };
    lower.check_signs();
    lower.check_sizes();
    if lower.diagnostics.is_empty() {
        lower.variables();
        lower.functions();
        lower.all_rules();
        lower.properties();
    }
    if lower.diagnostics.is_empty() { Ok(lower.rules) } else { Err(lower.diagnostics) }
}

impl<'m> Lower<'m> {
    /// Reports numbers that need a sign in a model whose numbers have none.
    fn check_signs(&mut self) {
        let negative = |ty: &Type| matches!(ty, Type::Range { low, .. } if *low < 0);
        if self.unsigned && self.model.types.iter().any(|(_, ty)| negative(ty)) {
            let span = self.model.globals.first().map_or(Span::NONE, |global| global.span);
            let message = "ranges below 0 and above 2^63 - 1 cannot be in one model";
            self.diagnostics.push(Diagnostic::error(span, message).help("make them smaller"));
        }
    }

    /// Reports variables that are too large, before anything of their size is made.
    fn check_sizes(&mut self) {
        let mut total = 0u64;
        for global in &self.model.globals {
            total = total.saturating_add(self.bytes(global.ty));
            if total > MAX_STATE {
                let message =
                    format!("with '{}' a state has more than {MAX_STATE} bytes", global.name);
                self.too_large(global.span, message);
                return;
            }
        }
    }

    fn too_large(&mut self, span: Span, message: String) {
        let diagnostic = Diagnostic::error(span, message);
        self.diagnostics.push(diagnostic.help("make ranges and arrays smaller"));
    }

    fn variables(&mut self) {
        for global in &self.model.globals {
            let ty = self.ty(global.ty);
            let offset = self.rules.size;
            self.rules.size += self.rules.size_of(ty);
            let name = global.name.to_string();
            self.rules.variables.push(ir::rules::Variable { name, ty, offset });
        }
    }

    fn functions(&mut self) {
        for function in &self.model.functions {
            let mut coder = Coder::new(self, &function.locals);
            coder.returns = Some(function.result);
            coder.function(function);
            let code = coder.finish(function.span);
            let name = function.name.to_string();
            self.rules.routines.push(Routine { name, code, span: function.span });
        }
    }

    fn all_rules(&mut self) {
        let model = self.model;
        self.rules.starts = self.list(&model.start_states, "start state");
        self.rules.rules = self.list(&model.rules, "rule");
    }

    fn list(&mut self, rules: &'m [model::Rule], what: &str) -> Vec<Rule> {
        let mut list = Vec::new();
        let mut first = 0u64;
        for (i, rule) in rules.iter().enumerate() {
            let name = match &rule.name {
                Some(name) => name.to_string(),
                None => format!("{what} {}", i + 1),
            };
            let (params, code) = self.rule(rule);
            let rule = Rule { name, params, code, span: rule.span, first: first as u32 };
            first = first.saturating_add(rule.n_instances());
            if first > ir::rules::MAX_INSTANCES {
                let message = "the rulesets have too many instances";
                let diagnostic = Diagnostic::error(rule.span, message.to_string());
                self.diagnostics.push(diagnostic.help("choose fewer values at a time"));
                break;
            }
            list.push(rule);
        }
        list
    }

    fn rule(&mut self, rule: &'m model::Rule) -> (Vec<Param>, Code) {
        let params = self.params(&rule.binders, &rule.locals);
        let mut coder = Coder::new(self, &rule.locals);
        coder.bind_params(&rule.binders);
        for binder in &rule.binders {
            match &**binder {
                Binder::Quantifier(_) => {}
                Binder::Alias(alias) => coder.alias(alias),
                Binder::Choose(choice) => coder.guard_chosen(choice),
            }
        }
        if let Some(guard) = &rule.guard {
            let condition = coder.value(guard);
            coder.emit(ir::rules::Instr::Guard(condition));
        }
        coder.zero_variables();
        coder.stmts(&rule.body);
        (params, coder.finish(rule.span))
    }

    fn params(&mut self, binders: &[std::rc::Rc<Binder>], locals: &[model::Local]) -> Vec<Param> {
        let mut params = Vec::new();
        for binder in binders {
            let (local, low, step, count) = match &**binder {
                Binder::Quantifier(q) => {
                    let (low, step, count) = self.domain(&q.domain).unwrap_or((0, 1, 0));
                    (q.local, low, step, count)
                }
                Binder::Choose(choice) => (choice.local, 0, 1, self.n_slots(choice.multiset.ty)),
                Binder::Alias(_) => continue,
            };
            let local = &locals[local.0 as usize];
            let named = self.is_named(local.ty);
            let ty = named.then(|| self.ty(local.ty));
            params.push(Param { name: local.name.to_string(), low, step, count, ty });
        }
        params
    }

    fn properties(&mut self) {
        let mut numbers = [0; 4];
        for property in &self.model.properties {
            let number = &mut numbers[property.kind as usize];
            *number += 1;
            let what = match property.kind {
                PropertyKind::Assert => "invariant",
                PropertyKind::Assume => "assumption",
                PropertyKind::Cover => "cover",
                PropertyKind::Liveness => "liveness",
            };
            let name = match &property.name {
                Some(name) => format!("{what} \"{name}\""),
                None => format!("{what} {number}"),
            };
            if property.kind == PropertyKind::Liveness {
                self.rules.unchecked.push(name);
                continue;
            }
            let mut coder = Coder::new(self, &property.locals);
            coder.property(
                &property.binders,
                &property.condition,
                property.kind == PropertyKind::Cover,
            );
            let (code, span) = (coder.finish(property.span), property.span);
            match property.kind {
                PropertyKind::Assert => self.rules.invariants.push(Property { name, code, span }),
                PropertyKind::Assume => self.rules.assumptions.push(Property { name, code, span }),
                _ => self.rules.covers.push(Cover { name, code: Some(code), span }),
            }
        }
    }

    fn failure(&mut self, kind: ir::fault::FaultKind, message: String, span: Span) -> u32 {
        self.rules.failures.push(Failure { kind, message, span });
        self.rules.failures.len() as u32 - 1
    }
}

/// Used where a binding must exist: the checker resolved the name.
fn bound(binding: Option<Binding>) -> Binding {
    binding.expect("names are bound before they are used")
}
