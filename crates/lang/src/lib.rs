//! The languages: each reads a model's text and lowers it to an `ir::System`.
//!
//! This crate reports everything that is wrong with a text, at its place, and
//! never panics on one. It executes nothing.

pub mod diagnostic;
pub mod murphi;
pub mod promela;

/// The text of a file, unless it has zero bytes. What is not UTF-8 is taken for
/// Latin-1: old models have such letters in their comments.
pub fn text(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let latin =
        |error: std::string::FromUtf8Error| error.as_bytes().iter().map(|b| *b as char).collect();
    Some(String::from_utf8(bytes).unwrap_or_else(latin))
}
