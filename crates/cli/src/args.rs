//! The command line.

mod murphi;
pub mod swarm;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Checks models of concurrent systems.
#[derive(Parser)]
#[command(name = "supertrace", version, about, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  supertrace check mutex.pml                 is there an assertion failure or deadlock?
  supertrace check mutex.pml --search bfs    ... with a shortest counterexample
  supertrace check -D N=4 --time 10m m.pml   a larger instance, at most ten minutes
  supertrace check m.pml --trace bug.json    keep the counterexample
  supertrace show bug.json --msc bug.svg     look at it again, as a chart
  supertrace estimate m.pml                  how many states are there?
  supertrace swarm m.pml --time 1m           many small random searches, for large models
  supertrace simulate m.pml --steps 20       one random run

Exit codes: 0 no violation, 1 violation, 2 bad input or usage, 3 search stopped early.";

const CHECK_EXAMPLES: &str = "\
Examples:
  supertrace check m.pml
  supertrace check m.pml --search bfs --trace bug.json
  supertrace check m.pml --report m.html
  supertrace check m.pml --ignore deadlock --all
  supertrace check m.pml --memory 4GiB --time 10m --json
  supertrace check m.pml --memory 4GiB --spill /var/tmp
  supertrace check m.pml --store bitstate --arena 1GiB
  supertrace check m.pml --store compact --bits 40 --on-full drop
  supertrace check m.pml --store bitstate --arena 2^24 --runs 10 --order random
  supertrace check m.pml --time 8h --checkpoint m.ckpt
  supertrace check m.pml --time 8h --checkpoint m.ckpt --resume m.ckpt
  supertrace check m.pml --trail m.pml.trail; spin -t -p m.pml

Exit codes: 0 no violation, 1 violation, 2 bad input or usage, 3 search stopped early.";

const ESTIMATE_EXAMPLES: &str = "\
Searches with bitstate arenas of growing size; from how the number of states grows with
the arena it tells how many there are. Violations are not looked for.

Examples:
  supertrace estimate m.pml
  supertrace estimate m.pml --arena 2^28 --svg growth.svg
  supertrace estimate m.pml --time 5m --json";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  supertrace simulate m.pml --seed 7 --steps 100
  supertrace simulate m.pml --interactive
  supertrace simulate m.pml --replay bug.json";

#[derive(Subcommand)]
pub enum Command {
    /// Search all reachable states for assertion failures, deadlocks and run-time errors
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Estimate how many reachable states there are, and what a search of all would need
    #[command(after_help = ESTIMATE_EXAMPLES)]
    Estimate(EstimateArgs),
    /// Run many small random searches, and tell how much they have seen together
    #[command(after_help = swarm::EXAMPLES)]
    Swarm(Box<swarm::SwarmArgs>),
    /// Run a model: at random, step by step by hand, or along a trace
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
    /// Print a trace file, or draw it as a message sequence chart
    Show(ShowArgs),
}

#[derive(Args, Clone)]
pub struct ModelArgs {
    /// The model: a Promela (.pml) or a Murphi file (.m)
    pub model: PathBuf,

    /// Define a macro, as in the C preprocessor
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Which states without a way on are wrong: none, those where nothing is enabled, or,
    /// in Murphi models, also those that no rule changes
    #[arg(long, value_enum, default_value = "stuttering")]
    pub deadlock: Deadlock,

    /// Murphi: take states for the same that differ in the names of scalarset values
    #[arg(long, value_enum, default_value = "canonical")]
    pub symmetry: Symmetry,
}

impl ModelArgs {
    /// The model by this name with all flags that are not the default's.
    pub fn command_line(&self, name: &str) -> String {
        let mut words = vec![name.to_string()];
        words.extend(self.define.iter().map(|define| format!("-D {define}")));
        let deadlock = ir::rules::Deadlock::from(self.deadlock);
        if deadlock != ir::rules::Deadlock::default() {
            words.push(format!("--deadlock {}", deadlock.name()));
        }
        let symmetry = ir::rules::Symmetry::from(self.symmetry);
        if symmetry != ir::rules::Symmetry::default() {
            words.push(format!("--symmetry {}", symmetry.name()));
        }
        words.join(" ")
    }
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Search order
    #[arg(long, value_enum, default_value = "dfs")]
    pub search: Search,

