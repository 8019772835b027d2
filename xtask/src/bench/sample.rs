//! Made-up measurements for the tests of what is done with them.

use super::contenders::{self, Contender, Graph, Tool};
use super::models::Model;
use super::process::Usage;
use super::{Figures, Measured, Prepared, Results, Run, Series, Step};

/// A model of two million states on which every contender ran once, for so
/// many seconds as `wall` says.
pub fn measured(name: &str, wall: impl Fn(&Contender) -> f64) -> Measured {
    let model = Model {
        name: name.into(),
        source: "made up".into(),
        path: "nowhere".into(),
        states: Some(2_000_000),
    };
    let series = contenders::all(2).into_iter().map(|c| series(wall(&c), c)).collect();
    Measured { model, series }
}

pub fn series(wall_seconds: f64, contender: Contender) -> Series {
    let ours = contender.tool == Tool::Supertrace;
    let states = match contender.graph {
        Graph::Full => 2_000_000,
        Graph::Sampled => 1_900_000,
        _ => 1_000_000,
    };
    let figures = Figures {
        states,
        transitions: 3 * states,
        depth: Some(10),
        seconds: wall_seconds,
        store_bytes_per_state: ours.then_some(8.0),
    };
    let usage = Usage {
        wall_seconds,
        cpu_seconds: Some(wall_seconds),
        peak_bytes: Some(if ours { 16 << 20 } else { 64 << 20 }),
    };
    let step = |name| Step { name, seconds: 3.0 };
    let steps = match contender.tool {
        Tool::Spin => vec![step("spin")],
        Tool::Rumur => vec![step("rumur"), step("cc")],
        Tool::Supertrace => Vec::new(),
    };
    let prepared = Prepared {
        program: "nothing".into(),
        args: Vec::new(),
        dir: "nowhere".into(),
        sizes: (!ours).then(|| "-m1 -w2".into()),
        steps,
        limit: None,
        read: |_| Err("nothing to read".into()),
    };
    Series { contender, prepared, runs: vec![Run { figures, usage }], is_over: false }
}

/// On the first model ours takes a second and Spin four, on the second two
/// seconds and Spin two.
pub fn results() -> Results {
    let seconds =
        |spin: f64, ours: f64| move |c: &Contender| if c.tool == Tool::Spin { spin } else { ours };
    Results {
        contenders: contenders::all(2),
        measured: vec![measured("fast", seconds(4.0, 1.0)), measured("slow", seconds(2.0, 2.0))],
        startup: Vec::new(),
        skipped: Vec::new(),
        failures: Vec::new(),
        load_before: None,
        commit: None,
    }
}
