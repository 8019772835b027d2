//! Memory that was given back and goes to whoever asks next. A page of the system's
//! takes it a microsecond and more, one that moves from mapping to mapping and is
//! cleared there a fifteenth of that.

use super::Mapping;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Spares have a multiple of so many bytes: for less it is not worth the call.
const UNIT: usize = 128 << 10;
/// Pages that have moved stay apart from their neighbours, and the system allows some
/// ten thousand such places.
const MOST_MOVED: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    spares: Vec<Spare>,
    n_moved: usize,
}

/// Pages that nobody uses.
#[derive(Debug)]
pub(super) struct Spare {
    pub map: Arc<Mapping>,
    pub pages: Range<usize>,
}

impl Spares {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn are_worth_keeping(&self, pages: &Range<usize>) -> bool {
        let is_whole = |bytes: usize| bytes.is_multiple_of(UNIT);
        let are_whole = is_whole(pages.start) && is_whole(pages.len());
        cfg!(target_os = "linux") && are_whole && self.lock().n_moved < MOST_MOVED
    }

    pub fn keep(&self, spare: Spare) {
        self.lock().spares.push(spare);
    }

    /// Moves what there is to the beginning of pages that nobody uses yet, and clears
    /// it; returns how many bytes it was.
    pub fn fill(&self, map: &Mapping, pages: Range<usize>) -> usize {
        let mut at = pages.start;
        while let Some(Spare { map: from, pages: moved }) = self.next(pages.end - at) {
            let len = moved.len();
            if !map.adopt(at, &from, moved.start, len) {
                let mut kept = self.lock();
                kept.n_moved = MOST_MOVED;
                kept.spares.push(Spare { map: from, pages: moved });
                break;
            }
            at += len;
        }
        at - pages.start
    }

    /// The next spare, or a part of it.
    fn next(&self, most: usize) -> Option<Spare> {
        let most = most - most % UNIT;
        let mut kept = self.lock();
        if most == 0 || kept.n_moved >= MOST_MOVED {
            return None;
        }
        let Spare { map, mut pages } = kept.spares.pop()?;
        kept.n_moved += 1;
        if pages.len() > most {
            let rest = pages.start + most..pages.end;
            pages.end = rest.start;
            kept.spares.push(Spare { map: map.clone(), pages: rest });
        }
        Some(Spare { map, pages })
    }

    /// All that there are, for who has a better use for them.
    pub fn all(&self) -> Vec<Spare> {
        std::mem::take(&mut self.lock().spares)
    }

    pub fn bytes(&self) -> u64 {
        self.lock().spares.iter().map(|spare| spare.pages.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Budget;
    use super::*;

    fn fill(map: &Mapping, pages: Range<usize>, byte: u8) {
        // SAFETY: the pages are in the mapping, and nobody else has it.
        unsafe { map.start().add(pages.start).write_bytes(byte, pages.len()) }
    }

    fn holds(map: &Mapping, pages: Range<usize>, byte: u8) -> bool {
        // SAFETY: as above.
        let bytes =
            unsafe { std::slice::from_raw_parts(map.start().add(pages.start), pages.len()) };
        bytes.iter().all(|b| *b == byte)
    }

    #[test]
    fn pages_move_and_are_clear() {
        let budget = Budget::new(1 << 30);
        let [old, new] = [4 * UNIT; 2].map(|len| Arc::new(Mapping::new(len).expect("room")));
        assert_eq!(budget.take_pages(&old, 0..4 * UNIT), Some(0..4 * UNIT));
        fill(&old, 0..4 * UNIT, 7);
        budget.give(2 * UNIT as u64);
        budget.keep(old.clone(), UNIT..3 * UNIT);
        let there =
            |rest: Range<usize>| if cfg!(target_os = "linux") { rest.end } else { rest.start };
        // One unit of them, then the other and a fresh one.
        assert_eq!(budget.take_pages(&new, 0..UNIT), Some(there(0..UNIT)..UNIT));
        fill(&new, 0..UNIT, 9);
        let rest = Some(there(UNIT..2 * UNIT)..3 * UNIT);
        assert_eq!(budget.take_pages(&new, UNIT..3 * UNIT), rest);
        assert!(holds(&new, 0..UNIT, 9) && holds(&new, UNIT..3 * UNIT, 0));
        assert!(holds(&old, 0..UNIT, 7) && holds(&old, UNIT..3 * UNIT, 0));
        assert_eq!((budget.used(), budget.spare()), (5 * UNIT as u64, 0));
    }

    #[test]
    fn what_is_kept_makes_room() {
        let budget = Budget::new(8 * UNIT as u64);
        let map = Arc::new(Mapping::new(8 * UNIT).expect("room"));
        assert!(budget.take_pages(&map, 0..UNIT).is_some());
        budget.give(UNIT as u64);
        budget.keep(map.clone(), 0..UNIT);
        assert_eq!((budget.used(), budget.spare()), (UNIT as u64, UNIT as u64));
        assert_eq!(budget.left(), 8 * UNIT as u64);
        assert!(budget.take(8 * UNIT as u64) && !budget.take(1));
        // There is no plenty any more.
        budget.give(UNIT as u64);
        budget.keep(map, 0..UNIT);
        assert_eq!((budget.used(), budget.spare()), (7 * UNIT as u64, 0));
    }
}
