//! docs/lean.md and docs/lean.json.

use super::{PARTS, part_sections};
use crate::bench::table::Section;
use crate::bench::{lines, machine};
use serde_json::{Value, json};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    machine::root().join("docs").join(name)
}

/// What was recorded before: nothing if there is no such file.
pub fn recorded() -> Result<Value, String> {
    match std::fs::read_to_string(path("lean.json")) {
        Ok(text) => read(&text),
        Err(_) => Ok(json!({})),
    }
}

fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("docs/lean.json is not JSON: {e}"))
}

pub fn text(sections: &[Section]) -> String {
    sections.iter().map(|section| section.text() + "\n").collect()
}

pub fn write(all: &Value) -> Result<(), String> {
    let put = |name: &str, text: String| {
        std::fs::write(path(name), text).map_err(|e| format!("cannot write 'docs/{name}': {e}"))
    };
    put("lean.json", json_text(all))?;
    put("lean.md", markdown(all))
}

/// One line a run, so that files of different days compare line by line.
fn json_text(all: &Value) -> String {
    let parts =
        all.as_object().into_iter().flatten().map(|(name, part)| {
            format!("{}: {}", Value::from(name.as_str()), lines(part).trim_end())
        });
    format!("{{\n{}\n}}\n", parts.collect::<Vec<_>>().join(",\n"))
}

fn markdown(all: &Value) -> String {
    let mut out = String::from(
        "# Lean storage and swarms: measured\n\n\
         Written by `cargo xtask lean --write`; do not edit. What searches with lossy stores and swarms see \
         of a state space, and what they say of it, next to the figures of the papers. \
         [Every run](lean.json) with its command; what [the stores](lossy.md) and [swarms](swarm.md) are.\n\n",
    );
    for part in &PARTS {
        for section in part_sections(part, all) {
            out += &section.markdown();
            out.push('\n');
        }
        out += &method(&all[part.name]);
    }
    out
}

/// How a part was measured.
fn method(part: &Value) -> String {
    let (Some(command), Some(runs)) = (part["command"].as_str(), part["runs"].as_array()) else {
        return String::new();
    };
    let known = |key: &str| part[key].as_str().unwrap_or("unknown").to_string();
    format!(
        "Repeat: `{command}`. {} runs on {}, commit {}, load before {}.\n\n",
        runs.len(),
        known("processor"),
        known("commit"),
        part["load_before"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let runs = json!([{ "model": "m", "states": 5 }, { "model": "n", "states": 6 }]);
        let all = json!({ "dtp": { "command": "cargo xtask lean --only dtp", "runs": runs } });
        let text = json_text(&all);
        assert_eq!(read(&text).unwrap(), all);
        assert!(text.lines().any(|line| line == r#"{"model":"m","states":5},"#), "{text}");
        assert!(method(&all["dtp"]).contains("2 runs"));
        assert_eq!(method(&all["pod"]), "");
    }
}
