//! Every measurement as JSON, run by run.

use super::options::Options;
use super::startup::Small;
use super::{Contender, Measured, Results, Run, Series, machine};
use serde_json::{Value, json};

pub fn json(results: &Results, options: &Options) -> String {
    let report = json!({
        "command": options.command(),
        "machine": {
            "processor": machine::processor(),
            "cores": machine::cores(),
            "memory_gib": machine::memory_gib(),
            "load_before": results.load_before,
            "load_after": machine::load(),
        },
        "versions": {
            "spin": machine::first_line("spin", "-V"),
            "gcc": machine::first_line("gcc", "--version"),
            "supertrace": env!("CARGO_PKG_VERSION"),
            "commit": machine::commit(),
        },
        "contenders": each(&results.contenders, contender),
        "models": each(&results.measured, measured),
        "small_models": each(&results.startup, small),
        "skipped": results.skipped,
        "failures": results.failures,
    });
    format!("{report:#}\n")
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
