//! What a swarm costs besides its searches: cores that wait, and tasks that
//! begin and end.

use super::lab::{Lab, Swarmed, number};
use crate::bench::machine;
use crate::bench::table::{Section, Table, ratio, thousands};
use serde_json::{Value, json};

const MODEL: &str = "models/promela/snark.pml";
const INSTANCE: &str = "-D THREADS=3 -D PUSHES=3 --until all --diversity plain --hashes 1";
/// Arenas and how many tasks; the last one is for comparison.
const RUNS: [(u32, u32); 6] = [(14, 10_000), (16, 2_000), (18, 500), (20, 100), (22, 30), (26, 2)];

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for threads in [1, machine::cores()] {
        for (bits, tasks) in RUNS {
            let tasks = if lab.quick { tasks.div_ceil(10) } else { tasks };
            let flags = format!(
                "{INSTANCE} --arena 2^{bits} --portfolio uniform --tasks {tasks} --threads \
                 {threads} --ignore assert,deadlock"
            );
            let Swarmed { report, usage, command } = lab.swarm(MODEL, &flags)?;
            records.push(json!({
                "threads": threads,
                "log_bits": bits,
                "tasks": report["tasks_done"],
                "seconds": report["seconds"],
                "cpu_seconds": usage.cpu_seconds,
                "states_per_second": report["states_per_second"],
                "command": command,
            }));
        }
    }
    Ok(records)
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    if records.is_empty() {
        return Vec::new();
    }
    let headings =
        ["bits", "threads", "tasks", "tasks/s", "states/s", "of the largest", "cores busy"];
    let mut table = Table::new(headings);
    for record in records {
        let rate = |r: &Value| number(r, "states_per_second");
        let largest = records.iter().rfind(|r| r["threads"] == record["threads"]);
        let (seconds, threads) = (number(record, "seconds"), number(record, "threads"));
        table.push([
            format!("2^{}", record["log_bits"]),
            record["threads"].to_string(),
            thousands(number(record, "tasks") as u64),
            format!("{:.1}", number(record, "tasks") / seconds),
            thousands(rate(record) as u64),
            ratio(rate(record) / largest.map_or(f64::NAN, rate)),
            format!("{:.1} %", 100.0 * number(record, "cpu_seconds") / seconds / threads),
        ]);
    }
    vec![Section {
        title: "Swarm: many tasks".into(),
        points: vec![format!(
            "`{MODEL}` with three threads, depth first, tasks of one size after the other. \
             Throughput relative to that of few large tasks; CPU time of the process by time and \
             threads (reading and compiling the model counts as CPU time, not as time)."
        )],
        table,
    }]
}
