//! The result of `supertrace check` for the terminal.

use crate::check::{CheckReport, Unreached, Violation};
use crate::coverage::{Coverage, Missed};
use std::fmt::Write;

/// Begins a line on a property that was not checked.
pub const NOT_CHECKED: &str = "not checked: ";
/// Begins one on a model without states.
pub const NO_STATE: &str = "there is no state to check";

/// Bytes as people read them.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A number with its thousands apart.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// One word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,:/@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

pub(crate) fn plural(n: u64, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
}

pub fn seconds(s: f64) -> String {
    match s {
        s if s < 0.001 => "under 1 ms".into(),
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 120.0 => format!("{s:.2} s"),
        s => format!("{} min {:02.0} s", (s / 60.0) as u64, s % 60.0),
    }
}

pub(crate) fn paint(text: &str, code: &str, color: bool) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

impl CheckReport {
    /// The verdict, where and why, the numbers, and what was not seen.
    pub fn text(&self, color: bool) -> String {
        let mut out = String::new();
        let code = match self.verdict {
            "holds" => "1;32",
            "violation" => "1;31",
            "no-violation-found" => "1;36",
            _ => "1;33",
        };
        let _ = writeln!(out, "{}: {}", self.model, paint(self.verdict, code, color));
        out.push_str(&self.meaning());
        if let Some(file) = &self.checkpoint {
            let _ = writeln!(out, "  help: resume with --resume {file}");
        }
        for violation in self.all_violations() {
            out.push_str(&place(violation));
        }
        out.push_str(&self.numbers());
        if let Some(missed) = &self.missed {
            out.push_str(&missed_text(missed));
        }
        if !self.runs.is_empty() {
            let each: Vec<String> = self.runs.iter().map(|run| count(run.states)).collect();
            let _ = writeln!(out, "  {} runs: {}", self.runs.len(), each.join(", "));
        }
        if let Some(unreached) = &self.unreached {
            out.push_str(&unreached_text(unreached));
        }
        for property in &self.not_checked {
            let _ = writeln!(out, "  {NOT_CHECKED}{property}");
        }
        out
    }

    /// One line on what the verdict says.
    pub(crate) fn meaning(&self) -> String {
        let ignored = self.options.get("ignore").and_then(|v| v.as_array());
        let ignored: Vec<&str> =
            ignored.map_or(Vec::new(), |v| v.iter().filter_map(|k| k.as_str()).collect());
        let sentence = match (self.verdict, self.stopped_by) {
            ("holds", _) if self.states == 0 => {
                format!("{NO_STATE}: the model has no start state that fulfils its assumptions")
            }
            ("holds", _) => {
                let mut parts = Vec::new();
                if !ignored.contains(&"assert") {
                    parts.push(match self.language {
                        "murphi" => "no invariant and no assertion fails",
                        _ => "no assertion fails",
                    });
                }
                let off = self.options.get("deadlock").is_some_and(|mode| mode == "off");
                if !ignored.contains(&"deadlock") && !off {
                    parts.push("no deadlock");
                }
                parts.push("no run-time error");
                format!("{} in any reachable state", parts.join(", "))
            }
            ("violation", None) => return String::new(),
            // There may be more, which matters to who has asked for more.
            ("violation", _) if self.options.get("max_violations").is_none_or(|n| n == 1) => {
                return String::new();
            }
            ("no-violation-found", _) => {
                "no violation in the states that were seen; others may have been missed, \
                 as the store is lossy"
                    .into()
            }
            (_, Some("time")) => {
                "the time limit ended the search: part of the states was not seen".into()
            }
            (_, Some("memory")) if self.is_full() => {
                "the table is full: part of the states was not seen".into()
            }
            (_, Some("memory")) => {
                "the memory limit ended the search: part of the states was not seen".into()
            }
            (_, Some("depth")) => {
                "paths were cut at the depth limit: states behind it were not seen".into()
            }
            (_, Some("way")) => {
                "a violation was seen, but the way to it was not found within the limits".into()
            }
            (_, Some("disk")) => {
                "the disk for waiting states failed: part of the states was not seen".into()
            }
            _ => "the search was interrupted: part of the states was not seen".into(),
        };
        let remedy = self.remedy();
        let unseen = self.verdict == "incomplete" && self.stopped_by != Some("way");
        let found = if unseen { "  no violation found so far\n" } else { "" };
        format!("  {sentence}\n{found}{remedy}")
    }

    fn is_full(&self) -> bool {
        self.missed.as_ref().is_some_and(Missed::is_full)
    }

