//! Plans: which tasks a swarm has, and in what they differ.
//!
//! Invariant: a task is a function of the settings and its number. So a plan
//! can be made task by task, and one of more tasks begins like one of fewer.

use check::{Dice, Discipline, Layout, Options, Storage, Turns};
use ir::fault::FaultKind;
use ir::rules::{Deadlock, Symmetry};
use serde::{Deserialize, Serialize};

/// What is searched: the same for all tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub model: String,
    /// Macros, as `-D` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<String>,
    /// Of rules: what counts as a deadlock, and which states as the same.
    #[serde(default)]
    pub deadlock: Deadlock,
    #[serde(default)]
    pub symmetry: Symmetry,
    /// Reductions are in force.
    pub reduced: bool,
    /// Of the model as it was when the plan was made.
    pub fingerprint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<FaultKind>,
    /// Tasks go on after a violation.
    pub go_on: bool,
    pub settings: Settings,
}

/// How sizes of arenas are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Portfolio {
    /// All the same.
    Uniform,
    /// Every other task has a full arena, every other one of the rest half of
    /// it, and so on (Holzmann 2016, section 5): some tasks end soon.
    Halving,
}

/// What a plan is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub seed: u64,
    pub portfolio: Portfolio,
    /// Bits of a full arena.
    pub arena: u64,
    /// Bits for a state; `None`: one to three.
    pub hashes: Option<u32>,
    /// No task goes deeper.
    pub depth: Option<usize>,
    /// All tasks search depth first; they differ in hash functions and orders.
    pub plain: bool,
}

/// One search of a swarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub number: u32,
    pub seed: u64,
    pub search: Discipline,
    pub order: Turns,
    /// Bits.
    pub arena: u64,
    pub hashes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    /// Leaves out what is found another way: sooner done, and what it loses is lost
    /// with all that lies behind it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparing: bool,
}

/// A swarm before it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub subject: Subject,
    pub tasks: Vec<Task>,
}

/// The smallest arena is this part of the full one.
const LEAST_PART: u32 = 6;
const SMALLEST_ARENA: u64 = 512;
const LARGEST_ARENA: u64 = 1 << 50;
/// Tasks with smaller arenas are not sparing: they are over in no time.
const ROOMY_ARENA: u64 = 1 << 14;
/// Of so many tasks the first tells the coverage: it has a full arena in any portfolio,
/// searches depth first without a bound of its own, and is not sparing.
const GROUP: u32 = 4;
/// The highest number of a task.
pub const LAST_TASK: u32 = u32::MAX - 1;

impl Settings {
    pub fn task(&self, number: u32) -> Task {
        let mut dice = Dice(self.seed ^ (number as u64).wrapping_mul(0xA076_1D64_78BD_642F));
        let seed = dice.roll();
        let halved = match self.portfolio {
            Portfolio::Uniform => 0,
            Portfolio::Halving => (number + 1).trailing_zeros().min(LEAST_PART),
        };
        let arena = (self.arena >> halved).max(SMALLEST_ARENA);
        let hashes = self.hashes.unwrap_or(1 + dice.below(3) as u32);
        // Random orders twice as often as all others together: it is they that
        // make searches differ most.
        let order = [Turns::Forward, Turns::Reverse, Turns::Rotated];
        let order = order.get(dice.below(9)).copied().unwrap_or(Turns::Random);
        let tells_coverage = number.is_multiple_of(GROUP);
        let plain = self.plain || tells_coverage;
        let search = if plain { Discipline::Dfs } else { discipline(arena, hashes, &mut dice) };
        let depth = match dice.below(8) {
            0 if !plain => {
                let most = self.depth.unwrap_or(1 << 16);
                Some((most >> dice.below(6)).max(most.min(1)))
            }
            _ => self.depth,
        };
        let sparing = arena >= ROOMY_ARENA && depth.is_none() && !tells_coverage;
        Task { number, seed, search, order, arena, hashes, depth, sparing }
    }

    /// Why these cannot be settings, if they cannot.
    pub fn fault(&self) -> Option<&'static str> {
        fault(self.arena, self.hashes.unwrap_or(1))
    }

    /// Whether a task is one of those that see any state equally often: depth
    /// first, in a full arena, not bounded more than all are, with all successors of
    /// what they see.
    pub fn is_alike(&self, task: &Task) -> bool {
        let is_whole = task.arena == self.arena && task.depth == self.depth && !task.sparing;
        task.search == Discipline::Dfs && is_whole
    }
}

/// Why there is no search with such an arena, if there is none.
fn fault(arena: u64, hashes: u32) -> Option<&'static str> {
    if !(SMALLEST_ARENA..=LARGEST_ARENA).contains(&arena) {
        return Some("an arena has 2^9 to 2^50 bits");
    }
    (!(1..=64).contains(&hashes)).then_some("a state has 1 to 64 bits")
}

/// Of tasks that do not tell the coverage three of four search depth first.
fn discipline(arena: u64, hashes: u32, dice: &mut Dice) -> Discipline {
    match dice.below(16) {
        0 | 1 => Discipline::Switches(2 << dice.below(5)),
        2 => Discipline::Bfs,
        // About as many steps as a full arena has states.
        3 => Discipline::Walk(arena / (2 * hashes as u64)),
        _ => Discipline::Dfs,
    }
}

