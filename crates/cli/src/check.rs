//! `supertrace check`.

use crate::args::{
    CheckArgs, Deadlock, Emit, Engine, Ignore, ModelArgs, Reduce, Search, Switch, When,
};
use crate::counterexample::{Effort, SHORTEN_MEMORY, SHORTEN_TIME, counterexample, print_result};
use crate::{args, command, engine, exit, load, note, print, progress, storage, trail, units};
use anyhow::{Result, bail};
use check::{Compress, Files, Maker, Options, Order, Outcome, Verdict};
use ir::fault::{Fault, FaultKind};
use ir::model::Step;
use ir::program::Program;
use ir::trace::{self, Replayed, Trace};
use report::check::{CheckReport, Context};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn run(args: &CheckArgs) -> Result<u8> {
    let Some(program) = load::model(&args.model)? else { return Ok(exit::BAD_INPUT) };
    if let (Program::Rules(_), Some(_)) = (program, &args.trail) {
        bail!("'--trail' is for Promela models: use '--trace', which 'simulate' replays");
    }
    let reduced = engine::reduced(program, args.reduce);
    if args.emit == Some(Emit::Ir) {
        print(&reduced.to_string());
        return Ok(exit::NO_VIOLATION);
    }
    let (mut outcome, mut runs) = search(reduced, args)?;
    let n_starts = program.n_uncounted_starts(outcome.transitions);
    let uncount = |run: &mut Outcome, n| run.transitions = run.transitions.saturating_sub(n);
    uncount(&mut outcome, n_starts * runs.len().max(1) as u64);
    runs.iter_mut().for_each(|run| uncount(run, n_starts));
    engine::expand_reached(reduced, &mut outcome.reached);
    let mut traces = Vec::new();
    let mut first_steps = None;
    if !outcome.violations.is_empty() {
        engine::with_real_paths(program, args.engine, |make| -> Result<()> {
            for found in &outcome.violations {
                let (define, effort) = (&args.model.define, effort(args, &outcome, make));
                let shown = counterexample(program, reduced, define, found, effort)?;
                first_steps.get_or_insert(shown.steps);
                traces.push((shown.depth, shown.trace));
            }
            Ok(())
        })?;
    }
    if outcome.verdict == Verdict::Holds {
        let missed = missed_covers(program, &outcome.reached);
        if !missed.is_empty() {
            outcome.verdict = Verdict::Violation;
        }
        traces.extend(missed.into_iter().map(|trace| (0, trace)));
    }
    if progress::wanted(args.quiet) {
        progress::clear();
    }
    let first_trace = traces.first().map(|(_, trace)| trace.clone());
    let context = Context {
        seed: args.seed,
        options: options_json(args),
        version: env!("CARGO_PKG_VERSION"),
        checkpoint: args.checkpoint.as_deref().map(display),
        runs,
        command: command::given(),
    };
    let report = CheckReport::new(program, &outcome, traces, context);
    show(&report, args);
    tell_of_files(&outcome, args);
    // The verdict is out before a file that cannot be written ends the run.
    if let Some(path) = &args.report {
        load::write(path, &report::html::check_page(&report))?;
    }
    write_files(program, args, first_trace.as_ref(), first_steps.as_deref())?;
    Ok(match outcome.verdict {
        Verdict::Holds | Verdict::NoViolationFound => exit::NO_VIOLATION,
        Verdict::Violation => exit::VIOLATION,
        Verdict::Incomplete => exit::STOPPED,
    })
}

/// Covers that no reachable state and no rule has met, after a complete search.
/// There is no way to show.
fn missed_covers(program: &Program, reached: &[bool]) -> Vec<Trace> {
    let Program::Rules(rules) = program else { return Vec::new() };
    let reached = &reached[rules.rules.len().min(reached.len())..];
    let missed = rules.covers.iter().zip(reached).filter(|(_, reached)| !**reached);
    let trace = |(cover, _): (&ir::rules::Cover, _)| {
        let message = format!("{} is never met", cover.name);
        let fault = Some(Fault { kind: FaultKind::Cover, message, span: cover.span });
        trace::describe(program, &Replayed { start: Vec::new(), transitions: Vec::new(), fault })
    };
    missed.map(trace).collect()
}

