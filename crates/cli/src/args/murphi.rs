//! What only Murphi models need, as the model knows it.

use super::{Deadlock, Symmetry};
use ir::rules;

impl From<Deadlock> for rules::Deadlock {
    fn from(deadlock: Deadlock) -> rules::Deadlock {
        match deadlock {
            Deadlock::Off => rules::Deadlock::Off,
            Deadlock::Stuck => rules::Deadlock::Stuck,
            Deadlock::Stuttering => rules::Deadlock::Stuttering,
        }
    }
}

impl From<rules::Deadlock> for Deadlock {
    fn from(deadlock: rules::Deadlock) -> Deadlock {
        match deadlock {
            rules::Deadlock::Off => Deadlock::Off,
            rules::Deadlock::Stuck => Deadlock::Stuck,
            rules::Deadlock::Stuttering => Deadlock::Stuttering,
        }
    }
}

impl From<Symmetry> for rules::Symmetry {
    fn from(symmetry: Symmetry) -> rules::Symmetry {
        match symmetry {
            Symmetry::Off => rules::Symmetry::Off,
            Symmetry::Canonical => rules::Symmetry::Canonical,
            Symmetry::Heuristic => rules::Symmetry::Heuristic,
        }
    }
}

impl From<rules::Symmetry> for Symmetry {
    fn from(symmetry: rules::Symmetry) -> Symmetry {
        match symmetry {
            rules::Symmetry::Off => Symmetry::Off,
            rules::Symmetry::Canonical => Symmetry::Canonical,
            rules::Symmetry::Heuristic => Symmetry::Heuristic,
        }
    }
}
