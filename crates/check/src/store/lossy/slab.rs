//! States that wait or lie on the way to one that waits, each with the state
//! it was found from. A state is forgotten when it was expanded and nothing is
//! left that was found from it; its memory is used again.

use crate::bytes::copy;
use crate::memory::{Budget, Mapping, prefetch};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A token counts units of so many bytes.
const UNIT: usize = 16;
/// Record: token of the parent, length, references; then the state.
const HEAD: usize = 16;
const LENGTH: usize = 8;
const REFERENCES: usize = 12;
const LARGEST_CHUNK: u64 = 1 << 20;
const SMALLEST_CHUNK: u64 = 16 << 10;

pub struct Slab {
    /// No more than one thread uses it.
    is_alone: bool,
    map: Mapping,
    chunk: u64,
    /// Bytes given out.
    given: AtomicU64,
    budget: Arc<Budget>,
}

/// Units of records that are easily found.
const FEW: usize = 64;

/// What a thread has at hand: a piece of fresh memory, and places that were
/// used before, by their units. Each has the next one where a record has its
/// parent.
pub struct Desk {
    at: u64,
    end: u64,
    /// The first of few units, as nearly all are, by their number.
    free: [u64; FEW],
    others: HashMap<usize, u64>,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk { at: 0, end: 0, free: [0; FEW], others: HashMap::new() }
    }
}

impl Desk {
    /// The first place of so many units; 0 for none.
    #[inline(always)]
    fn free(&mut self, units: usize) -> &mut u64 {
        match self.free.get_mut(units) {
            Some(free) => free,
            None => self.others.entry(units).or_default(),
        }
    }
}

impl Slab {
    /// `None` if not even a small one fits in the budget.
    pub fn new(budget: &Arc<Budget>) -> Option<Slab> {
        let chunk = (budget.limit() / 64).clamp(SMALLEST_CHUNK, LARGEST_CHUNK) & !4095;
        let mut bytes = budget.limit().next_multiple_of(chunk) + chunk;
        // A system that refuses so much address space gives less.
        let map = loop {
            match usize::try_from(bytes).ok().and_then(Mapping::growing) {
                Some(map) => break map,
                None if bytes <= chunk => return None,
                None => bytes /= 2,
            }
        };
        Some(Slab { is_alone: false, map, chunk, given: AtomicU64::new(0), budget: budget.clone() })
    }

    /// One thread alone will use it, which need not beware of others.
    pub fn be_alone(&mut self) {
        self.is_alone = true;
    }

    /// Forgets everything, whoever holds it.
    pub fn clear(&mut self) {
        self.budget.give(std::mem::take(self.given.get_mut()));
    }

    /// Has a place ready for a state of this length, so that `add` finds one;
    /// false if memory is full.
    #[inline(always)]
    pub fn make_ready(&self, len: usize, desk: &mut Desk) -> bool {
        let units = (HEAD + len).div_ceil(UNIT);
        *desk.free(units) != 0 || self.make_free(units, desk)
    }

    #[cold]
    fn make_free(&self, units: usize, desk: &mut Desk) -> bool {
        let Some(token) = self.fresh(units as u64, desk) else { return false };
        // SAFETY: the place is this thread's own, and as long as a record.
        unsafe { self.at(token).cast_mut().cast::<u64>().write(0) };
        *desk.free(units) = token;
        true
    }

    /// Keeps a state that was found from `parent` (0 for none); its token.
    /// `None` if memory is full.
    #[inline(always)]
    pub fn add(&self, state: &[u8], parent: u64, desk: &mut Desk) -> Option<u64> {
        let units = (HEAD + state.len()).div_ceil(UNIT);
        let free = desk.free(units);
        let token = match *free {
            0 => self.fresh(units as u64, desk)?,
            token => {
                *free = self.next(token);
                token
            }
        };
        let len = u32::try_from(state.len()).ok()?;
        let at = self.at(token).cast_mut();
        // SAFETY: these units lie in the mapping and belong to this thread
        // until others are told of the token.
        unsafe {
            at.cast::<u64>().write(parent);
            at.add(LENGTH).cast::<u32>().write(len);
            at.add(REFERENCES).cast::<u32>().write(1);
            copy(state, std::slice::from_raw_parts_mut(at.add(HEAD), state.len()));
        }
        if parent != 0 {
            self.hold(parent);
        }
        Some(token)
    }