/// What has gone otherwise than asked for on disk.
fn tell_of_files(outcome: &Outcome, args: &CheckArgs) {
    if let Some(trouble) = &outcome.trouble {
        note(&format!("waiting states could not be kept on disk: {trouble}"));
    }
    let saved = outcome.checkpoint.as_ref();
    if let (Some(path), Some(error)) = (&args.checkpoint, saved.and_then(|s| s.error.as_ref())) {
        let n = saved.map_or(0, |s| s.n_failed);
        let (path, s) = (path.display(), if n == 1 { "" } else { "s" });
        note(&format!("{n} checkpoint{s} could not be written to '{path}': {error}"));
    }
    if outcome.compressed && args.compress == When::Off {
        note("the checkpoint has its states compressed, so they stay compressed");
    }
}

/// Writes the first counterexample to the files that were asked for.
fn write_files(
    program: &Program,
    args: &CheckArgs,
    trace: Option<&Trace>,
    steps: Option<&[Step]>,
) -> Result<()> {
    // A file of an earlier run must not be taken for a result of this one.
    for path in [&args.trace, &args.trail].into_iter().flatten().filter(|_| trace.is_none()) {
        let path = path.display();
        note(&format!("there is no counterexample, so '{path}' was not written"));
    }
    if let (Some(path), Some(trace)) = (&args.trace, trace) {
        load::write(path, &(serde_json::to_string_pretty(trace)? + "\n"))?;
    }
    if let (Some(path), Some(steps), Program::Processes { system, .. }) =
        (&args.trail, steps, program)
    {
        load::write(path, &trail::write(system, steps))?;
    }
    Ok(())
}

/// Set by Ctrl-C.
pub fn interrupt() -> &'static AtomicBool {
    static FLAG: OnceLock<AtomicBool> = OnceLock::new();
    FLAG.get_or_init(|| {
        // Without a handler Ctrl-C ends the program, which is all right too.
        let _ = ctrlc::set_handler(|| {
            if let Some(flag) = FLAG.get() {
                // A second Ctrl-C does not wait for the search.
                if flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(exit::STOPPED.into());
                }
            }
        });
        AtomicBool::new(false)
    })
}

/// All runs as one, and each of them if there are several.
fn search(program: &'static Program, args: &CheckArgs) -> Result<(Outcome, Vec<Outcome>)> {
    let memory = units::search_memory(args.memory.unwrap_or_else(units::default_memory));
    let interrupt = interrupt();
    let with_progress = progress::wanted(args.quiet);
    let files = files(program, args);
    let options = Options {
        storage: storage::storage(args)?,
        seed: args.seed,
        hashing: match args.hash {
            Some(args::Hash::Crc) => check::Hashing::Crc,
            Some(args::Hash::Mix) | None => check::Hashing::Mix,
        },
        precision: args.pod,
        collector: None,
        store_probability: args.store_probability,
        sparing: false,
        turns: match args.turns() {
            args::Turns::Forward => check::Turns::Forward,
            args::Turns::Reverse => check::Turns::Reverse,
            args::Turns::Random => check::Turns::Random,
        },
        order: match args.search {
            Search::Dfs => Order::Dfs,
            Search::Bfs => Order::Bfs,
        },
        threads: threads(args),
        compress: compress(args),
        fold_after: check::FOLD_AFTER,
        depth: args.depth,
        ignore: ignored(&args.ignore, &args.model),
        target: None,
        max_violations: if args.all { usize::MAX } else { args.max_violations },
        memory,
        time: args.time,
        interrupt,
        files: Some(&files),
        progress: with_progress.then_some(&progress::show),
    };
    engine::with_model(program, args.engine, |make| storage::search(make, &options, args.runs))
}

/// The kinds of violations not to report.
pub fn ignored(ignore: &[Ignore], model: &ModelArgs) -> Vec<FaultKind> {
    let kinds = |i: &Ignore| match i {
        // `xr` and `xs` are assertions about channels.
        Ignore::Assert => vec![FaultKind::Assertion, FaultKind::ExclusiveChannel],
        Ignore::Deadlock => vec![FaultKind::Deadlock],
    };
    let off = (model.deadlock == Deadlock::Off).then_some(&Ignore::Deadlock);
    ignore.iter().chain(off).flat_map(kinds).collect()
}

fn files(program: &Program, args: &CheckArgs) -> Files {
    let has_checkpoint = args.checkpoint.is_some() || args.resume.is_some();
    Files {
        checkpoint: args.checkpoint.clone(),
        every: args.every,
        resume: args.resume.clone(),
        spill: args.spill.clone(),
        identity: if has_checkpoint {
            vec![
                ("model".into(), fingerprint(program)),
                ("reduce".into(), reduce_name(args).into()),
            ]
        } else {
            Vec::new()
        },
    }
}