impl Subject {
    /// A command that runs one task alone, as words.
    pub fn command(&self, task: u32) -> Vec<String> {
        let Settings { seed, portfolio, arena, hashes, depth, plain } = self.settings;
        let mut words: Vec<String> = vec!["supertrace".into(), "swarm".into(), self.model.clone()];
        let mut add = |text: &str| words.extend(text.split_whitespace().map(String::from));
        if !self.reduced {
            add("--reduce none");
        }
        for (name, kind) in [("assert", FaultKind::Assertion), ("deadlock", FaultKind::Deadlock)] {
            if self.ignore.contains(&kind) {
                add(&format!("--ignore {name}"));
            }
        }
        if self.deadlock != Deadlock::default() {
            add(&format!("--deadlock {}", self.deadlock.name()));
        }
        if self.symmetry != Symmetry::default() {
            add(&format!("--symmetry {}", self.symmetry.name()));
        }
        if self.go_on {
            add("--until all");
        }
        let size = match arena.is_power_of_two() {
            true => format!("2^{}", arena.ilog2()),
            false => format!("{}", arena / 8),
        };
        let portfolio = match portfolio {
            Portfolio::Uniform => "uniform",
            Portfolio::Halving => "halving",
        };
        add(&format!("--seed {seed} --arena {size} --portfolio {portfolio}"));
        hashes.into_iter().for_each(|k| add(&format!("--hashes {k}")));
        depth.into_iter().for_each(|n| add(&format!("--depth {n}")));
        if plain {
            add("--diversity plain");
        }
        add(&format!("--only {task}"));
        let defines = self.define.iter().flat_map(|define| ["-D".to_string(), define.clone()]);
        words.extend(defines);
        words
    }
}

impl Task {
    /// The options of the search. Limits of time are not a task's business.
    pub fn options<'a>(&self, subject: &Subject) -> Options<'a> {
        let Task { arena: bits, hashes, .. } = *self;
        Options {
            storage: Storage::Bitstate { bits, hashes, layout: Layout::Blocked },
            turns: self.order,
            seed: self.seed,
            sparing: self.sparing,
            depth: self.depth,
            ignore: subject.ignore.clone(),
            max_violations: if subject.go_on { usize::MAX } else { 1 },
            ..Options::default()
        }
    }
}

impl Plan {
    /// Why this cannot be a plan, if it cannot.
    pub fn fault(&self) -> Option<&'static str> {
        let task = |task: &Task| match task.number {
            0..=LAST_TASK => fault(task.arena, task.hashes),
            _ => Some("a task has no such number"),
        };
        self.subject.settings.fault().or_else(|| self.tasks.iter().find_map(task))
    }

    /// As a file: one line for each task.
    pub fn to_text(&self) -> String {
        let line = |value: serde_json::Result<String>| value.unwrap_or_default();
        let tasks: Vec<String> =
            self.tasks.iter().map(|task| line(serde_json::to_string(task))).collect();
        let subject = line(serde_json::to_string(&self.subject));
        format!("{{\"subject\": {subject},\n\"tasks\": [\n{}\n]}}\n", tasks.join(",\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        seed: 1,
        portfolio: Portfolio::Halving,
        arena: 1 << 20,
        hashes: None,
        depth: None,
        plain: false,
    };

    #[test]
    fn half_of_the_tasks_have_full_arenas_and_half_of_the_rest_half_of_it() {
        let arenas: Vec<u64> = (0..1024).map(|n| SETTINGS.task(n).arena).collect();
        let count = |bits: u64| arenas.iter().filter(|a| **a == bits).count();
        assert_eq!([20, 19, 18, 17].map(|l| count(1 << l)), [512, 256, 128, 64]);
        assert_eq!(arenas.iter().min(), Some(&(1 << 14)));
    }

    #[test]
    fn tasks_differ_in_everything() {
        let tasks: Vec<Task> = (0..500).map(|n| SETTINGS.task(n)).collect();
        let kinds = |of: &dyn Fn(&Task) -> String| {
            tasks.iter().map(of).collect::<std::collections::HashSet<_>>().len()
        };
        assert_eq!(kinds(&|t| t.seed.to_string()), 500);
        assert_eq!(kinds(&|t| format!("{:?}", t.order)), 4);
        assert_eq!(kinds(&|t| t.hashes.to_string()), 3);
        assert_eq!(kinds(&|t| format!("{:?}", std::mem::discriminant(&t.search))), 4);
        assert!(tasks.iter().filter(|t| t.depth.is_some()).count() > 30);
        assert!(tasks.iter().filter(|t| t.sparing).count() > 300);
        assert!(tasks.iter().step_by(4).all(|t| SETTINGS.is_alike(t)));
        let other = Settings { seed: 2, ..SETTINGS };
        assert!(tasks.iter().all(|t| other.task(t.number) != *t));
    }

    #[test]
    fn a_plan_is_a_file_with_a_line_for_each_task() {
        let subject = Subject {
            model: "m.pml".into(),
            define: vec!["N=3".into()],
            deadlock: Deadlock::Stuck,
            symmetry: Symmetry::Off,
            reduced: true,
            fingerprint: "0123".into(),
            ignore: vec![FaultKind::Deadlock],
            go_on: false,
            settings: SETTINGS,
        };
        let plan = Plan { subject, tasks: (0..20).map(|n| SETTINGS.task(n)).collect() };
        let text = plan.to_text();
        assert_eq!(text.lines().count(), 23);
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan);
    }
}
