//! What tasks have found, alone or together.
//!
//! Invariant: merging is associative, commutative and idempotent. A task has
//! one result, so two records of it agree.

use crate::plan::{LAST_TASK, Subject};
use crate::sketch::Sketch;
use ir::fault::{Fault, FaultKind};
use ir::model::Step;
use ir::source::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Violations of the same kind at the same place are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub kind: FaultKind,
    pub span: Span,
}

/// What a task was cut by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    Depth,
    Memory,
}

/// A task that came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Bits of the arena, and those that are set.
    pub arena: u64,
    pub bits_set: u64,
    pub states: u64,
    pub transitions: u64,
    pub depth: usize,
    /// It has not followed all paths it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// One of those by which reachable states are estimated.
    pub alike: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Place>,
}

/// A violation and the shortest way to it that some task has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// The first task that found this way.
    pub task: u32,
    pub fault: Fault,
    /// Transitions.
    pub depth: usize,
    /// In the model as it was searched.
    pub steps: Vec<Step>,
}

impl Violation {
    pub fn place(&self) -> Place {
        Place { kind: self.fault.kind, span: self.fault.span }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub subject: Subject,
    /// By number.
    pub tasks: BTreeMap<u32, Done>,
    /// One for each place, in order of places.
    pub violations: Vec<Violation>,
    /// For each action of the model as it was searched, whether it was ever run.
    #[serde(with = "bits")]
    pub reached: Vec<bool>,
    pub sketch: Sketch,
}

/// Two records are not of the same swarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeError {
    /// What differs.
    pub what: &'static str,
}

impl std::fmt::Display for MergeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "records of different swarms: they differ in {}", self.what)
    }
}

impl std::error::Error for MergeError {}

impl Record {
    /// Of no task.
    pub fn new(subject: Subject) -> Record {
        Record {
            subject,
            tasks: BTreeMap::new(),
            violations: Vec::new(),
            reached: Vec::new(),
            sketch: Sketch::default(),
        }
    }

    /// Adds what another record has.
    pub fn merge(&mut self, other: &Record) -> Result<(), MergeError> {
        let (a, b) = (&self.subject, &other.subject);
        let differences = [
            ("the model", a.fingerprint != b.fingerprint || a.reduced != b.reduced),
            ("seed, arena or diversity", a.settings != b.settings),
            ("what is a violation", a.ignore != b.ignore || a.go_on != b.go_on),
        ];
        if let Some((what, _)) = differences.into_iter().find(|(_, differ)| *differ) {
            return Err(MergeError { what });
        }
        let known =
            |(number, done): (&u32, &Done)| self.tasks.get(number).is_some_and(|mine| mine != done);
        if other.tasks.iter().any(known) {
            return Err(MergeError { what: "the result of a task" });
        }
        self.tasks.extend(other.tasks.iter().map(|(n, done)| (*n, done.clone())));
        other.violations.iter().for_each(|violation| self.add(violation));
        let len = self.reached.len().max(other.reached.len());
        self.reached.resize(len, false);
        self.reached.iter_mut().zip(&other.reached).for_each(|(a, b)| *a |= b);
        self.sketch = self.sketch.merge(&other.sketch);
        Ok(())
    }

    /// Keeps the shorter way to a violation, of equal ones that of the first task.
    pub(crate) fn add(&mut self, violation: &Violation) {
        let order = |v: &Violation| (v.fault.span, v.fault.kind.name());
        match self.violations.binary_search_by_key(&order(violation), order) {
            Err(at) => self.violations.insert(at, violation.clone()),
            Ok(at) => {
                let mine = &mut self.violations[at];
                if (violation.depth, violation.task) < (mine.depth, mine.task) {
                    *mine = violation.clone();
                }
            }
        }
    }

    /// Tasks that found a violation of this place: at least the one that has
    /// told of it, even if it was interrupted then.
    pub fn n_found(&self, place: Place) -> usize {
        let found = self.tasks.values().filter(|done| done.violations.contains(&place));
        found.count().max(1)
    }

    /// Why this cannot be a record, if it cannot.
    pub fn fault(&self) -> Option<&'static str> {
        let numbers = self.tasks.keys().chain(self.violations.iter().map(|v| &v.task));
        if numbers.into_iter().any(|number| *number > LAST_TASK) {
            return Some("a task has no such number");
        }
        self.subject.settings.fault()
    }
}

