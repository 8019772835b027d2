//! Random Promela models, run by native code and by the interpreter: they must
//! hand out the same successors and faults in the same order.

use super::{Campaign, Comparison, Options, generate, item, report};
use ir::reduce::reduce;
use lang::promela::preprocess::FileLoader;
use std::process::ExitCode;
use std::time::{Duration, Instant};

// What the tests of `jit` compare with.
#[path = "../../../crates/jit/tests/common/mod.rs"]
pub(super) mod common;

/// States of a model that are looked at.
const MAX_STATES: usize = 300;

pub fn run(options: &Options, first_seed: u64) -> ExitCode {
    println!("seed {first_seed}");
    let campaign = Campaign::promela(" --engines", &|_| Comparison::Same);
    let deadline = Instant::now() + Duration::from_secs(options.seconds);
    let (mut compared, mut rejected, mut differences) = (0, 0, 0);
    let (mut native, mut interpreted) = (0, 0);
    let mut seed = first_seed;
    while Instant::now() < deadline && compared < options.models {
        let text = item::text(&generate::model(seed));
        let loaded = lang::promela::load("fuzz.pml", text.clone(), &[], &FileLoader);
        let Some(system) = loaded.system else {
            rejected += 1;
            seed = seed.wrapping_add(1);
            continue;
        };
        compared += 1;
        let system = if seed.is_multiple_of(4) { reduce(&system) } else { system };
        match common::compare(&system, MAX_STATES) {
            Ok(counts) => {
                native += counts.native;
                interpreted += counts.interpreted;
            }
            Err(difference) => {
                differences += 1;
                println!("seed {seed}: {difference}");
                if let Err(error) = report(options, &campaign, seed, &text, "engines differ") {
                    eprintln!("error: {error}");
                }
            }
        }
        seed = seed.wrapping_add(1);
    }
    println!(
        "{compared} models compared, {rejected} rejected, {differences} differences; \
         {native} expansions native, {interpreted} interpreted"
    );
    if differences > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