    /// How successors are computed: by native code, or by the interpreter
    #[arg(long, value_enum, default_value = "jit")]
    pub engine: Engine,

    /// Threads that search [default: one for each core]
    #[arg(long, value_name = "N", value_parser = crate::units::threads)]
    pub threads: Option<usize>,

    /// What is remembered of visited states: all of them, some bits of an arena, or a
    /// signature each. The last two take a fraction of the memory, and may miss states
    #[arg(long, value_enum, default_value = "exact")]
    pub store: Store,

    /// Size of the arena of --store bitstate or compact: bits as 2^30, or bytes as 700MiB
    /// [default: 256MiB, or a quarter of --memory]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::arena)]
    pub arena: Option<u64>,

    /// Bits of the arena that stand for a state, for --store bitstate [default: 3]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hashes: Option<u32>,

    /// Where these bits are, for --store bitstate: in one cache line, or anywhere
    /// [default: blocked]
    #[arg(long, value_enum)]
    pub layout: Option<Layout>,

    /// Hash functions of a lossy store, chosen by --seed: products of words, or remainders by
    /// random polynomials, as Spin has them [default: mix]
    #[arg(long, value_enum, value_name = "FAMILY")]
    pub hash: Option<Hash>,

    /// Bits of a signature, for --store compact [default: 64]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub bits: Option<u32>,

    /// What to do when the table of --store compact is full: end the search, or go on
    /// without the states that have no room [default: stop]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_full: Option<OnFull>,

    /// Precision on demand, for a lossy store and --search dfs: before a state counts as
    /// visited, this many states of its chain of first successors are looked up too
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=64))]
    pub pod: u32,

    /// Repeat the search with other hash functions and orders, for a lossy store: what one
    /// run misses another may see
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::units::positive)]
    pub runs: usize,

    /// Store a state with this probability when it is met, for a lossy store
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = crate::units::probability)]
    pub store_probability: f64,

    /// Order in which the successors of a state are followed [default: forward, or reverse with
    /// --pod, which then finds more]
    #[arg(long, value_enum)]
    pub order: Option<Turns>,

    /// Keep states compressed, without loss: a fraction of the memory, at some cost of time
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub compress: When,

    /// Follow no path longer than this many transitions
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// Violations not to report
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,...")]
    pub ignore: Vec<Ignore>,

    /// Reductions: fewer states, same verdict
    #[arg(long, value_enum, default_value = "default")]
    pub reduce: Reduce,

    /// Memory the search may use, e.g. 4GiB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::size)]
    pub memory: Option<u64>,

    /// Time the search may take, e.g. 90s, 10m, 2h; a resumed search has all of it again
    #[arg(long, value_name = "TIME", value_parser = crate::units::duration)]
    pub time: Option<Duration>,

    /// Keep waiting states that do not fit in memory in unnamed files in this directory
    #[arg(long, value_name = "DIR")]
    pub spill: Option<PathBuf>,

    /// Write the search to a file from time to time and when it ends early, for --resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Time between two checkpoints
    #[arg(long, value_name = "TIME", value_parser = crate::units::duration)]
    #[arg(default_value = "5m", requires = "checkpoint")]
    pub every: Duration,

    /// Go on with the search of a checkpoint; the model and what is searched for must be
    /// the same, --memory, --time, --threads and --compress may differ
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Stop after this many different violations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::units::positive)]
    pub max_violations: usize,

    /// Report all violations
    #[arg(long, conflicts_with = "max_violations")]
    pub all: bool,

    /// Look for a shorter counterexample after a depth-first search
    #[arg(long, value_enum, default_value = "on", value_name = "WHETHER")]
    #[arg(num_args = 0..=1, default_missing_value = "on")]
    pub shorten: Switch,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Write the counterexample to a file for 'show' and 'simulate --replay'
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write the counterexample as a trail for 'spin -t'
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,

    /// Write the result as a page for a browser: counterexamples to step through, their
    /// charts, coverage
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print an internal form of the model and stop
    #[arg(long, value_enum, value_name = "FORM")]
    pub emit: Option<Emit>,

    /// Print the verdict only, no progress
    #[arg(long, short)]
    pub quiet: bool,

    /// Colours
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Args)]
pub struct EstimateArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// The largest arena: bits as 2^30, or bytes as 700MiB
    #[arg(long, value_name = "SIZE", default_value = "2^24", value_parser = crate::units::arena)]
    pub arena: u64,

    /// Arenas, each half as large as the next
    #[arg(long, value_name = "N", default_value_t = 6)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=20))]
    pub sizes: u32,

    /// Bits of the arena that stand for a state; one tells most
    #[arg(long, value_name = "K", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hashes: u32,

    /// Reductions: fewer states, same verdict
    #[arg(long, value_enum, default_value = "default")]
    pub reduce: Reduce,

    /// Threads that search [default: one for each core]
    #[arg(long, value_name = "N", value_parser = crate::units::threads)]
    pub threads: Option<usize>,

    /// Memory the searches may use, e.g. 4GiB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::size)]
    pub memory: Option<u64>,

    /// Time all searches may take, e.g. 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = crate::units::duration)]
    pub time: Option<Duration>,

    /// Seed of the hash functions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Draw states by size of the arena
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print no progress
    #[arg(long, short)]
    pub quiet: bool,

    /// Colours
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Seed of the choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Transitions to run at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub steps: usize,

    /// Choose each step
    #[arg(long, short, conflicts_with_all = ["replay", "steps"])]
    pub interactive: bool,

    /// Follow this trace
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,

    /// Write the run to a trace file
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Colours
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Args)]
pub struct ShowArgs {
    /// A file written by 'check --trace' or 'simulate --trace'
    pub trace: PathBuf,

