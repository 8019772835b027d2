//! Where stacks keep what does not fit in memory: unnamed files in a directory
//! of the user's choice. They go with the process, however it ends.

use super::worker::Waiting;
use crate::memory::Budget;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// States that stacks read back at once, at most and at least.
const LARGEST_SEGMENT: u64 = 65_536;
const SMALLEST_SEGMENT: u64 = 256;

/// What the stacks of a search share: its budget, and a place on disk if they
/// have one.
pub(super) struct Space {
    pub budget: Arc<Budget>,
    pub spill: Option<Spill>,
}

pub(super) struct Spill {
    dir: PathBuf,
    /// States that a stack reads back at once.
    pub segment: usize,
    /// Memory of all stacks that was taken from the budget beforehand, so that
    /// they can be read back when memory is full: two segments for each.
    floor: u64,
    budget: Arc<Budget>,
    /// States that a stack may have in memory.
    most: AtomicUsize,
    n_stacks: u64,
    // Relaxed for both: sums for people.
    bytes: AtomicU64,
    peak: AtomicU64,
}

impl Spill {
    /// For so many stacks. `Ok(None)` if there is not even memory to read back.
    pub fn new(dir: &Path, n_stacks: usize, budget: &Arc<Budget>) -> io::Result<Option<Spill>> {
        // Refused now, not when memory is full.
        tempfile::tempfile_in(dir)?;
        let n_stacks = n_stacks as u64;
        let state = size_of::<Waiting>() as u64;
        let segment = budget.limit() / (128 * n_stacks * state);
        let segment = segment.clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT);
        let floor = 2 * segment * state * n_stacks;
        Ok(budget.take(floor).then(|| Spill {
            dir: dir.to_path_buf(),
            segment: segment as usize,
            floor,
            budget: budget.clone(),
            most: AtomicUsize::new(usize::MAX),
            n_stacks,
            bytes: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }))
    }

    pub fn file(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.dir)
    }

    /// From now on stacks keep little in memory: the store needs it.
    pub fn tighten(&self) {
        let most = self.budget.limit() / (64 * self.n_stacks * size_of::<Waiting>() as u64);
        // Relaxed: nothing depends on when it is seen.
        self.most.store((most as usize).max(2 * self.segment), Ordering::Relaxed);
    }

    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    pub fn add(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
    }

    pub fn remove(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Most bytes on disk at a time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        self.budget.give(self.floor);
    }
}
