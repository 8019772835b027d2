//! The reference interpreter: simple and obviously right, the oracle for all
//! other engines. It follows the search loop of Spin's verifier, so that the
//! states it stores and the order it finds them in are Spin's.

mod execute;
mod expand;
mod machine;
mod waits;
mod walk;

pub use execute::failed_assertion;
pub use expand::{Interpreter, deadlock, glance};
pub use machine::{MAX_CHANNELS, MAX_PROCESSES};
pub use waits::Waits;
pub use walk::{Taken, Walk};