    fn remedy(&self) -> String {
        let remedy = match (self.verdict, self.stopped_by) {
            ("incomplete", Some("time")) => "give it more with --time".into(),
            ("incomplete", Some("memory")) if self.is_full() => {
                "raise --arena, lower --bits, or go on without states that have no room with \
                 --on-full drop"
                    .into()
            }
            ("incomplete", Some("memory")) => {
                let option = |name| self.options.get(name);
                let mut ways = vec!["give it more with --memory"];
                // What was kept in full is not always folded in time.
                if option("compress").is_some_and(|v| v != "on") {
                    ways.push("fold states together with --compress on");
                }
                let exact = option("store").is_some_and(|v| v == "exact");
                if exact && option("spill").is_none_or(|v| v.is_null()) {
                    ways.push("keep waiting states on disk with --spill DIR");
                }
                if exact {
                    ways.push("search with --store bitstate, which may miss states");
                }
                ways.join(", or ")
            }
            ("incomplete", Some("depth")) => "raise or drop --depth".into(),
            ("incomplete", Some("way")) => "raise --time and --memory".into(),
            _ => return String::new(),
        };
        format!("  help: {remedy}\n")
    }

    fn numbers(&self) -> String {
        let transitions = match self.language {
            "murphi" => format!("{} fired", plural(self.transitions, "rule")),
            _ => plural(self.transitions, "transition"),
        };
        let (states, depth) = (plural(self.states, "state"), count(self.depth as u64));
        let mut out = format!("  {states}, {transitions}, depth {depth}\n");
        let rate = if self.seconds >= 0.05 {
            format!(", {} states/s", count(self.states_per_second as u64))
        } else {
            String::new()
        };
        // Of a small store most is room for more.
        let per_state = if self.states >= 10_000 {
            format!(" ({:.0} bytes a state)", self.bytes_per_state)
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "  {}{rate}, {}{per_state}, seed {}",
            seconds(self.seconds),
            bytes(self.memory_bytes),
            self.seed
        );
        out
    }
}

/// A share as people read it: never rounded up to all.
pub fn percent(share: f64) -> String {
    let floor = |digits: i32| {
        let factor = 10f64.powi(digits);
        (share * 100.0 * factor).floor() / factor
    };
    if share >= 1.0 {
        "100 %".into()
    } else if share > 0.9999 {
        format!("{:.4} %", floor(4))
    } else {
        format!("{:.1} %", floor(1))
    }
}

fn missed_text(missed: &Missed) -> String {
    let mut out = match &missed.coverage {
        Some(Coverage { interval, method, .. }) => format!(
            "  coverage about {} ({} to {}), by {method}\n",
            percent(interval.estimate),
            percent(interval.low),
            percent(interval.high)
        ),
        None if missed.is_full() => "  coverage unknown: the store is full\n".into(),
        None => String::new(),
    };
    if missed.coverage.as_ref().is_some_and(|c| c.line_like) {
        out.push_str(
            "  warning: most states have one predecessor, so one that was missed may hide all \
             behind it\n",
        );
    }
    let _ = write!(out, "  hash factor {:.1}, {} full", missed.hash_factor, percent(missed.fill));
    if missed.dropped > 0 {
        let _ = write!(out, ", no room {} times", count(missed.dropped));
    }
    out.push('\n');
    out
}

fn place(violation: &Violation) -> String {
    let at = &violation.location;
    let depth = match violation.depth {
        0 if violation.kind == "cover" => "in any reachable state".into(),
        0 => "in the initial state".into(),
        n => format!("after {}", plural(n as u64, "transition")),
    };
    format!(
        "  {}:{}:{}: {} ({}), {depth}\n",
        at.file, at.line, at.column, violation.message, violation.kind
    )
}

fn unreached_text(unreached: &[Unreached]) -> String {
    let mut out = String::new();
    let mut process = None;
    for statement in unreached {
        if process != Some(&statement.process) {
            process = Some(&statement.process);
            let n = unreached.iter().filter(|u| u.process == statement.process).count();
            let _ = match statement.process.as_str() {
                "" => writeln!(out, "  rules that never fired, covers never met: {n}"),
                process => writeln!(out, "  unreached in {process}: {n}"),
            };
        }
        let text: String = statement.statement.chars().take(60).collect();
        let text = if text == "-end-" { "the end of the process".into() } else { text };
        let _ =
            writeln!(out, "    {}:{}: {text}", statement.location.file, statement.location.line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
        assert_eq!(percent(0.99996), "99.9960 %");
        assert_eq!((percent(1.0), percent(0.98765)), ("100 %".into(), "98.7 %".into()));
        assert_eq!(seconds(0.0001), "under 1 ms");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(125.0), "2 min 05 s");
    }

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for word in ["m.pml", "--arena", "2^18", "N=4", "a/b_c-d"] {
            assert_eq!(quoted(word), word);
        }
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
    }
}
