//! Table II of Holzmann's *An Analysis of Bitstate Hashing*: Spin's data
//! transfer protocol with channels of four slots, in less and less memory.

use super::lab::{Lab, with};
use super::paper::DTP;
use crate::bench::table::{Section, Table, UNKNOWN, thousands};
use serde_json::{Value, json};

const SEED: u64 = 0;

/// Columns of the table, with their flags.
const STORES: [(&str, &str); 4] = [
    ("scattered, k = 2", "--store bitstate --layout scattered --hashes 2"),
    ("blocked, k = 2", "--store bitstate --layout blocked --hashes 2"),
    ("blocked, k = 3", "--store bitstate --layout blocked --hashes 3"),
    ("compact, 64 bits, drop", "--store compact --bits 64 --on-full drop"),
];

pub fn runs(lab: &Lab) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for model in lab.models(&["dtp.4"]) {
        for (bits, ..) in DTP {
            for (column, flags) in STORES {
                let flags = format!("{flags} --arena 2^{bits} --seed {SEED}");
                let ran = lab.check(&model, &flags)?;
                let setting = json!({ "column": column, "log_bits": bits });
                records.push(with(ran.record(&model), setting));
            }
        }
    }
    Ok(records)
}

pub fn sections(records: &[Value]) -> Vec<Section> {
    if records.is_empty() {
        return Vec::new();
    }
    let headings = ["bits", STORES[0].0, "paper", STORES[1].0, STORES[2].0, STORES[3].0, "paper"];
    let mut table = Table::new(headings);
    let (mut least, mut less) = (0, 0);
    for (bits, bitstate, compact) in DTP {
        let states = |column: usize| {
            let of = |r: &&Value| r["log_bits"] == bits && r["column"] == STORES[column].0;
            records.iter().find(of).and_then(|r| r["states"].as_u64())
        };
        let shown = |column: usize| states(column).map_or(UNKNOWN.into(), thousands);
        least += usize::from(states(0) >= Some(bitstate));
        less += usize::from(states(1) < states(0));
        table.push([
            format!("2^{bits}"),
            shown(0),
            thousands(bitstate),
            shown(1),
            shown(2),
            shown(3),
            thousands(compact),
        ]);
    }
    let points = vec![
        format!(
            "Spin's example `dtp.pml` with channels of 4 slots has 427,567 states. States found, \
             one thread, seed {SEED}, next to the paper's Table II (h = 2; hash compaction with 64 \
             bits): `scattered` finds as many or more at {least} of {} sizes, and `blocked` fewer \
             than `scattered` at {less}.",
            DTP.len()
        ),
        "The number of slots of a table is a prime, so a few less than would fit.".into(),
    ];
    vec![Section {
        title: "The data transfer protocol in less and less memory".into(),
        points,
        table,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_where_it_is_at_least_as_good() {
        let run = |bits: u32, states: u64| json!({ "log_bits": bits, "column": STORES[0].0, "states": states });
        let section = &sections(&[run(28, 427_446), run(21, 1)])[0];
        assert!(section.points[0].contains("at 1 of 6 sizes"), "{}", section.points[0]);
        assert_eq!(section.table.rows[0][..3], ["2^28", "427,446", "427,446"]);
        assert!(sections(&[]).is_empty());
    }
}
