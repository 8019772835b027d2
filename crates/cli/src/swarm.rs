//! `supertrace swarm`.

mod kept;
mod live;
mod pilot;
mod show;

use crate::args::swarm::{
    Counting, Diversity, MergeArgs, PlanArgs, Portfolio, RunArgs, SwarmArgs, SwarmCommand, TaskArgs,
};
use crate::args::{ModelArgs, Reduce};
use crate::{check, engine, exit, load, note, print, units};
use ::check::{Collector, Maker, Options, Searcher};
use anyhow::{Context, Result, bail, ensure};
use ir::model::Flow;
use ir::program::Program;
use kept::Kept;
use live::Live;
use show::{Counted, Run};
use std::path::Path;
use std::time::{Duration, Instant};
use swarm::{Engine, Gatherer, Plan, Pulse, Record, Settings, Subject, Swarm, Task, perform};

/// Tasks if nothing else limits the swarm.
const TASKS: u32 = 1000;
/// A part of the memory goes to the exact count of states.
const COLLECTOR_PART: u64 = 4;
const COLLECTOR_MOST: u64 = 1 << 30;

pub fn run(args: &SwarmArgs) -> Result<u8> {
    let step = match args {
        SwarmArgs::Run(args) => return swarm(args),
        SwarmArgs::Step(step) => step,
    };
    match &**step {
        SwarmCommand::Plan(args) => plan(args),
        SwarmCommand::Task(args) => task(args),
        SwarmCommand::Merge(args) => merge(args),
    }
}

/// A model that is to be searched.
struct Target {
    /// As it is written, and as it is searched.
    program: &'static Program,
    reduced: &'static Program,
}

impl Target {
    fn load(model: &ModelArgs, reduce: Reduce) -> Result<Option<Target>> {
        let program = load::model(model)?;
        Ok(program.map(|program| {
            let reduced = engine::reduced(program, reduce);
            Target { reduced, program }
        }))
    }

    /// The model that a plan or a record was made for.
    fn of(subject: &Subject) -> Result<Option<Target>> {
        let model = ModelArgs {
            model: subject.model.clone().into(),
            define: subject.define.clone(),
            deadlock: subject.deadlock.into(),
            symmetry: subject.symmetry.into(),
        };
        let reduce = if subject.reduced { Reduce::Default } else { Reduce::None };
        let target = Target::load(&model, reduce)?;
        if let Some(target) = &target {
            ensure!(
                check::fingerprint(target.reduced) == subject.fingerprint,
                "'{}' is not what it was when the plan was made",
                subject.model
            );
        }
        Ok(target)
    }
}

fn subject(args: &PlanArgs, target: &Target, settings: Settings) -> Subject {
    Subject {
        model: args.model.model.display().to_string(),
        define: args.model.define.clone(),
        deadlock: args.model.deadlock.into(),
        symmetry: args.model.symmetry.into(),
        reduced: args.reduce == Reduce::Default,
        fingerprint: check::fingerprint(target.reduced),
        ignore: check::ignored(&args.ignore, &args.model),
        go_on: args.until > 1,
        settings,
    }
}

/// What was given, and what a pilot search proposes for the rest.
fn settings(args: &PlanArgs, make: &Maker, time: Option<Duration>, quiet: bool) -> Settings {
    let memory = memory(args.memory) / threads(args) as u64;
    let pilot = args.arena.is_none().then(|| pilot::pilot(make, args, memory, time));
    if let Some(pilot) = pilot.as_ref().filter(|_| !quiet) {
        note(&pilot.explanation);
    }
    let proposed = pilot.map(|pilot| (pilot.arena, pilot.portfolio));
    let (arena, portfolio) = proposed.unwrap_or((1 << 20, swarm::Portfolio::Uniform));
    Settings {
        seed: args.seed,
        portfolio: match args.portfolio {
            Some(Portfolio::Uniform) => swarm::Portfolio::Uniform,
            Some(Portfolio::Halving) => swarm::Portfolio::Halving,
            None => portfolio,
        },
        arena: args.arena.unwrap_or(arena),
        hashes: args.hashes,
        depth: args.depth,
        plain: args.diversity == Diversity::Plain,
    }
}

fn memory(given: Option<u64>) -> u64 {
    units::search_memory(given.unwrap_or_else(units::default_memory))
}

fn threads(args: &PlanArgs) -> usize {
    args.threads.unwrap_or_else(units::default_threads)
}

fn plan(args: &PlanArgs) -> Result<u8> {
    let Some(target) = Target::load(&args.model, args.reduce)? else { return Ok(exit::BAD_INPUT) };
    let settings = engine::with_task_model(target.reduced, args.engine, |make| {
        settings(args, make, None, false)
    });
    let tasks = (0..args.tasks.unwrap_or(TASKS)).map(|number| settings.task(number)).collect();
    print(&Plan { subject: subject(args, &target, settings), tasks }.to_text());
    Ok(exit::NO_VIOLATION)
}

