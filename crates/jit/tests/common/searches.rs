//! Searches in which the model may leave out successors: they must find the
//! same states and count the same transitions, in whatever order.

use super::{Event, InRows, Taken, expand, initial};
use ir::fault::FaultKind;
use ir::model::Model;
use ir::rows::Cause;
use std::collections::{HashMap, VecDeque};

/// Which of the waiting states comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    First,
    Last,
    Any,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// All states, with the length of the way that they were first found by.
    pub states: HashMap<Vec<u8>, u32>,
    pub transitions: u64,
    /// Successors that were made.
    pub made: u64,
}

impl Found {
    fn add(&mut self, state: &[u8], depth: u32) -> bool {
        let n_before = self.states.len();
        self.states.entry(state.to_vec()).or_insert(depth);
        self.states.len() > n_before
    }
}

/// Compares searches of all states, unless there are more than `most`. Both
/// models that leave out successors leave out the same.
pub fn agree(
    oracle: &mut dyn Model,
    native: &mut dyn Model,
    interpreted: &mut dyn Model,
    most: usize,
) -> Result<(), String> {
    let Some(expected) = search_all(oracle, most) else { return Ok(()) };
    for order in [Order::First, Order::Last, Order::Any] {
        let found = search(native, order);
        if search(interpreted, order) != found {
            return Err(format!("interpreter and native code leave out others ({order:?} first)"));
        }
        let same_states = match order {
            // Breadth first, ways are shortest.
            Order::First => found.states == expected.states,
            _ => found.states.keys().all(|state| expected.states.contains_key(state)),
        };
        let (states, transitions) = (found.states.len(), found.transitions);
        let (n_states, n_transitions) = (expected.states.len(), expected.transitions);
        if !same_states || states != n_states || transitions != n_transitions {
            return Err(format!(
                "{states} states and {transitions} transitions instead of {n_states} and \
                 {n_transitions}, or longer ways to them ({order:?} first)"
            ));
        }
    }
    Ok(())
}

/// A search that makes all successors; `None` if it takes too long, or if some
/// step goes wrong, so that a search would end there, or if it would find other
/// states in another order.
fn search_all(model: &mut dyn Model, most: usize) -> Option<Found> {
    if model.hidden() > 0 {
        return None;
    }
    let mut found = Found::default();
    let mut waiting = VecDeque::new();
    let (mut events, mut depth) = (initial(model), 0);
    loop {
        for event in events {
            match event {
                Event::Successor(state, _) if found.add(&state, depth) => {
                    waiting.push_back((state, depth + 1));
                }
                Event::Fault(fault, _)
                    if !matches!(fault.kind, FaultKind::Assertion | FaultKind::Deadlock) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        let Some((state, next)) = waiting.pop_front() else { return Some(found) };
        (events, depth) = (expand(model, &state, usize::MAX)?.0, next);
        let successors = events.iter().filter(|e| matches!(e, Event::Successor(..)));
        found.transitions += successors.count() as u64;
        if found.states.len() > most {
            return None;
        }
    }
}

pub fn search(model: &mut dyn Model, order: Order) -> Found {
    let mut found = Found::default();
    let mut waiting: VecDeque<(Vec<u8>, Cause, u32)> = VecDeque::new();
    for event in initial(model) {
        if let Event::Successor(state, _) = event
            && found.add(&state, 0)
        {
            waiting.push_back((state, 0, 0));
        }
    }
    let mut dice = 1u64;
    loop {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let next = match order {
            Order::First => waiting.pop_front(),
            Order::Last => waiting.pop_back(),
            Order::Any => waiting.swap_remove_back((dice >> 33) as usize % waiting.len().max(1)),
        };
        let Some((state, cause, depth)) = next else { return found };
        let mut sink = InRows::new(1 << 12);
        model.expand_found(&state, cause, &mut sink);
        sink.take();
        found.transitions += sink.rows.take_count() + sink.told;
        found.made += sink.successors.len() as u64;
        for Taken { state, cause, .. } in sink.successors {
            if found.add(&state, depth + 1) {
                waiting.push_back((state, cause, depth + 1));
            }
        }
    }
}
