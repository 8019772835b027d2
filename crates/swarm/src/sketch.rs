//! Which states did which tasks see? A sample of all states that tells.
//!
//! A state is in the sample if its hash, which is the same in all tasks, lies
//! below a ceiling. The ceiling of a task begins where that of the tasks before it
//! is, if these are known, and comes down as it finds states, so that
//! the sample stays small (Broder's bottom-k sketch), and of several tasks the
//! lowest holds; so of the states in the sample nothing is lost when sketches
//! are merged, and whatever holds of the sample tells of all states.
//!
//! Of each state the first few tasks of those that are alike are kept, and the
//! first of the others: how many states there are is told by tasks that see a
//! state equally often, which short walks and long searches do not.
//!
//! Besides the states that tasks have stored, the sample has those that they
//! met as successors and took for others. They are reachable all the same: if
//! nobody has stored them, they are where the swarm's knowledge ends.
//!
//! Invariant: hashes ascend, below the ceiling; the tasks of each ascend.

use check::{Collect, Hashes, Wanted};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// States of a sample, at most. The number of all states is then known to about
/// 1.6 % (one standard deviation), the part of them that has some property to
/// 0.8 points or better.
pub const SAMPLE: usize = 4096;
/// Tasks of those alike that are remembered of each state, those of the smallest
/// numbers.
pub const WITNESSES: usize = 8;

const NOBODY: u32 = u32::MAX;

/// Nobody after this one.
fn first(task: u32) -> [u32; WITNESSES] {
    let mut tasks = [NOBODY; WITNESSES];
    tasks[0] = task;
    tasks
}

/// A state of the sample, and who saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    state: u64,
    /// The first of those alike.
    alike: [u32; WITNESSES],
    /// The first of the others.
    other: u32,
    /// The first of all that has met it and not stored it.
    met: u32,
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
        let (other, met) = (self.other.min(other.other), self.met.min(other.met));
        Entry { state: self.state, alike, other, met }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// Of states with smaller hashes nothing is left out.
    ceiling: u64,
    entries: Vec<Entry>,
}

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch { ceiling: u64::MAX, entries: Vec::new() }
    }
}

/// What is known of a state of the sample.
pub struct Sighting<A> {
    /// The first tasks of those alike that have stored it, `WITNESSES` at most.
    pub alike: A,
    /// The first of the others that has.
    pub other: Option<u32>,
    /// The first of all that has met it and not stored it.
    pub met: Option<u32>,
}

impl Sketch {
    /// Of the tasks of both.
    pub fn merge(&self, other: &Sketch) -> Sketch {
        let mut ceiling = self.ceiling.min(other.ceiling);
        let below = |sketch: &Sketch| sketch.entries.partition_point(|e| e.state < ceiling);
        let (mut a, mut b) = (&self.entries[..below(self)], &other.entries[..below(other)]);
        let mut entries = Vec::with_capacity((a.len() + b.len()).min(SAMPLE));
        loop {
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
            if entries.len() == SAMPLE {
                ceiling = entry.state;
                break;
            }
            a = &a[a.first().is_some_and(|x| x.state == entry.state) as usize..];
            b = &b[b.first().is_some_and(|y| y.state == entry.state) as usize..];
            entries.push(entry);
        }
        Sketch { ceiling, entries }
    }

    /// States in the sample.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is known of each state of the sample.
    pub fn sightings(&self) -> impl Iterator<Item = Sighting<impl Iterator<Item = u32>>> {
        let somebody = |task: u32| Some(task).filter(|task| *task != NOBODY);
        self.entries.iter().map(move |entry| Sighting {
            alike: entry.alike(),
            other: somebody(entry.other),
            met: somebody(entry.met),
        })
    }

    /// The part of all states that is in the sample: one if all are.
    pub fn share(&self) -> f64 {
        if self.ceiling == u64::MAX { 1.0 } else { self.ceiling as f64 / 2f64.powi(64) }
    }
}

/// Gathers the smallest hashes of a task while it searches.
pub struct Gatherer {
    smallest: Mutex<Smallest>,
}

struct Smallest {
    /// Whether they were stored.
    states: HashMap<u64, bool, Hashes>,
    ceiling: u64,
}

impl Smallest {
    fn add(&mut self, state: u64, stored: bool) {
        if state >= self.ceiling {
            return;
        }
        *self.states.entry(state).or_default() |= stored;
        if self.states.len() > 2 * SAMPLE {
            self.shrink();
        }
    }

