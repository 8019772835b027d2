//! Stores of visited states.

mod exact;

pub use exact::{Cursor, ExactStore};

/// What became of a state that was offered to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insert {
    New,
    Visited,
    /// The memory limit is reached; the state is not stored.
    NoRoom,
}
