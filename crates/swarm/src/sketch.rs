//! Which states did which tasks see? A sample of all states that tells.
//!
//! A state is in the sample if its hash, which is the same in all tasks,
//! is one of the smallest of all that were seen (Broder's bottom-k sketch). If
//! it is one of the smallest of all, it is one of the smallest of each task
//! that saw it; so of the states in the sample nothing is lost when sketches
//! are merged, and whatever holds of the sample tells of all states.
//!
//! Of each state the first few tasks of those that are alike are kept, and the
//! first of the others: how many states there are is told by tasks that see a
//! state equally often, which short walks and long searches do not.
//!
//! Invariant: hashes ascend; the tasks of each ascend.

use check::Collect;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// States of a sample. The number of all states is then known to about 1.6 %
/// (one standard deviation), the part of them that has some property to 0.8
/// points or better.
pub const SAMPLE: usize = 4096;
/// Tasks of those alike that are remembered of each state, those of the smallest
/// numbers.
pub const WITNESSES: usize = 8;

const NOBODY: u32 = u32::MAX;

/// A state of the sample, and who saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    state: u64,
    /// The first of those alike.
    alike: [u32; WITNESSES],
    /// The first of the others.
    other: u32,
}

impl Entry {
    fn alike(&self) -> impl Iterator<Item = u32> + '_ {
        self.alike.iter().copied().take_while(|task| *task != NOBODY)
    }

    /// The same state, seen by the tasks of both.
    fn with(&self, other: &Entry) -> Entry {
        let mut alike = [NOBODY; WITNESSES];
        let (mut a, mut b) = (self.alike().peekable(), other.alike().peekable());
        for place in &mut alike {
            let next = a.peek().into_iter().chain(b.peek()).min().copied();
            let Some(next) = next else { break };
            a.next_if_eq(&next);
            b.next_if_eq(&next);
            *place = next;
        }
        Entry { state: self.state, alike, other: self.other.min(other.other) }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    entries: Vec<Entry>,
}

impl Sketch {
    /// Of one task, from its smallest hashes.
    fn of_task(task: u32, is_alike: bool, states: &[u64]) -> Sketch {
        let mut alike = [NOBODY; WITNESSES];
        let (first, other) = if is_alike { (task, NOBODY) } else { (NOBODY, task) };
        alike[0] = first;
        let entry = |&state: &u64| Entry { state, alike, other };
        Sketch { entries: states.iter().map(entry).collect() }
    }

    /// Of the tasks of both.
    pub fn merge(&self, other: &Sketch) -> Sketch {
        let most = (self.entries.len() + other.entries.len()).min(SAMPLE);
        let mut entries = Vec::with_capacity(most);
        let (mut a, mut b) = (self.entries.as_slice(), other.entries.as_slice());
        while entries.len() < SAMPLE {
            let entry = match (a.first(), b.first()) {
                (None, None) => break,
                (Some(x), None) => *x,
                (None, Some(y)) => *y,
                (Some(x), Some(y)) => match x.state.cmp(&y.state) {
                    Ordering::Less => *x,
                    Ordering::Greater => *y,
                    Ordering::Equal => x.with(y),
                },
            };
            a = &a[a.first().is_some_and(|x| x.state == entry.state) as usize..];
            b = &b[b.first().is_some_and(|y| y.state == entry.state) as usize..];
            entries.push(entry);
        }
        Sketch { entries }
    }

    /// States in the sample.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// For each state of the sample the first tasks of those alike that saw it,
    /// `WITNESSES` at most, and the first of the others.
    pub fn tasks(&self) -> impl Iterator<Item = (impl Iterator<Item = u32>, Option<u32>)> {
        let other = |entry: &Entry| Some(entry.other).filter(|task| *task != NOBODY);
        self.entries.iter().map(move |entry| (entry.alike(), other(entry)))
    }

    /// The part of all states that is in the sample: one if all are.
    pub fn share(&self) -> f64 {
        match self.entries.last() {
            // The largest of n uniform numbers is about n / (n + 1); without
            // it the estimate has no bias.
            Some(last) if self.entries.len() == SAMPLE => {
                let part = (last.state as f64 + 1.0) / 2f64.powi(64);
                part * SAMPLE as f64 / (SAMPLE as f64 - 1.0)
            }
            _ => 1.0,
        }
    }
}

/// Gathers the smallest hashes of a task while it searches.
pub struct Gatherer {
    smallest: Mutex<Smallest>,
}

struct Smallest {
    states: Vec<u64>,
    /// Larger ones do not matter any more.
    largest: u64,
}

impl Smallest {
    fn shrink(&mut self) {
        self.states.sort_unstable();
        self.states.dedup();
        self.states.truncate(SAMPLE);
        if self.states.len() == SAMPLE {
            self.largest = self.states[SAMPLE - 1];
        }
    }
}

impl Gatherer {
    pub fn new() -> Gatherer {
        let smallest = Smallest { states: Vec::with_capacity(2 * SAMPLE), largest: u64::MAX };
        Gatherer { smallest: Mutex::new(smallest) }
    }

    /// What was gathered, of the task of this number, which may be one of those
    /// alike.
    pub fn sketch(self, task: u32, is_alike: bool) -> Sketch {
        let mut smallest = self.smallest.into_inner().unwrap_or_else(PoisonError::into_inner);
        smallest.shrink();
        Sketch::of_task(task, is_alike, &smallest.states)
    }
}