    /// Leaves as many as fit in a sample.
    fn shrink(&mut self) {
        if self.states.len() > SAMPLE {
            let mut states: Vec<u64> = self.states.keys().copied().collect();
            let (_, first_too_many, _) = states.select_nth_unstable(SAMPLE);
            let ceiling = *first_too_many;
            self.states.retain(|state, _| *state < ceiling);
            self.ceiling = ceiling;
        }
    }
}

impl Gatherer {
    /// For a sketch that will be merged with this one, so that nothing above its
    /// ceiling is of any use.
    pub fn beside(other: &Sketch) -> Gatherer {
        let smallest = Smallest { states: HashMap::default(), ceiling: other.ceiling };
        Gatherer { smallest: Mutex::new(smallest) }
    }

    /// What was gathered, of the task of this number, which may be one of those
    /// alike.
    pub fn sketch(self, task: u32, is_alike: bool) -> Sketch {
        let mut smallest = self.smallest.into_inner().unwrap_or_else(PoisonError::into_inner);
        smallest.shrink();
        let somebody = |is: bool| if is { task } else { NOBODY };
        let entry = |(&state, &stored): (&u64, &bool)| Entry {
            state,
            alike: first(somebody(is_alike && stored)),
            other: somebody(!is_alike && stored),
            met: somebody(!stored),
        };
        let mut entries: Vec<Entry> = smallest.states.iter().map(entry).collect();
        entries.sort_unstable_by_key(|entry| entry.state);
        Sketch { ceiling: smallest.ceiling, entries }
    }
}

impl Default for Gatherer {
    fn default() -> Self {
        Gatherer::beside(&Sketch::default())
    }
}

impl Collect for Gatherer {
    fn collect(&self, stored: &[u64], met: &[u64]) -> Wanted {
        let mut smallest = self.smallest.lock().unwrap_or_else(PoisonError::into_inner);
        stored.iter().for_each(|state| smallest.add(*state, true));
        met.iter().for_each(|state| smallest.add(*state, false));
        Wanted { stored: smallest.ceiling, met: smallest.ceiling }
    }
}

/// In files: the ceiling, how many states there are, so that none is missed, and
/// for each set of tasks alike, first other task and first task that has met and
/// not stored them, the states of which that is so, as hexadecimal numbers side
/// by side.
#[derive(Serialize, Deserialize)]
struct Written {
    ceiling: String,
    states: usize,
    sets: Vec<(Tasks, String)>,
}

/// Those alike, the first other, and the first that has met them.
type Tasks = (Vec<u32>, Option<u32>, Option<u32>);

impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sets: BTreeMap<Tasks, String> = BTreeMap::new();
        for (entry, Sighting { alike, other, met }) in self.entries.iter().zip(self.sightings()) {
            let states = sets.entry((alike.collect(), other, met)).or_default();
            states.push_str(&format!("{:016x}", entry.state));
        }
        let (ceiling, sets) = (format!("{:016x}", self.ceiling), sets.into_iter().collect());
        Written { ceiling, states: self.len(), sets }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sketch, D::Error> {
        let written = Written::deserialize(deserializer)?;
        Sketch::read(written).ok_or_else(|| D::Error::custom("damaged sketch"))
    }
}

