//! What a search found.

use crate::store::Layout;
use ir::fault::Fault;
use ir::model::Step;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All states were seen and none is wrong.
    Holds,
    Violation,
    /// The search came to its end without a violation, but it may have missed
    /// states: its store is lossy.
    NoViolationFound,
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
    /// Waiting states could not be written to disk or read back.
    Disk,
}

impl Stop {
    pub const ALL: [Stop; 7] = [
        Stop::Time,
        Stop::Memory,
        Stop::Depth,
        Stop::Interrupt,
        Stop::Violations,
        Stop::Way,
        Stop::Disk,
    ];
}

/// What a lossy store has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lossy {
    Bitstate {
        bits: u64,
        hashes: u32,
        layout: Layout,
        /// Bits that are set; none if the states were few enough to keep a
        /// fingerprint of 64 bits of each instead.
        set: Option<u64>,
    },
    Compact {
        slots: u64,
        /// Bits of a signature.
        signature: u32,
        stored: u64,
        /// States for which there was no slot.
        dropped: u64,
    },
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
    /// All violations met, those of the same place and kind included. Those of
    /// states that were expanded again after a pause count again.
    pub n_violations: u64,
    pub states: u64,
    /// Successors found, and the initial states.
    pub transitions: u64,
    /// Transitions of the longest path that was followed.
    pub depth: usize,
    /// Time of the search, with that of the runs it was resumed from.
    pub elapsed: Duration,
    /// Time of this run alone.
    pub spent: Duration,
    /// Most memory of store and waiting states at a time.
    pub memory: u64,
    /// Memory of the store alone.
    pub store_memory: u64,
    /// For each action, whether it was ever run.
    pub reached: Vec<bool>,
    /// The states were packed or folded together at the end.
    pub compressed: bool,
    /// States of a chain that were looked up before a state counted as visited.
    pub precision: u32,
    /// If the store is a lossy one.
    pub lossy: Option<Lossy>,
    /// Polynomials that were tried to find two for hash functions.
    pub polynomial_tries: Option<u32>,
    /// Most bytes of waiting states on disk at a time.
    pub spilled: u64,
    /// What has gone wrong with waiting states on disk.
    pub trouble: Option<String>,
    /// How the checkpoints went, if any were asked for.
    pub checkpoint: Option<Saved>,
}

/// How the checkpoints of a search went.
#[derive(Debug, Clone, Default)]
pub struct Saved {
    /// The file holds the search as it ended, so that it can go on.
    pub resumable: bool,
    /// Checkpoints that could not be written, and why the last of them.
    pub n_failed: u64,
    pub error: Option<String>,
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
