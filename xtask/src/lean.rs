//! `cargo xtask lean`: what searches with lossy stores and swarms see and what
//! they say of it, next to the papers' figures.
//!
//! A part makes runs and keeps what matters of each as one record; its tables
//! are a function of the records. So docs/lean.json has all there is to know,
//! and one part can be measured anew while the others stay.

mod curves;
mod dtp;
mod estimate;
mod interval;
mod lab;
mod options;
mod paper;
mod pod;
mod report;
mod snark;
mod throughput;

use crate::bench::table::Section;
use crate::bench::{self, machine, process};
use lab::Lab;
use options::Options;
use serde_json::{Value, json};
use std::process::ExitCode;

/// An experiment.
struct Part {
    name: &'static str,
    runs: fn(&Lab) -> Result<Vec<Value>, String>,
    sections: fn(&[Value]) -> Vec<Section>,
}

const PARTS: [Part; 8] = [
    Part { name: "pod", runs: pod::runs, sections: pod::sections },
    Part { name: "pod-murphi", runs: pod::murphi_runs, sections: pod::murphi_sections },
    Part { name: "estimate", runs: estimate::runs, sections: estimate::sections },
    Part { name: "interval", runs: interval::runs, sections: interval::sections },
    Part { name: "dtp", runs: dtp::runs, sections: dtp::sections },
    Part { name: "snark", runs: snark::runs, sections: snark::sections },
    Part { name: "curves", runs: curves::runs, sections: curves::sections },
    Part { name: "throughput", runs: throughput::runs, sections: throughput::sections },
];

pub fn main(args: &[String]) -> ExitCode {
    match options::parse(args).and_then(|options| options.map_or(Ok(()), lean)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn lean(options: Options) -> Result<(), String> {
    if !options.corpus.is_dir() {
        eprintln!("skipped: there is no corpus at '{}'", options.corpus.display());
        return Ok(());
    }
    let scratch = process::Scratch::new()?;
    let lab = Lab {
        supertrace: bench::build(options.supertrace.as_deref())?,
        corpus: options.corpus.clone(),
        scratch: scratch.path.clone(),
        quick: options.quick,
    };
    // Now, not in the end: the work goes on meanwhile.
    let commit = machine::commit().filter(|_| options.supertrace.is_none());
    // What was measured before, if it is to be completed.
    let mut all = if options.write { report::recorded()? } else { json!({}) };
    for part in PARTS.iter().filter(|part| options.wants(part.name)) {
        eprintln!("{}:", part.name);
        let load = machine::load();
        let runs = (part.runs)(&lab)?;
        all[part.name] = json!({
            "command": options.command(part.name),
            "processor": machine::processor(),
            "cores": machine::cores(),
            "load_before": load,
            "commit": commit,
            "runs": runs,
        });
        print!("{}", report::text(&part_sections(part, &all)));
        if options.write {
            report::write(&all)?;
        }
    }
    if let Some(path) = &options.json {
        std::fs::write(path, bench::lines(&all))
            .map_err(|e| format!("cannot write '{}': {e}", path.display()))?;
    }
    Ok(())
}

/// The tables of a part, if it was measured.
fn part_sections(part: &Part, all: &Value) -> Vec<Section> {
    let runs = all[part.name]["runs"].as_array();
    runs.map_or(Vec::new(), |runs| (part.sections)(runs))
}
