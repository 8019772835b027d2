//! Depth-first search by one thread in strict order: a state is marked when it
//! is taken, and all behind it is searched before its neighbours. For precision
//! on demand.
//!
//! Precision on demand (Melatti, Palmer and Gopalakrishnan): a lossy store may
//! take a new state for a visited one. Before a state counts as visited, the
//! chain of its first successors is looked up; one that is not visited proves
//! the state new.
//!
//! The paper relies on the first successor being taken first (Proposition 1).
//! Here the states on the way are known exactly, so the first successor as the
//! model has it may be taken at any time, and *last* is best: of the states
//! behind a state that was missed, those that are taken early have most likely
//! been met already behind its neighbours, which were searched before it. On
//! four models of a million states and more, with signatures of four bits, the
//! chain found 30 to 65 % of the missed states if its first link is taken last
//! (`Turns::Reverse`), and 15 to 25 % if it is taken first, at the same cost.
//!
//! Invariant: if a state that was taken is met again and is not on the way, all
//! its successors were taken, and each is marked: its own mark was set, or it
//! was found to be set. Marks are never cleared. So all links of its chain are
//! marked, up to the first that is on the way, by induction over the links:
//! - A link that was new when it was taken is such a state itself.
//! - One that counted as visited had a chain that was marked, up to a link that
//!   was on the way then; if that is on the way no more, it is such a state.
//! - What comes after a link that is on the way now is not asked for.
//! - A state without successors proves nothing: it counts as what its mark says.
//!   (As printed, the algorithm takes it for new every time.)
//! - A limit of depth would cut chains, so there is none here. States of which
//!   some bytes do not count have no chain of their own, so they are refused.
//! - A table that is full drops states without a mark. From then on marks are
//!   believed.
//!
//! So no state is counted twice, whatever collides and whatever the order, as
//! long as the first successor is the same every time, which `Model` promises.

mod chain;
mod way;

use super::Maker;
use super::run::Run;
use crate::bytes::Fingerprint;
use crate::dice::Dice;
use crate::outcome::Stop;
use crate::store::{Filter, LossyStore, Marked};
use chain::Chain;
use way::Way;

/// Expansions between two reports and looks at the clock.
const REPORT_EXPANSIONS: u64 = 512;

/// Searches from the initial states until all is seen or a limit is met.
pub(super) fn search<F: Filter>(make: &Maker, run: &Run, store: &LossyStore<'_, F>) {
    let mut model = make();
    let mut way = Way::new(run, store);
    way.expand(Fingerprint(0, 0), |sink| model.initial(sink));
    let (mut state, mut chain, mut lately) = (Vec::new(), Chain::default(), Lately::new());
    let mut dice = Dice(run.options.seed);
    let (mut states, mut expansions) = (0, 0u64);
    while !run.is_stopped()
        && let Some(print) = way.take(&mut state)
    {
        if store.filter.contains(print) {
            if lately.met(print) {
                continue;
            }
            if store.filter.is_full() || !chain.proves_new(&mut *model, &state, print, &mut way) {
                lately.keep(print);
                continue;
            }
        }
        match store.mark(print, &mut dice) {
            Marked::New | Marked::Seen => states += 1,
            Marked::Dropped => continue,
            Marked::NoRoom => {
                run.stop(Stop::Memory);
                continue;
            }
        }
        lately.keep(print);
        store.collect(&state);
        expansions += 1;
        way.expand(print, |sink| model.expand(&state, sink));
        if expansions.is_multiple_of(REPORT_EXPANSIONS) {
            way.report(&mut states);
            run.look_at_clock();
        }
    }
    way.report(&mut states);
    way.give_back();
    run.add_reached(model.reached());
}

/// States that were taken or looked up lately: they need no chain, as the
/// answer would be the same. Half to three quarters of the lookups end here.
struct Lately {
    prints: Vec<u64>,
}

impl Lately {
    /// As many as fit in a near cache: four times as many save a twentieth of
    /// the time at best.
    const N: usize = 1 << 14;

    fn new() -> Lately {
        Lately { prints: vec![0; Lately::N] }
    }

    fn at(Fingerprint(a, _): Fingerprint) -> usize {
        a as usize % Lately::N
    }

    fn met(&self, print: Fingerprint) -> bool {
        self.prints[Lately::at(print)] == print.1
    }

    fn keep(&mut self, print: Fingerprint) {
        self.prints[Lately::at(print)] = print.1;
    }
}
