//! Made-up measurements for the tests of what is done with them.

use super::contenders;
use super::models::{Search, Subject};
use crate::bench::contenders::{Contender, Tool};
use crate::bench::models::Model;
use crate::bench::sample::series;
use crate::bench::{Measured, Results};

/// A model of two million states, a million under symmetry.
pub fn subject() -> Subject {
    let model = Model {
        name: "m".into(),
        source: "made up".into(),
        path: "nowhere".into(),
        states: Some(2_000_000),
    };
    let full = Search::Counts(2_000_000, 6_000_000);
    let canonical = Search::Counts(1_000_000, 3_000_000);
    Subject { model, full, canonical, not_for_rumur: None }
}

/// Every contender ran once on one model: Rumur for eight seconds, ours for
/// two, with two threads for one.
pub fn results() -> Results {
    let seconds = |c: &Contender| match c.tool {
        Tool::Supertrace if c.name.ends_with("-two") => 1.0,
        Tool::Supertrace => 2.0,
        _ => 8.0,
    };
    let contenders = contenders::all();
    let series = contenders.iter().map(|c| series(seconds(c), c.clone())).collect();
    Results {
        measured: vec![Measured { model: subject().model, series }],
        contenders,
        startup: Vec::new(),
        skipped: Vec::new(),
        failures: Vec::new(),
        load_before: None,
        commit: None,
    }
}
