//! The parts of the report: each compares two or more contenders.
//!
//! In every ratio, more than 1 means that ours is the better.

use super::contenders::{
    Graph, OURS, OURS_ALL, OURS_BITSTATE, OURS_BITSTATE_ALL, OURS_BITSTATE_CORE, OURS_COMPRESS,
    OURS_CORE, OURS_DEFAULT, SPIN, SPIN_BITSTATE, SPIN_COLLAPSE, SPIN_POR, Tool,
};
use super::startup::{LIMIT_SECONDS, Small};
use super::summary::{Pair, Ratios, Side, median};
use super::table::{Section, Table, mebibytes, or_unknown, ratio, seconds, thousands};
use super::{Measured, Results};

/// From here on, models are large: threads pay, and memory matters.
const LARGE: f64 = 1e6;

/// Those parts for which there are measurements.
pub fn all(results: &Results) -> Vec<Section> {
    let parts = [same_graph, all_cores, compression, bitstate, verdict, small_models, memory, list];
    parts.iter().filter_map(|part| part(results)).filter(|s| !s.table.rows.is_empty()).collect()
}

fn wall(side: &Side) -> Option<f64> {
    Some(side.wall_seconds)
}

fn name(pair: &Pair) -> String {
    pair.measured.model.name.clone()
}

fn per_second(figure: f64) -> String {
    thousands(figure as u64)
}

fn same_graph(results: &Results) -> Option<Section> {
    let pairs = results.pairs(SPIN, OURS);
    let mut table = Table::new([
        "model",
        "states",
        "Spin states/s",
        "our states/s",
        "Spin transitions/s",
        "our transitions/s",
        "ratio",
    ]);
    for pair in &pairs {
        table.push([
            name(pair),
            thousands(pair.ours.states as u64),
            per_second(pair.theirs.states_per_second()),
            per_second(pair.ours.states_per_second()),
            per_second(pair.theirs.transitions_per_second()),
            per_second(pair.ours.transitions_per_second()),
            ratio(pair.theirs.wall_seconds / pair.ours.wall_seconds),
        ]);
    }
    let points = vec![
        format!("States per second of ours divided by Spin's: {}.", speed(&pairs)),
        format!(
            "The same by CPU time: {}.",
            Ratios::new(&pairs, |side| side.cpu_seconds).describe()
        ),
        format!(
            "The same by each tool's own clock, which leaves out starting, reading and compiling \
             the model in ours: {}.",
            Ratios::new(&pairs, |side| Some(side.reported_seconds)).describe()
        ),
    ];
    Some(Section { title: format!("Same graph, one thread: `{OURS}` and `{SPIN}`"), points, table })
}

fn speed(pairs: &[Pair]) -> String {
    Ratios::new(pairs, wall).describe()
}

fn all_cores(results: &Results) -> Option<Section> {
    let large = |theirs| {
        let mut pairs = results.pairs(theirs, OURS_ALL);
        pairs.retain(|pair| pair.ours.states > LARGE);
        pairs
    };
    let (pairs, over_core) = (large(OURS), large(OURS_CORE));
    let mut table = Table::new([
        "model",
        "states",
        "one thread, states/s",
        "the same on one core",
        "all cores, states/s",
        "speed-up",
        "over one core",
    ]);
    for pair in &pairs {
        let core = pair.measured.side(OURS_CORE);
        table.push([
            name(pair),
            thousands(pair.ours.states as u64),
            per_second(pair.theirs.states_per_second()),
            or_unknown(core, |side| per_second(side.states_per_second())),
            per_second(pair.ours.states_per_second()),
            ratio(pair.theirs.wall_seconds / pair.ours.wall_seconds),
            or_unknown(core, |side| ratio(side.wall_seconds / pair.ours.wall_seconds)),
        ]);
    }
    let points = vec![
        format!("Speed-up on models of more than a million states: {}.", speed(&pairs)),
        format!(
            "The same by our own clock, the search alone: {}.",
            Ratios::new(&pairs, |side| Some(side.reported_seconds)).describe()
        ),
        format!(
            "All cores over one core, where the search by one thread has no other that makes \
             code and provides memory for it (`{OURS_CORE}`): {}.",
            speed(&over_core)
        ),
    ];
    Some(Section { title: format!("All cores: `{OURS_ALL}` and `{OURS}`"), points, table })
}