/// Number of the form in which states are stored and hashed: to be raised when it
/// changes, as checkpoints hold states, and records of swarms hashes of them.
const STORED_FORM: u32 = 7;

/// What a model is, wherever its file lies: its text, as places in it are part
/// of results, what it means, and how its states are stored.
pub fn fingerprint(program: &Program) -> String {
    let mut nameless = program.clone();
    match &mut nameless {
        Program::Processes { system, .. } => system.name.clear(),
        Program::Rules(rules) => rules.name.clear(),
    }
    let mut text = nameless.to_string();
    text.push_str(&STORED_FORM.to_string());
    for file in &program.sources().files {
        text.push_str(&file.text);
        text.push('\0');
    }
    format!("{:016x}", rapidhash::v3::rapidhash_v3(text.as_bytes()))
}

fn compress(args: &CheckArgs) -> Compress {
    match args.compress {
        When::Off => Compress::Off,
        When::On => Compress::On,
        When::Auto => Compress::Auto,
    }
}

fn threads(args: &CheckArgs) -> usize {
    // Precision on demand needs the order of one thread.
    let most = || if args.pod > 0 { 1 } else { units::default_threads() };
    args.threads.unwrap_or_else(most)
}

/// What may be spent on a shorter path. After a breadth-first search a path is
/// as short as can be but for merged statements; it takes the time it needs to
/// be a shortest one.
fn effort<'m>(args: &CheckArgs, outcome: &Outcome, make: &'m Maker<'static>) -> Option<Effort<'m>> {
    let left = args.time.map(|t| t.saturating_sub(outcome.spent));
    let time = match (args.search, args.shorten) {
        (Search::Bfs, _) if args.reduce == Reduce::None => return None,
        (Search::Bfs, _) => left,
        (Search::Dfs, Switch::Off) => return None,
        (Search::Dfs, Switch::On) => Some(left.unwrap_or(SHORTEN_TIME).min(SHORTEN_TIME)),
    };
    let memory = units::search_memory(args.memory.unwrap_or_else(units::default_memory));
    let memory = if args.search == Search::Dfs { memory.min(SHORTEN_MEMORY) } else { memory };
    Some(Effort {
        make,
        time,
        memory,
        threads: threads(args),
        same_deadlock: args.all || args.max_violations > 1,
    })
}

fn reduce_name(args: &CheckArgs) -> &'static str {
    match args.reduce {
        Reduce::None => "none",
        Reduce::Default => "default",
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

fn options_json(args: &CheckArgs) -> BTreeMap<&'static str, Value> {
    let ignore: Vec<&str> = args
        .ignore
        .iter()
        .map(|i| match i {
            Ignore::Assert => "assert",
            Ignore::Deadlock => "deadlock",
        })
        .collect();
    let mut options = BTreeMap::from([
        ("search", json!(if args.search == Search::Dfs { "dfs" } else { "bfs" })),
        ("engine", json!(if args.engine == Engine::Jit { "jit" } else { "interpret" })),
        ("pod", json!(args.pod)),
        ("runs", json!(args.runs)),
        ("store_probability", json!(args.store_probability)),
        ("order", json!(args.turns().name())),
        ("threads", json!(threads(args))),
        ("compress", json!(args.compress.name())),
        ("depth", json!(args.depth)),
        ("ignore", json!(ignore)),
        ("reduce", json!(reduce_name(args))),
        ("memory", json!(args.memory.unwrap_or_else(units::default_memory))),
        ("time", json!(args.time.map(|t| t.as_secs_f64()))),
        ("checkpoint", json!(args.checkpoint.as_deref().map(display))),
        ("every", json!(args.checkpoint.as_ref().map(|_| args.every.as_secs_f64()))),
        ("resume", json!(args.resume.as_deref().map(display))),
        ("spill", json!(args.spill.as_deref().map(display))),
        ("max_violations", json!(if args.all { None } else { Some(args.max_violations) })),
        ("shorten", json!(args.shorten == Switch::On)),
        ("define", json!(args.model.define)),
        ("deadlock", json!(ir::rules::Deadlock::from(args.model.deadlock))),
        ("symmetry", json!(ir::rules::Symmetry::from(args.model.symmetry))),
    ]);
    options.extend(storage::options_json(args));
    options
}

fn show(report: &CheckReport, args: &CheckArgs) {
    let (json, color) = (args.json.then(|| report.json()), args.color.on());
    let trace = report.violation.as_ref().map(|violation| &violation.trace);
    print_result(json, args.quiet, color, &report.text(color), trace);
}
