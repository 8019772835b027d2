//! What precision on demand wins back, and what it costs.
//!
//! Sizes are those of the paper. Hash compaction: a table of as many slots as
//! there are states, or 1.5 to 3 times as many. Bloom filter: b bits for each of
//! as many entries, and as many hash functions as are best for b, which is
//! `b ln 2`. (The paper does not say it in so many words, but its figures fit:
//! with two bits, which is one hash function, far fewer states are seen than
//! with three, which is two.)

use super::lab::{Lab, Ran, models_of, number, percent, seen, with};
use super::paper::{self, Filter};
use crate::bench::models::Model;
use crate::bench::table::{Section, Table, or_unknown, ratio};
use serde_json::{Value, json};

const MODELS: [&str; 3] = ["at.3", "leader_filters.5", "szymanski.3"];
/// The paper's own language.
const MURPHI_MODELS: [&str; 2] = ["german.4", "mcslock2"];
const BITS: [u32; 6] = [2, 3, 4, 5, 10, 20];
const ENTRIES: [f64; 4] = [1.0, 1.5, 2.0, 3.0];
/// The same hash functions with every precision, as in the paper.
const SEED: u64 = 1;
/// Fewer missed states than this share are too few to speak of shares of them.
const FEW: f64 = 1e-4;

/// A store, and how precise searches with it are at most.
struct Kind {
    name: &'static str,
    title: &'static str,
    filter: Filter,
    precision: u32,
}

const KINDS: [Kind; 3] = [
    Kind { name: "compact", title: "hash compaction", filter: Filter::Compact, precision: 4 },
    Kind { name: "scattered", title: "Bloom filter", filter: Filter::Bloom, precision: 4 },
    Kind { name: "blocked", title: "blocked Bloom filter", filter: Filter::Bloom, precision: 1 },
];

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    all_runs(lab, if lab.quick { &MODELS[2..] } else { &MODELS })
}

pub fn murphi_runs(lab: &Lab) -> Result<Vec<Value>, String> {
    all_runs(lab, if lab.quick { &MURPHI_MODELS[..1] } else { &MURPHI_MODELS })
}

fn all_runs(lab: &Lab, models: &[&str]) -> Result<Vec<Value>, String> {
    let bits: &[u32] = if lab.quick { &[3, 5] } else { &BITS };
    let entries: &[f64] = if lab.quick { &[1.0, 2.0] } else { &ENTRIES };
    let mut records = Vec::new();
    for model in lab.models(models) {
        for kind in &KINDS {
            eprintln!("  {}, {}", model.name, kind.title);
            for (&bits, &entries) in bits.iter().flat_map(|b| entries.iter().map(move |e| (b, e))) {
                let flags = flags(kind, &model, bits, entries);
                for precision in 0..=kind.precision {
                    let flags = format!("{flags} --pod {precision} --seed {SEED}");
                    let ran = lab.check(&model, &flags)?;
                    records.push(record(&ran, &model, kind, bits, entries, precision));
                }
            }
        }
    }
    Ok(records)
}

fn record(ran: &Ran, model: &Model, kind: &Kind, bits: u32, entries: f64, precision: u32) -> Value {
    let setting = json!({
        "store": kind.name, "bits": bits, "entries": entries, "precision": precision,
    });
    with(ran.record(model), setting)
}

fn flags(kind: &Kind, model: &Model, bits: u32, entries: f64) -> String {
    let states = model.states.unwrap_or(0);
    if kind.filter == Filter::Compact {
        let bytes = table_bytes((entries * next_prime(states) as f64).ceil() as u64, bits);
        return format!("--store compact --bits {bits} --arena {bytes}");
    }
    let hashes = (f64::from(bits) * std::f64::consts::LN_2).round().max(1.0);
    let bytes = (f64::from(bits) * entries * states as f64 / 8.0).ceil();
    format!("--store bitstate --layout {} --hashes {hashes} --arena {bytes}", kind.name)
}

/// Bytes of a table that has so many slots: a word has as many as fit in whole.
fn table_bytes(slots: u64, bits: u32) -> u64 {
    slots.div_ceil(64 / u64::from(bits)) * 8
}

fn next_prime(n: u64) -> u64 {
    let is_prime = |n: u64| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (n.max(2)..).find(|n| is_prime(*n)).unwrap_or(n)
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    all_sections(records, "")
}

pub fn murphi_sections(records: &[Value]) -> Vec<Section> {
    all_sections(records, ", Murphi models")
}