fn compression(results: &Results) -> Option<Section> {
    let pairs = results.pairs(SPIN_COLLAPSE, OURS_COMPRESS);
    let mut table = Table::new([
        "model",
        "states",
        "Spin states/s",
        "our states/s",
        "ratio",
        "Spin peak",
        "our peak",
        "ratio",
        "our store, B/state",
        "Spin peak, B/state",
        "our peak, B/state",
    ]);
    let bytes = |bytes: Option<f64>| or_unknown(bytes, |b| format!("{b:.1}"));
    for pair in &pairs {
        let (theirs, ours) = (pair.theirs, pair.ours);
        table.push([
            name(pair),
            thousands(ours.states as u64),
            per_second(theirs.states_per_second()),
            per_second(ours.states_per_second()),
            ratio(theirs.wall_seconds / ours.wall_seconds),
            or_unknown(theirs.peak_bytes, mebibytes),
            or_unknown(ours.peak_bytes, mebibytes),
            or_unknown(theirs.peak_bytes.zip(ours.peak_bytes), |(t, o)| ratio(t / o)),
            bytes(ours.store_bytes_per_state),
            bytes(theirs.peak_bytes_per_state()),
            bytes(ours.peak_bytes_per_state()),
        ]);
    }
    let large = || pairs.iter().filter(|pair| pair.ours.states > LARGE).map(|pair| pair.ours);
    let points = vec![
        format!("States per second of ours divided by Spin's: {}.", speed(&pairs)),
        format!(
            "Peak resident memory of Spin divided by ours: {}.",
            Ratios::new(&pairs, |side| side.peak_bytes).describe()
        ),
        format!(
            "Bytes per state, median of the {} models of more than a million states: store \
             **{}**, peak resident memory of the process {}.",
            large().count(),
            bytes(median(large().filter_map(|side| side.store_bytes_per_state))),
            bytes(median(large().filter_map(|side| side.peak_bytes_per_state()))),
        ),
        format!(
            "What compression costs us, speed divided by the speed without: {}.",
            speed(&results.pairs(OURS, OURS_COMPRESS))
        ),
    ];
    let title = format!("Compression, one thread: `{OURS_COMPRESS}` and `{SPIN_COLLAPSE}`");
    Some(Section { title, points, table })
}

fn bitstate(results: &Results) -> Option<Section> {
    let pairs = results.pairs(SPIN_BITSTATE, OURS_BITSTATE);
    let mut table = Table::new([
        "model",
        "states",
        "Spin sees",
        "ours sees",
        "Spin states/s",
        "our states/s",
        "ratio",
        "all cores, states/s",
        "speed-up",
    ]);
    for pair in &pairs {
        let all = full_side(pair.measured).map(|side| side.states);
        let all = pair.measured.model.states.map(|states| states as f64).or(all);
        let share =
            |side: &Side| or_unknown(all, |all| format!("{:.3} %", 100.0 * side.states / all));
        let cores = pair.measured.side(OURS_BITSTATE_ALL);
        table.push([
            name(pair),
            or_unknown(all, |all| thousands(all as u64)),
            share(&pair.theirs),
            share(&pair.ours),
            per_second(pair.theirs.states_per_second()),
            per_second(pair.ours.states_per_second()),
            ratio(pair.ours.states_per_second() / pair.theirs.states_per_second()),
            or_unknown(cores, |side| per_second(side.states_per_second())),
            or_unknown(cores, |side| {
                ratio(side.states_per_second() / pair.ours.states_per_second())
            }),
        ]);
    }
    // Which states are missed, and so how many, is each tool's own.
    let speed = |pairs: &[Pair]| {
        Ratios::new(pairs, |side: &Side| Some(1.0 / side.states_per_second())).describe()
    };
    let speed_up = |contender| {
        let mut pairs = results.pairs(contender, OURS_BITSTATE_ALL);
        pairs.retain(|pair| pair.ours.states > LARGE);
        speed(&pairs)
    };
    let points = vec![
        format!("States per second of ours divided by Spin's: {}.", speed(&pairs)),
        format!(
            "Speed-up by all cores on models of more than a million states: {}; over one core \
             (`{OURS_BITSTATE_CORE}`): {}.",
            speed_up(OURS_BITSTATE),
            speed_up(OURS_BITSTATE_CORE)
        ),
        "Three bits of 2^30 for each state. 'Sees' is the share of all states.".into(),
    ];
    Some(Section {
        title: format!("Bitstate: `{OURS_BITSTATE}` and `{SPIN_BITSTATE}`"),
        points,
        table,
    })
}

