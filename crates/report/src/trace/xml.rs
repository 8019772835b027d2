//! SVG elements as text. All text that comes from a trace is escaped here.

use super::chart::Px;

/// Which part of a text is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The text with the characters that XML reserves written as entities, and those
/// it forbids as U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

/// A group with a title that shows on hover; `shapes` are elements.
pub fn group(class: &str, title: &str, shapes: &str) -> String {
    format!("<g{}><title>{}</title>{shapes}</g>\n", class_of(class), escape(title))
}

pub fn text((x, y): (Px, Px), anchor: Anchor, class: &str, content: &str) -> String {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let class = class_of(class);
    format!("<text x=\"{x}\" y=\"{y}\"{anchor}{class}>{}</text>", escape(content))
}

pub fn rect((x, y): (Px, Px), (width, height): (Px, Px)) -> String {
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>")
}

pub fn path(class: &str, commands: &str) -> String {
    format!("<path{} d=\"{commands}\"/>", class_of(class))
}

/// The filled head of an arrow that comes from `from` and points at `to`.
pub fn head(from: (Px, Px), to: (Px, Px)) -> String {
    const LENGTH: f64 = 9.0;
    const HALF_WIDTH: f64 = 4.0;
    let (x, y) = (to.0 as f64, to.1 as f64);
    let (dx, dy) = (x - from.0 as f64, y - from.1 as f64);
    let distance = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / distance, dy / distance);
    let (base_x, base_y) = (x - LENGTH * ux, y - LENGTH * uy);
    let (side_x, side_y) = (HALF_WIDTH * uy, -HALF_WIDTH * ux);
    format!(
        "<polygon points=\"{x:.1},{y:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
        base_x + side_x,
        base_y + side_y,
        base_x - side_x,
        base_y - side_y,
    )
}

fn class_of(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}
