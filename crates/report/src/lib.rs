//! Results for people and programs: text, JSON, pages, traces, charts.
//!
//! Everything here is a pure function from a result to a string; files,
//! terminals and exit codes belong to `cli`.

pub mod check;
pub mod coverage;
pub mod estimate;
pub mod html;
pub mod plot;
pub mod swarm;
pub mod text;
pub mod trace;
