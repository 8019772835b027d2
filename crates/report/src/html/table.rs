//! Tables.

use super::escape;
use crate::text::{count, seconds};
use std::fmt::Write;

/// A cell: what is shown, and by what it is sorted if that is another number.
pub struct Cell {
    text: String,
    value: Option<f64>,
    numeric: bool,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None, numeric: false }
    }

    pub fn number(n: impl TryInto<u64>) -> Cell {
        Cell::numeric(n.try_into().map_or(String::new(), count))
    }

    /// Text that is a number.
    pub fn numeric(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None, numeric: true }
    }

    pub fn seconds(s: Option<f64>) -> Cell {
        let text = s.map_or("–".into(), seconds);
        Cell { text, value: s.or(Some(-1.0)), numeric: true }
    }

    /// Sorted by another number than is shown.
    pub fn by(self, value: f64) -> Cell {
        Cell { value: Some(value), ..self }
    }
}

pub struct Table<'a> {
    /// What is read out, and shown above the table.
    pub caption: &'a str,
    pub heads: &'a [&'a str],
    pub rows: Vec<Vec<Cell>>,
    /// A click on a header sorts the rows.
    pub sortable: bool,
}

impl Table<'_> {
    pub fn html(&self) -> String {
        let class = if self.sortable { " class=\"sortable\"" } else { "" };
        let caption = escape(self.caption);
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n\
             <table{class}>\n<caption>{caption}</caption>\n<thead><tr>"
        );
        let first = self.rows.first();
        for (i, head) in self.heads.iter().enumerate() {
            let numeric = first.and_then(|row| row.get(i)).is_some_and(|cell| cell.numeric);
            let class = if numeric { " class=\"n\"" } else { "" };
            let head = escape(head);
            let _ = match self.sortable {
                true => write!(out, "<th scope=\"col\"{class}><button>{head}</button></th>"),
                false => write!(out, "<th scope=\"col\"{class}>{head}</th>"),
            };
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for cell in row {
                let class = if cell.numeric { " class=\"n\"" } else { "" };
                let value = cell.value.filter(|_| self.sortable);
                let value = value.map_or(String::new(), |v| format!(" data-v=\"{v}\""));
                let _ = write!(out, "<td{class}{value}>{}</td>", escape(&cell.text));
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody>\n</table>\n</div>\n"
    }
}

/// The options that were in force.
pub fn options(options: &std::collections::BTreeMap<&'static str, serde_json::Value>) -> String {
    use serde_json::Value;
    fn show(value: &Value) -> String {
        match value {
            Value::Null => "–".into(),
            Value::String(text) => text.clone(),
            Value::Array(values) if values.is_empty() => "–".into(),
            Value::Array(values) => values.iter().map(show).collect::<Vec<_>>().join(", "),
            value => value.to_string(),
        }
    }
    let row = |(name, value): (&&str, &Value)| vec![Cell::text(*name), Cell::text(show(value))];
    Table {
        caption: "Options that were in force",
        heads: &["option", "value"],
        rows: options.iter().map(row).collect(),
        sortable: false,
    }
    .html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_headers_and_escapes_its_cells() {
        let table = Table {
            caption: "a & b",
            heads: &["name", "n"],
            rows: vec![vec![Cell::text("<x>"), Cell::number(1234u32).by(0.5)]],
            sortable: true,
        };
        let html = table.html();
        assert!(html.contains("<caption>a &amp; b</caption>"), "{html}");
        assert!(html.contains("<th scope=\"col\" class=\"n\"><button>n</button></th>"), "{html}");
        assert!(html.contains("<td>&lt;x&gt;</td><td class=\"n\" data-v=\"0.5\">1,234</td>"));
        assert!(!Table { sortable: false, ..table }.html().contains("button"));
    }
}
