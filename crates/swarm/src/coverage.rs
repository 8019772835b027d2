//! How much a swarm has seen, from the sketch of its record.

use crate::record::Record;
use crate::sketch::{Sighting, WITNESSES};
use estimate::species::Incidence;

/// What some tasks have seen together.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub tasks: usize,
    /// In how many tasks states were seen.
    pub incidence: Incidence,
}

/// What the first so many tasks of those that are done have seen.
pub fn seen(record: &Record, tasks: usize) -> Seen {
    let numbers = record.tasks.keys().take(tasks);
    let (count, last) = numbers.fold((0, None), |(n, _), number| (n + 1, Some(*number)));
    let mut by = [0u64; WITNESSES];
    let (mut others, mut edge) = (0, 0);
    let is_done = |number: Option<u32>| number.is_some_and(|number| Some(number) <= last);
    for Sighting { alike, other, met } in record.sketch.sightings() {
        let n = alike.take_while(|number| is_done(Some(*number))).count();
        if n > 0 {
            by[n - 1] += 1;
        } else if is_done(other) {
            others += 1;
        } else if is_done(met) {
            edge += 1;
        }
    }
    let tasks = record.tasks.values().take(count).filter(|done| done.alike).count() as u64;
    let (share, fill, uneven) = (record.sketch.share(), fill(record, count), uneven(record, count));
    let incidence = Incidence { tasks, seen_by: by, others, edge, share, fill, uneven };
    Seen { tasks: count, incidence }
}

/// How far the numbers of states of tasks alike differ: their standard deviation, by
/// their mean.
fn uneven(record: &Record, tasks: usize) -> f64 {
    let alike = record.tasks.values().take(tasks).filter(|done| done.alike);
    let states: Vec<f64> = alike.map(|done| done.states as f64).collect();
    let n = states.len() as f64;
    let mean = states.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = states.iter().map(|states| (states - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0)).sqrt() / mean.max(1.0)
}

/// How full the arenas of tasks alike are, at the median.
fn fill(record: &Record, tasks: usize) -> f64 {
    let alike = record.tasks.values().take(tasks).filter(|done| done.alike);
    let mut fills: Vec<f64> = alike.map(|d| d.bits_set as f64 / d.arena as f64).collect();
    fills.sort_by(f64::total_cmp);
    fills.get(fills.len() / 2).copied().unwrap_or(0.0)
}

/// The curve of what was seen against the number of tasks: about as many points as asked for, closer together where tasks are few.
pub fn curve(record: &Record, points: usize) -> Vec<Seen> {
    let n = record.tasks.len();
    let mut at: Vec<usize> = (0..points)
        .map(|i| (n as f64).powf(i as f64 / (points.max(2) - 1) as f64).round() as usize)
        .filter(|tasks| (1..=n).contains(tasks))
        .collect();
    at.dedup();
    at.into_iter().map(|tasks| seen(record, tasks)).collect()
}
