//! Many small random searches, one coverage figure.
//!
//! A swarm is plan, run, merge. A task is a pure function of the model and its
//! line in the plan; its record is small. Merging records is associative,
//! commutative and idempotent, so tasks may be lost, repeated and reordered.
//! Engines only schedule.

mod coverage;
mod engine;
mod growth;
mod journal;
mod plan;
mod record;
mod sketch;

pub use coverage::{Seen, curve, seen};
pub use engine::{Engine, Halt, Pulse, Swarm, perform};
pub use growth::{Growth, growth};
pub use journal::{Journal, JournalError};
pub use plan::{LAST_TASK, Plan, Portfolio, Settings, Subject, Task};
pub use record::{Done, Limit, MergeError, Place, Record, Violation};
pub use sketch::{Gatherer, Sketch};
