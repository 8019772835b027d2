//! What the stacks of a search share: their memory, and where they keep what
//! does not fit: unnamed files in a directory of the user's choice. They go
//! with the process, however it ends.

use super::stack::STATE;
use crate::memory::Budget;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// States of a segment: so much of the memory, at least, at most.
const SEGMENT_PART: u64 = 256;
const SMALLEST_SEGMENT: u64 = 1024;
const LARGEST_SEGMENT: u64 = 65_536;
/// With a place on disk, segments that each stack has, whatever else there is.
const OWN: u64 = 2;
/// When memory is full, all stacks together keep this part of it.
const TIGHT_PART: u64 = 64;

pub(super) struct Space {
    pub budget: Arc<Budget>,
    /// States of a segment.
    pub segment: usize,
    n_stacks: u64,
    /// Segments that a stack may have in memory.
    most: AtomicUsize,
    pub spill: Option<Spill>,
}

impl Space {
    /// For so many stacks.
    pub fn new(budget: &Arc<Budget>, n_stacks: usize) -> Space {
        let n_stacks = n_stacks as u64;
        let segment = budget.limit() / (SEGMENT_PART * n_stacks * STATE as u64);
        let segment = segment.clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT) as usize;
        let most = AtomicUsize::new(usize::MAX);
        Space { budget: budget.clone(), segment, n_stacks, most, spill: None }
    }

    /// Has stacks go to this directory if there is memory to come back; an
    /// error if it cannot be written to.
    pub fn open_spill(&mut self, dir: &Path) -> io::Result<()> {
        tempfile::tempfile_in(dir)?;
        let own = OWN * self.n_stacks * self.segment_bytes();
        if self.budget.take(own) {
            let (bytes, peak) = Default::default();
            self.spill = Some(Spill { dir: dir.to_path_buf(), own, bytes, peak });
        }
        Ok(())
    }

    fn segment_bytes(&self) -> u64 {
        (self.segment * STATE) as u64
    }

    /// Segments of each stack for which memory was taken beforehand.
    pub fn own(&self) -> usize {
        if self.spill.is_some() { OWN as usize } else { 0 }
    }

    /// From now on stacks keep little in memory: the store needs it.
    pub fn tighten(&self) {
        let most = self.budget.limit() / (TIGHT_PART * self.n_stacks * self.segment_bytes());
        // Relaxed: nothing depends on when it is seen.
        self.most.store(most.max(OWN) as usize, Ordering::Relaxed);
    }

    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.budget.give(self.spill.as_ref().map_or(0, |spill| spill.own));
    }
}

pub(super) struct Spill {
    dir: PathBuf,
    /// Memory that was taken beforehand, for all stacks.
    own: u64,
    // Relaxed for both: sums for people.
    bytes: AtomicU64,
    peak: AtomicU64,
}

impl Spill {
    pub fn file(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.dir)
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
