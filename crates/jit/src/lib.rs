//! Native code for a `System`, made with Cranelift.
//!
//! [`compile`] makes one function per process type and location; [`Native`]
//! runs them as a [`Model`](ir::model::Model). The interpreter of `ir` is the
//! oracle: both hand out the same events in the same order.
//!
//! While a search runs, code is made for where it misses that most ([`compile_for`]).
//! Native code knows the mainstream only, and of faults only assertions and
//! deadlocks. Where something else comes up (another fault, `run`, a very long
//! sequence) it gives up, and the interpreter does over what that process can do
//! in the state; what the sink has seen already is kept from it. So a construct
//! that is not compiled costs time, never correctness.

mod code;
mod diamonds;
mod emit;
mod facts;
mod functions;
mod kinds;
mod leaving_out;
mod native;
mod resume;
mod rounds;
pub mod rules;
mod runtime;
mod tiered;

pub use code::{Code, Error, compile, compile_for, compile_part};
pub use facts::Facts;
pub use leaving_out::Interpreted;
pub use native::{Counts, Native};
pub use tiered::{Compiling, Tiered};
