//! The report: for the terminal, and as `benchmarks.md`, `.svg` and `.json` in docs/.

use super::options::Options;
use super::table::Section;
use super::{Contender, Results, machine, plot, process, raw, sections, startup};
use std::path::Path;

pub struct Report {
    sections: Vec<Section>,
    method: String,
}

impl Report {
    pub fn new(results: &Results, options: &Options) -> Report {
        Report { sections: sections::all(results), method: method(results, options) }
    }

    pub fn text(&self) -> String {
        let parts: Vec<String> = self.sections.iter().map(Section::text).collect();
        parts.join("\n") + "\n" + &self.method
    }

    /// No date: the history of the file has it.
    fn markdown(&self) -> String {
        let mut out = String::from("# Benchmarks: Supertrace and Spin\n\n");
        out += "Written by `cargo xtask bench --write`; do not edit. In every ratio, more than 1 \
                means that Supertrace is better. Method, machine and every flag are at the end; \
                [every run](benchmarks.json).\n\n\
                ![States per second of Supertrace relative to Spin, and in absolute numbers, \
                model by model](benchmarks.svg)\n\n";
        for section in &self.sections {
            out += &section.markdown();
            out.push('\n');
        }
        out + "## Method\n\n" + &self.method
    }
}

fn method(results: &Results, options: &Options) -> String {
    let mut points = vec![platform(results), versions(results)];
    points.push("Contenders, all with their flags:".into());
    points.extend(results.contenders.iter().map(contender));
    points.push(format!(
        "  Small models: `spin {} MODEL`, `gcc {} -o pan pan.c`, `./pan {}` (for models so small \
         the fastest way to a verdict: an optimised build and a larger table take longer), against \
         `supertrace check MODEL {}`. Both check assertions and deadlocks and must agree; ours \
         includes making the counterexample as short as can be. Spin's runs are single, ours \
         medians of {}.",
        startup::GENERATE,
        startup::COMPILE,
        startup::SEARCH,
        startup::OURS,
        startup::runs(options),
    ));
    points.push(sizes(options));
    points.extend(rules(options));
    if !results.skipped.is_empty() {
        points.push(format!("Skipped: {}.", results.skipped.join("; ")));
    }
    points.push(format!("Repeat: `{}`; `--help` lists the options.", options.command()));
    bullets(&points)
}

/// A list; points that begin with two spaces belong to the one before.
pub fn bullets(points: &[String]) -> String {
    let bullet = |point: &String| match point.strip_prefix("  ") {
        Some(rest) => format!("  - {rest}\n"),
        None => format!("- {point}\n"),
    };
    points.iter().map(bullet).collect()
}

/// A contender with all its flags, as a point below another.
pub fn contender(contender: &Contender) -> String {
    let commands: Vec<String> =
        contender.commands().iter().map(|command| format!("`{command}`")).collect();
    format!("  `{}`, {}: {}.", contender.name, contender.about, commands.join(", "))
}

pub fn platform(results: &Results) -> String {
    let load = |load: Option<f64>| load.map_or("unknown".into(), |l| l.to_string());
    format!(
        "Machine: {}, {} cores, {} GiB of memory. Load average before the runs {}, after them {} \
         (1 of that is the bench, or more with all cores): other work slows all contenders, and \
         CPU time is then the better measure.",
        machine::processor().unwrap_or("unknown processor".into()),
        machine::cores(),
        machine::memory_gib().map_or("unknown".into(), |g| g.to_string()),
        load(results.load_before),
        load(machine::load()),
    )
}

fn versions(results: &Results) -> String {
    format!(
        "{}; {}; supertrace {}, commit {}, release build.",
        version("spin", "-V"),
        version("gcc", "--version"),
        env!("CARGO_PKG_VERSION"),
        results.commit.as_deref().unwrap_or("unknown"),
    )
}

pub fn version(tool: &str, flag: &str) -> String {
    machine::first_line(tool, flag).unwrap_or(format!("no '{tool}' here"))
}

fn sizes(options: &Options) -> String {
    match &options.pan {
        Some(flags) => format!("`-mN -wN` are `{flags}`."),
        None => "`-mN -wN` are chosen for each model after a run that is not counted: a stack a \
                 quarter deeper than needed and a hash table of at least two slots for each state \
                 (larger ones take longer to clear than some searches take)."
            .into(),
    }
}

fn rules(options: &Options) -> [String; 4] {
    [
        format!(
            "All contenders take turns on every model, each after 512 MiB of memory were used \
             once and freed; medians of {}. Verifiers are generated and \
             compiled once.",
            options.repeat
        ),
        "Every search comes to its end and reports no error (`-A -E`, `--ignore \
         assert,deadlock`). Contenders of the same graph count the same states and transitions, \
         and those that the list of models gives; else the bench fails. Bitstate misses states, \
         so there counts may differ."
            .into(),
        "States per second are the states divided by the wall clock of the whole process, `pan` \
         or `supertrace`, starting included; ours includes reading and compiling the model. Time \
         to verdict adds `spin` and `gcc` to Spin's."
            .into(),
        format!(
            "Peak resident memory is that of the process, by {}: store, stack, hash table and \
             program. 'Store' is what our report calls `bytes_per_state`.",
            process::memory_source()
        ),
    ]
}

/// Writes the files that were asked for.
pub fn write(report: &Report, results: &Results, options: &Options) -> Result<(), String> {
    let json = || raw::json(results, &options.command(), raw::versions(results));
    if let Some(path) = &options.json {
        put(path, json())?;
    }
    if let Some(path) = &options.svg {
        put(path, plot::svg(results))?;
    }
    if options.write {
        if !results.failures.is_empty() {
            return Err("docs/benchmarks.md is not written, because something failed".into());
        }
        let docs = machine::root().join("docs");
        put(&docs.join("benchmarks.md"), report.markdown())?;
        put(&docs.join("benchmarks.svg"), plot::svg(results))?;
        put(&docs.join("benchmarks.json"), json())?;
    }
    Ok(())
}

pub fn put(path: &Path, text: String) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write '{}': {e}", path.display()))
}
