//! The marks that tie the steps of one transition together.

use ir::trace::TraceStep;

/// Where a step stands in its transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tie {
    /// An earlier step belongs to the same transition.
    pub before: bool,
    /// A later step belongs to the same transition.
    pub after: bool,
}

impl Tie {
    pub fn mark(self) -> &'static str {
        match (self.before, self.after) {
            (false, false) => " ",
            (false, true) => "┌",
            (true, true) => "├",
            (true, false) => "└",
        }
    }

    /// The mark on lines between this step and the next.
    pub fn mark_below(self) -> &'static str {
        if self.after { "│" } else { " " }
    }
}

/// The tie of each step.
pub fn ties(steps: &[TraceStep]) -> Vec<Tie> {
    let mut before = false;
    let tie = |(i, step): (usize, &TraceStep)| {
        let tie = Tie { before, after: step.continues && i + 1 < steps.len() };
        before = tie.after;
        tie
    };
    steps.iter().enumerate().map(tie).collect()
}

/// How many transitions the steps make up.
pub fn n_transitions(steps: &[TraceStep]) -> usize {
    ties(steps).iter().filter(|tie| !tie.after).count()
}
