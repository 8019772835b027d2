//! The paper's own recipe, side by side: a thousand small searches of the Snark
//! deque, by Spin's verifier and by a swarm.

use super::lab::{Lab, Swarmed, number};
use crate::bench::table::{Section, Table, ratio, seconds, thousands};
use crate::bench::{machine, pan_errors, pan_obstacle, pan_states, process};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const MODEL: &str = "models/promela/snark.pml";
const TASKS: u64 = 1000;
/// As in the paper, but for `-E`: with its random orders pan takes states for
/// invalid end states that are none.
const PAN: &str = "-w20 -rhash -k1 -E -RS";
const COMPILE: &str = "-O2 -DBITSTATE -DSAFETY -DRHASH";

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let tasks = if lab.quick { 20 } else { TASKS };
    let mut records = Vec::new();
    match pan_obstacle() {
        Some(obstacle) => eprintln!("skipped: Spin's verifier: {obstacle}"),
        None => records.push(pan(lab, tasks)?),
    }
    records.push(ours(lab, "plain", tasks)?);
    records.push(ours(lab, "full", tasks)?);
    Ok(records)
}

/// All tasks, going on after a violation's task.
fn ours(lab: &Lab, diversity: &str, tasks: u64) -> Result<Value, String> {
    let flags = format!(
        "-D THREADS=3 -D PUSHES=3 --arena 2^20 --hashes 1 --portfolio uniform --diversity \
         {diversity} --tasks {tasks} --until all"
    );
    let Swarmed { report, usage, command } = lab.swarm(MODEL, &flags)?;
    let found = report["violations"].as_array().into_iter().flatten();
    Ok(json!({
        "who": format!("supertrace swarm, {diversity} diversity"),
        "tasks": report["tasks_done"],
        // Without the time to shorten the counterexample.
        "seconds": report["seconds"],
        "wall_seconds": usage.wall_seconds,
        "first": report["first_violation_seconds"],
        "found": found.filter_map(|v| v["count"].as_u64()).max().unwrap_or(0),
        "states": report["states"],
        "command": command,
    }))
}

/// One run after the other on each core.
fn pan(lab: &Lab, tasks: u64) -> Result<Value, String> {
    let dir = |core: usize| lab.scratch.join(format!("pan{core}"));
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let model = machine::root().join(MODEL).to_string_lossy().into_owned();
    for core in 0..machine::cores() {
        std::fs::create_dir_all(dir(core)).map_err(|e| e.to_string())?;
    }
    let generate = [words("-DTHREADS=3 -DPUSHES=3 -a"), vec![model]].concat();
    process::run(Path::new("spin"), &generate, &dir(0))?;
    let compile = [words(COMPILE), words("-o pan pan.c")].concat();
    process::run(Path::new("gcc"), &compile, &dir(0))?;
    let program = dir(0).join("pan");
    let (next, states, found) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let started = Instant::now();
    let first = std::sync::Mutex::new(None);
    let work = |core: usize| -> Result<(), String> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= tasks {
                return Ok(());
            }
            // Any numbers that are not in a row.
            let seed = (number + 1).wrapping_mul(2_654_435_761) % (1 << 32);
            let args = words(&format!("{PAN}{seed}"));
            let (output, _) = process::time(&program, &args, &dir(core), &[0])?;
            states.fetch_add(pan_states(&output)?, Ordering::Relaxed);
            if pan_errors(&output)? > 0 {
                found.fetch_add(1, Ordering::Relaxed);
                let mut first = first.lock().map_err(|e| e.to_string())?;
                first.get_or_insert(started.elapsed().as_secs_f64());
            }
        }
    };
    std::thread::scope(|scope| {
        let cores: Vec<_> =
            (0..machine::cores()).map(|core| scope.spawn(move || work(core))).collect();
        cores.into_iter().try_for_each(|c| c.join().map_err(|_| "a thread died".to_string())?)
    })?;
    let spent = started.elapsed().as_secs_f64();
    Ok(json!({
        "who": "pan",
        "tasks": tasks,
        "seconds": spent,
        "wall_seconds": spent,
        "first": first.into_inner().ok().flatten(),
        "found": found.into_inner(),
        "states": states.into_inner(),
        "command": format!("spin -DTHREADS=3 -DPUSHES=3 -a {MODEL}; gcc {COMPILE} -o pan pan.c; pan {PAN}..."),
    }))
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    if records.is_empty() {
        return Vec::new();
    }
    let headings = [
        "searches by",
        "number",
        "time",
        "first violation",
        "with a violation",
        "states each",
        "time, relative",
    ];
    let mut table = Table::new(headings);
    let slowest = number(&records[0], "seconds");
    for record in records {
        let tasks = number(record, "tasks");
        let first = record["first"].as_f64();
        table.push([
            record["who"].as_str().unwrap_or("").into(),
            thousands(tasks as u64),
            seconds(number(record, "seconds")),
            first.map_or("–".into(), seconds),
            thousands(number(record, "found") as u64),
            thousands((number(record, "states") / tasks) as u64),
            ratio(slowest / number(record, "seconds")),
        ]);
    }
    vec![Section {
        title: "Swarm: the Snark deque, as in the paper".into(),
        points: vec![format!(
            "`{MODEL}` with three threads of three pushes and two pops, arenas of 2^20 bits, one \
             bit a state, all cores. Spin's verifier is compiled beforehand, and has `-E` as it \
             reports end states that are none in random orders."
        )],
        table,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_to_the_first() {
        let run = |who: &str, seconds: f64| json!({ "who": who, "tasks": 10, "seconds": seconds, "found": 1, "states": 500, "first": 0.2 });
        let section = &sections(&[run("pan", 30.0), run("ours", 10.0)])[0];
        assert_eq!(section.table.rows[1][5..], ["50", "3.00"]);
        assert_eq!(section.table.rows[1][3], "200 ms");
        assert!(sections(&[]).is_empty());
    }
}
