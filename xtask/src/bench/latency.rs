//! `cargo xtask bench latency`: what random access to memory costs here.
//!
//! A checker that stores states by their hash makes at least one access to a
//! random cache line for each successor. What that costs, alone and with
//! others under way, is the limit that the search cannot pass; a page fault
//! for each new page comes on top.

mod faults;
mod reads;
mod region;

use super::machine;
use super::table::{Table, or_unknown};
use reads::Reads;
use region::{MIB, Pages};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Within the second-level cache, the third, and twice in memory alone.
const SIZES: [usize; 4] = [MIB, 16 * MIB, 128 * MIB, 1024 * MIB];
const KINDS: [Pages; 2] = [Pages::Small, Pages::Huge];
/// The least of so many: other work only adds.
const TRIALS: usize = 3;

const HELP: &str = "\
usage: cargo xtask bench latency [--json FILE]

Measures reads of random cache lines in mappings of 1 MiB to 1 GiB, one after the other
and prefetched in batches, with and without huge pages, and the cost of page faults.";

pub fn main(args: &[String]) -> ExitCode {
    let json = match args {
        [] => None,
        [flag, file] if flag == "--json" => Some(PathBuf::from(file)),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match measure(json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure(json: Option<PathBuf>) -> Result<(), String> {
    let load_before = machine::load();
    machine::warn_if_busy(load_before);
    let mut reads = Vec::new();
    for size in SIZES {
        for kind in KINDS {
            reads.push(reads::measure(size, kind)?);
        }
    }
    let faults = KINDS.map(faults::measure).into_iter().collect::<Result<Vec<_>, _>>()?;
    println!("{}\n{}", reads_table(&reads).text(), faults_table(&faults).text());
    println!(
        "{}, {} cores; one thread; the least of {TRIALS} trials; load before {}, after {}",
        machine::processor().unwrap_or("unknown processor".into()),
        machine::cores(),
        or_unknown(load_before, |load| load.to_string()),
        or_unknown(machine::load(), |load| load.to_string()),
    );
    let Some(path) = json else { return Ok(()) };
    let report = json!({
        "processor": machine::processor(),
        "load_before": load_before,
        "load_after": machine::load(),
        "reads": reads.iter().map(Reads::json).collect::<Vec<_>>(),
        "faults": faults.iter().map(faults::Faults::json).collect::<Vec<_>>(),
    });
    std::fs::write(&path, format!("{report:#}\n"))
        .map_err(|e| format!("cannot write '{}': {e}", path.display()))
}

fn nanoseconds(ns: f64) -> String {
    if ns < 1000.0 { format!("{ns:.1} ns") } else { format!("{:.1} µs", ns / 1000.0) }
}

fn reads_table(reads: &[Reads]) -> Table {
    let mut table = Table::new([
        "random reads in",
        "pages",
        "one after the other",
        "prefetched by 16",
        "prefetched by 64",
        "in huge pages",
    ]);
    for read in reads {
        table.push([
            format!("{} MiB", read.bytes / MIB),
            read.pages.name().into(),
            nanoseconds(read.dependent_ns),
            nanoseconds(read.batch_16_ns),
            nanoseconds(read.batch_64_ns),
            or_unknown(read.huge_share, |share| format!("{:.0} %", share * 100.0)),
        ]);
    }
    table
}

fn faults_table(faults: &[faults::Faults]) -> Table {
    let mut table = Table::new(["first touch of a page of", "each", "a GiB of them"]);
    for fault in faults {
        let pages = (1024 * MIB / fault.page_bytes) as f64;
        table.push([
            format!("{} KiB", fault.page_bytes / 1024),
            nanoseconds(fault.ns),
            format!("{:.0} ms", fault.ns * pages / 1e6),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_show_times_in_units_that_suit_them() {
        let faults = [
            faults::Faults { page_bytes: 4096, ns: 250.0 },
            faults::Faults { page_bytes: 2 * MIB, ns: 64_000.0 },
        ];
        let expected = "\
first touch of a page of      each  a GiB of them
4 KiB                     250.0 ns          66 ms
2048 KiB                   64.0 µs          33 ms
";
        assert_eq!(faults_table(&faults).text(), expected);
    }
}
