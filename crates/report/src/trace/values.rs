//! The values of variables along a trace, which keeps what changes only.

use ir::trace::TraceStep;
use std::collections::BTreeMap;

/// By name.
pub type Values<'t> = BTreeMap<&'t str, &'t str>;

/// The values of variables before a step, of all that ever change. What has not
/// changed yet has the value from which it changes first.
pub fn before(steps: &[TraceStep], at: usize) -> Values<'_> {
    let mut values = BTreeMap::new();
    for change in steps.iter().rev().flat_map(|step| step.changes.iter().rev()) {
        values.insert(change.name.as_str(), change.from.as_str());
    }
    // A variable of a process that is yet to come.
    values.retain(|_, from| !from.is_empty());
    for step in &steps[..at] {
        follow(&mut values, step);
    }
    values
}

/// Takes a step.
pub fn follow<'t>(values: &mut Values<'t>, step: &'t TraceStep) {
    for change in &step.changes {
        values.insert(&change.name, &change.to);
    }
    if step.statement == "-end-" {
        let own = format!("{}({}):", step.name, step.process);
        values.retain(|name, _| !name.starts_with(&own));
    }
}
