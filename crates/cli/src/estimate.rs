//! `supertrace estimate`.

use crate::args::{Engine, EstimateArgs};
use crate::{engine, exit, load, print, progress, units};
use anyhow::{Result, ensure};
use check::{Layout, Maker, Options, Outcome, Stop, Storage};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use report::estimate::{EstimateReport, Input, SizedRun};
use std::time::Instant;

/// Hash functions of the run that the gap test compares with.
const MORE_HASHES: u32 = 3;
/// What the exact store needs for a state besides its bytes.
const EXACT_OVERHEAD: u64 = 24;

pub fn run(args: &EstimateArgs) -> Result<u8> {
    let Some(program) = load::model(&args.model)? else { return Ok(exit::BAD_INPUT) };
    let smallest = args.arena >> (args.sizes - 1);
    ensure!(
        smallest >= 512,
        "the smallest of {} arenas would have {smallest} bits, 512 are the least: raise --arena or lower --sizes",
        args.sizes
    );
    let program = engine::reduced(program, args.reduce);
    let name = program.name().to_string();
    let input = engine::with_model(program, Engine::Jit, |make| search(make, args, name))?;
    if progress::wanted(args.quiet) {
        progress::clear();
    }
    let report = EstimateReport::new(input);
    if let Some(path) = &args.svg {
        load::write(path, &report.svg())?;
    }
    let text = if args.json { report.json() + "\n" } else { report.text(args.color.on()) };
    print(&text);
    Ok(exit::NO_VIOLATION)
}

/// Searches with each arena, the smallest first, and once with more hashes.
fn search(make: &Maker, args: &EstimateArgs, model: String) -> Result<Input> {
    let started = Instant::now();
    let memory = args.memory.unwrap_or_else(units::default_memory);
    let state_bytes = Length::of(&mut *make());
    let one = |bits: u64, hashes: u32| -> Result<Outcome> {
        let options = Options {
            storage: Storage::Bitstate { bits, hashes, layout: Layout::Scattered },
            seed: args.seed.wrapping_add(bits).wrapping_add(hashes as u64),
            // Violations are for `check`.
            ignore: vec![FaultKind::Assertion, FaultKind::Deadlock, FaultKind::ExclusiveChannel],
            max_violations: usize::MAX,
            threads: args.threads.unwrap_or_else(units::default_threads),
            memory: units::search_memory(memory),
            time: args.time.map(|t| t.saturating_sub(started.elapsed())),
            interrupt: crate::check::interrupt(),
            progress: progress::wanted(args.quiet).then_some(&progress::show),
            ..Options::default()
        };
        Ok(check::check(make, &options)?)
    };
    let mut runs = Vec::new();
    let mut stopped = None;
    for size in (0..args.sizes).rev() {
        let bits = args.arena >> size;
        let outcome = one(bits, args.hashes)?;
        // A search that did not come to its end says nothing of the arena.
        stopped = outcome.stop.filter(|stop| *stop != Stop::Violations);
        if stopped.is_some() {
            break;
        }
        runs.push(SizedRun::new(bits, &outcome));
    }
    let compared = match (args.hashes, stopped) {
        (1, None) => Some(one(args.arena, MORE_HASHES)?).filter(|o| o.stop.is_none()),
        _ => None,
    };
    Ok(Input {
        subject: args.model.command_line(&model),
        model,
        hashes: args.hashes,
        seed: args.seed,
        runs,
        more_hashes: compared.map(|o| SizedRun::new(args.arena, &o)),
        stopped,
        memory,
        bytes_of_exact_state: state_bytes + EXACT_OVERHEAD,
    })
}

/// Finds out how long a state is.
#[derive(Default)]
struct Length {
    bytes: u64,
}

impl Length {
    fn of(model: &mut dyn Model) -> u64 {
        let mut length = Length::default();
        model.initial(&mut length);
        length.bytes
    }
}

impl Sink for Length {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        self.bytes = state.len() as u64;
        Flow::Stop
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }
}
