//! States that wait, within the memory that a search may use.

use super::worker::Waiting;
use crate::memory::Budget;
use crate::store::Full;
use std::sync::Arc;

/// A vector of waiting states whose memory is taken from the budget.
pub(super) struct Stack {
    items: Vec<Waiting>,
    budget: Arc<Budget>,
    taken: u64,
}

impl Stack {
    pub fn new(budget: &Arc<Budget>) -> Stack {
        Stack { items: Vec::new(), budget: budget.clone(), taken: 0 }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn items(&self) -> &[Waiting] {
        &self.items
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Adds states, the last on top. They are added even if memory is full:
    /// none may be lost.
    pub fn push_all(&mut self, states: impl ExactSizeIterator<Item = Waiting>) -> Result<(), Full> {
        let room = self.reserve(states.len());
        self.items.extend(states);
        room
    }

    /// Moves up to `n` states from the top to `to`, topmost first.
    pub fn pop_into(&mut self, n: usize, to: &mut Vec<Waiting>) {
        let from = self.items.len().saturating_sub(n);
        to.clear();
        to.extend(self.items.drain(from..).rev());
    }

    /// All states, in order; the memory is no longer counted.
    pub fn take(&mut self) -> Vec<Waiting> {
        self.budget.give(std::mem::take(&mut self.taken));
        std::mem::take(&mut self.items)
    }

    /// Half of the states, those at the bottom.
    pub fn split_bottom(&mut self) -> Vec<Waiting> {
        self.items.drain(..self.items.len() / 2).collect()
    }

    fn reserve(&mut self, extra: usize) -> Result<(), Full> {
        let needed = self.items.len() + extra;
        if needed <= self.items.capacity() {
            return Ok(());
        }
        // Left to itself a vector doubles, and breaks a memory limit by far.
        let roomy = (self.items.capacity() / 4 * 5).max(needed).max(1024);
        let bytes = (roomy * size_of::<Waiting>()) as u64;
        if !self.budget.take(bytes - self.taken) {
            return Err(Full);
        }
        self.taken = bytes;
        self.items.reserve_exact(roomy - self.items.len());
        Ok(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.budget.give(self.taken);
    }
}
