//! Supertrace's intermediate representation: the `System` of processes and the
//! `Rules` that languages are lowered to, their text forms, their states, and
//! the reference interpreters.
//!
//! This crate knows no language, no search and no store.

pub mod constants;
pub mod fault;
pub mod interpret;
pub mod layout;
pub mod model;
pub mod program;
pub mod reduce;
pub mod rows;
pub mod rules;
pub mod scalar;
pub mod source;
pub mod system;
pub mod text;
pub mod trace;
pub mod visit;
