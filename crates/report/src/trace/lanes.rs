//! The processes of a trace side by side.
//!
//! A process number may be used again when its process has died; a process of
//! another type then has its own lane, one of the same type goes on in the old.

use super::labels;
use ir::trace::{Trace, TraceStep};
use std::collections::HashMap;

pub struct Lane {
    pub process: u8,
    name: String,
}

impl Lane {
    /// `name(2)`.
    pub fn label(&self) -> String {
        labels::process(&self.name, self.process, usize::MAX)
    }

    /// The label in at most `limit` characters.
    pub fn label_in(&self, limit: usize) -> String {
        labels::process(&self.name, self.process, limit)
    }
}

pub struct Lanes {
    /// In the order of process numbers.
    pub lanes: Vec<Lane>,
    /// For each step, its lane.
    pub of_step: Vec<usize>,
}

impl Lanes {
    pub fn new(trace: &Trace) -> Lanes {
        let key = |step: &TraceStep| (step.process, step.name.clone());
        let mut first_steps: Vec<usize> = Vec::new();
        let mut number_of = HashMap::new();
        for (i, step) in trace.steps.iter().enumerate() {
            number_of.entry(key(step)).or_insert_with(|| {
                first_steps.push(i);
                0
            });
        }
        first_steps.sort_by_key(|i| trace.steps[*i].process);
        for (lane, i) in first_steps.iter().enumerate() {
            number_of.insert(key(&trace.steps[*i]), lane);
        }
        let lane = |i: &usize| {
            let step = &trace.steps[*i];
            Lane { process: step.process, name: step.name.clone() }
        };
        Lanes {
            lanes: first_steps.iter().map(lane).collect(),
            of_step: trace.steps.iter().map(|step| number_of[&key(step)]).collect(),
        }
    }
}