impl Default for Gatherer {
    fn default() -> Self {
        Gatherer::new()
    }
}

impl Collect for Gatherer {
    fn collect(&self, states: &[u64]) {
        let mut smallest = self.smallest.lock().unwrap_or_else(PoisonError::into_inner);
        for &state in states {
            if state <= smallest.largest {
                smallest.states.push(state);
                if smallest.states.len() == 2 * SAMPLE {
                    smallest.shrink();
                }
            }
        }
    }
}

/// In files: for each set of tasks alike and first other task the states that
/// they saw, as hexadecimal numbers side by side.
impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sets: BTreeMap<(Vec<u32>, Option<u32>), String> = BTreeMap::new();
        for (entry, (alike, other)) in self.entries.iter().zip(self.tasks()) {
            let states = sets.entry((alike.collect(), other)).or_default();
            states.push_str(&format!("{:016x}", entry.state));
        }
        let sets = sets.into_iter().map(|((alike, other), states)| (alike, other, states));
        sets.collect::<Vec<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sketch, D::Error> {
        let sets = Vec::<(Vec<u32>, Option<u32>, String)>::deserialize(deserializer)?;
        let mut entries = Vec::new();
        for (set, other, states) in sets {
            let ascends = set.is_sorted_by(|a, b| a < b) && !set.contains(&NOBODY);
            let seen = !set.is_empty() || other.is_some();
            let valid = ascends && seen && set.len() <= WITNESSES && other != Some(NOBODY);
            if !valid || !states.is_ascii() || states.len() % 16 != 0 {
                return Err(D::Error::custom("damaged sketch"));
            }
            let mut alike = [NOBODY; WITNESSES];
            alike[..set.len()].copy_from_slice(&set);
            for at in (0..states.len()).step_by(16) {
                let state = u64::from_str_radix(&states[at..at + 16], 16);
                let state = state.map_err(|_| D::Error::custom("damaged sketch"))?;
                entries.push(Entry { state, alike, other: other.unwrap_or(NOBODY) });
            }
        }
        entries.sort_unstable_by_key(|entry| entry.state);
        let doubled = entries.windows(2).any(|pair| pair[0].state == pair[1].state);
        if doubled || entries.len() > SAMPLE {
            return Err(D::Error::custom("damaged sketch"));
        }
        Ok(Sketch { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use check::Dice;

    /// What a task sketches that sees each of `0..states` with a probability.
    fn task(number: u32, states: u64, probability: f64) -> Sketch {
        let gatherer = Gatherer::new();
        let mut dice = Dice(number as u64 + 1);
        for state in 0..states {
            if (dice.roll() as f64) < probability * 2f64.powi(64) {
                gatherer.collect(&[Dice(state).roll()]);
            }
        }
        gatherer.sketch(number, !number.is_multiple_of(5))
    }

    #[test]
    fn merging_is_associative_commutative_and_idempotent() {
        for states in [100, 9_000] {
            let [a, b, c] = [0, 1, 2].map(|number| task(number, states, 0.5));
            assert_eq!(a.merge(&b), b.merge(&a));
            assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
            assert_eq!(a.merge(&b).merge(&b), a.merge(&b));
            assert_eq!(a.merge(&Sketch::default()), a);
        }
    }

    #[test]
    fn with_many_tasks_the_first_witnesses_stay() {
        let tasks: Vec<Sketch> = (0..20).map(|number| task(number, 50, 0.9)).collect();
        let forth = tasks.iter().fold(Sketch::default(), |all, task| all.merge(task));
        let back = tasks.iter().rev().fold(Sketch::default(), |all, task| all.merge(task));
        assert_eq!(forth, back);
        assert!(forth.tasks().all(|(alike, other)| alike.is_sorted() && other < Some(20)));
        assert_eq!(forth.merge(&tasks[3]), forth);
    }

    #[test]
    fn the_share_tells_how_many_states_there_are() {
        let few = task(0, 1000, 1.0);
        assert_eq!((few.len(), few.share()), (1000, 1.0));
        let many = task(0, 1_000_000, 1.0);
        let estimate = many.len() as f64 / many.share();
        assert!((estimate / 1e6 - 1.0).abs() < 0.05, "{estimate}");
    }

    #[test]
    fn a_file_holds_what_was_put_in_and_nothing_else_is_taken() {
        let sketch = task(3, 500, 0.5).merge(&task(7, 500, 0.5));
        let text = serde_json::to_string(&sketch).expect("text");
        assert_eq!(serde_json::from_str::<Sketch>(&text).expect("the same"), sketch);
        for wrong in [
            r#"[[[],null,"0000000000000001"]]"#,
            r#"[[[2,1],3,"0000000000000001"]]"#,
            r#"[[[1],4294967295,"0000000000000001"]]"#,
            r#"[[[1],2,"000000000000001"]]"#,
            r#"[[[1],2,"00000000000000é"]]"#,
            r#"[[[1],2,"000000000000000g"]]"#,
            r#"[[[1],2,"00000000000000010000000000000001"]]"#,
        ] {
            assert!(serde_json::from_str::<Sketch>(wrong).is_err(), "{wrong}");
        }
    }
}