fn verdict(results: &Results) -> Option<Section> {
    let pairs = results.pairs(SPIN_POR, OURS_DEFAULT);
    let mut table = Table::new([
        "model",
        "Spin, same graph",
        "Spin with reduction",
        "of it `spin` and `gcc`",
        "Spin's states",
        "ours, same graph, one thread",
        "ours by default",
        "our states",
        "ratio",
    ]);
    for pair in &pairs {
        let same_graph = |contender| {
            or_unknown(pair.measured.side(contender), |side| seconds(side.verdict_seconds()))
        };
        table.push([
            name(pair),
            same_graph(SPIN),
            seconds(pair.theirs.verdict_seconds()),
            seconds(pair.theirs.preparation_seconds),
            thousands(pair.theirs.states as u64),
            same_graph(OURS),
            seconds(pair.ours.verdict_seconds()),
            thousands(pair.ours.states as u64),
            ratio(pair.theirs.verdict_seconds() / pair.ours.verdict_seconds()),
        ]);
    }
    let to_verdict =
        |pairs: &[Pair]| Ratios::new(pairs, |side: &Side| Some(side.verdict_seconds())).describe();
    let points = vec![
        format!(
            "From the model's text to the verdict, each tool at its best (Spin with partial-order \
             reduction, ours with its default reductions on all cores; graphs differ), Spin's \
             time divided by ours: {}.",
            to_verdict(&pairs)
        ),
        format!("The same graph, one thread: {}.", to_verdict(&results.pairs(SPIN, OURS))),
        "Where `gcc -O3` takes most of Spin's time, a build without it would be sooner done; it \
         is the choice for long searches."
            .into(),
    ];
    let title = format!("Time to verdict: `{OURS_DEFAULT}` and `{SPIN_POR}`");
    Some(Section { title, points, table })
}

