//! Figure 6 and Table 2 of Holzmann's *Cloud-Based Verification of Concurrent
//! Software*, in small: what a swarm has seen of a garbage collector after so
//! many tasks, and what it says of it.

use super::lab::{Lab, number};
use crate::bench::median;
use crate::bench::table::{Section, Table, UNKNOWN, or_unknown, thousands};
use serde_json::{Value, json};

const MODEL: &str = "models/promela/gc_benari.pml";
const INSTANCE: &str = "-D NODES=4 --reduce none";
/// Its states, by exact search and by Spin.
const STATES: f64 = 231_707.0;
/// Bits a state as in the paper's figure: 0.04 (`-w23`) to 11 (`-w31`).
const ARENAS: [u32; 6] = [13, 15, 17, 18, 20, 21];
const TASKS: u32 = 256;
const LEVELS: [f64; 4] = [0.9, 0.99, 0.999, 1.0];

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let tasks = if lab.quick { 16 } else { TASKS };
    let mut records = Vec::new();
    for bits in ARENAS {
        let flags = format!(
            "{INSTANCE} --arena 2^{bits} --portfolio uniform --tasks {tasks} --until all \
             --collector exact --threads 1"
        );
        let swarmed = lab.swarm(MODEL, &flags)?;
        for point in swarmed.report["curve"].as_array().into_iter().flatten() {
            records.push(json!({
                "log_bits": bits,
                "tasks": point["tasks"],
                "states": point["exact_states"],
                "coverage": point["coverage"],
                "command": swarmed.command,
            }));
        }
    }
    Ok(records)
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    if records.is_empty() {
        return Vec::new();
    }
    let headings = ["bits", "one task", "8", "64", "256", "90 %", "99 %", "99.9 %", "100 %"];
    let mut table = Table::new(headings);
    for bits in ARENAS {
        let of_size: Vec<&Value> = records.iter().filter(|r| r["log_bits"] == bits).collect();
        let seen = |r: &Value| number(r, "states") / STATES;
        let after = |tasks: u64| {
            let last = of_size.iter().rfind(|r| r["tasks"].as_u64() <= Some(tasks));
            or_unknown(last, |r| format!("{:.1} %", 100.0 * seen(r)))
        };
        let needed = |level: f64| {
            let first = of_size.iter().find(|r| seen(r) >= level);
            first.and_then(|r| r["tasks"].as_u64()).map_or(UNKNOWN.into(), thousands)
        };
        let [a, b, c, d] = LEVELS.map(needed);
        table.push([format!("2^{bits}"), after(1), after(8), after(64), after(256), a, b, c, d]);
    }
    vec![Section {
        title: "Swarm: a garbage collector seen by more and more tasks".into(),
        points: vec![
            format!(
                "`{MODEL}` with four nodes has {} states. The share of them that tasks with small \
                 arenas have really seen together, and the tasks it takes to see so much (at the \
                 points of the curve).",
                thousands(STATES as u64)
            ),
            accuracy(records),
        ],
        table,
    }]
}

/// How good the estimates are, over all points with at least two tasks.
fn accuracy(records: &[Value]) -> String {
    let judged: Vec<(bool, f64)> = records
        .iter()
        .filter(|r| r["coverage"].is_object())
        .map(|r| {
            let truth = number(r, "states") / STATES;
            let bound = |key: &str| number(&r["coverage"], key);
            let inside = bound("low") <= truth && truth <= bound("high");
            (inside, (bound("estimate") - truth).abs())
        })
        .collect();
    let inside = judged.iter().filter(|(inside, _)| *inside).count();
    let error = median(judged.iter().map(|(_, error)| *error));
    format!(
        "The interval of the coverage contains the truth at **{inside}** of {} points; the median \
         error of the estimate is **{}** points.",
        judged.len(),
        or_unknown(error, |e| format!("{:.2}", 100.0 * e))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_where_the_truth_is_inside() {
        let point = |tasks: u64, share: f64, low: f64| {
            let coverage = json!({ "estimate": share + 0.02, "low": low, "high": 1.0 });
            json!({ "log_bits": 13, "tasks": tasks, "states": share * STATES, "coverage": coverage })
        };
        let section = &sections(&[point(1, 0.4, 0.5), point(2, 0.92, 0.9)])[0];
        assert!(section.points[1].contains("**1** of 2"), "{}", section.points[1]);
        assert!(section.points[1].contains("**2.00** points"), "{}", section.points[1]);
        assert_eq!(section.table.rows[0][5..7], ["2", UNKNOWN]);
        assert!(sections(&[]).is_empty());
    }
}
