//! Searches: visited-state stores, search orders, limits, and their outcome.
//!
//! This crate sees a `Model` and nothing behind it: no language, no engine.

mod bytes;
mod memory;
pub mod outcome;
pub mod search;
mod shorten;
pub mod store;

pub use outcome::{Found, Outcome, Progress, Stop, Verdict};
pub use search::{Compress, FOLD_AFTER, Maker, Options, Order, Target, check};
pub use shorten::shorten;
