//! What is seen of a swarm while it runs: a line on a terminal that changes,
//! else a line now and then.

use crate::args::swarm::RunArgs;
use crate::swarm::show::Counted;
use crate::{draw, progress};
use ::check::Collector;
use ir::model::Flow;
use report::swarm::Figures;
use report::text::{count, percent};
use std::sync::Mutex;
use std::time::Duration;
use swarm::{Pulse, seen};

/// Between two lines on a terminal, and elsewhere.
const ON_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(10);
/// Between two looks whether enough was seen.
const LOOK: Duration = Duration::from_millis(50);

pub struct Live<'a> {
    args: &'a RunArgs,
    tasks: Option<u32>,
    collector: Option<&'a Collector>,
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: Duration,
    /// When to look whether enough was seen.
    look: Duration,
    /// Coverage at times before, for the curve.
    curve: Vec<f64>,
    counted: Counted,
}

impl<'a> Live<'a> {
    pub fn new(args: &'a RunArgs, tasks: Option<u32>, collector: Option<&'a Collector>) -> Self {
        let terminal = progress::wanted(args.show.quiet);
        Live { args, tasks, collector, terminal, state: Mutex::default() }
    }

    /// Takes note; stops the swarm if it has found or seen enough.
    pub fn tell(&self, pulse: &Pulse) -> Flow {
        let Ok(mut state) = self.state.lock() else { return Flow::Stop };
        let record = pulse.record;
        if let Some((task, time)) = &pulse.task {
            if let Some(number) = task.tasks.keys().next() {
                let (time, end) = (time.as_secs_f64(), pulse.elapsed.as_secs_f64());
                state.counted.times.push((*number, time, end));
            }
            if let Some(collector) = self.collector.filter(|collector| !collector.is_full()) {
                state.counted.exact.push((record.tasks.len(), collector.n_states()));
            }
            if !task.violations.is_empty() {
                state.counted.first_violation.get_or_insert(pulse.elapsed.as_secs_f64());
            }
            if record.violations.len() >= self.args.plan.until {
                return Flow::Stop;
            }
        }
        let (shows, looks) = (pulse.elapsed >= state.next, self.args.coverage.is_some());
        let due = shows || (looks && pulse.elapsed >= state.look);
        if !due {
            return Flow::Continue;
        }
        state.look = pulse.elapsed + LOOK;
        let figures = Figures::of(&seen(record, usize::MAX), record);
        let coverage = figures.coverage.as_ref();
        if shows {
            state.next = pulse.elapsed + if self.terminal { ON_TERMINAL } else { ELSEWHERE };
            state.curve.extend(coverage.map(|c| c.interval.estimate));
        }
        if shows && self.terminal || (shows && !self.args.show.quiet && pulse.elapsed >= ELSEWHERE)
        {
            self.print(pulse, &figures, &state.curve);
        }
        let enough =
            coverage.zip(self.args.coverage).is_some_and(|(c, wanted)| c.interval.low >= wanted);
        if enough { Flow::Stop } else { Flow::Continue }
    }

    fn print(&self, pulse: &Pulse, figures: &Figures, curve: &[f64]) {
        let done = pulse.record.tasks.len();
        let seconds = pulse.elapsed.as_secs_f64();
        let of = self.tasks.map_or(String::new(), |n| format!("/{}", count(n as u64)));
        let mut line = format!(
            "{}{of} tasks, {:.1}/s, {} states",
            count(done as u64),
            done as f64 / seconds.max(1e-9),
            count(figures.distinct_states.estimate.round() as u64),
        );
        if let Some(coverage) = &figures.coverage {
            line += &format!(
                ", coverage {} ({} to {}) {}",
                percent(coverage.interval.estimate),
                percent(coverage.interval.low),
                percent(coverage.interval.high),
                sparkline(curve)
            );
        }
        let n = pulse.record.violations.len();
        line += &format!(", {n} violation{}", if n == 1 { "" } else { "s" });
        if let Some(left) = self.left(done, seconds) {
            line += &format!(", {}:{:02} left", left / 60, left % 60);
        }
        draw(&if self.terminal { format!("\r\x1b[K{line}") } else { format!("{line}\n") });
    }

    /// Seconds until the limit of tasks or of time is met.
    fn left(&self, done: usize, seconds: f64) -> Option<u64> {
        let by_time = self.args.time.map(|time| time.as_secs_f64() - seconds);
        let by_tasks = self.tasks.filter(|_| done > 0);
        let by_tasks = by_tasks.map(|n| seconds / done as f64 * (n as f64 - done as f64));
        let left = by_time.into_iter().chain(by_tasks).reduce(f64::min)?;
        Some(left.max(0.0).round() as u64)
    }

    pub fn end(&self) {
        if self.terminal {
            progress::clear();
        }
    }

    /// What was counted on the way.
    pub fn counted(self) -> Counted {
        self.state.into_inner().map(|state| state.counted).unwrap_or_default()
    }
}

/// The last values as a curve of eight heights.
fn sparkline(values: &[f64]) -> String {
    const WIDTH: usize = 16;
    let step = values.len().div_ceil(WIDTH).max(1);
    let bar = |value: &f64| ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][(value * 7.99) as usize % 8];
    values.iter().step_by(step).map(bar).collect()
}
