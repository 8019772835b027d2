//! What a search found.

use ir::fault::Fault;
use ir::model::Step;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All states were seen and none is wrong.
    Holds,
    Violation,
    /// Not all states were seen; none of those seen is wrong.
    Incomplete,
}

/// Why a search did not see everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Time = 1,
    Memory,
    Depth,
    Interrupt,
    /// As many violations as asked for were found.
    Violations,
    /// A violation was seen, but not the way to it within the limits.
    Way,
}

impl Stop {
    pub const ALL: [Stop; 6] =
        [Stop::Time, Stop::Memory, Stop::Depth, Stop::Interrupt, Stop::Violations, Stop::Way];
}

/// A violation and the way to it.
#[derive(Debug, Clone)]
pub struct Found {
    pub fault: Fault,
    /// Transitions on the way.
    pub depth: usize,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub struct Outcome {
    pub verdict: Verdict,
    pub stop: Option<Stop>,
    /// One for each place and kind, in the order of discovery.
    pub violations: Vec<Found>,
    /// All violations met, those of the same place and kind included.
    pub n_violations: u64,
    pub states: u64,
    /// Successors found, and the initial states.
    pub transitions: u64,
    /// Transitions of the longest path that was followed.
    pub depth: usize,
    pub elapsed: Duration,
    /// Most memory of store and waiting states at a time.
    pub memory: u64,
    /// Memory of the store alone.
    pub store_memory: u64,
    /// For each action, whether it was ever run.
    pub reached: Vec<bool>,
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub states: u64,
    pub transitions: u64,
    pub depth: usize,
    pub memory: u64,
    pub elapsed: Duration,
}
