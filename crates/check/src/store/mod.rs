//! Stores of visited states.
//!
//! A search talks to a store in three words: it `read`s a state that waits,
//! `offer`s its successors, and now and then has the store `settle` which of
//! these are new. In between, memory has time to arrive.

mod exact;
mod records;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use exact::ExactStore;
pub use shape::Shape;
pub use tree::{TreeStore, TreeWriter};

/// The name that a store gives to a state.
pub type Token = u64;

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

    /// The state from which this one was first found; none for an initial state.
    fn parent(&self, token: Token) -> Option<Token>;
}

pub trait Writer {
    /// Asks for the memory that `read` will need.
    fn prefetch(&self, token: Token);

    /// Copies a state; what is offered from now on are its successors.
    fn read(&mut self, token: Token, state: &mut Vec<u8>);

    /// Takes a successor of the state that was read last, or an initial state,
    /// with a mark of the search's own. Returns whether it is time to settle.
    fn offer(&mut self, state: &[u8], mark: u32) -> bool;

    /// Stores all that was offered; calls `new` for each state that was not
    /// visited before, with its mark.
    fn settle(&mut self, new: impl FnMut(Token, u32)) -> Result<(), Full>;

    /// Whether a state is visited.
    fn contains(&mut self, state: &[u8]) -> bool;
}