/// A list of bits as hexadecimal digits, the first in the lowest bit of the
/// first digit.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bits: &[bool], serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |four: &[bool]| {
            let value = four.iter().rev().fold(0, |value, bit| value << 1 | *bit as u32);
            char::from_digit(value, 16).unwrap_or('0')
        };
        let digits: String = bits.chunks(4).map(digit).collect();
        serializer.serialize_str(&format!("{}:{digits}", bits.len()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<bool>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let damaged = || D::Error::custom("damaged list of bits");
        let (len, digits) = text.split_once(':').ok_or_else(damaged)?;
        let len: usize = len.parse().map_err(|_| damaged())?;
        let mut bits = Vec::new();
        for digit in digits.chars() {
            let value = digit.to_digit(16).ok_or_else(damaged)?;
            bits.extend((0..4).map(|bit| value >> bit & 1 == 1));
        }
        if bits.len() != len.next_multiple_of(4) {
            return Err(damaged());
        }
        bits.truncate(len);
        Ok(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Portfolio, Settings};
    use crate::sketch::Gatherer;
    use check::{Collect, Dice};

    fn subject() -> Subject {
        Subject {
            model: "m.pml".into(),
            define: Vec::new(),
            deadlock: ir::rules::Deadlock::Stuttering,
            symmetry: ir::rules::Symmetry::Canonical,
            reduced: true,
            fingerprint: "0".into(),
            ignore: Vec::new(),
            go_on: true,
            settings: Settings {
                seed: 1,
                portfolio: Portfolio::Uniform,
                arena: 512,
                hashes: None,
                depth: None,
                plain: true,
            },
        }
    }

    /// The record of a task, made up.
    fn task(number: u32) -> Record {
        let mut dice = Dice(100 + number as u64);
        let gatherer = Gatherer::default();
        for _ in 0..2000 {
            gatherer.collect(&[Dice(dice.below(5000) as u64).roll()], &[]);
        }
        let mut record = Record::new(subject());
        for place in 0..dice.below(3) as u32 {
            let span = Span { file: 0, start: place, end: place + 1 };
            let kind = FaultKind::Assertion;
            let fault = Fault { kind, message: "wrong".into(), span };
            let depth = 3 + dice.below(3);
            let steps = vec![Step::of(1); depth];
            record.add(&Violation { task: number, fault, depth, steps });
        }
        let done = Done {
            arena: 512,
            bits_set: dice.below(512) as u64,
            states: 2000,
            transitions: 5000,
            depth: 7,
            limit: None,
            alike: !number.is_multiple_of(3),
            violations: record.violations.iter().map(Violation::place).collect(),
        };
        record.tasks.insert(number, done);
        record.reached = (0..11).map(|_| dice.below(2) == 0).collect();
        record.sketch = gatherer.sketch(number, !number.is_multiple_of(3));
        record
    }

    fn merged(numbers: impl IntoIterator<Item = u32>) -> Record {
        let mut all = Record::new(subject());
        numbers.into_iter().for_each(|n| all.merge(&task(n)).expect("the same swarm"));
        all
    }

    #[test]
    fn any_partition_in_any_order_merges_to_the_same() {
        let whole = merged(0..20);
        assert_eq!(whole.tasks.len(), 20);
        let counts: Vec<usize> =
            whole.violations.iter().map(|v| whole.n_found(v.place())).collect();
        assert!(counts.len() == 2 && counts[0] > 5, "{counts:?}");
        assert_eq!(merged((0..20).rev()), whole);
        let mut parts = merged([3, 1, 4, 15, 9]);
        let rest = merged((0..20).filter(|n| *n != 4));
        parts.merge(&rest).expect("the same swarm");
        assert_eq!(parts, whole);
        parts.merge(&rest).expect("the same swarm");
        parts.merge(&whole.clone()).expect("the same swarm");
        assert_eq!(parts, whole);
    }

    #[test]
    fn files_hold_what_was_put_in() {
        let whole = merged(0..5);
        let text = serde_json::to_string(&whole).expect("text");
        assert_eq!(serde_json::from_str::<Record>(&text).expect("a record"), whole);
        for wrong in ["3:0", "5:0", "4:g", "4", "x:0"] {
            let wrong = text.replace(
                &serde_json::to_value(&whole).expect("json")["reached"].to_string(),
                &format!("\"{wrong}\""),
            );
            let read = serde_json::from_str::<Record>(&wrong);
            assert_eq!(read.is_ok(), wrong.contains("\"3:0\""));
        }
    }

    #[test]
    fn records_of_other_swarms_are_refused() {
        let mut record = task(1);
        let mut other = task(2);
        other.subject.settings.seed = 2;
        assert_eq!(record.merge(&other), Err(MergeError { what: "seed, arena or diversity" }));
        let mut other = task(1);
        other.tasks.values_mut().for_each(|done| done.states += 1);
        assert_eq!(record.merge(&other), Err(MergeError { what: "the result of a task" }));
        assert_eq!(record, task(1));
    }
}
