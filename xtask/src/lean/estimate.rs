//! How good estimates of the coverage are that are made from searches with
//! arenas of different size, and those made from one search.
//!
//! As in section 4.2 of the paper: for a model of 2^i states, arenas of 2^(i-5)
//! to 2^(i+4) bits, each estimated from six runs up to that size.

use super::lab::{Lab, models_of, number, with};
use super::paper;
use crate::bench::median;
use crate::bench::models::Model;
use crate::bench::table::{Section, Table, or_unknown, thousands};
use serde_json::{Value, json};

/// Protocols and locks of 2^18 to 2^22 states, as those of the paper are (which
/// has two random graphs besides). With fewer states the smallest arenas would
/// be smaller than the least there is.
const PROTOCOLS: [&str; 12] = [
    "at.3",
    "cambridge.1",
    "cambridge.3",
    "dtp.4",
    "krebs.2",
    "lamport_nonatomic.3",
    "leader_filters.5",
    "mcs.3",
    "mcs.6",
    "peterson.4",
    "szymanski.3",
    "szymanski.4",
];

/// One of each family of puzzles of that size: the paper has none. Many of
/// their states have few predecessors, so one that is missed hides more.
const PUZZLES: [&str; 5] = ["adding.2", "frogs.3", "hanoi.2", "rushhour.4", "sokoban.2"];

/// The models of this part and of `interval`.
pub fn models(lab: &Lab) -> Vec<Model> {
    match lab.quick {
        true => lab.models(&["peterson.4", "rushhour.4"]),
        false => lab.models(&[&PROTOCOLS[..], &PUZZLES].concat()),
    }
}

const SEED: u64 = 1;
/// Those that `estimate` makes, and those of one search.
const SEVERAL: [&str; 2] = ["fit", "simple"];
const SINGLE: [&str; 4] = ["stern", "dillinger", "holzmann", "bits-set"];

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for model in models(lab) {
        eprintln!("  {}", model.name);
        let log = (model.states.unwrap_or(1) as f64).log2().ceil() as u32;
        for hashes in 1..=3 {
            for bits in log - 5..=log + 4 {
                records.push(estimates(lab, &model, hashes, bits)?);
            }
        }
    }
    Ok(records)
}

/// All estimates of the coverage in an arena of `2^bits` bits.
fn estimates(lab: &Lab, model: &Model, hashes: u32, bits: u32) -> Result<Value, String> {
    let flags = format!("--hashes {hashes} --arena 2^{bits} --seed {SEED}");
    let several = lab.run("estimate", model, &format!("{flags} --sizes 6"))?;
    let runs = several.report["runs"].as_array().into_iter().flatten();
    let reached: Vec<f64> = runs.map(|run| number(run, "states")).collect();
    let last = reached.last().copied().unwrap_or(f64::NAN);
    let single = lab.check(model, &format!("--store bitstate --layout scattered {flags}"))?;
    let all = model.states.unwrap_or(0) as f64;
    let of_several = SEVERAL.map(|method| {
        let estimate = several.report[method]["Ok"]["estimate"].as_f64();
        json!({ "method": method, "estimate": estimate, "truth": last / all })
    });
    let of_single = SINGLE.map(|method| {
        let estimate = single.report["estimates"][method]["estimate"].as_f64();
        json!({ "method": method, "estimate": estimate, "truth": single.states() as f64 / all })
    });
    let estimates: Vec<Value> = of_several.into_iter().chain(of_single).collect();
    let setting = json!({
        "hashes": hashes, "log_bits": bits, "estimates": estimates,
        "estimate_command": several.command, "estimate_states": reached,
    });
    Ok(with(single.record(model), setting))
}

/// Errors in percentage points of a method, and how often it had no answer.
fn errors<'a>(records: impl Iterator<Item = &'a Value>, method: &str) -> (Vec<f64>, usize) {
    let (mut errors, mut failed) = (Vec::new(), 0);
    for record in records {
        let each = record["estimates"].as_array().into_iter().flatten();
        for estimate in each.filter(|e| e["method"] == method) {
            match estimate["estimate"].as_f64() {
                Some(value) => errors.push(100.0 * (value - number(estimate, "truth")).abs()),
                None => failed += 1,
            }
        }
    }
    (errors, failed)
}

