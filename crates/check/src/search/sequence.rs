//! Several searches with a lossy store, one after the other, each with hash
//! functions and an order of its own: what one misses another may see.

use super::{Maker, Options, Turns, check};
use crate::dice::Dice;
use crate::files::Error;
use crate::outcome::{Outcome, Stop, Verdict};
use crate::store::Collector;

/// What the searches have seen together.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// Each search in turn.
    pub runs: Vec<Outcome>,
    /// Different states of all.
    pub states: u64,
    /// There may be more: there was no room to count them.
    pub at_least: bool,
}

impl Sequence {
    /// All searches as one: the first violation, the states of all, the sum of
    /// what was done. `None` if there was no search.
    pub fn together(&self) -> Option<Outcome> {
        let mut all = self.runs.last()?.clone();
        let (before, _) = self.runs.split_at(self.runs.len() - 1);
        for run in before {
            all.transitions += run.transitions;
            all.n_violations += run.n_violations;
            all.elapsed += run.elapsed;
            all.spent += run.spent;
            all.depth = all.depth.max(run.depth);
            all.memory = all.memory.max(run.memory);
            all.reached.iter_mut().zip(&run.reached).for_each(|(a, b)| *a |= b);
        }
        all.states = self.states;
        Some(all)
    }
}

/// Searches up to `runs` times, until a violation is found or a limit is met.
/// The first run has the seed and the order of the options.
pub fn sequence(
    make: &Maker,
    options: &Options,
    runs: u64,
    collector: &Collector,
) -> Result<Sequence, Error> {
    let mut dice = Dice(options.seed);
    let (mut seed, mut turns) = (options.seed, options.turns);
    let mut done: Vec<Outcome> = Vec::new();
    for _ in 0..runs {
        let spent = done.iter().map(|o| o.spent).sum();
        let options = Options {
            seed,
            turns,
            collector: Some(collector),
            ignore: options.ignore.clone(),
            time: options.time.map(|t| t.saturating_sub(spent)),
            ..*options
        };
        let outcome = check(make, &options)?;
        let over = outcome.verdict == Verdict::Violation
            || matches!(outcome.stop, Some(Stop::Time | Stop::Interrupt));
        done.push(outcome);
        if over {
            break;
        }
        (seed, turns) = (dice.roll(), Turns::Random);
    }
    Ok(Sequence { runs: done, states: collector.n_states(), at_least: collector.is_full() })
}
