//! Spin's trail format: one line `number:process:statement` for each step.

use ir::model::Step;
use ir::system::System;
use std::fmt::Write;

pub fn write(system: &System, steps: &[Step]) -> String {
    let mut out = String::new();
    for (i, step) in steps.iter().enumerate() {
        let id = system.action(step.action).trail_id;
        let _ = writeln!(out, "{}:{}:{id}", i + 1, step.process);
    }
    out
}
