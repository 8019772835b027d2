//! Shorter counterexamples: a depth-first search finds long ones.
//!
//! Two ways. A breadth-first search for the same violation gives a shortest
//! path if it gets that far. If it does not, shortcuts are looked for along
//! the path that is known: from each state on it, a small breadth-first search
//! may meet the path again further on.

use crate::outcome::Found;
use crate::search::{Maker, Options, Order, Target, check};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::trace::{Followed, begin, follow};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// States that one search for a shortcut may expand.
const SHORTCUT_STATES: usize = 2000;

/// A shorter path to the same violation, or another one that is a target too, if
/// there is one within reach.
pub fn shorten(
    make: &Maker,
    found: &Found,
    target: Target,
    time: Option<Duration>,
    memory: u64,
    threads: usize,
    interrupt: &AtomicBool,
) -> Option<Found> {
    let started = Instant::now();
    let options = Options {
        order: Order::Bfs,
        threads,
        depth: Some(found.depth),
        target: Some(target),
        memory,
        // Half of the time is for shortcuts.
        time: time.map(|t| t / 2),
        interrupt,
        ..Options::default()
    };
    let outcome = check(make, &options).ok()?;
    if let Some(shortest) = outcome.violations.into_iter().next() {
        return Some(shortest).filter(|s| s.depth < found.depth);
    }
    let deadline = time.map(|t| started + t);
    let over = || {
        // Relaxed: a flag on its own, seen late does no harm.
        interrupt.load(Ordering::Relaxed) || deadline.is_some_and(|d| Instant::now() >= d)
    };
    shortcuts(&mut *make(), found, &over)
}

/// A path: states and the steps that lead from each to the next.
struct Path {
    /// Steps to the first state.
    start: Vec<Step>,
    nodes: Vec<Vec<u8>>,
    transitions: Vec<Vec<Step>>,
    /// Steps from the last state into the fault; none for a deadlock.
    last: Vec<Step>,
}

fn shortcuts(model: &mut dyn Model, found: &Found, over: &dyn Fn() -> bool) -> Option<Found> {
    let path = walk(model, found)?;
    let hidden = model.hidden();
    let index: HashMap<&[u8], usize> =
        path.nodes.iter().enumerate().map(|(i, state)| (&state[hidden..], i)).collect();
    let mut steps = path.start.clone();
    let (mut at, mut depth) = (0, 0);
    while at + 1 < path.nodes.len() {
        let jump = if over() { None } else { jump(model, &path, &index, at) };
        let (next, by) = jump.unwrap_or_else(|| (at + 1, vec![path.transitions[at].clone()]));
        depth += by.len();
        steps.extend(by.concat());
        at = next;
    }
    steps.extend_from_slice(&path.last);
    depth += !path.last.is_empty() as usize;
    (depth < found.depth).then(|| Found { fault: found.fault.clone(), depth, steps })
}

/// The states along a path.
fn walk(model: &mut dyn Model, found: &Found) -> Option<Path> {
    let Followed::Next { state, n_steps } = begin(model, &found.steps, None) else { return None };
    let (start, mut rest) = found.steps.split_at(n_steps);
    let (transitions, last) = (Vec::new(), Vec::new());
    let mut path = Path { start: start.to_vec(), nodes: vec![state], transitions, last };
    let faulty = found.fault.kind != FaultKind::Deadlock;
    let expected = faulty.then_some(found.fault.kind.into());
    while !rest.is_empty() {
        match follow(model, path.nodes.last()?, rest, expected) {
            Followed::Next { state, n_steps } => {
                path.nodes.push(state);
                path.transitions.push(rest[..n_steps].to_vec());
                rest = &rest[n_steps..];
            }
            Followed::Fault(_) => {
                path.last = rest.to_vec();
                rest = &[];
            }
            Followed::Nowhere => return None,
        }
    }
    Some(path)
}

/// From state number `at`, a way to a later state that is shorter than the
/// path's own. Of those found, the one that saves most.
fn jump(
    model: &mut dyn Model,
    path: &Path,
    index: &HashMap<&[u8], usize>,
    at: usize,
) -> Option<(usize, Vec<Vec<Step>>)> {
    let hidden = model.hidden();
    // Each state with where it came from and the steps from there.
    let mut seen: Vec<(Vec<u8>, usize, Vec<Step>, usize)> =
        vec![(path.nodes[at].clone(), 0, Vec::new(), 0)];
    let mut known: HashSet<Vec<u8>> = HashSet::from([path.nodes[at][hidden..].to_vec()]);
    let mut queue = VecDeque::from([0]);
    let mut best: Option<(usize, usize, usize)> = None;
    let mut expanded = 0;
    while let Some(from) = queue.pop_front() {
        expanded += 1;
        if expanded > SHORTCUT_STATES {
            break;
        }
        let mut all = All(Vec::new());
        model.expand(&seen[from].0.clone(), &mut all);
        let depth = seen[from].3 + 1;
        for (state, steps) in all.0 {
            if !known.insert(state[hidden..].to_vec()) {
                continue;
            }
            if let Some(&meets) = index.get(&state[hidden..]) {
                let saved = meets.saturating_sub(at).saturating_sub(depth);
                if saved > best.map_or(0, |(saved, ..)| saved) {
                    best = Some((saved, meets, seen.len()));
                }
            }
            queue.push_back(seen.len());
            seen.push((state, from, steps, depth));
        }
    }
    let (_, meets, mut state) = best?;
    let mut by = Vec::new();
    while state != 0 {
        by.push(seen[state].2.clone());
        state = seen[state].1;
    }
    by.reverse();
    Some((meets, by))
}

/// Keeps all successors.
struct All(Vec<(Vec<u8>, Vec<Step>)>);

impl Sink for All {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.0.push((state.to_vec(), steps.to_vec()));
        Flow::Continue
    }

    fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
        Flow::Continue
    }
}
