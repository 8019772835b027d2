//! Text that fits: cleaned, cut and wrapped.
//!
//! Width counts characters; a terminal may show some of them wider.

/// The text on one line: white space becomes one space, and control characters,
/// which could command a terminal, become U+FFFD.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }));
    }
    out
}

pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text, or its beginning and an ellipsis if it is wider than `limit`.
pub fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_string();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The text, or an ellipsis and its end if it is wider than `limit`.
pub fn cut_start(text: &str, limit: usize) -> String {
    let n = width(text);
    if n <= limit {
        return text.to_string();
    }
    let kept: String = text.chars().skip(n + 1 - limit.clamp(1, n)).collect();
    format!("…{kept}")
}

/// Joins `items` with `separator` into lines of at most `limit`; an item that
/// is wider than a line is cut.
pub fn flow(items: &[String], separator: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let item = cut(item, limit);
        match lines.last_mut() {
            Some(line) if width(line) + width(separator) + width(&item) <= limit => {
                line.push_str(separator);
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}

/// Breaks the text into at most `n_lines` lines of at most `limit`, between
/// words or behind commas where it can; what does not fit is cut.
pub fn wrap(text: &str, limit: usize, n_lines: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > limit && lines.len() + 1 < n_lines {
        let tail = rest.split_off(break_at(&rest, limit));
        lines.push(rest.iter().collect());
        rest = tail.into_iter().skip_while(|c| *c == ' ').collect();
    }
    lines.push(cut(&rest.iter().collect::<String>(), limit));
    lines
}

/// The best place, from 1 to `limit`, to break a line that is longer than `limit`.
fn break_at(line: &[char], limit: usize) -> usize {
    let good = |at: &usize| line[*at] == ' ' || line[*at - 1] == ',';
    (1..=limit).rev().find(good).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaned_text_has_no_control_characters() {
        assert_eq!(clean(" a\n\tb  \u{1b}[31m\u{0} c "), "a b \u{FFFD}[31m\u{FFFD} c");
    }

    #[test]
    fn cut_keeps_the_limit() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("größer als", 6), "größe…");
        assert_eq!(cut("ab cd", 4), "ab…");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(cut_start("path/to/file", 5), "…file");
        assert_eq!(cut_start("path", 0), "…");
    }

    #[test]
    fn wrap_prefers_spaces_and_ends_in_an_ellipsis() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3, 9), ["abc", "def", "gh"]);
        assert_eq!(wrap("q!one,two", 7, 9), ["q!one,", "two"]);
        assert_eq!(wrap("one two three four", 5, 2), ["one", "two…"]);
        assert_eq!(wrap("", 0, 0), [""]);
    }

    #[test]
    fn flow_fills_lines() {
        let items = ["x: 0".to_string(), "y: 1".to_string(), "a long one".to_string()];
        assert_eq!(flow(&items, ", ", 10), ["x: 0, y: 1", "a long one"]);
        assert_eq!(flow(&items, ", ", 4), ["x: 0", "y: 1", "a l…"]);
    }
}
