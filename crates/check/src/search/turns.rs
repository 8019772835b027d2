//! The order in which successors are followed.

use super::Turns;
use crate::dice::Dice;

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
                for i in (1..found.len()).rev() {
                    found.swap(i, dice.below(i + 1));
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
