//! The order in which successors are followed.

use super::Turns;
use crate::dice::Dice;

/// Where much was found, a random order keeps together what was found together: so
/// many runs, or some more. States of a run have much in common, so that the processor
/// can foresee what is done with them: tasks of Snark are 1.06 times as fast, and as
/// many of them find the violation.
const RUNS: usize = 4;

impl Turns {
    /// Puts what was found one after the other into the order in which it is
    /// to be followed.
    pub(super) fn arrange<T>(self, found: &mut [T], dice: &mut Dice) {
        match self {
            Turns::Forward => {}
            Turns::Reverse => found.reverse(),
            Turns::Rotated => {
                let first = dice.below(found.len().max(1));
                found.rotate_left(first);
            }
            Turns::Random => {
                let run = (found.len() / RUNS).max(1);
                found.rotate_left(dice.below(found.len().max(1)));
                for i in (1..found.len() / run).rev() {
                    let (before, from_here) = found.split_at_mut(i * run);
                    let other = before.chunks_exact_mut(run).nth(dice.below(i + 1));
                    // None is itself.
                    other
                        .into_iter()
                        .for_each(|other| other.swap_with_slice(&mut from_here[..run]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_come_and_nothing_is_lost() {
        let mut dice = Dice(3);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..200 {
            let mut items = [0, 1, 2, 3];
            Turns::Random.arrange(&mut items, &mut dice);
            seen.insert(items);
            items.sort();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        assert_eq!(seen.len(), 24);
        let mut first = std::collections::HashSet::new();
        for _ in 0..1000 {
            let mut items: Vec<usize> = (0..23).collect();
            Turns::Random.arrange(&mut items, &mut dice);
            first.insert(items[0]);
            items.sort();
            assert!(items.into_iter().eq(0..23));
        }
        assert_eq!(first.len(), 23);
        let mut items = [0, 1, 2];
        Turns::Reverse.arrange(&mut items, &mut dice);
        assert_eq!(items, [2, 1, 0]);
        let mut rotated = std::collections::HashSet::new();
        for _ in 0..100 {
            let mut items = [0, 1, 2];
            Turns::Rotated.arrange(&mut items, &mut dice);
            rotated.insert(items);
        }
        assert_eq!(rotated, [[0, 1, 2], [1, 2, 0], [2, 0, 1]].into());
        Turns::Rotated.arrange(&mut [0; 0], &mut dice);
    }
}
