//! Values as people read them, and what a step changes.

use super::{Machine, Names, Rules, Simple, Type, TypeIdx};
use crate::model::Step;
use crate::trace::{Change, TraceStep};

/// Calls `visit` for every simple value below a place, with its name.
fn leaves(
    rules: &Rules,
    name: &str,
    ty: TypeIdx,
    at: usize,
    visit: &mut dyn FnMut(&str, TypeIdx, usize),
) {
    match rules.ty(ty) {
        Type::Simple(_) => visit(name, ty, at),
        Type::Record { fields, .. } => {
            for field in fields {
                let at = at + field.offset as usize;
                leaves(rules, &format!("{name}.{}", field.name), field.ty, at, visit);
            }
        }
        Type::Array { index, element, size } => {
            let stride = rules.size_of(*element) as usize;
            for i in 0..(*size as usize).checked_div(stride).unwrap_or(0) {
                let name = format!("{name}[{}]", show_simple(rules, *index, i as u64 + 1));
                leaves(rules, &name, *element, at + i * stride, visit);
            }
        }
        Type::Multiset { slots, element, .. } => {
            let stride = 1 + rules.size_of(*element) as usize;
            for i in 0..*slots as usize {
                let name = format!("{name}{{{i}}}");
                leaves(rules, &name, *element, at + i * stride + 1, visit);
            }
        }
    }
}

/// What is in memory for a simple value, as people write it.
pub fn show_simple(rules: &Rules, ty: TypeIdx, raw: u64) -> String {
    let Type::Simple(Simple { low, names, .. }) = rules.ty(ty) else { return String::new() };
    let Some(nth) = raw.checked_sub(1) else { return "undefined".into() };
    match names {
        // Bounds are numbers of 64 bits with or without a sign: the sum tells.
        Names::Numbers if *low >= 0 => (i128::from(*low) + i128::from(nth)).to_string(),
        Names::Numbers => low.wrapping_add(nth as i64).to_string(),
        Names::Words(words) => words.get(nth as usize).cloned().unwrap_or_default(),
        Names::Scalarset { name, .. } => format!("{name}_{}", nth + 1),
        Names::Union(members) => {
            let mut nth = nth;
            for member in members {
                let Type::Simple(simple) = rules.ty(*member) else { continue };
                if nth < simple.count {
                    return show_simple(rules, *member, nth + 1);
                }
                nth -= simple.count;
            }
            String::new()
        }
    }
}

/// A value with all its parts, one line for each.
pub fn show(rules: &Rules, name: &str, ty: TypeIdx, memory: &[u8], at: usize) -> String {
    let mut lines = Vec::new();
    leaves(rules, name, ty, at, &mut |name, ty, at| {
        lines.push(format!("{name}:{}", value_at(rules, ty, memory, at)));
    });
    lines.join("\n")
}

fn value_at(rules: &Rules, ty: TypeIdx, memory: &[u8], at: usize) -> String {
    match rules.ty(ty) {
        Type::Simple(simple) => show_simple(rules, ty, simple.width.load(memory, at)),
        _ => String::new(),
    }
}

/// All simple values of a state by name.
pub fn variables(rules: &Rules, state: &[u8]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for variable in &rules.variables {
        let at = variable.offset as usize;
        leaves(rules, &variable.name, variable.ty, at, &mut |name, ty, at| {
            all.push((name.to_string(), value_at(rules, ty, state, at)));
        });
    }
    all
}

/// What is different in a state from the one before.
pub fn changes(rules: &Rules, before: &[u8], after: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    for variable in &rules.variables {
        let (from, to) = (variable.offset as usize, rules.size_of(variable.ty) as usize);
        if before[from..from + to] == after[from..from + to] {
            continue;
        }
        leaves(rules, &variable.name, variable.ty, from, &mut |name, ty, at| {
            let (old, new) = (value_at(rules, ty, before, at), value_at(rules, ty, after, at));
            if old != new {
                changes.push(Change { name: name.to_string(), from: old, to: new });
            }
        });
    }
    changes
}

/// A rule as people know it: its name and its parameters.
pub fn statement(rules: &Rules, step: Step) -> Option<String> {
    let (rule, instance) = rules.rule_of(step)?;
    let mut text = rule.name.clone();
    for (param, value) in rule.params.iter().zip(rule.arguments(instance)) {
        let value = match param.ty {
            Some(ty) => match rules.ty(ty) {
                Type::Simple(simple) => {
                    show_simple(rules, ty, value.wrapping_sub(simple.low) as u64 + 1)
                }
                _ => value.to_string(),
            },
            None => value.to_string(),
        };
        text += &format!(", {} = {value}", param.name);
    }
    Some(text)
}

/// A run: a state, and the steps that are taken from it.
pub struct Walk<'r> {
    rules: &'r Rules,
    machine: Machine<'r>,
    multisets: Vec<super::Multiset>,
    state: Vec<u8>,
}

impl<'r> Walk<'r> {
    /// Before any start state: all is undefined.
    pub fn new(rules: &'r Rules) -> Walk<'r> {
        let multisets = super::multisets(rules);
        let state = vec![0; rules.size as usize];
        Walk { rules, machine: Machine::new(rules), multisets, state }
    }

    /// Takes a step and describes it. A step that has a fault stops there.
    pub fn describe(&mut self, step: Step) -> Option<TraceStep> {
        let (rule, instance) = self.rules.rule_of(step)?;
        let before = self.state.clone();
        self.machine.set_state(&before);
        self.machine.printed = Some(String::new());
        // That it ends in a fault is told elsewhere.
        let _ = self.machine.run(&rule.code, &rule.arguments(instance));
        self.state.copy_from_slice(&self.machine.memory[..before.len()]);
        super::sort_multisets(&self.multisets, &mut self.state);
        Some(TraceStep {
            process: 0,
            name: String::new(),
            location: self.rules.sources.position(rule.span),
            statement: statement(self.rules, step)?,
            action: step.action.0,
            continues: false,
            changes: changes(self.rules, &before, &self.state),
            sent: Vec::new(),
            received: Vec::new(),
            printed: self.machine.printed.take().unwrap_or_default(),
        })
    }
}
