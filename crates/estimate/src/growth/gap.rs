//! The gap of section 5 of paper 004: is one hash function misled?
//!
//! With one hash function a search loses a state every few steps once some bits
//! are set. If the way to most states is long and narrow it hardly ever gets
//! there, however large the arena; then the number of states reached does not
//! grow with the arena and looks like full coverage. More hash functions get
//! further in the same arena, and show that there is something to get to.

use super::Point;
use crate::Estimate;

/// From this coverage on, an estimate claims that hardly anything is missing.
const NEARLY_FULL: f64 = 0.9;

/// States beyond the estimated number that are not put down to its error.
const TOLERANCE: f64 = 1.05;

/// A warning: an estimate from one hash function contradicts another run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The coverage that was claimed for one hash function.
    pub claimed: f64,
    /// The most it can be: states reached by one function by those by more.
    pub at_most: f64,
}

/// Compares a run with one hash function, whose coverage was estimated, with a
/// run with more of them in the same arena. `None` if there is nothing to warn
/// of, or if the arenas differ.
pub fn gap(single: Point, estimate: Estimate, multiple: Point) -> Option<Gap> {
    let same_arena = (single.log_bits - multiple.log_bits).abs() < 1e-6;
    if !same_arena || !single.is_sound() || !multiple.is_sound() {
        return None;
    }
    let claimed = estimate.coverage();
    let contradicted = multiple.reached * claimed > single.reached * TOLERANCE;
    let at_most = single.reached / multiple.reached;
    (claimed >= NEARLY_FULL && contradicted).then_some(Gap { claimed, at_most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(single: u64, coverage: f64, multiple: u64) -> Option<Gap> {
        let estimate = Estimate::new(coverage, coverage, coverage)?;
        gap(Point::new(1 << 20, single), estimate, Point::new(1 << 20, multiple))
    }

    #[test]
    fn warns_of_a_gap() {
        let found = check(1000, 0.99, 4000).expect("a gap");
        assert_eq!(found, Gap { claimed: 0.99, at_most: 0.25 });
        assert!(check(1000, 1.0, 1060).is_some());
    }

    #[test]
    fn keeps_quiet() {
        // More states, but no more than the estimate leaves room for.
        assert_eq!(check(1000, 0.92, 1085), None);
        assert_eq!(check(1000, 1.0, 1040), None);
        // It does not claim to have seen all.
        assert_eq!(check(1000, 0.5, 4000), None);
        assert_eq!(check(1000, 1.0, 900), None);
        let full = Estimate::new(1.0, 1.0, 1.0).expect("numbers");
        assert_eq!(gap(Point::new(1 << 20, 10), full, Point::new(1 << 21, 90)), None);
        assert_eq!(gap(Point::new(1 << 20, 0), full, Point::new(1 << 20, 90)), None);
    }
}
