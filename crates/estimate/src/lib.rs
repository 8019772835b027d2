//! How much of a state space has a lossy search seen?
//!
//! Pure arithmetic from a few counts to an [`Estimate`]: nothing here knows a
//! store, a search or a report. A question that the counts cannot answer has
//! the answer `None` or a [`growth::Failure`]; no function panics or returns NaN.
//!
//! | question | module | from |
//! |---|---|---|
//! | one bitstate run | [`bitstate`] | Holzmann 1998; Stern; Dillinger & Manolios 2004 |
//! | one run with hash compaction | [`compact`] | Wolper & Leroy 1993; Stern & Dill 1995 |
//! | several bitstate runs in arenas of different size | [`growth`] | Ikeda, Jibiki & Kuno 2013; Holzmann 2016 |
//! | which states did several searches have in common | [`species`] | Chao 1987 |
//!
//! What one run knows is how often its hash functions must have failed. It does
//! not know what lies behind a state that was taken for an old one. Estimates
//! from one run are therefore too high, and most of all when coverage is low.

pub mod bitstate;
pub mod compact;
pub mod growth;
pub mod species;

mod coverage;
mod series;

pub use coverage::Estimate;
