//! Statements that never ran, and properties that were not checked.

use super::table::{Cell, Table};
use super::{escape, section};
use crate::check::Unreached;
use std::fmt::Write;

pub fn unreached(statements: &[Unreached], who: &str) -> String {
    if statements.is_empty() {
        let all = format!("<p>Every statement of the model was run by {who}.</p>\n");
        return section("unreached", "Unreached statements", &all);
    }
    let row = |u: &Unreached| {
        let at = &u.location;
        let statement = match u.statement.as_str() {
            "-end-" => "the end of the process",
            text => text,
        };
        vec![
            Cell::text(&u.process),
            Cell::text(format!("{}:{}:{}", at.file, at.line, at.column)),
            Cell::text(statement),
        ]
    };
    let table = Table {
        caption: "Statements that never ran",
        heads: &["process", "place", "statement"],
        rows: statements.iter().map(row).collect(),
        sortable: true,
    };
    section("unreached", "Unreached statements", &table.html())
}

pub fn not_checked(properties: &[String]) -> String {
    let mut items = String::new();
    for property in properties {
        let _ = writeln!(items, "<li>{}</li>", escape(property));
    }
    let list = if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") };
    section("not-checked", "Not checked", &list)
}