    /// Draw a message sequence chart
    #[arg(long, value_name = "FILE.svg")]
    pub msc: Option<PathBuf>,

    /// One column for each process
    #[arg(long)]
    pub columns: bool,

    /// All values after each step, not only those that change
    #[arg(long, conflicts_with = "columns")]
    pub full: bool,

    /// Width of the terminal [default: its own, or 100]
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,

    /// Colours
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Search {
    Dfs,
    Bfs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deadlock {
    Off,
    Stuck,
    Stuttering,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Symmetry {
    Off,
    Canonical,
    Heuristic,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ignore {
    Assert,
    Deadlock,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reduce {
    None,
    Default,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    Jit,
    Interpret,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Store {
    /// All states in full
    Exact,
    /// Some bits of an arena for each state (supertrace)
    Bitstate,
    /// A signature for each state (hash compaction)
    Compact,
}

impl Store {
    pub fn name(self) -> &'static str {
        match self {
            Store::Exact => "exact",
            Store::Bitstate => "bitstate",
            Store::Compact => "compact",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// All bits of a state in one cache line: fast
    Blocked,
    /// Each bit anywhere: fewer states are missed
    Scattered,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Hash {
    Mix,
    Crc,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Turns {
    Forward,
    Reverse,
    /// By --seed
    Random,
}

impl CheckArgs {
    /// The order that was asked for, or the one that suits the search.
    pub fn turns(&self) -> Turns {
        self.order.unwrap_or(if self.pod > 0 { Turns::Reverse } else { Turns::Forward })
    }
}

impl Turns {
    pub fn name(self) -> &'static str {
        match self {
            Turns::Forward => "forward",
            Turns::Reverse => "reverse",
            Turns::Random => "random",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnFull {
    Stop,
    Drop,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Off,
    On,
    /// Where it saves time, and when memory is short
    Auto,
}

impl When {
    pub fn name(self) -> &'static str {
        match self {
            When::Off => "off",
            When::On => "on",
            When::Auto => "auto",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    Ir,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether to colour what goes to standard output.
    pub fn on(self) -> bool {
        use std::io::IsTerminal;
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
            }
        }
    }
}
