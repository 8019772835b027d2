//! Searches that are interrupted and go on, and that keep waiting states on
//! disk, end as those do that were left alone.

use check::{Compress, Error, Files, Options, Order, Outcome, Stop, Storage, Verdict};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::source::Span;
use ir::system::ActionIdx;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Wheels that each turn on their own; some positions are wrong.
struct Wheels<'a> {
    shared: &'a Shared,
}

struct Shared {
    /// Positions of each wheel.
    positions: u8,
    wheels: usize,
    /// So many successors of a state are wrong, each in its own way.
    wrong: u64,
    /// Interrupts the search after so many expansions.
    expansions: AtomicU64,
    interrupt: AtomicBool,
    /// A directory of this name is made when the search begins.
    in_the_way: Option<PathBuf>,
}

impl Shared {
    fn new(positions: u8, wheels: usize) -> Shared {
        let (expansions, interrupt) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
        Shared { positions, wheels, wrong: 0, expansions, interrupt, in_the_way: None }
    }
}

impl Model for Wheels<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&vec![0; self.shared.wheels], &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if self.shared.expansions.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.shared.interrupt.store(true, Ordering::Relaxed);
        }
        if let Some(path) = &self.shared.in_the_way {
            let _ = std::fs::create_dir(path);
        }
        for wheel in 0..state.len() {
            let mut next = state.to_vec();
            next[wheel] = (next[wheel] + 1) % self.shared.positions;
            let steps = [Step { process: 0, action: ActionIdx(wheel as u32) }];
            let number = next.iter().fold(0, |n: u64, p| n * 10 + *p as u64);
            if (1..=self.shared.wrong).any(|w| number == w * 111) {
                let span = Span { file: 0, start: number as u32, end: number as u32 };
                let message = format!("{number} is wrong");
                let fault = Fault { kind: FaultKind::Assertion, message, span };
                if sink.fault(fault, &steps) == Flow::Stop {
                    return Flow::Stop;
                }
            }
            if sink.successor(&next, &steps) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

/// States of which nearly all wait at the same time: breadth first, two rounds
/// of many successors; depth first, one of many has many again. The others lead
/// back to the beginning.
struct Wide {
    order: Order,
}

const WIDTH: u64 = 1000;

impl Model for Wide {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&0u64.to_le_bytes(), &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let number = u64::from_le_bytes(state.try_into().expect("eight bytes"));
        let first = match self.order {
            Order::Bfs if number <= WIDTH => number * WIDTH + 1,
            Order::Dfs if number % WIDTH == 0 && number < WIDTH * WIDTH => number + 1,
            _ => return sink.successor(&0u64.to_le_bytes(), &[]),
        };
        for next in (first..first + WIDTH).rev() {
            if sink.successor(&next.to_le_bytes(), &[]) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    order: Order,
    compress: Compress,
    threads: usize,
}

fn settings() -> Vec<Setting> {
    let mut out = Vec::new();
    for order in [Order::Dfs, Order::Bfs] {
        for compress in [Compress::Off, Compress::On, Compress::Auto] {
            out.extend([1, 2].map(|threads| Setting { order, compress, threads }));
        }
    }
    out
}

fn options<'a>(setting: Setting, interrupt: &'a AtomicBool, files: &'a Files) -> Options<'a> {
    let is_auto = setting.compress == Compress::Auto;
    Options {
        storage: Storage::Exact,
        hashing: check::Hashing::Mix,
        seed: 0,
        precision: 0,
        turns: check::Turns::Forward,
        store_probability: 1.0,
        sparing: false,
        collector: None,
        // By itself a search packs states early, and keeps ways again half-way, if it
        // looks for one violation.
        fold_after: if is_auto { 1024 } else { check::FOLD_AFTER },
        order: setting.order,
        threads: setting.threads,
        compress: setting.compress,
        depth: None,
        ignore: Vec::new(),
        target: None,
        max_violations: if is_auto { 1 } else { usize::MAX },
        memory: 1 << 30,
        time: None,
        interrupt,
        files: Some(files),
        progress: None,
    }
}

fn search(shared: &Shared, setting: Setting, files: &Files) -> Result<Outcome, Error> {
    let make = || -> Box<dyn Model + '_> { Box::new(Wheels { shared }) };
    check::check(&make, &options(setting, &shared.interrupt, files))
}

/// A directory that is gone when the test is over.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory")
}

fn checkpoint(file: &Path) -> Files {
    let every = Duration::from_secs(3600);
    Files { checkpoint: Some(file.to_path_buf()), every, ..Files::default() }
}

fn resume(file: &Path) -> Files {
    Files { resume: Some(file.to_path_buf()), ..checkpoint(file) }
}

fn counts(outcome: &Outcome) -> (Verdict, Option<Stop>, u64, u64, Vec<String>) {
    let mut messages: Vec<String> =
        outcome.violations.iter().map(|v| v.fault.message.clone()).collect();
    messages.sort();
    (outcome.verdict, outcome.stop, outcome.states, outcome.transitions, messages)
}

#[test]
fn interrupted_searches_end_like_others() {
    for setting in settings() {
        let whole = search(&Shared::new(8, 6), setting, &Files::default()).expect("it begins");
        assert_eq!((whole.states, whole.transitions), (262_144, 6 * 262_144 + 1));
        let dir = directory();
        let file = dir.path().join("wheels.checkpoint");
        let mut shared = Shared::new(8, 6);
        shared.expansions = AtomicU64::new(30_000);
        let mut outcome = search(&shared, setting, &checkpoint(&file)).expect("it begins");
        let mut n_runs = 1;
        while outcome.stop == Some(Stop::Interrupt) {
            assert!(outcome.checkpoint.is_some_and(|c| c.resumable && c.n_failed == 0));
            assert!(outcome.states < 262_144, "{setting:?}");
            shared.expansions = AtomicU64::new(50_000);
            shared.interrupt = AtomicBool::new(false);
            outcome = search(&shared, setting, &resume(&file)).expect("it goes on");
            assert!(outcome.elapsed > outcome.spent);
            n_runs += 1;
        }
        assert!(n_runs >= 5, "{n_runs} runs");
        assert_eq!(counts(&outcome), counts(&whole), "{setting:?}");
        assert!(!outcome.checkpoint.is_some_and(|c| c.resumable));
    }
}

#[test]
fn checkpoints_on_the_way_change_nothing() {
    for setting in settings() {
        let dir = directory();
        let file = dir.path().join("wheels.checkpoint");
        let files = Files { every: Duration::from_millis(20), ..checkpoint(&file) };
        let outcome = search(&Shared::new(8, 6), setting, &files).expect("it begins");
        assert_eq!((outcome.states, outcome.transitions), (262_144, 6 * 262_144 + 1));
        // The last one that was written is one of the search as it was then.
        let again = search(&Shared::new(8, 6), setting, &resume(&file)).expect("it goes on");
        assert_eq!(counts(&again), counts(&outcome), "{setting:?}");
        let left: Vec<PathBuf> = std::fs::read_dir(dir.path())
            .expect("a directory")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert_eq!(left, [file]);
    }
}

#[test]
fn threads_memory_and_compression_may_change() {
    let dir = directory();
    let file = dir.path().join("wheels.checkpoint");
    let all = settings();
    for order in [Order::Dfs, Order::Bfs] {
        for before in all.iter().filter(|s| s.order == order) {
            for after in all.iter().filter(|s| s.order == order) {
                let mut shared = Shared::new(6, 6);
                shared.expansions = AtomicU64::new(25_000);
                let first = search(&shared, *before, &checkpoint(&file)).expect("it begins");
                assert_eq!(first.stop, Some(Stop::Interrupt));
                let shared = Shared::new(6, 6);
                let outcome = search(&shared, *after, &resume(&file)).expect("it goes on");
                assert_eq!((outcome.states, outcome.transitions), (46_656, 6 * 46_656 + 1));
                assert_eq!(outcome.compressed, first.compressed || after.compress == Compress::On);
            }
        }
    }
}

#[test]
fn violations_found_before_are_reported_after() {
    for setting in settings().into_iter().filter(|s| s.compress != Compress::Auto) {
        let mut shared = Shared::new(8, 6);
        shared.wrong = 3;
        let whole = search(&shared, setting, &Files::default()).expect("it begins");
        assert_eq!(whole.violations.len(), 3);
        let dir = directory();
        let file = dir.path().join("wheels.checkpoint");
        for expansions in [1000, 100_000] {
            let mut shared = Shared::new(8, 6);
            shared.wrong = 3;
            shared.expansions = AtomicU64::new(expansions);
            let first = search(&shared, setting, &checkpoint(&file)).expect("it begins");
            assert!(first.states < whole.states);
            assert!(first.checkpoint.is_some_and(|c| c.resumable));
            shared.interrupt = AtomicBool::new(false);
            let outcome = search(&shared, setting, &resume(&file)).expect("it goes on");
            assert_eq!(counts(&outcome), counts(&whole), "{setting:?}");
            for found in &outcome.violations {
                assert_eq!(found.steps.len(), found.depth, "{setting:?}");
            }
        }
    }
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let dir = directory();
    let file = dir.path().join("wheels.checkpoint");
    for setting in settings() {
        let mut shared = Shared::new(5, 6);
        shared.expansions = AtomicU64::new(3000);
        search(&shared, setting, &checkpoint(&file)).expect("it begins");
        let whole = std::fs::read(&file).expect("a checkpoint");
        let refused = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("a writable file");
            let files = Files { checkpoint: None, ..resume(&file) };
            search(&Shared::new(5, 6), setting, &files).expect_err("it is refused")
        };
        for i in 0..50 {
            let at = whole.len() * i / 50;
            let cut = refused(&whole[..at]);
            assert!(matches!(cut, Error::Damaged(_) | Error::NoCheckpoint(_)), "{cut}");
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (i % 8);
            let flipped = refused(&flipped);
            assert!(matches!(flipped, Error::Damaged(_) | Error::NoCheckpoint(_)), "{flipped}");
        }
        assert!(matches!(refused(b"byte x; init { x = 1 }"), Error::NoCheckpoint(_)));
        assert!(matches!(refused(&[&whole[..], b"x"].concat()), Error::Damaged(_)));
        std::fs::write(&file, &whole).expect("a writable file");
        let identity = vec![("model".to_string(), "another".to_string())];
        let other = Files { identity, ..resume(&file) };
        let error = search(&Shared::new(5, 6), setting, &other).expect_err("it is refused");
        assert!(error.to_string().contains("model was unknown, is another"), "{error}");
        let (order, name) = match setting.order {
            Order::Dfs => (Order::Bfs, "search was dfs, is bfs"),
            Order::Bfs => (Order::Dfs, "search was bfs, is dfs"),
        };
        let setting = Setting { order, ..setting };
        let error = search(&Shared::new(5, 6), setting, &resume(&file)).expect_err("refused");
        assert!(error.to_string().contains(name), "{error}");
    }
    let missing = resume(&dir.path().join("missing"));
    let error = search(&Shared::new(5, 6), settings()[0], &missing).expect_err("refused");
    assert!(matches!(error, Error::Read(..)), "{error}");
}

