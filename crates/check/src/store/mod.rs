//! Stores of visited states.
//!
//! A search `read`s the states of a bundle, has their successors written to the
//! `rows`, and has the store `settle` them, in passes over all of them: between
//! one pass and the next memory has time to arrive.

mod dictionaries;
mod exact;
mod lossy;
mod packed;
mod records;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use exact::ExactStore;
pub use lossy::{
    Bitstate, Collect, Collector, Compact, Filter, Fingerprints, Hashes, Layout, LossyStore,
    Marked, Marker, Slab, SlabDesk, Wanted,
};
pub use packed::{Aim, Known, PackedStore};
pub use shape::Shape;
pub use tree::{TreeStore, TreeWriter};

use ir::rows::{Cause, HEAD, Rows, stride};
use std::cell::Cell;

/// The name that a store gives to a state.
pub type Token = u64;

/// Names a state anew.
pub type Name<'n> = dyn FnMut(Token) -> Result<Token, Full> + 'n;

/// States of which a tree's shapes are learnt.
const SAMPLE: usize = 32_768;

/// Bytes of rows that are settled at once at the latest: few enough for a near cache.
const MOST_BYTES: usize = 64 << 10;

/// The store is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

pub trait Store: Sync {
    type Writer<'s>: Writer
    where
        Self: 's;

    /// Access for one thread.
    fn writer(&self) -> Self::Writer<'_>;

    fn bytes(&self) -> u64;

    /// Provides memory that will be needed soon; whether there may be more to
    /// do. For a thread that has nothing else to do: a page that was never
    /// written takes the system as long as some states take a search.
    fn provide(&self) -> bool {
        false
    }

    /// The state from which this one was first found; none for an initial state.
    fn parent(&self, token: Token) -> Option<Token>;
}

pub trait Writer {
    /// Asks for the memory that `read` will need.
    fn prefetch(&self, token: Token);

    /// A state, where it lies or put together in `space`; to be used until
    /// `finish`. The heads of rows say whose successors they are.
    fn read<'b>(&mut self, token: Token, space: &'b mut Vec<u8>) -> &'b [u8]
    where
        Self: 'b;

    /// The same for many states, each with a space of its own; `each` is told of them,
    /// by number.
    fn read_all<'b>(
        &mut self,
        tokens: impl Iterator<Item = Token>,
        spaces: &'b mut [Vec<u8>],
        mut each: impl FnMut(usize, &'b [u8]),
    ) where
        Self: 'b,
    {
        for ((number, token), space) in tokens.enumerate().zip(spaces) {
            each(number, self.read(token, space));
        }
    }

    /// Whether a new state may be taken for another, so that it is lost.
    fn loses(&self) -> bool {
        false
    }

    /// Where states are offered: successors, or initial states. The origin of
    /// a row is the state it was found from, the mark is the search's own.
    fn rows(&mut self) -> &mut Rows;

    /// Stores all that was offered. Calls `new` for each state that was not visited
    /// before, with its mark and cause.
    fn settle(&mut self, new: impl FnMut(Token, u32, Cause)) -> Result<(), Full>;

    /// Tells whether the states that were read since this was last called have
    /// been expanded; else they will be read again.
    fn finish(&mut self, _expanded: bool) {}

    /// Keeps a state that was read last, and the way to it, for good.
    fn keep(&mut self, _token: Token) {}

    /// Whether a state is visited.
    fn contains(&mut self, state: &[u8]) -> bool;
}

/// The states of rows, each with the place where it begins.
struct States<'r> {
    bytes: &'r [u8],
    at: usize,
    end: usize,
}

impl<'r> States<'r> {
    fn of(rows: &'r Rows) -> States<'r> {
        let (bytes, end) = (rows.bytes(), rows.used());
        // Rows that were never written have no memory.
        assert!(end == 0 || end + HEAD <= bytes.len());
        States { bytes, at: 0, end }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'r [u8])> {
        if self.at >= self.end {
            return None;
        }
        let state = self.at + HEAD;
        // SAFETY: a head fits behind any place before the end.
        let len = unsafe { self.bytes.as_ptr().add(self.at).cast::<u32>().read_unaligned() };
        assert!(len as usize <= self.bytes.len() - state);
        self.at += stride(len as usize);
        // SAFETY: just checked.
        Some((state, unsafe { self.bytes.get_unchecked(state..state + len as usize) }))
    }
}

/// Keeps what `look` does not find, as it gives it back. Whether it does nobody can
/// foresee, so there is no branch on it.
#[inline(always)]
fn keep_missing<T: Copy>(rows: &mut Vec<T>, mut look: impl FnMut(T) -> (bool, T)) {
    let cells = Cell::from_mut(rows.as_mut_slice()).as_slice_of_cells();
    let mut n_left = 0;
    for cell in cells {
        let (is_there, row) = look(cell.get());
        cells[n_left].set(row);
        n_left += !is_there as usize;
    }
    rows.truncate(n_left);
}

/// Fills a vector with what comes, `most` items at most: a loop that need not look
/// after a vector keeps what it works with in registers.
#[inline(always)]
fn fill<T>(to: &mut Vec<T>, most: usize, mut next: impl FnMut() -> Option<T>) {
    to.clear();
    to.reserve(most);
    let room = to.spare_capacity_mut();
    let mut n = 0;
    while let Some(item) = next() {
        room[n].write(item);
        n += 1;
    }
    // SAFETY: so many were written.
    unsafe { to.set_len(n) };
}

/// Adds to a vector that has room.
#[inline(always)]
fn push_reserved<T>(to: &mut Vec<T>, item: T) {
    assert!(to.len() < to.capacity());
    // SAFETY: just checked.
    unsafe {
        to.as_mut_ptr().add(to.len()).write(item);
        to.set_len(to.len() + 1);
    }
}
