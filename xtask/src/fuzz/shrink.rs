//! Makes a model that shows a difference smaller, as long as it shows one of
//! the same kind.

use super::Comparison;
use super::item::{self, Item};
use std::time::{Duration, Instant};

/// Time to spend on one model.
const LIMIT: Duration = Duration::from_secs(90);

/// The smaller model and how it differs.
pub fn shrink(
    items: Vec<Item>,
    difference: String,
    compare: &dyn Fn(&str) -> Comparison,
) -> (Vec<Item>, String) {
    let deadline = Instant::now() + LIMIT;
    let kind = kind(&difference).to_string();
    let (mut items, mut difference) = (items, difference);
    loop {
        let before = item::count(&items);
        let mut at = 0;
        while at < item::count(&items) {
            if Instant::now() > deadline {
                return (items, difference);
            }
            let smaller = [false, true].iter().find_map(|&keep_body| {
                let candidate = item::without(&items, at, keep_body);
                match compare(&item::text(&candidate)) {
                    Comparison::Different(d) if self::kind(&d) == kind => Some((candidate, d)),
                    _ => None,
                }
            });
            match smaller {
                Some(smaller) => (items, difference) = smaller,
                None => at += 1,
            }
        }
        if item::count(&items) == before {
            return (items, difference);
        }
    }
}

/// The words before the colon name the kind of a difference.
fn kind(difference: &str) -> &str {
    difference.split(':').next().unwrap_or(difference)
}
