//! The Promela front-end.

pub mod lex;
pub mod preprocess;
pub mod token;