impl Sketch {
    fn read(written: Written) -> Option<Sketch> {
        let number = |digits: &str| {
            let whole = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u64::from_str_radix(digits, 16).ok().filter(|_| whole)
        };
        let ceiling = number(&written.ceiling)?;
        let mut entries = Vec::new();
        for ((set, other, met), states) in written.sets {
            let ascends = set.is_sorted_by(|a, b| a < b) && set.len() <= WITNESSES;
            let tasks = || set.iter().chain(&other).chain(&met);
            let somebody = tasks().next().is_some() && !tasks().any(|task| *task == NOBODY);
            if !ascends || !somebody || !states.is_ascii() || states.len() % 16 != 0 {
                return None;
            }
            let mut alike = [NOBODY; WITNESSES];
            alike[..set.len()].copy_from_slice(&set);
            let (other, met) = (other.unwrap_or(NOBODY), met.unwrap_or(NOBODY));
            for at in (0..states.len()).step_by(16) {
                let state = number(&states[at..at + 16]).filter(|state| *state < ceiling)?;
                entries.push(Entry { state, alike, other, met });
            }
        }
        entries.sort_unstable_by_key(|entry| entry.state);
        let doubled = entries.windows(2).any(|pair| pair[0].state == pair[1].state);
        // A ceiling comes down to where so many states are below it, here or in a
        // sketch that this one was gathered beside.
        let fits = entries.len() <= SAMPLE && ceiling >= SAMPLE as u64;
        let whole = entries.len() == written.states;
        (!doubled && fits && whole).then_some(Sketch { ceiling, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use check::Dice;

    const HIGHEST: &str = "ffffffffffffffff";

    /// What a task sketches that sees each of `0..states` with a probability.
    fn task(number: u32, states: u64, probability: f64) -> Sketch {
        let gatherer = Gatherer::default();
        let mut dice = Dice(number as u64 + 1);
        for state in 0..states {
            let hash = [Dice(state).roll()];
            if (dice.roll() as f64) < probability * 2f64.powi(64) {
                gatherer.collect(&hash, &hash);
            } else if state % 3 == 0 {
                gatherer.collect(&[], &hash);
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
        assert!(
            forth
                .sightings()
                .all(|seen| seen.alike.is_sorted() && seen.other.is_none_or(|other| other < 20))
        );
        assert_eq!(forth.merge(&tasks[3]), forth);
    }

    #[test]
    fn what_was_met_and_not_stored_is_told_apart() {
        let gatherer = Gatherer::default();
        // Whatever comes first, who has stored a state has stored it.
        let all = Wanted { stored: u64::MAX, met: u64::MAX };
        assert_eq!(gatherer.collect(&[10, 20], &[20, 30, 40]), all);
        gatherer.collect(&[40], &[10]);
        let met = |sketch: &Sketch| sketch.sightings().filter(|seen| seen.met.is_some()).count();
        let one = gatherer.sketch(3, true);
        assert_eq!((one.len(), met(&one)), (4, 1));
        let gatherer = Gatherer::default();
        gatherer.collect(&[10], &[30, 50]);
        let other = gatherer.sketch(1, false);
        assert_eq!((other.len(), met(&other)), (3, 2));
        let both = one.merge(&other);
        assert_eq!((both.len(), met(&both)), (5, 2));
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
    fn gathered_beside_another_it_is_the_same_when_merged() {
        let all: Vec<u64> = (0..22_000u64).map(|number| Dice(number).roll()).collect();
        let first = Gatherer::default();
        first.collect(&all[..20_000], &[]);
        let first = first.sketch(0, true);
        let [alone, beside] = [Gatherer::default(), Gatherer::beside(&first)].map(|gatherer| {
            gatherer.collect(&all[15_000..18_000], &all[17_000..22_000]);
            gatherer.sketch(1, true)
        });
        assert!(beside.len() < alone.len() && beside.len() > 1000, "{}", beside.len());
        assert_eq!(first.merge(&beside), first.merge(&alone));
        let text = serde_json::to_string(&beside).expect("text");
        assert_eq!(serde_json::from_str::<Sketch>(&text).expect("the same"), beside);
    }

    #[test]
    fn a_file_holds_what_was_put_in_and_nothing_else_is_taken() {
        let sketch = task(3, 500, 0.5).merge(&task(7, 500, 0.5));
        let text = serde_json::to_string(&sketch).expect("text");
        assert_eq!(serde_json::from_str::<Sketch>(&text).expect("the same"), sketch);
        // So many states, so that it is not their number that is wrong.
        let written = |ceiling: &str, states: usize, set: &str| {
            format!(r#"{{"ceiling":"{ceiling}","states":{states},"sets":[{set}]}}"#)
        };
        let right = written(HIGHEST, 1, r#"[[[1,2],null,3],"0000000000000001"]"#);
        assert!(serde_json::from_str::<Sketch>(&right).is_ok());
        for wrong in [
            written(HIGHEST, 1, r#"[[[],null,null],"0000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[2,1],3,null],"0000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[1],4294967295,null],"0000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[1],2,4294967295],"0000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[1],2,null],"000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[1],2,null],"00000000000000é"]"#),
            written(HIGHEST, 1, r#"[[[1],2,null],"000000000000000g"]"#),
            written(HIGHEST, 2, r#"[[[1],2,null],"00000000000000010000000000000001"]"#),
            written("00000000000000ff", 1, r#"[[[1],2,null],"0000000000000001"]"#),
            written(HIGHEST, 1, r#"[[[1],2,null],"+000000000000001"]"#),
            written("ff", 0, ""),
            written("0000000000000000", 0, ""),
            written("0000000000000001", 1, r#"[[[1],2,null],"0000000000000001"]"#),
            written("", 1, r#"[[[1],2,null],"0000000000000001"]"#),
            written(HIGHEST, 1, ""),
            written(HIGHEST, 2, r#"[[[1],2,null],"0000000000000001"]"#),
        ] {
            assert!(serde_json::from_str::<Sketch>(&wrong).is_err(), "{wrong}");
        }
    }
}