/// Reads a file, or standard input if it is `-`.
fn read(path: &Path) -> Result<String> {
    if path == Path::new("-") {
        return std::io::read_to_string(std::io::stdin()).context("cannot read standard input");
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read '{}'", path.display()))
}

fn task(args: &TaskArgs) -> Result<u8> {
    let name = args.plan.display();
    let plan: Plan = serde_json::from_str(&read(&args.plan)?)
        .with_context(|| format!("'{name}' is no plan: make one with 'supertrace swarm plan'"))?;
    if let Some(fault) = plan.fault() {
        bail!("'{name}' is no plan: {fault}");
    }
    let Some(task) = plan.tasks.iter().find(|task| task.number == args.number) else {
        bail!("'{name}' has no task {}: it has {}", args.number, plan.tasks.len());
    };
    let Some(target) = Target::of(&plan.subject)? else { return Ok(exit::BAD_INPUT) };
    let record = engine::with_task_model(target.reduced, args.engine, |make| {
        let mut searcher = Searcher::new(make, memory(args.memory));
        let limits = Options { interrupt: check::interrupt(), ..Options::default() };
        perform(&mut searcher, task, &plan.subject, &limits, Gatherer::default(), None)
    });
    if record.tasks.is_empty() {
        note(
            "the task did not come to its end: it was interrupted, or there is no memory for its \
             arena",
        );
        return Ok(exit::STOPPED);
    }
    print(&(serde_json::to_string(&record)? + "\n"));
    Ok(if record.violations.is_empty() { exit::NO_VIOLATION } else { exit::VIOLATION })
}

fn merge(args: &MergeArgs) -> Result<u8> {
    let mut all: Option<Record> = None;
    for path in &args.records {
        let name = path.display();
        let record: Record = serde_json::from_str(&read(path)?)
            .with_context(|| format!("'{name}' is no record of a task or a swarm"))?;
        if let Some(fault) = record.fault() {
            bail!("'{name}' is no record of a task or a swarm: {fault}");
        }
        match &mut all {
            None => all = Some(record),
            Some(all) => all.merge(&record).with_context(|| format!("'{name}'"))?,
        }
    }
    let record = all.context("no record was given")?;
    let Some(target) = Target::of(&record.subject)? else { return Ok(exit::BAD_INPUT) };
    let run = Run {
        engine: crate::args::Engine::Jit,
        planned: None,
        counted: Counted::default(),
        swarm: None,
    };
    show::show(target.program, target.reduced, &record, &args.show, run)
}

fn swarm(args: &RunArgs) -> Result<u8> {
    let plan = &args.plan;
    let Some(target) = Target::load(&plan.model, plan.reduce)? else { return Ok(exit::BAD_INPUT) };
    let started = Instant::now();
    // Tasks that are cut short by a depth never tell the coverage.
    let limited = args.time.is_some() || (args.coverage.is_some() && plan.depth.is_none());
    let tasks = match args.only {
        Some(_) => Some(1),
        None => plan.tasks.or((!limited).then_some(TASKS)),
    };
    let (swarm, counted) = engine::with_task_model(target.reduced, plan.engine, |make| {
        let quiet = args.show.quiet || args.show.json;
        let settings = settings(plan, make, args.time, quiet);
        let subject = subject(plan, &target, settings);
        let time = args.time.map(|time| time.saturating_sub(started.elapsed()));
        search(args, make, subject, tasks, time)
    })?;
    let record = &swarm.record;
    let run = Run { engine: plan.engine, planned: tasks, counted, swarm: Some(&swarm) };
    show::show(target.program, target.reduced, record, &args.show, run)
}

fn search(
    args: &RunArgs,
    make: &Maker,
    subject: Subject,
    tasks: Option<u32>,
    time: Option<Duration>,
) -> Result<(Swarm, Counted)> {
    let mut memory = memory(args.plan.memory);
    let mut collector = None;
    if args.collector == Counting::Exact {
        let part = (memory / COLLECTOR_PART).min(COLLECTOR_MOST);
        memory -= part;
        collector = Some(Collector::new(part));
    }
    let threads = threads(&args.plan);
    let settings = subject.settings;
    ensure!(
        settings.arena / 8 < memory / threads as u64,
        "an arena of {} for each of {threads} threads does not fit in the memory",
        report::text::bytes(settings.arena / 8)
    );
    let (kept, record) = Kept::open(args.resume.as_deref(), subject)?;
    let live = Live::new(args, tasks, collector.as_ref().filter(|_| record.tasks.is_empty()));
    let engine = Engine {
        make,
        threads,
        memory,
        time,
        interrupt: check::interrupt(),
        collector: collector.as_ref(),
    };
    let enough = record.violations.len() >= args.plan.until;
    let task = |number: u32| -> Option<Task> {
        match args.only {
            _ if enough => None,
            Some(only) => (number == 0).then(|| settings.task(only)),
            None => tasks.is_none_or(|n| number < n).then(|| settings.task(number)),
        }
    };
    let tell = |pulse: &Pulse| match &pulse.task {
        Some((task, _)) if !kept.keep(task, pulse.record) => Flow::Stop,
        _ => live.tell(pulse),
    };
    let swarm = engine.run(&task, record, &tell);
    live.end();
    kept.end(&swarm.record)?;
    Ok((swarm, live.counted()))
}
