//! The store that `check` was asked for.

use crate::args::{CheckArgs, Hash, Layout, OnFull, Search, Store, When};
use crate::{note, units};
use anyhow::{Context, Result, ensure};
use check::{Collector, Maker, Options, Outcome, Storage};
use report::text::bytes;
use serde_json::{Value, json};

/// Bytes of an arena if none is given.
const ARENA: u64 = 256 << 20;
/// Bits for each state if no number is given, and bits of a signature.
const HASHES: u32 = 3;
const SIGNATURE: u32 = 64;

fn arena(args: &CheckArgs) -> u64 {
    let memory = args.memory.unwrap_or_else(units::default_memory);
    args.arena.unwrap_or(8 * ARENA.min(memory / 4))
}

/// The store that was asked for; an error if options of another one were given.
pub fn storage(args: &CheckArgs) -> Result<Storage> {
    let given = [
        ("--arena", args.arena.is_some(), args.store != Store::Exact, "bitstate or compact"),
        ("--hashes", args.hashes.is_some(), args.store == Store::Bitstate, "bitstate"),
        ("--layout", args.layout.is_some(), args.store == Store::Bitstate, "bitstate"),
        ("--hash", args.hash.is_some(), args.store != Store::Exact, "bitstate or compact"),
        ("--bits", args.bits.is_some(), args.store == Store::Compact, "compact"),
        ("--runs", args.runs > 1, args.store != Store::Exact, "bitstate or compact"),
        (
            "--store-probability",
            args.store_probability < 1.0,
            args.store != Store::Exact,
            "bitstate or compact",
        ),
        ("--pod", args.pod > 0, args.store != Store::Exact, "bitstate or compact"),
        ("--on-full", args.on_full.is_some(), args.store == Store::Compact, "compact"),
    ];
    for (option, given, fits, store) in given {
        ensure!(!given || fits, "{option} is for --store {store}");
    }
    let limit = args.memory.unwrap_or_else(units::default_memory);
    if let Some(bits) = args.arena {
        let (arena, memory) = (bytes(bits / 8), bytes(limit));
        ensure!(
            bits / 8 < units::search_memory(limit),
            "an arena of {arena} does not fit in --memory {memory}"
        );
    }
    if args.store != Store::Exact {
        ensure!(args.compress != When::On, "--compress is for --store exact");
    }
    if args.pod > 0 {
        ensure!(args.search == Search::Dfs, "--pod is for --search dfs: it needs that order");
        ensure!(args.threads.unwrap_or(1) == 1, "--pod is for --threads 1: it needs that order");
        let stored = args.store_probability == 1.0;
        ensure!(stored, "--pod cannot be had with --store-probability: it relies on marks");
        ensure!(args.depth.is_none(), "--pod cannot be had with --depth, which cuts chains");
    }
    Ok(match args.store {
        Store::Exact => Storage::Exact,
        Store::Bitstate => Storage::Bitstate {
            bits: arena(args),
            hashes: args.hashes.unwrap_or(HASHES),
            layout: match args.layout {
                Some(Layout::Scattered) => check::Layout::Scattered,
                Some(Layout::Blocked) | None => check::Layout::Blocked,
            },
        },
        Store::Compact => Storage::Compact {
            arena: arena(args),
            signature: args.bits.unwrap_or(SIGNATURE),
            drop: args.on_full == Some(OnFull::Drop),
        },
    })
}

/// The options of the store that were in force; `null` if it has none such.
pub fn options_json(args: &CheckArgs) -> [(&'static str, Value); 7] {
    let [mut sizes, mut hashes, mut layout, mut bits, mut on_full] = [const { Value::Null }; 5];
    let hash = if args.hash == Some(Hash::Crc) { "crc" } else { "mix" };
    match storage(args) {
        Ok(Storage::Bitstate { bits, hashes: k, layout: l }) => {
            let scattered = l == check::Layout::Scattered;
            (sizes, hashes) = (json!(bits), json!(k));
            layout = json!(if scattered { "scattered" } else { "blocked" });
        }
        Ok(Storage::Compact { arena, signature, drop }) => {
            (sizes, bits) = (json!(arena), json!(signature));
            on_full = json!(if drop { "drop" } else { "stop" });
        }
        Ok(Storage::Exact) | Err(_) => {}
    }
    [
        ("store", json!(args.store.name())),
        ("arena", sizes),
        ("hashes", hashes),
        ("layout", layout),
        ("hash", if args.store == Store::Exact { Value::Null } else { json!(hash) }),
        ("bits", bits),
        ("on_full", on_full),
    ]
}

/// A part of the memory goes to the count of different states of several runs.
const COLLECTOR_PART: u64 = 8;

/// Searches once, or as often as asked for.
pub fn search(make: &Maker, options: &Options, runs: usize) -> Result<(Outcome, Vec<Outcome>)> {
    if runs == 1 {
        return Ok((check::check(make, options)?, Vec::new()));
    }
    let bytes = options.memory / COLLECTOR_PART;
    let collector = Collector::new(bytes);
    let ignore = options.ignore.clone();
    let options = Options { memory: options.memory - bytes, ignore, ..*options };
    let sequence = check::sequence(make, &options, runs as u64, &collector)?;
    if sequence.at_least {
        note("more states than can be counted in an eighth of the memory");
    }
    let together = sequence.together().context("no run")?;
    Ok((together, sequence.runs))
}
