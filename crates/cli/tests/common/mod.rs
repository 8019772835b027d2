//! What the integration tests share: models with their expectations, searches.

#![allow(dead_code)] // Each test binary uses a part of this.

use check::{Compress, Options, Order, Outcome, Storage};
use ir::fault::FaultKind;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::Model;
use ir::system::System;
use lang::promela::preprocess::FileLoader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The models of others, if they are there.
pub fn corpus() -> Option<PathBuf> {
    let path = root().join("../shared/corpus/promela");
    path.is_dir().then_some(path)
}

/// Tells that a test was skipped, and why; past the test harness, which would
/// show it for failed tests only.
pub fn skipped(what: &str, why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {why}");
}

pub fn has_tool(name: &str) -> bool {
    Command::new(name).arg("-V").output().is_ok()
}

/// Runs the binary.
pub fn supertrace(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_supertrace"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("the binary runs")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

pub fn load(path: &Path) -> System {
    let text = std::fs::read_to_string(path).expect("a readable model");
    let loaded = lang::promela::load(&path.display().to_string(), text, &[], &FileLoader);
    loaded.system.unwrap_or_else(|| {
        let errors: String = loaded.diagnostics.iter().map(|d| d.render(&loaded.sources)).collect();
        panic!("{} is rejected:\n{errors}", path.display())
    })
}

/// How a search is done; none of it may change its counts.
#[derive(Debug, Clone, Copy)]
pub struct How {
    pub order: Order,
    pub threads: usize,
    pub engine: Engine,
    pub store: Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Exact,
    /// States are folded together after a few.
    Folded,
    /// With so much room that nothing is missed.
    Bitstate,
    Compact,
    /// In strict order, with precision on demand.
    Precise,
}

impl Store {
    pub fn is_lossy(self) -> bool {
        !matches!(self, Store::Exact | Store::Folded)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Interpret,
    Jit,
}

/// Every order and, not with every other, every number of threads, engine and store.
pub const HOWS: [How; 10] = [
    how(Order::Dfs, 1, Engine::Interpret, Store::Exact),
    how(Order::Bfs, 1, Engine::Interpret, Store::Folded),
    how(Order::Dfs, 1, Engine::Jit, Store::Folded),
    how(Order::Bfs, 1, Engine::Jit, Store::Exact),
    how(Order::Dfs, 3, Engine::Jit, Store::Exact),
    how(Order::Bfs, 3, Engine::Jit, Store::Folded),
    how(Order::Dfs, 1, Engine::Jit, Store::Bitstate),
    how(Order::Bfs, 1, Engine::Interpret, Store::Bitstate),
    how(Order::Dfs, 3, Engine::Jit, Store::Compact),
    how(Order::Dfs, 1, Engine::Jit, Store::Precise),
];

pub const fn how(order: Order, threads: usize, engine: Engine, store: Store) -> How {
    How { order, threads, engine, store }
}

pub fn search(system: &System, how: How, ignore: &[FaultKind]) -> Outcome {
    let options = Options {
        order: how.order,
        threads: how.threads,
        storage: match how.store {
            Store::Exact | Store::Folded => Storage::Exact,
            Store::Bitstate => {
                Storage::Bitstate { bits: 1 << 27, hashes: 5, layout: check::Layout::Blocked }
            }
            Store::Compact | Store::Precise => {
                Storage::Compact { arena: 1 << 27, signature: 64, drop: false }
            }
        },
        // Not where parts of states do not count.
        precision: match how.store {
            Store::Precise if Layout::new(system).hidden == 0 => 2,
            _ => 0,
        },
        compress: if how.store == Store::Folded { Compress::On } else { Compress::Off },
        fold_after: 50,
        ignore: ignore.to_vec(),
        memory: 4 << 30,
        ..Options::default()
    };
    search_with(system, how.engine, &options)
}

pub fn search_with(system: &System, engine: Engine, options: &Options) -> Outcome {
    let layout = Layout::new(system);
    let code = (engine == Engine::Jit)
        .then(|| jit::compile(system, &layout).expect("code for this machine"));
    let make = || -> Box<dyn Model + '_> {
        match &code {
            Some(code) => Box::new(jit::Native::new(code, system, &layout)),
            None => Box::new(Interpreter::new(system, &layout)),
        }
    };
    check::check(&make, options).expect("no files are in use")
}

pub const FULL: &[FaultKind] = &[FaultKind::Assertion, FaultKind::Deadlock];

/// What the first line of a model promises.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// `None`: it holds.
    pub violation: Option<String>,
    /// States and transitions with assertions and end states not checked.
    pub counts: Option<(u64, u64)>,
}

impl Expect {
    pub fn read(text: &str) -> Option<Expect> {
        let line = text.lines().next()?.strip_prefix("// expect: ")?;
        let mut expect = Expect { violation: None, counts: None };
        let (mut states, mut transitions) = (None, None);
        for word in line.split_whitespace() {
            match word.split_once('=') {
                None if word == "holds" => {}
                Some(("violation", kind)) => expect.violation = Some(kind.to_string()),
                Some(("states", n)) => states = n.parse().ok(),
                Some(("transitions", n)) => transitions = n.parse().ok(),
                _ => return None,
            }
        }
        expect.counts = states.zip(transitions);
        Some(expect)
    }
}

/// All Promela models of the repository.
pub fn models() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut dirs = vec![root().join("models")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).expect("a readable directory") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}
