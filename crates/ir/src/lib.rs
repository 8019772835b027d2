//! Supertrace's intermediate representation: the `System` that every language
//! is lowered to, its text form, its states, and the reference interpreter.
//!
//! This crate knows no language, no search and no store.

pub mod fault;
pub mod interpret;
pub mod layout;
pub mod model;
pub mod reduce;
pub mod rows;
pub mod scalar;
pub mod source;
pub mod system;
pub mod text;
pub mod trace;
pub mod visit;
