//! The table for the terminal, for docs/benchmarks.md and as JSON.

use super::options::Options;
use super::summary::{Means, Row, Side};
use super::{Measured, Run, machine, ours, process, spin};
use serde_json::{Value, json};
use std::fmt::Write;

const HEADINGS: [&str; 10] = [
    "model",
    "states",
    "Spin states/s",
    "our states/s",
    "ratio",
    "Spin B/state",
    "our B/state",
    "Spin to verdict",
    "ours",
    "ratio",
];

fn cells(row: &Row) -> [String; 10] {
    let bytes =
        |side: &Side| row.bytes_per_state(side).map_or("unknown".into(), |b| format!("{b:.0}"));
    [
        row.name.clone(),
        thousands(row.states),
        thousands(row.speed(&row.spin) as u64),
        thousands(row.speed(&row.ours) as u64),
        format!("{:.2}", row.ratio()),
        bytes(&row.spin),
        bytes(&row.ours),
        format!("{:.2} s", row.spin.verdict_seconds),
        format!("{:.2} s", row.ours.verdict_seconds),
        format!("{:.2}", row.verdict_ratio()),
    ]
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// For the terminal: columns aligned.
pub fn text(rows: &[Row]) -> String {
    let mut lines = vec![HEADINGS.map(String::from)];
    lines.extend(rows.iter().map(cells));
    let widths: [usize; 10] =
        std::array::from_fn(|i| lines.iter().map(|line| line[i].len()).max().unwrap_or(0));
    let mut out = String::new();
    for line in &lines {
        let _ = write!(out, "{:<1$}", line[0], widths[0]);
        for (cell, width) in line.iter().zip(widths).skip(1) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }
    out + "\n" + &means(rows)
}

fn means(rows: &[Row]) -> String {
    let means = Means::new(rows);
    let or_unknown = |mean: Option<f64>| mean.map_or("unknown".into(), |m| format!("{m:.3}"));
    format!(
        "Geometric means over {} models (ours relative to Spin; above 1 ours is better):\n\n\
         - states per second, wall clock of the process: {:.3}\n\
         - the same by CPU time: {}\n\
         - the same by each tool's own clock: {:.3}\n\
         - time from model to verdict, Spin's with generation and compilation: {:.3}\n\
         - peak memory: {}\n",
        rows.len(),
        means.speed_by_wall,
        or_unknown(means.speed_by_cpu),
        means.speed_by_report,
        means.verdict,
        or_unknown(means.memory),
    )
}

/// For docs/benchmarks.md. No date: the history of the file has it.
pub fn markdown(rows: &[Row], options: &Options, load_before: Option<f64>) -> String {
    let mut out = String::from("# Benchmarks: Supertrace and Spin\n\n");
    out.push_str("Written by `cargo xtask bench --write`; do not edit.\n\n");
    out.push_str(&means(rows));
    let _ = writeln!(out, "\n| {} |\n|---{}|", HEADINGS.join(" | "), "|---:".repeat(9));
    for row in rows {
        let _ = writeln!(out, "| {} |", cells(row).join(" | "));
    }
    out + "\n" + &method(options, load_before)
}

fn method(options: &Options, load_before: Option<f64>) -> String {
    let version = |tool: &str, flag: &str| machine::first_line(tool, flag).unwrap_or_default();
    let sizes = match &options.pan {
        Some(flags) => format!("`{flags}`"),
        None => "`-mN -wN`, chosen for each model after a run that is not counted: a stack a \
                 quarter deeper than needed and a hash table of at least two slots for each state \
                 (larger ones take longer to clear than some searches take)"
            .into(),
    };
    let load = |load: Option<f64>| load.map_or("unknown".into(), |l| l.to_string());
    format!(
        "## Method\n\n\
         - Machine: {} cores, {} GiB of memory. Both tools use one core. Load average before \
         the runs {}, after them {} (1 of that is the bench): other work slows both tools, \
         and CPU time is then the better measure.\n\
         - {}; {}; supertrace {} (release build).\n\
         - Models: those of the corpus with 100,000 states or more, if the options below name \
         no others. Both tools search the whole graph without reduction; equal numbers of states \
         and transitions are a condition for a line in the table.\n\
         - Spin: `spin {} MODEL`, `gcc {} -o pan pan.c`, `./pan {}` and {sizes}.\n\
         - Ours: `supertrace check MODEL {}`.\n\
         - Runs of the two tools alternate; medians of {}. Spin's verifier is generated and \
         compiled once, so time to verdict is less certain than speed.\n\
         - States per second are the states divided by the wall clock of the whole process, `pan` \
         or `supertrace`; ours includes reading the model. Time to verdict adds `spin` and `gcc` \
         to Spin's.\n\
         - Bytes per state are the peak resident memory of the process divided by the states, \
         by {}: store, stack, hash table and program.\n\
         - Repeat: `cargo xtask bench{} --repeat {} --write`; `--help` lists the options.\n",
        machine::cores(),
        machine::memory_gib().map_or("unknown".into(), |g| g.to_string()),
        load(load_before),
        load(machine::load()),
        version("spin", "-V"),
        version("gcc", "--version"),
        env!("CARGO_PKG_VERSION"),
        spin::GENERATE.join(" "),
        spin::COMPILE.join(" "),
        spin::SEARCH.join(" "),
        ours::FLAGS.join(" "),
        options.repeat,
        process::memory_source(),
        if options.quick { " --quick" } else { "" },
        options.repeat,
    )
}

/// Everything that was measured, run by run.
pub fn json(measured: &[Measured], rows: &[Row], failures: &[String]) -> String {
    let models: Vec<Value> = measured
        .iter()
        .zip(rows)
        .map(|(m, row)| {
            json!({
                "model": row.name,
                "states": row.states,
                "transitions": row.transitions,
                "ratio": row.ratio(),
                "verdict_ratio": row.verdict_ratio(),
                "pan_flags": m.pan.flags,
                "spin_generate_seconds": m.pan.generate_seconds,
                "spin_compile_seconds": m.pan.compile_seconds,
                "spin": m.spin.iter().map(run).collect::<Vec<_>>(),
                "ours": m.ours.iter().map(run).collect::<Vec<_>>(),
            })
        })
        .collect();
    let means = Means::new(rows);
    let report = json!({
        "cores": machine::cores(),
        "spin": machine::first_line("spin", "-V"),
        "gcc": machine::first_line("gcc", "--version"),
        "means": {
            "speed_by_wall": means.speed_by_wall,
            "speed_by_cpu": means.speed_by_cpu,
            "speed_by_report": means.speed_by_report,
            "verdict": means.verdict,
            "memory": means.memory,
        },
        "failures": failures,
        "models": models,
    });
    format!("{report:#}\n")
}

fn run(run: &Run) -> Value {
    json!({
        "wall_seconds": run.usage.wall_seconds,
        "cpu_seconds": run.usage.cpu_seconds,
        "reported_seconds": run.reported_seconds,
        "peak_bytes": run.usage.peak_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_digits_by_three() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(123_456), "123,456");
        assert_eq!(thousands(1_002_003), "1,002,003");
    }
}