fn all_sections(records: &[Value], of: &str) -> Vec<Section> {
    let each = KINDS.iter().flat_map(|kind| {
        let rows = rows(records, kind);
        let (title, points) = (format!("{}{of}", kind.title), points(records, kind, &rows));
        let main = kind.precision > 1;
        let seen = main.then(|| seen_section(&title, &rows));
        [seen, Some(won_section(&title, points, &rows))]
    });
    each.flatten().filter(|section| !section.table.rows.is_empty()).collect()
}

/// Means over all models with one setting.
struct Row {
    setting: String,
    /// By precision.
    seen: Vec<f64>,
    /// CPU time relative to precision 0.
    time: Vec<f64>,
    /// The same for each state that was seen.
    time_per_state: Vec<f64>,
    paper: Option<&'static paper::PodRow>,
}

impl Row {
    fn new(records: &[Value], kind: &Kind, bits: u32, entries: f64) -> Option<Row> {
        let of = |model: &str, precision: u32| {
            records.iter().find(|r| {
                r["model"] == model
                    && r["store"] == kind.name
                    && r["bits"] == bits
                    && number(r, "entries") == entries
                    && r["precision"] == precision
            })
        };
        let time = |r: &Value| number(r, "cpu_seconds");
        let per_state = |r: &Value| time(r) / number(r, "states");
        let models = models_of(records);
        let mean = |precision: u32, value: &dyn Fn(&Value, &Value) -> f64| {
            let values: Option<Vec<f64>> =
                models.iter().map(|m| Some(value(of(m, precision)?, of(m, 0)?))).collect();
            values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        let all = |value: &dyn Fn(&Value, &Value) -> f64| -> Option<Vec<f64>> {
            (0..=kind.precision).map(|precision| mean(precision, value)).collect()
        };
        Some(Row {
            setting: format!("{bits} bits, {entries:.1}x"),
            seen: all(&|run, _| seen(run))?,
            time: all(&|run, base| time(run) / time(base))?,
            time_per_state: all(&|run, base| per_state(run) / per_state(base))?,
            paper: paper::pod(kind.filter, bits, entries),
        })
    }

    /// The share of missed states that was won back; nothing if hardly any was
    /// missed.
    fn won(seen: &[f64], precision: usize) -> Option<f64> {
        let (before, after) = (seen.first()?, seen.get(precision)?);
        (1.0 - before > FEW).then(|| (after - before) / (1.0 - before))
    }

    fn paper_won(&self, precision: usize) -> Option<f64> {
        Row::won(&self.paper?.seen, precision)
    }
}

fn rows(records: &[Value], kind: &Kind) -> Vec<Row> {
    let settings = BITS.iter().flat_map(|b| ENTRIES.iter().map(move |e| (*b, *e)));
    settings.filter_map(|(bits, entries)| Row::new(records, kind, bits, entries)).collect()
}

fn seen_section(title: &str, rows: &[Row]) -> Section {
    let mut table = Table::new([
        "bits, entries",
        "ours: 0",
        "1",
        "2",
        "3",
        "4",
        "paper: 0",
        "1",
        "2",
        "3",
        "4",
    ]);
    for row in rows {
        let ours = row.seen.iter().map(|s| percent(*s));
        let paper = |i: usize| or_unknown(row.paper, |paper| percent(paper.seen[i]));
        let cells = std::iter::once(row.setting.clone()).chain(ours).chain((0..5).map(paper));
        table.rows.push(cells.collect());
    }
    let points = vec![format!(
        "Percent of all states seen, by precision. How many are missed is a matter of the model \
         too. Fewer are seen than in the paper with precision 1 at: {}.",
        named(rows.iter().filter(|r| r.paper.is_some_and(|paper| r.seen[1] < paper.seen[1])))
    )];
    Section { title: format!("Precision on demand, {title}: states seen"), points, table }
}

fn won_section(title: &str, points: Vec<String>, rows: &[Row]) -> Section {
    let mut table = Table::new([
        "bits, entries",
        "won back: 1",
        "4",
        "paper: 1",
        "4",
        "CPU time: 1",
        "4",
        "for each state: 1",
        "4",
        "paper's time: 1",
    ]);
    let share = |share: Option<f64>| or_unknown(share, percent);
    for row in rows {
        let cell = |values: &[f64], i: usize| or_unknown(values.get(i).copied(), ratio);
        table.push([
            row.setting.clone(),
            share(Row::won(&row.seen, 1)),
            share(Row::won(&row.seen, 4)),
            share(row.paper_won(1)),
            share(row.paper_won(4)),
            cell(&row.time, 1),
            cell(&row.time, 4),
            cell(&row.time_per_state, 1),
            cell(&row.time_per_state, 4),
            or_unknown(row.paper, |paper| ratio(paper.time)),
        ]);
    }
    Section { title: format!("Precision on demand, {title}: won back"), points, table }
}

fn points(records: &[Value], kind: &Kind, rows: &[Row]) -> Vec<String> {
    let models = models_of(records).join(", ");
    let mut points = vec![format!(
        "Percent of the states that are missed with precision 0 and seen with 1 or 4; CPU time of \
         the process relative to precision 0, as it is and divided by the states seen, since a \
         search that sees more takes longer. Means of {models}; the paper's are those of three \
         other models."
    )];
    points.extend((1..=kind.precision as usize).map(|precision| comparison(rows, precision)));
    let ratios = |of: &dyn Fn(&Row) -> f64| {
        let each: Vec<f64> = rows.iter().map(of).collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        let most = each.iter().fold(0.0, |a: f64, b| a.max(*b));
        format!("mean **{}**, highest {}", ratio(mean), ratio(most))
    };
    points.push(format!(
        "CPU time with precision 1: {}; for each state seen: {}; the paper's: {}.",
        ratios(&|row| row.time[1]),
        ratios(&|row| row.time_per_state[1]),
        ratios(&|row| row.paper.map_or(f64::NAN, |paper| paper.time)),
    ));
    if kind.filter == Filter::Compact {
        points.push(
            "A slot of ours has no bit of its own that says whether it is free: with b bits there \
             are 2^b - 1 signatures. Murphi has such a bit, and 2^b."
                .into(),
        );
    }
    points
}

/// Settings by name; 'none' if there are none.
fn named<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let names: Vec<&str> = rows.map(|row| row.setting.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.join("; ") }
}

