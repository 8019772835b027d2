//! Every measurement as JSON, run by run; one line a model, so that files of
//! different days compare line by line.

use super::startup::Small;
use super::{Contender, Measured, Results, Run, Series, machine};
use serde_json::{Value, json};

/// `versions` are those of the tools that took part.
pub fn json(results: &Results, command: &str, versions: Value) -> String {
    let report = json!({
        "command": command,
        "machine": {
            "processor": machine::processor(),
            "cores": machine::cores(),
            "memory_gib": machine::memory_gib(),
            "load_before": results.load_before,
            "load_after": machine::load(),
        },
        "versions": versions,
        "contenders": each(&results.contenders, contender),
        "models": each(&results.measured, measured),
        "small_models": each(&results.startup, small),
        "skipped": results.skipped,
        "failures": results.failures,
    });
    lines(&report)
}

/// An object with one line for each member, and for each element of a member
/// that is an array.
pub fn lines(report: &Value) -> String {
    let members = report.as_object().into_iter().flatten().map(|(key, value)| {
        let shown = match value.as_array() {
            Some(elements) if !elements.is_empty() => {
                let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
                format!("[\n{}\n]", elements.join(",\n"))
            }
            _ => value.to_string(),
        };
        format!("{}: {shown}", Value::from(key.as_str()))
    });
    format!("{{\n{}\n}}\n", members.collect::<Vec<_>>().join(",\n"))
}

/// Of Spin and ours.
pub fn versions(results: &Results) -> Value {
    json!({
        "spin": machine::first_line("spin", "-V"),
        "gcc": machine::first_line("gcc", "--version"),
        "supertrace": env!("CARGO_PKG_VERSION"),
        "commit": results.commit,
    })
}

fn each<T>(items: &[T], show: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(show).collect()
}

fn contender(contender: &Contender) -> Value {
    json!({
        "name": contender.name,
        "about": contender.about,
        "graph": format!("{:?}", contender.graph),
        "commands": contender.commands(),
    })
}

fn measured(measured: &Measured) -> Value {
    json!({
        "model": measured.model.name,
        "from": measured.model.source,
        "contenders": each(&measured.series, series),
    })
}

fn series(series: &Series) -> Value {
    let steps: serde_json::Map<String, Value> = series
        .prepared
        .steps
        .iter()
        .map(|step| (format!("{}_seconds", step.name), step.seconds.into()))
        .collect();
    json!({
        "contender": series.contender.name,
        "sizes": series.prepared.sizes,
        "preparation": steps,
        "over_seconds": series.prepared.limit.filter(|_| series.is_over),
        "runs": each(&series.runs, run),
    })
}

fn run(run: &Run) -> Value {
    json!({
        "states": run.figures.states,
        "transitions": run.figures.transitions,
        "depth": run.figures.depth,
        "wall_seconds": run.usage.wall_seconds,
        "cpu_seconds": run.usage.cpu_seconds,
        "reported_seconds": run.figures.seconds,
        "peak_bytes": run.usage.peak_bytes,
        "store_bytes_per_state": run.figures.store_bytes_per_state,
    })
}

fn small(small: &Small) -> Value {
    let steps = each(&small.spin_steps, |s| json!({ "step": s.name, "seconds": s.seconds }));
    json!({
        "model": small.name,
        "states": small.states,
        "spin": steps,
        "our_seconds": small.our_seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_json() {
        let report = json!({ "a\"b": [{ "x": [1, 2] }, 3], "c": [], "d": { "e": null } });
        let text = lines(&report);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), report);
        assert!(text.lines().any(|line| line == r#"{"x":[1,2]},"#), "{text}");
    }

    #[test]
    fn every_run_is_in_it() {
        let results = super::super::sample::results();
        let text = json(&results, "cargo xtask bench", versions(&results));
        let report: Value = serde_json::from_str(&text).unwrap();
        let contender = &report["models"][1]["contenders"][0];
        assert_eq!(contender["contender"], "spin");
        assert_eq!(contender["runs"][0]["wall_seconds"], 2.0);
        assert_eq!(contender["preparation"]["spin_seconds"], 3.0);
    }
}
