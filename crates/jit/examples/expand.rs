//! Times the expansion of states, natively and by the interpreter:
//! `cargo run --release -p supertrace-jit --example expand -- model.pml...`;
//! with `--native` the interpreter is left out, for profilers.
//!
//! No store and no search: only what the engines differ in.

use ir::fault::Fault;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::{Flow, Model, Sink, Step};
use ir::reduce::reduce;
use ir::system::System;
use jit::Native;
use lang::promela::preprocess::FileLoader;
use std::collections::HashSet;
use std::time::{Duration, Instant};

const MAX_STATES: usize = 100_000;
/// Each engine is given about this long, and at least one round.
const ENOUGH: Duration = Duration::from_millis(300);

/// Takes new states until there are enough.
#[derive(Default)]
struct Collect {
    seen: HashSet<Vec<u8>>,
    states: Vec<Vec<u8>>,
}

impl Sink for Collect {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        if self.states.len() < MAX_STATES && self.seen.insert(state.to_vec()) {
            self.states.push(state.to_vec());
        }
        Flow::Continue
    }

    fn fault(&mut self, _: Fault, _: &[Step]) -> Flow {
        Flow::Continue
    }
}

/// Looks at what it gets, but hardly.
#[derive(Default)]
struct Count {
    transitions: u64,
    bytes: u64,
}

impl Sink for Count {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.transitions += 1;
        self.bytes += (state.len() + steps.len()) as u64;
        Flow::Continue
    }

    fn fault(&mut self, _: Fault, _: &[Step]) -> Flow {
        Flow::Continue
    }
}

/// Nanoseconds per transition, of the best round.
fn time(model: &mut dyn Model, states: &[Vec<u8>]) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while best == f64::INFINITY || begin.elapsed() < ENOUGH {
        let (mut sink, round) = (Count::default(), Instant::now());
        for state in states {
            model.expand(state, &mut sink);
        }
        let nanos = round.elapsed().as_nanos() as f64;
        best = best.min(nanos / sink.transitions.max(1) as f64);
    }
    best
}

fn measure(name: &str, system: &System, native_only: bool) {
    let layout = Layout::new(system);
    let mut oracle = Interpreter::new(system, &layout);
    let mut found = Collect::default();
    oracle.initial(&mut found);
    let mut at = 0;
    while at < found.states.len() && found.states.len() < MAX_STATES {
        let state = found.states[at].clone();
        oracle.expand(&state, &mut found);
        at += 1;
    }
    let begin = Instant::now();
    let code = match jit::compile(system, &layout) {
        Ok(code) => code,
        Err(error) => return println!("{name}: {error}"),
    };
    let compiled = begin.elapsed();
    let mut native = Native::new(&code, system, &layout);
    let n_locations: usize = system.procs.iter().map(|p| p.locations.len()).sum();
    let fast = time(&mut native, &found.states);
    let slow = if native_only { f64::NAN } else { time(&mut oracle, &found.states) };
    let counts = native.counts();
    let share = 100.0 * counts.native as f64 / (counts.native + counts.interpreted) as f64;
    println!(
        "{name:28} {:7} states {:4} bytes {n_locations:4} locations {:7.2} ms  native {fast:7.1}  interpreted {slow:7.1} ns/transition  x{:.1}  {share:.1} % native",
        found.states.len(),
        found.states.last().map_or(0, Vec::len),
        compiled.as_secs_f64() * 1e3,
        slow / fast,
    );
}

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg == "--native");
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let Some(system) = lang::promela::load(&path, text, &[], &FileLoader).system else {
            println!("{path}: not a model");
            continue;
        };
        let name = path.rsplit('/').next().unwrap_or(&path);
        measure(name, &reduce(&system), !flags.is_empty());
    }
}