fn small_models(results: &Results) -> Option<Section> {
    let small = &results.startup;
    let mut table =
        Table::new(["model", "states", "Spin", "`spin`", "`gcc`", "`pan`", "ours", "slowest run"]);
    for model in small {
        let step = |i: usize| or_unknown(model.spin_steps.get(i), |step| seconds(step.seconds));
        table.push([
            model.name.clone(),
            thousands(model.states),
            or_unknown(model.spin_seconds(), seconds),
            step(0),
            step(1),
            step(2),
            or_unknown(model.median(), seconds),
            or_unknown(model.slowest(), seconds),
        ]);
    }
    let medians = || small.iter().filter_map(Small::median);
    let worst = small
        .iter()
        .filter_map(|m| m.median().map(|median| (m.name.as_str(), median)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratios = small
        .iter()
        .filter_map(|m| Some((m.name.as_str(), m.spin_seconds()? / m.median()?)))
        .collect();
    let points = vec![
        format!(
            "Time to verdict of ours: median **{}**, worst {} ({}); {} of {} models take more \
             than {}.",
            or_unknown(median(medians()), seconds),
            seconds(worst.1),
            worst.0,
            medians().filter(|&median| median > LIMIT_SECONDS).count(),
            small.len(),
            seconds(LIMIT_SECONDS),
        ),
        format!(
            "Spin's, with generation and compilation: median {}. Spin's time divided by ours: {}.",
            or_unknown(median(small.iter().filter_map(Small::spin_seconds)), seconds),
            Ratios::from_each(ratios).describe()
        ),
    ];
    Some(Section { title: "Time to verdict on models below 10,000 states".into(), points, table })
}

fn memory(results: &Results) -> Option<Section> {
    let mut headings = vec!["model".to_string(), "states".to_string()];
    headings.extend(results.contenders.iter().map(|c| format!("`{}`", c.name)));
    let peak = |m: &Measured, contender| m.side(contender).and_then(|side| side.peak_bytes);
    let row = |m: &Measured| {
        let mut row = vec![
            m.model.name.clone(),
            or_unknown(full_side(m), |side| thousands(side.states as u64)),
        ];
        let peaks = results.contenders.iter().map(|c| or_unknown(peak(m, c.name), mebibytes));
        row.extend(peaks);
        row
    };
    let rows = results.measured.iter().map(row).collect();
    let against =
        |theirs, ours| Ratios::new(&results.pairs(theirs, ours), |side| side.peak_bytes).describe();
    let points = vec![
        format!("Spin's peak divided by ours, same graph: {}.", against(SPIN, OURS)),
        format!("The same, ours on all cores: {}.", against(SPIN, OURS_ALL)),
        format!("The same, both compressed: {}.", against(SPIN_COLLAPSE, OURS_COMPRESS)),
    ];
    Some(Section { title: "Peak resident memory".into(), points, table: Table { headings, rows } })
}

/// Of a contender that searched the full graph: they agree on it. Ours if
/// there is one, because Spin rounds large numbers.
fn full_side(m: &Measured) -> Option<Side> {
    let mut full = m.series.iter().filter(|s| s.contender.graph == Graph::Full);
    let ours = full.clone().find(|s| s.contender.tool == Tool::Supertrace);
    m.side(ours.or(full.next())?.contender.name)
}

/// The list of models, and the sizes that were chosen for Spin's verifiers.
fn list(results: &Results) -> Option<Section> {
    let sized: Vec<&str> = results
        .contenders
        .iter()
        .map(|c| c.name)
        .filter(|name| results.measured.iter().any(|m| sizes(m, name).is_some()))
        .collect();
    let mut headings = ["model", "from", "states", "transitions"].map(String::from).to_vec();
    headings.extend(sized.iter().map(|name| format!("`{name}`")));
    let row = |m: &Measured| {
        let full = full_side(m);
        let mut row = vec![
            m.model.name.clone(),
            m.model.source.clone(),
            or_unknown(full, |side| thousands(side.states as u64)),
            or_unknown(full, |side| thousands(side.transitions as u64)),
        ];
        row.extend(sized.iter().map(|name| or_unknown(sizes(m, name), |s| format!("`{s}`"))));
        row
    };
    let rows = results.measured.iter().map(row).collect();
    let points = vec!["With the sizes that were chosen for Spin's verifiers.".into()];
    Some(Section { title: "Models".into(), points, table: Table { headings, rows } })
}

fn sizes<'a>(m: &'a Measured, contender: &str) -> Option<&'a str> {
    let series = m.series.iter().find(|s| s.contender.name == contender)?;
    series.prepared.sizes.as_deref()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn ratios_are_above_one_where_ours_is_better() {
        let section = same_graph(&sample::results()).unwrap();
        let ratios: Vec<&str> = section.table.rows.iter().map(|row| row[6].as_str()).collect();
        assert_eq!(ratios, ["4.00", "1.00"]);
        let expected = "geometric mean **2.00**, lowest 1.00 (slow), 2 models";
        assert!(section.points[0].contains(expected), "{}", section.points[0]);
    }

    #[test]
    fn compression_shows_speed_memory_and_bytes_per_state() {
        let section = compression(&sample::results()).unwrap();
        let row = section.table.rows[0].join(" ");
        assert_eq!(row, "fast 2,000,000 500,000 2,000,000 4.00 64 MiB 16 MiB 4.00 8.0 33.6 8.4");
        assert!(section.points[2].contains("median of the 2 models"), "{}", section.points[2]);
    }

    #[test]
    fn bitstate_compares_states_per_second_and_says_what_was_seen() {
        let section = bitstate(&sample::results()).unwrap();
        let row = section.table.rows[0].join(" ");
        let expected = "fast 2,000,000 95.000 % 95.000 % 475,000 1,900,000 4.00 1,900,000 1.00";
        assert_eq!(row, expected);
    }

    #[test]
    fn time_to_verdict_includes_generation_and_compilation() {
        let section = verdict(&sample::results()).unwrap();
        assert_eq!(section.table.rows[0].last().map(String::as_str), Some("7.00"));
    }

    #[test]
    fn a_part_without_measurements_is_left_out() {
        let mut results = sample::results();
        results.measured[0].series.retain(|s| s.contender.name != OURS_COMPRESS);
        results.measured.truncate(1);
        let titles: Vec<String> = all(&results).into_iter().map(|s| s.title).collect();
        assert!(!titles.iter().any(|t| t.starts_with("Compression")), "{titles:?}");
        assert_eq!(titles.len(), 6);
    }

    #[test]
    fn every_table_is_rectangular() {
        for section in all(&sample::results()) {
            let width = section.table.headings.len();
            assert!(section.table.rows.iter().all(|row| row.len() == width), "{}", section.title);
        }
    }
}
