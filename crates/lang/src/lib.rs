//! The languages: each reads a model's text and lowers it to an `ir::System`.
//!
//! This crate reports everything that is wrong with a text, at its place, and
//! never panics on one. It executes nothing.

pub mod diagnostic;
pub mod murphi;
pub mod promela;