fn points(value: f64) -> String {
    format!("{value:.2}")
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    let (puzzles, protocols): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|r| r["model"].as_str().is_some_and(|m| PUZZLES.contains(&m)));
    let all = records.iter().collect();
    let kinds = [("all models", all), ("protocols and locks", protocols), ("puzzles", puzzles)];
    let kinds = kinds.into_iter().filter(|(_, records)| !records.is_empty());
    let each = kinds.map(|(kind, records)| by_method(kind, &records));
    each.chain([by_model(records)]).collect()
}

fn by_method(kind: &str, records: &[&Value]) -> Section {
    let mut table = Table::new([
        "method",
        "k = 1",
        "k = 2",
        "k = 3",
        "paper: k = 1",
        "k = 2",
        "k = 3",
        "no estimate",
        "of",
        "paper, of 360",
    ]);
    let all = || records.iter().copied();
    for method in SEVERAL.iter().chain(&SINGLE) {
        let with_hashes = |k: u32| errors(all().filter(move |r| r["hashes"] == k), method).0;
        let ours = |k| or_unknown(median(with_hashes(k).into_iter()), points);
        let (_, failed) = errors(all(), method);
        let paper = paper::ESTIMATES.iter().find(|(name, ..)| name == method);
        let theirs = |i: usize| or_unknown(paper, |(_, errors, _)| points(errors[i]));
        table.push([
            format!("`{method}`"),
            ours(1),
            ours(2),
            ours(3),
            theirs(0),
            theirs(1),
            theirs(2),
            failed.to_string(),
            records.len().to_string(),
            or_unknown(paper, |(_, _, failed)| failed.iter().sum::<u32>().to_string()),
        ]);
    }
    let points = vec![format!(
        "Median absolute error of the estimated coverage in percentage points, {} models, ten \
         arenas each, `scattered`, seed {SEED}. `fit` and `simple` are of `supertrace estimate`, \
         from six runs; the others of `supertrace check`, from one. The paper's are its Table 3, \
         of ten protocols and two random graphs.",
        models_of(all()).len()
    )];
    Section { title: format!("Estimates of the coverage: {kind}"), points, table }
}

fn by_model(records: &[Value]) -> Section {
    let mut table = Table::new(["model", "states", "`fit`, k = 1", "k = 2", "k = 3"]);
    for model in models_of(records) {
        let of = |k: u32| {
            let its = records.iter().filter(move |r| r["model"] == model && r["hashes"] == k);
            or_unknown(median(errors(its, "fit").0.into_iter()), points)
        };
        let states =
            records.iter().find(|r| r["model"] == model).map_or(0.0, |r| number(r, "all_states"));
        table.push([model.into(), thousands(states as u64), of(1), of(2), of(3)]);
    }
    let points = vec!["Median absolute error in percentage points of the ten arenas.".into()];
    Section { title: "Estimates of the coverage, by model".into(), points, table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_distances_in_points() {
        let estimate = |value: Option<f64>| {
            json!({
                "model": "m", "all_states": 10, "hashes": 1,
                "estimates": [{ "method": "fit", "estimate": value, "truth": 0.5 }],
            })
        };
        let records = [estimate(Some(0.4)), estimate(Some(0.75)), estimate(None)];
        let (errors, failed) = errors(records.iter(), "fit");
        assert!((errors[0] - 10.0).abs() < 1e-9 && (errors[1] - 25.0).abs() < 1e-9);
        assert_eq!((errors.len(), failed), (2, 1));
        let table = sections(&records).swap_remove(0).table;
        assert_eq!(table.rows[0][..5], ["`fit`", "17.50", "–", "–", "4.33"]);
        assert_eq!(table.rows[0][7..], ["1", "3", "29"]);
    }
}