#[test]
fn files_that_cannot_be_written_are_refused_at_the_start() {
    let dir = directory();
    let nowhere = dir.path().join("no/such/directory");
    let setting = settings()[0];
    let error = search(&Shared::new(5, 6), setting, &checkpoint(&nowhere)).expect_err("refused");
    assert!(matches!(error, Error::Write(..)), "{error}");
    let files = Files { spill: Some(nowhere), ..Files::default() };
    let error = search(&Shared::new(5, 6), setting, &files).expect_err("refused");
    assert!(matches!(error, Error::Write(..)), "{error}");
    let precious = dir.path().join("model.pml");
    std::fs::write(&precious, "init { skip }").expect("a writable file");
    let error = search(&Shared::new(5, 6), setting, &checkpoint(&precious)).expect_err("refused");
    assert!(matches!(error, Error::WouldOverwrite(_)), "{error}");
}

#[test]
fn a_lossy_store_has_nothing_on_disk() {
    let interrupt = AtomicBool::new(false);
    let dir = directory();
    let files = checkpoint(&dir.path().join("wheels.checkpoint"));
    let storage = Storage::Compact { arena: 1 << 20, signature: 32, drop: true };
    let options = Options { storage, ..options(settings()[0], &interrupt, &files) };
    let shared = Shared::new(5, 6);
    let make = || -> Box<dyn Model + '_> { Box::new(Wheels { shared: &shared }) };
    let error = check::check(&make, &options).expect_err("refused");
    assert!(matches!(error, Error::LossyStore), "{error}");
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_last_one() {
    let dir = directory();
    let file = dir.path().join("wheels.checkpoint");
    let setting = settings()[0];
    let mut shared = Shared::new(8, 6);
    shared.expansions = AtomicU64::new(30_000);
    search(&shared, setting, &checkpoint(&file)).expect("it begins");
    let before = std::fs::read(&file).expect("a checkpoint");
    let mut shared = Shared::new(8, 6);
    // The name of the temporary file is taken once the search has begun.
    shared.in_the_way = Some(dir.path().join("wheels.checkpoint.tmp"));
    let files = Files { every: Duration::from_millis(10), ..resume(&file) };
    let outcome = search(&shared, setting, &files).expect("it goes on");
    assert_eq!((outcome.verdict, outcome.states), (Verdict::Holds, 262_144));
    let saved = outcome.checkpoint.expect("checkpoints were asked for");
    assert!(saved.n_failed > 0 && saved.error.is_some() && !saved.resumable);
    assert_eq!(std::fs::read(&file).expect("a checkpoint"), before);
}

#[test]
fn a_wide_frontier_goes_to_disk() {
    let interrupt = AtomicBool::new(false);
    for setting in settings().into_iter().filter(|s| s.compress != Compress::Auto) {
        let make = || -> Box<dyn Model> { Box::new(Wide { order: setting.order }) };
        let run = |files: &Files, memory| {
            let options = Options { memory, ..options(setting, &interrupt, files) };
            check::check(&make, &options).expect("it begins")
        };
        // Not much more than it needs, so that the table grows as with less.
        let whole = run(&Files::default(), 128 << 20);
        let (states, transitions) = match setting.order {
            Order::Dfs => (1_000_001, 1_999_002),
            Order::Bfs => (1_001_001, 2_001_001),
        };
        assert_eq!((whole.states, whole.transitions), (states, transitions));
        // What the store needs, and a little for what waits.
        let memory = whole.store_memory + (4 << 20);
        // Another thread may be fast enough to leave little waiting.
        let alone = setting.threads == 1;
        if alone {
            let without = run(&Files::default(), memory);
            assert_eq!(without.stop, Some(Stop::Memory), "{setting:?}");
        }
        let dir = directory();
        let files = Files { spill: Some(dir.path().to_path_buf()), ..Files::default() };
        let with = run(&files, memory);
        assert_eq!(counts(&with), counts(&whole), "{setting:?}");
        assert!(with.memory <= memory && (with.spilled > 0 || !alone), "{setting:?}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 0);
    }
}

#[test]
fn folding_makes_room_when_memory_is_full() {
    let none = Files::default();
    for order in [Order::Dfs, Order::Bfs] {
        let run = |compress| {
            let shared = Shared::new(2, 18);
            let make = || -> Box<dyn Model + '_> { Box::new(Wheels { shared: &shared }) };
            let setting = Setting { order, compress, threads: 2 };
            let options = Options { memory: 8 << 20, ..options(setting, &shared.interrupt, &none) };
            check::check(&make, &options).expect("it begins")
        };
        assert_eq!(run(Compress::Off).stop, Some(Stop::Memory));
        let folded = run(Compress::Auto);
        assert_eq!((folded.verdict, folded.states), (Verdict::Holds, 262_144));
        assert!(folded.compressed && folded.memory <= 8 << 20);
    }
}