    #[cold]
    fn fresh(&self, units: u64, desk: &mut Desk) -> Option<u64> {
        let size = units * UNIT as u64;
        if desk.end - desk.at < size {
            let taken = size.next_multiple_of(self.chunk);
            if !self.budget.take(taken) {
                return None;
            }
            let at = self.given.fetch_add(taken, Ordering::Relaxed);
            if at + taken > self.map.len() as u64 {
                self.given.fetch_sub(taken, Ordering::Relaxed);
                self.budget.give(taken);
                return None;
            }
            // Token 0 stands for none.
            (desk.at, desk.end) = (at.max(UNIT as u64), at + taken);
            if desk.end - desk.at < size {
                return self.fresh(units, desk);
            }
        }
        let token = desk.at / UNIT as u64;
        desk.at += size;
        Some(token)
    }

    fn at(&self, token: u64) -> *const u8 {
        self.map.start().wrapping_add(token as usize * UNIT)
    }

    fn references(&self, token: u64) -> &AtomicU32 {
        // SAFETY: a token that somebody holds is that of a record, whose word
        // here is aligned and only used as an atomic from then on.
        unsafe { AtomicU32::from_ptr(self.at(token).add(REFERENCES).cast_mut().cast()) }
    }

    /// The state of a token that somebody holds.
    pub fn state(&self, token: u64) -> &[u8] {
        // SAFETY: as in `references`; a record does not change while it is held.
        unsafe {
            let at = self.at(token);
            let len = at.add(LENGTH).cast::<u32>().read();
            std::slice::from_raw_parts(at.add(HEAD), len as usize)
        }
    }

    pub fn parent(&self, token: u64) -> Option<u64> {
        let parent = self.next(token);
        (parent != 0).then_some(parent)
    }

    /// The first word of a record: its parent, or the next that is free.
    #[inline(always)]
    fn next(&self, token: u64) -> u64 {
        // SAFETY: as in `state`; what is free is known to this thread alone.
        unsafe { self.at(token).cast::<u64>().read() }
    }

    pub fn prefetch(&self, token: u64) {
        prefetch(self.at(token));
        prefetch(self.at(token).wrapping_add(64));
    }

    /// Keeps a state, and all on the way to it, until it is released once more.
    #[inline(always)]
    pub fn hold(&self, token: u64) {
        let references = self.references(token);
        // Relaxed: who calls holds the state already.
        if self.is_alone {
            references.store(references.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            references.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Holds a state once less; whether it was the last time.
    #[inline(always)]
    fn let_go(&self, token: u64) -> bool {
        let references = self.references(token);
        if self.is_alone {
            // Relaxed: there are no others.
            let left = references.load(Ordering::Relaxed) - 1;
            references.store(left, Ordering::Relaxed);
            left == 0
        } else {
            // AcqRel: all uses by others come before its memory is used again.
            references.fetch_sub(1, Ordering::AcqRel) == 1
        }
    }

    /// Somebody is done with a state; the last one forgets it.
    #[inline(always)]
    pub fn release(&self, mut token: u64, desk: &mut Desk) {
        while token != 0 && self.let_go(token) {
            let units = (HEAD + self.state(token).len()).div_ceil(UNIT);
            let parent = self.next(token);
            let free = desk.free(units);
            // SAFETY: nobody else knows of the record any more.
            unsafe { self.at(token).cast_mut().cast::<u64>().write(*free) };
            *free = token;
            token = parent;
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        self.budget.give(*self.given.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_as_long_as_one_that_was_found_from_it() {
        let slab = Slab::new(&Arc::new(Budget::new(1 << 20))).expect("room");
        let mut desk = Desk::default();
        let first = slab.add(&[1; 20], 0, &mut desk).expect("room");
        let second = slab.add(&[2; 30], first, &mut desk).expect("room");
        slab.release(first, &mut desk);
        assert_eq!((slab.state(first), slab.parent(second)), (&[1; 20][..], Some(first)));
        slab.release(second, &mut desk);
        // Both are forgotten, so their places are used again.
        assert_eq!(slab.add(&[3; 31], 0, &mut desk), Some(first));
        assert_eq!(slab.add(&[3; 17], 0, &mut desk), Some(second));
    }

    #[test]
    fn memory_is_limited() {
        let budget = Arc::new(Budget::new(1 << 20));
        let slab = Slab::new(&budget).expect("room");
        let mut desk = Desk::default();
        let n = (0..).take_while(|_| slab.add(&[7; 100], 0, &mut desk).is_some()).count();
        assert!((8000..=9400).contains(&n) && budget.used() <= 1 << 20, "{n}");
        drop(slab);
        assert_eq!(budget.used(), 0);
    }
}
