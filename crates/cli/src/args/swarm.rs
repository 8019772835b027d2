//! The command line of `supertrace swarm`.

use super::{Color, Engine, Ignore, ModelArgs, Reduce};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

pub const EXAMPLES: &str = "\
Runs many small bitstate searches that differ in hash functions, orders and bounds, and tells
how much of all reachable states they have seen together.

Examples:
  supertrace swarm m.pml                          1,000 tasks, or the first violation
  supertrace swarm m.pml --time 5m --until all    all violations found in five minutes
  supertrace swarm m.pml --coverage 99%           until that much was seen
  supertrace swarm m.pml --time 8h --resume dir   finished tasks are kept in dir
  supertrace swarm m.pml --report m.html          the result as a page for a browser
By hand, on many machines:
  supertrace swarm plan m.pml --tasks 1000 > m.plan
  supertrace swarm task m.plan 17 > 17.json
  supertrace swarm merge *.json

Exit codes: 0 no violation found, 1 violation, 2 bad input or usage, 3 stopped early.";

/// A swarm, or one of the steps it consists of.
pub enum SwarmArgs {
    Run(Box<RunArgs>),
    Step(Box<SwarmCommand>),
}

// By hand, as a command that has both arguments and subcommands cannot be
// derived if the arguments are in parts.
impl Args for SwarmArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = RunArgs::augment_args(SwarmCommand::augment_subcommands(command));
        command
            .subcommand_required(false)
            .arg_required_else_help(true)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SwarmArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SwarmArgs, clap::Error> {
        Ok(match matches.subcommand_name() {
            Some(_) => SwarmArgs::Step(Box::new(SwarmCommand::from_arg_matches(matches)?)),
            None => SwarmArgs::Run(Box::new(RunArgs::from_arg_matches(matches)?)),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = SwarmArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Subcommand)]
pub enum SwarmCommand {
    /// Print the tasks of a swarm, a line each
    Plan(PlanArgs),
    /// Run one task of a plan and print its record
    Task(TaskArgs),
    /// Merge records and print the result
    Merge(MergeArgs),
}

/// What the tasks of a swarm are.
#[derive(Args, Clone)]
pub struct PlanArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Tasks [default: 1000; no limit if there is one of time, or of coverage without --depth]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(swarm::LAST_TASK)))]
    pub tasks: Option<u32>,

    /// The largest arena: bits as 2^22, or bytes as 512KiB [default: by a pilot search]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::arena)]
    pub arena: Option<u64>,

    /// Bits of the arena that stand for a state [default: 1 to 3, by task]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hashes: Option<u32>,

    /// Follow no path longer than this many transitions
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// Sizes of arenas: all the same, or half of the tasks with a full one, half of the rest
    /// with half of it, and so on [default: uniform with --arena, else by a pilot search]
    #[arg(long, value_enum)]
    pub portfolio: Option<Portfolio>,

    /// In what tasks differ: in everything, or in hash functions and orders only
    #[arg(long, value_enum, default_value = "full")]
    pub diversity: Diversity,

    /// When to stop looking: at the first violation, after N different ones, or never
    #[arg(long, value_name = "first|N|all", default_value = "first", value_parser = until)]
    pub until: usize,

    /// Violations not to report
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,...")]
    pub ignore: Vec<Ignore>,

    /// Reductions: fewer states, same verdict
    #[arg(long, value_enum, default_value = "default")]
    pub reduce: Reduce,

    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Memory all tasks together may use, e.g. 4GiB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::size)]
    pub memory: Option<u64>,

    /// Threads that run tasks [default: one for each core]
    #[arg(long, value_name = "N", value_parser = crate::units::threads)]
    pub threads: Option<usize>,

    /// How successors are computed: by native code, or by the interpreter
    #[arg(long, value_enum, default_value = "jit")]
    pub engine: Engine,
}

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub plan: PlanArgs,

    /// Time the swarm may take, e.g. 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = crate::units::duration)]
    pub time: Option<Duration>,

    /// Stop when this much was seen: the lower end of the interval counts
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub coverage: Option<f64>,

    /// Keep finished tasks in this directory, and do not repeat those that are there
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,

    /// Run this task alone
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["tasks", "resume"])]
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(swarm::LAST_TASK)))]
    pub only: Option<u32>,

    /// How different states are counted: by a sketch, or also exactly, which takes memory
    #[arg(long, value_enum, default_value = "sketch")]
    pub collector: Counting,

    #[command(flatten)]
    pub show: ShowArgs,
}

/// How the result is shown.
#[derive(Args, Clone)]
pub struct ShowArgs {
    /// Write the merged record of all tasks
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Write the counterexample to a file for 'show' and 'simulate --replay'
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write the result as a page for a browser: coverage and tasks, counterexamples to step
    /// through, their charts
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print the verdict only, no progress
    #[arg(long, short)]
    pub quiet: bool,

    /// Colours
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Args)]
pub struct TaskArgs {
    /// A file written by 'swarm plan'
    pub plan: PathBuf,

    /// The number of the task
    pub number: u32,

    /// Memory the task may use, e.g. 4GiB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::size)]
    pub memory: Option<u64>,

    /// How successors are computed: by native code, or by the interpreter
    #[arg(long, value_enum, default_value = "jit")]
    pub engine: Engine,
}

#[derive(Args)]
pub struct MergeArgs {
    /// Files written by 'swarm task' or 'swarm --record'
    #[arg(required = true)]
    pub records: Vec<PathBuf>,

    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Portfolio {
    Uniform,
    Halving,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Diversity {
    Full,
    /// All tasks search depth first
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counting {
    Sketch,
    Exact,
}

/// `first`, a number, or `all`.
fn until(text: &str) -> Result<usize, String> {
    match text {
        "first" => Ok(1),
        "all" => Ok(usize::MAX),
        _ => crate::units::positive(text)
            .map_err(|_| "expected 'first', 'all' or a number of at least 1".into()),
    }
}

/// `99%` or `99`, as a fraction of one.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if percent > 0.0 && percent <= 99.9 => Ok(percent / 100.0),
        _ => Err("expected a percentage such as 99%, at most 99.9%".into()),
    }
}
