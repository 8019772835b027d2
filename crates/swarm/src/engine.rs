//! Runs the tasks of a plan by threads of this process. It only schedules.

use crate::plan::{Subject, Task};
use crate::record::{Done, Limit, Place, Record, Violation};
use crate::sketch::Gatherer;
use check::{Collect, Collector, Lossy, Maker, Options, Progress, Searcher, Stop, Wanted};
use ir::model::Flow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

pub struct Engine<'a, 'm> {
    pub make: &'a Maker<'m>,
    pub threads: usize,
    /// Of all threads together.
    pub memory: u64,
    pub time: Option<Duration>,
    /// Set by somebody else to end the swarm.
    pub interrupt: &'a AtomicBool,
    /// Counts the different states of all tasks, with those that are not done.
    pub collector: Option<&'a Collector>,
}

/// What is told now and then, and whenever a task has come to its end.
pub struct Pulse<'r> {
    pub record: &'r Record,
    /// The record of a task that has just come to its end, and the time it took.
    pub task: Option<(&'r Record, Duration)>,
    pub elapsed: Duration,
}

/// Why a swarm has ended before all tasks were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    Time,
    Interrupt,
    /// Whoever is told of tasks wants no more.
    Enough,
}

/// What a swarm has come to.
pub struct Swarm {
    pub record: Record,
    pub halt: Option<Halt>,
    pub elapsed: Duration,
    /// Memory of all threads together.
    pub memory: u64,
}

impl Engine<'_, '_> {
    /// Runs the tasks, by number from 0 on until there is none, that the
    /// record does not have yet. Tasks that do not come to their end are lost.
    pub fn run(
        &self,
        task: &(dyn Fn(u32) -> Option<Task> + Sync),
        record: Record,
        tell: &(dyn Fn(&Pulse) -> Flow + Sync),
    ) -> Swarm {
        let shared = Shared {
            engine: self,
            tell,
            started: Instant::now(),
            subject: record.subject.clone(),
            record: Mutex::new(record),
            next: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            halt: Mutex::new(None),
        };
        let memory = std::thread::scope(|scope| {
            // Where the system makes no more threads those there are do it all.
            let spawn = |_| Builder::new().spawn_scoped(scope, || shared.work(task)).ok();
            let others: Vec<_> = (1..self.threads).filter_map(spawn).collect();
            let own = shared.work(task);
            let joined = others.into_iter().map(|t| t.join().unwrap_or_else(|p| resume_unwind(p)));
            own + joined.sum::<u64>()
        });
        let halt = *shared.halt.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = shared.started.elapsed();
        let record = shared.record.into_inner().unwrap_or_else(PoisonError::into_inner);
        Swarm { record, halt, elapsed, memory }
    }
}

/// A swarm under way, as all threads see it.
struct Shared<'s, 'a, 'm> {
    engine: &'s Engine<'a, 'm>,
    tell: &'s (dyn Fn(&Pulse) -> Flow + Sync),
    started: Instant,
    subject: Subject,
    record: Mutex<Record>,
    // Relaxed: a number is given once, and a flag seen late does no harm.
    next: AtomicU32,
    stop: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

impl Shared<'_, '_, '_> {
    /// Runs tasks until there are no more; the memory that was used.
    fn work(&self, task: &dyn Fn(u32) -> Option<Task>) -> u64 {
        let engine = self.engine;
        let mut searcher = Searcher::new(engine.make, engine.memory / engine.threads as u64);
        while !self.is_over() {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = task(number) else { break };
            if !self.record().tasks.contains_key(&task.number) {
                self.run(&mut searcher, &task);
            }
        }
        searcher.memory()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, searcher: &mut Searcher, task: &Task) {
        let began = Instant::now();
        let progress = |_: &Progress| {
            if !self.is_over()
                && let Ok(record) = self.record.try_lock()
            {
                self.tell(&Pulse { record: &record, task: None, elapsed: self.started.elapsed() });
            }
        };
        let limits =
            Options { interrupt: &self.stop, progress: Some(&progress), ..Options::default() };
        let gatherer = Gatherer::beside(&self.record().sketch);
        let mine = perform(searcher, task, &self.subject, &limits, gatherer, self.engine.collector);
        // A task that was interrupted has nothing but violations, if that.
        if mine.tasks.is_empty() && mine.violations.is_empty() {
            return;
        }
        let mut record = self.record();
        // The subject is the same and the task is new, so nothing can differ.
        if record.merge(&mine).is_ok() {
            let (task, elapsed) = (Some((&mine, began.elapsed())), self.started.elapsed());
            self.tell(&Pulse { record: &record, task, elapsed });
        }
    }

    fn tell(&self, pulse: &Pulse) {
        if (self.tell)(pulse) == Flow::Stop {
            self.halt(Halt::Enough);
        }
    }

    /// Looks at the clock.
    fn is_over(&self) -> bool {
        if self.engine.interrupt.load(Ordering::Relaxed) {
            self.halt(Halt::Interrupt);
        }
        if self.engine.time.is_some_and(|limit| self.started.elapsed() >= limit) {
            self.halt(Halt::Time);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn halt(&self, why: Halt) {
        self.halt.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Passes states on to a collector besides the sketch.
struct Both<'c> {
    gatherer: &'c Gatherer,
    collector: &'c Collector,
}

impl Collect for Both<'_> {
    fn collect(&self, stored: &[u64], met: &[u64]) -> Wanted {
        let all = self.collector.collect(stored, met);
        let some = self.gatherer.collect(stored, met);
        Wanted { stored: all.stored.max(some.stored), met: all.met.max(some.met) }
    }
}

/// Runs one task. If it did not come to its end, the record has the violations
/// that it has found and no more. Of the limits, only who interrupts and who is
/// told of progress count.
pub fn perform(
    searcher: &mut Searcher,
    task: &Task,
    subject: &Subject,
    limits: &Options,
    gatherer: Gatherer,
    collector: Option<&Collector>,
) -> Record {
    let both = collector.map(|collector| Both { gatherer: &gatherer, collector });
    let options = Options {
        collector: Some(match &both {
            Some(both) => both,
            None => &gatherer,
        }),
        interrupt: limits.interrupt,
        progress: limits.progress,
        ..task.options(subject)
    };
    let outcome = searcher.search(task.search, &options);
    drop(options);
    let mut record = Record::new(subject.clone());
    let mut places: Vec<Place> = Vec::new();
    for found in outcome.violations {
        let (fault, depth, steps) = (found.fault, found.depth, found.steps);
        let violation = Violation { task: task.number, fault, depth, steps };
        places.push(violation.place());
        record.add(&violation);
    }
    let Some(Lossy::Bitstate { set: Some(set), .. }) = outcome.lossy else { return record };
    let limit = match outcome.stop {
        Some(Stop::Interrupt | Stop::Time) => return record,
        Some(Stop::Depth) => Some(Limit::Depth),
        Some(Stop::Memory | Stop::Way) => Some(Limit::Memory),
        Some(Stop::Violations | Stop::Disk) | None => None,
    };
    let alike = limit.is_none() && subject.settings.is_alike(task);
    let done = Done {
        arena: task.arena,
        bits_set: set,
        states: outcome.states,
        transitions: outcome.transitions,
        depth: outcome.depth,
        limit,
        alike,
        violations: places,
    };
    record.tasks.insert(task.number, done);
    record.reached = outcome.reached;
    record.sketch = gatherer.sketch(task.number, alike);
    record
}
