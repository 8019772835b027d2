//! What is known of rendezvous before a model runs, so that an interpreter need
//! not look where no message can be taken.
//!
//! The interpreter is right without it, and is the oracle without it.

use crate::system::{ActionIdx, LocIdx, ProcIdx};

#[derive(Debug, Default)]
pub struct Waits {
    /// By process type and location the rendezvous channels whose message a
    /// process may take there: bit `n` stands for those whose number is `n` modulo
    /// 64. All bits are set where something must be evaluated, for it may go wrong.
    pub channels: Vec<Vec<u64>>,
    /// By action whether it takes the message of a rendezvous or blocks.
    pub only_takes: Vec<bool>,
}

impl Waits {
    pub fn channels(&self, proc: ProcIdx, loc: LocIdx) -> u64 {
        self.channels[proc.idx()][loc.idx()]
    }

    /// Whether a process at a location may take a message of channel number `queue`.
    pub fn may_take(&self, proc: ProcIdx, loc: LocIdx, queue: usize) -> bool {
        self.channels(proc, loc) >> (queue % 64) & 1 != 0
    }

    pub fn only_takes(&self, action: ActionIdx) -> bool {
        self.only_takes[action.idx()]
    }
}
