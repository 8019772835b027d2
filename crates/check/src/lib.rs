//! Searches: visited-state stores, search orders, limits, and their outcome.
//!
//! This crate sees a `Model` and nothing behind it: no language, no engine.

mod blocks;
mod bytes;
mod crc;
mod dice;
mod files;
mod memory;
pub mod outcome;
pub mod search;
mod shorten;
pub mod store;

pub use dice::Dice;
pub use files::{Difference, Error, Files};
pub use outcome::{Found, Lossy, Outcome, Progress, Saved, Stop, Verdict};
pub use search::{
    Compress, Discipline, FOLD_AFTER, Hashing, Maker, Options, Order, Searcher, Sequence, Storage,
    Target, Turns, check, sequence,
};
pub use shorten::shorten;
pub use store::{Collect, Collector, Hashes, Layout, Wanted};