/// In how many settings as much is won back as in the paper.
fn comparison(rows: &[Row], precision: usize) -> String {
    let pairs: Vec<(&Row, f64, f64)> = rows
        .iter()
        .filter_map(|r| Some((r, Row::won(&r.seen, precision)?, r.paper_won(precision)?)))
        .collect();
    let below = || pairs.iter().filter(|(_, ours, paper)| ours < paper).map(|(row, ..)| *row);
    let mean = |of: &dyn Fn(&(&Row, f64, f64)) -> f64| {
        percent(pairs.iter().map(of).sum::<f64>() / pairs.len() as f64)
    };
    format!(
        "Precision {precision} wins back {} % on average, the paper's {} %; as much as the paper's \
         or more in {} of {} settings (below: {}).",
        mean(&|p| p.1),
        mean(&|p| p.2),
        pairs.len() - below().count(),
        pairs.len(),
        named(below()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_paper() {
        let model = Model {
            name: "m".into(),
            source: "made up".into(),
            path: "nowhere".into(),
            states: Some(1000),
        };
        assert_eq!(next_prime(1000), 1009);
        // Twelve slots of five bits a word: 85 words for 1,009 of them.
        let compact = flags(&KINDS[0], &model, 5, 1.0);
        assert_eq!(compact, "--store compact --bits 5 --arena 680");
        let bloom = flags(&KINDS[1], &model, 3, 1.5);
        assert_eq!(bloom, "--store bitstate --layout scattered --hashes 2 --arena 563");
    }

    #[test]
    fn shares_of_what_was_missed() {
        let run = |precision: u32, states: u64, cpu: f64| {
            json!({
                "model": "m", "all_states": 1000, "states": states, "cpu_seconds": cpu,
                "store": "scattered", "bits": 3, "entries": 2.0, "precision": precision,
            })
        };
        let records: Vec<Value> =
            (0..5).map(|p| run(p, 900 + 10 * u64::from(p), 1.0 + f64::from(p))).collect();
        let row = Row::new(&records, &KINDS[1], 3, 2.0).expect("all precisions");
        assert!((Row::won(&row.seen, 1).unwrap() - 0.1).abs() < 1e-9);
        assert_eq!(row.time[1], 2.0);
        let sections = sections(&records);
        assert_eq!(sections.len(), 2);
        let won = &sections[1].table.rows[0];
        assert_eq!(won[..3], ["3 bits, 2.0x", "10.00", "40.00"]);
        let expected = "in 0 of 1 settings (below: 3 bits, 2.0x)";
        assert!(sections[1].points[1].contains(expected), "{}", sections[1].points[1]);
        assert!(sections[0].points[0].ends_with("at: 3 bits, 2.0x."), "{}", sections[0].points[0]);
    }
}
