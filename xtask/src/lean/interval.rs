//! How often the interval around the headline coverage contains the truth.

use super::estimate::models;
use super::lab::{Lab, models_of, number, percent, seen, with};
use crate::bench::median;
use crate::bench::models::Model;
use crate::bench::table::{Section, Table, or_unknown};
use serde_json::{Value, json};

/// Runs of a model, each with a seed of its own.
const SEEDS: u64 = 40;

/// Bits of the arena for each state.
const ROOM: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// For hash compaction: bits of a signature, and slots for each state.
const TABLES: [(u32, f64); 2] = [(4, 1.5), (8, 1.2)];

/// Bitstate with one to three hash functions in every arena, and every table:
/// 20 settings. The first round has the bits of a state in one line, the second
/// anywhere.
fn flags(seed: u64, states: u64) -> String {
    let (round, setting) = ((seed - 1) / 20, (seed - 1) % 20);
    let bitstate = 3 * ROOM.len() as u64;
    if let Some((bits, slots)) = setting.checked_sub(bitstate).map(|i| TABLES[i as usize]) {
        let bytes = (slots * states as f64 * f64::from(bits) / 8.0).ceil();
        return format!("--store compact --bits {bits} --arena {bytes} --seed {seed}");
    }
    let layout = if round % 2 == 0 { "blocked" } else { "scattered" };
    let (hashes, room) = (1 + setting % 3, ROOM[(setting / 3) as usize]);
    let bytes = (room * states).div_ceil(8);
    format!("--store bitstate --layout {layout} --hashes {hashes} --arena {bytes} --seed {seed}")
}

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for model in models(lab) {
        eprintln!("  {}", model.name);
        for seed in 1..=SEEDS {
            records.push(record(lab, &model, seed)?);
        }
    }
    Ok(records)
}

fn record(lab: &Lab, model: &Model, seed: u64) -> Result<Value, String> {
    let ran = lab.check(model, &flags(seed, model.states.unwrap_or(0)))?;
    let store = ran.report["options"]["store"].clone();
    let more = json!({ "seed": seed, "store": store, "coverage": ran.report["coverage"] });
    Ok(with(ran.record(model), more))
}

/// What became of the interval of a run.
#[derive(Debug, PartialEq)]
enum Answer {
    Right,
    /// The truth is above it.
    TooLow,
    TooHigh,
    /// There is none, as the store is full.
    None,
}

fn answer(record: &Value) -> Answer {
    let (truth, coverage) = (seen(record), &record["coverage"]);
    match (coverage["low"].as_f64(), coverage["high"].as_f64()) {
        (Some(low), _) if truth < low => Answer::TooHigh,
        (_, Some(high)) if truth > high => Answer::TooLow,
        (Some(_), Some(_)) => Answer::Right,
        _ => Answer::None,
    }
}

/// Answers of these kinds.
fn count(records: &[&Value], wanted: Answer) -> usize {
    records.iter().filter(|r| answer(r) == wanted).count()
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    let mut table = Table::new([
        "model",
        "runs",
        "contain the truth",
        "too high",
        "too low",
        "no interval",
        "median width",
        "lower end 0",
    ]);
    let mut push = |name: &str, its: Vec<&Value>| {
        let widths = its
            .iter()
            .filter(|r| !r["coverage"].is_null())
            .map(|r| number(&r["coverage"], "high") - number(&r["coverage"], "low"));
        let zero = its.iter().filter(|r| number(&r["coverage"], "low") == 0.0).count();
        let width = median(widths);
        table.push([
            name.into(),
            its.len().to_string(),
            count(&its, Answer::Right).to_string(),
            count(&its, Answer::TooHigh).to_string(),
            count(&its, Answer::TooLow).to_string(),
            count(&its, Answer::None).to_string(),
            or_unknown(width, percent),
            zero.to_string(),
        ]);
    };
    for model in models_of(records) {
        push(model, records.iter().filter(|r| r["model"] == model).collect());
    }
    for store in ["bitstate", "compact"] {
        push(&format!("all, {store}"), records.iter().filter(|r| r["store"] == store).collect());
    }
    let answered = records.iter().filter(|r| answer(r) != Answer::None).count();
    let right = count(&records.iter().collect::<Vec<_>>(), Answer::Right);
    let points = vec![
        format!(
            "The headline interval of `supertrace check` contains the truth in {right} of \
             {answered} runs that have one (**{} %**).",
            percent(right as f64 / answered as f64)
        ),
        format!(
            "{SEEDS} seeds a model, one run each: bitstate with k = 1, 2, 3 and 1 to 32 bits a \
             state, `blocked` and `scattered`; compact with 4 bits and 1.5 slots a state, and 8 \
             bits and 1.2 slots. Too high: the truth is below the lower end. Widths in percent; \
             a lower end of 0 says nothing."
        ),
    ];
    vec![Section { title: "The coverage interval".into(), points, table }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_comes_in_every_round() {
        let mut each: Vec<String> = (1..=20)
            .map(|seed| flags(seed, 1000).split(" --seed").next().unwrap_or("").into())
            .collect();
        each.sort();
        each.dedup();
        assert_eq!(each.len(), 20);
        assert_eq!(flags(19, 1000), "--store compact --bits 4 --arena 750 --seed 19");
        assert!(flags(21, 1000).contains("--layout scattered --hashes 1 --arena 125 "));
    }

    #[test]
    fn an_interval_contains_its_ends() {
        let run = |states: u64, coverage: Value| {
            json!({
                "model": "m", "all_states": 100, "states": states, "coverage": coverage,
                "store": "bitstate",
            })
        };
        let interval = json!({ "low": 0.5, "high": 0.9 });
        assert_eq!(answer(&run(50, interval.clone())), Answer::Right);
        assert_eq!(answer(&run(49, interval.clone())), Answer::TooHigh);
        assert_eq!(answer(&run(91, interval.clone())), Answer::TooLow);
        assert_eq!(answer(&run(91, Value::Null)), Answer::None);
        let records = [run(50, interval.clone()), run(49, interval), run(91, Value::Null)];
        let section = &sections(&records)[0];
        assert_eq!(section.table.rows[0][1..6], ["3", "1", "1", "0", "1"]);
        assert!(section.points[0].contains("1 of 2 runs"), "{}", section.points[0]);
    }
}
