//! Told of the states that searches with lossy stores find.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Is told of the states that searches with lossy stores have found, by hashes
/// that are the same in all searches.
pub trait Collect: Sync {
    /// States that were new, and some that were not: they were met again, or
    /// were taken for others and lost. Returns which it wants from now on.
    fn collect(&self, stored: &[u64], met: &[u64]) -> Wanted;
}

/// A collector wants to be told of states whose hashes are smaller than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Of those that were new.
    pub stored: u64,
    /// Of the others.
    pub met: u64,
}

impl Wanted {
    pub const NONE: Wanted = Wanted { stored: 0, met: 0 };

    fn ceiling(self) -> u64 {
        self.stored.max(self.met)
    }
}

/// Notes what a collector wants to know, to tell it now and then.
pub(super) struct Teller<'c> {
    collector: Option<&'c dyn Collect>,
    stored: Vec<u64>,
    met: Vec<u64>,
    wanted: Wanted,
    /// The higher one of what is wanted.
    ceiling: u64,
}

impl<'c> Teller<'c> {
    pub fn new(collector: Option<&'c dyn Collect>) -> Teller<'c> {
        let wanted = collector.map_or(Wanted::NONE, |collector| collector.collect(&[], &[]));
        let (stored, met) = (Vec::new(), Vec::new());
        Teller { collector, stored, met, wanted, ceiling: wanted.ceiling() }
    }

    /// Notes a state by its hash, if it is wanted.
    #[inline(always)]
    pub fn note(&mut self, is_new: bool, hash: u64) {
        self.note_if(true, is_new, hash);
    }

    /// The same on a condition that nobody can foresee.
    #[inline(always)]
    pub fn note_if(&mut self, condition: bool, is_new: bool, hash: u64) {
        if condition & (hash < self.ceiling) {
            self.note_wanted(is_new, hash);
        }
    }

    #[cold]
    fn note_wanted(&mut self, is_new: bool, hash: u64) {
        let Teller { stored, met, wanted, .. } = self;
        match is_new {
            true if hash < wanted.stored => stored.push(hash),
            false if hash < wanted.met => met.push(hash),
            _ => {}
        }
    }

    /// Tells the collector what was noted.
    pub fn tell(&mut self) {
        let is_told = !self.stored.is_empty() || !self.met.is_empty();
        if let (true, Some(collector)) = (is_told, self.collector) {
            self.wanted = collector.collect(&self.stored, &self.met);
            self.ceiling = self.wanted.ceiling();
            self.stored.clear();
            self.met.clear();
        }
    }
}

/// Counts the different states of several searches, as exactly as hashes of 64
/// bits allow. It grows with them: a table of its final size would have all of
/// its memory cleared for a few states.
pub struct Collector {
    seen: Mutex<Seen>,
    most: usize,
}

#[derive(Default)]
struct Seen {
    states: HashSet<u64, Hashes>,
    /// Some state found no room.
    full: bool,
}

/// Bytes for a state while the set grows: those of a set of the double size,
/// half full, and of the one before.
const STATE_BYTES: u64 = 32;

impl Collector {
    /// One that takes up to so many bytes.
    pub fn new(bytes: u64) -> Collector {
        let most = usize::try_from(bytes / STATE_BYTES).unwrap_or(usize::MAX);
        Collector { seen: Mutex::default(), most }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of different states.
    pub fn n_states(&self) -> u64 {
        self.seen().states.len() as u64
    }

    /// There was no room for more, so there may have been more.
    pub fn is_full(&self) -> bool {
        self.seen().full
    }
}

impl Collect for Collector {
    fn collect(&self, stored: &[u64], _met: &[u64]) -> Wanted {
        let mut seen = self.seen();
        for &state in stored {
            if seen.states.len() < self.most {
                seen.states.insert(state);
            } else {
                seen.full |= !seen.states.contains(&state);
            }
        }
        Wanted { stored: u64::MAX, met: 0 }
    }
}

/// Makes hash tables of hashes: a hash is its own hash. But tables look at its
/// lowest bits and at its highest, and these are all zero where only small ones
/// are kept, so they get some of the others.
pub type Hashes = BuildHasherDefault<Itself>;

#[derive(Default)]
pub struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 << 32
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Not for hashes, but right for anything.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.wrapping_mul(257) ^ *byte as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_count_once_and_no_more_than_fit() {
        let collector = Collector::new(100 * STATE_BYTES);
        collector.collect(&[1, 2, 3, 2, 1 << 60], &[4]);
        collector.collect(&[3, 0], &[]);
        assert_eq!((collector.n_states(), collector.is_full()), (5, false));
        let many: Vec<u64> = (0..100).map(|n| n << 50 | n).collect();
        collector.collect(&many, &[]);
        assert_eq!((collector.n_states(), collector.is_full()), (100, true));
    }
}
