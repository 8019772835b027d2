//! The parts of the report: each compares two or more contenders.
//!
//! In every ratio, more than 1 means that ours is the better.

use super::contenders::{
    EXHAUSTIVE_SECONDS, OURS, OURS_CANONICAL, OURS_CANONICAL_TWO, OURS_HEURISTIC, OURS_TWO, RUMUR,
    RUMUR_EXHAUSTIVE, RUMUR_HEURISTIC,
};
use crate::bench::summary::{Pair, Ratios, Side};
use crate::bench::table::{Section, Table, mebibytes, or_unknown, ratio, seconds, thousands};
use crate::bench::{Measured, Results, Series};

/// Only models of more states count in the means: smaller ones are searched in
/// less time than a process needs to start.
const LARGE: f64 = 1e5;
/// How many times as fast as Rumur we want to be, without symmetry and with it.
const AIM: f64 = 12.0;
const AIM_SYMMETRY: f64 = 6.0;
/// How many times as fast as one thread two are to be.
const AIM_TWO: f64 = 1.8;

/// Those parts for which there are measurements.
pub fn all(results: &Results) -> Vec<Section> {
    let parts =
        [no_symmetry, two_threads, symmetry, symmetry_rates, two_threads_symmetry, verdict, list];
    parts.iter().map(|part| part(results)).filter(|s| !s.table.rows.is_empty()).collect()
}

fn large(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.retain(|pair| pair.ours.states > LARGE);
    pairs
}

fn wall(side: &Side) -> Option<f64> {
    Some(side.wall_seconds)
}

fn count(figure: f64) -> String {
    thousands(figure as u64)
}

fn time(side: Option<Side>) -> String {
    or_unknown(side, |side| seconds(side.wall_seconds))
}

fn rate(side: Option<Side>) -> String {
    or_unknown(side, |side| count(side.states_per_second()))
}

fn peak(side: Option<Side>) -> String {
    or_unknown(side.and_then(|side| side.peak_bytes), mebibytes)
}

fn states(side: Option<Side>) -> String {
    or_unknown(side, |side| count(side.states))
}

/// Of a quantity of which less is better.
fn quotient(
    theirs: Option<Side>,
    ours: Option<Side>,
    quantity: impl Fn(&Side) -> Option<f64>,
) -> String {
    let both = || Some((quantity(&theirs?)?, quantity(&ours?)?));
    or_unknown(both(), |(theirs, ours)| ratio(theirs / ours))
}

fn no_symmetry(results: &Results) -> Section {
    let mut table = Table::new([
        "model",
        "states",
        "rules fired",
        "Rumur",
        "ours",
        "Rumur states/s",
        "our states/s",
        "ratio",
        "Rumur peak",
        "our peak",
    ]);
    for m in &results.measured {
        let Some(ours) = m.side(OURS) else { continue };
        let rumur = m.side(RUMUR);
        table.push([
            m.model.name.clone(),
            count(ours.states),
            count(ours.transitions),
            time(rumur),
            time(Some(ours)),
            rate(rumur),
            rate(Some(ours)),
            quotient(rumur, Some(ours), wall),
            peak(rumur),
            peak(Some(ours)),
        ]);
    }
    let pairs = large(results.pairs(RUMUR, OURS));
    let points = vec![
        format!(
            "States per second of ours divided by Rumur's, models of more than 100,000 states: \
             {}. The aim is {AIM}.",
            Ratios::new(&pairs, wall).describe()
        ),
        format!("The same by CPU time: {}.", Ratios::new(&pairs, |s| s.cpu_seconds).describe()),
        format!(
            "Peak memory of Rumur divided by ours: {}.",
            Ratios::new(&pairs, |s| s.peak_bytes).describe()
        ),
    ];
    Section { title: format!("No symmetry, one thread: `{OURS}` and `{RUMUR}`"), points, table }
}

fn two_threads(results: &Results) -> Section {
    speed_up(results, "No symmetry", OURS, OURS_TWO)
}

fn two_threads_symmetry(results: &Results) -> Section {
    speed_up(results, "Symmetry", OURS_CANONICAL, OURS_CANONICAL_TWO)
}

fn speed_up(results: &Results, title: &str, one: &str, two: &str) -> Section {
    let mut table = Table::new([
        "model",
        "states",
        "one thread",
        "two threads",
        "one, states/s",
        "two, states/s",
        "speed-up",
        "one, peak",
        "two, peak",
    ]);
    for pair in results.pairs(one, two) {
        let (one, two) = (Some(pair.theirs), Some(pair.ours));
        table.push([
            pair.measured.model.name.clone(),
            states(two),
            time(one),
            time(two),
            rate(one),
            rate(two),
            quotient(one, two, wall),
            peak(one),
            peak(two),
        ]);
    }
    let pairs = large(results.pairs(one, two));
    let points = vec![
        format!(
            "Speed-up by a second thread, models of more than 100,000 states: {}. The aim is \
             {AIM_TWO}.",
            Ratios::new(&pairs, wall).describe()
        ),
        format!(
            "The same by our own clock, which leaves out starting, reading and compiling the \
             model: {}.",
            Ratios::new(&pairs, |s| Some(s.reported_seconds)).describe()
        ),
    ];
    Section { title: format!("{title}, two threads: `{two}` and `{one}`"), points, table }
}

/// The faster of Rumur's two reductions.
fn best(m: &Measured) -> Option<(&'static str, Side)> {
    let of = |name| m.side(name).map(|side| (name, side));
    let both = [RUMUR_HEURISTIC, RUMUR_EXHAUSTIVE].into_iter().filter_map(of);
    both.min_by(|a, b| a.1.wall_seconds.total_cmp(&b.1.wall_seconds))
}

/// Rumur at its best and our canonical form.
fn symmetric_pairs(results: &Results) -> Vec<Pair<'_>> {
    let pair = |m| {
        let (theirs, ours) = (best(m)?.1, Measured::side(m, OURS_CANONICAL)?);
        Some(Pair { measured: m, theirs, ours })
    };
    results.measured.iter().filter_map(pair).collect()
}

fn series<'a>(m: &'a Measured, contender: &str) -> Option<&'a Series> {
    m.series.iter().find(|s| s.contender.name == contender)
}

/// Its time, or that it took longer than it may.
fn limited_time(m: &Measured, contender: &str) -> String {
    let over = series(m, contender).filter(|s| s.is_over).and_then(|s| s.prepared.limit);
    over.map_or_else(|| time(m.side(contender)), |limit| format!("over {limit} s"))
}

fn symmetry(results: &Results) -> Section {
    let mut table = Table::new([
        "model",
        "states",
        "rules fired",
        "Rumur heuristic",
        "its states",
        "Rumur exhaustive",
        "ours canonical",
        "ours heuristic",
        "its states",
        "ratio",
    ]);
    for m in &results.measured {
        let Some(ours) = m.side(OURS_CANONICAL) else { continue };
        let (rumur, heuristic) = (m.side(RUMUR_HEURISTIC), m.side(OURS_HEURISTIC));
        table.push([
            m.model.name.clone(),
            count(ours.states),
            count(ours.transitions),
            time(rumur),
            states(rumur),
            limited_time(m, RUMUR_EXHAUSTIVE),
            time(Some(ours)),
            time(heuristic),
            states(heuristic),
            quotient(best(m).map(|(_, side)| side), Some(ours), wall),
        ]);
    }
    let title = format!("Symmetry, one thread: `{OURS_CANONICAL}` and Rumur's faster reduction");
    Section { title, points: symmetry_points(results), table }
}

fn symmetry_points(results: &Results) -> Vec<String> {
    let (pairs, large) = (symmetric_pairs(results), large(symmetric_pairs(results)));
    let both = match results.pairs(RUMUR_EXHAUSTIVE, OURS_CANONICAL).len() {
        0 => "no model here".into(),
        1 => "one model".into(),
        n => format!("{n} models"),
    };
    vec![
        format!(
            "Rumur's time, by the faster of its two reductions, divided by ours, canonical, models \
             of more than 100,000 canonical states: {}. The aim is {AIM_SYMMETRY}.",
            Ratios::new(&large, wall).describe()
        ),
        format!("The same by CPU time: {}.", Ratios::new(&large, |s| s.cpu_seconds).describe()),
        format!("All models, also small ones: {}.", Ratios::new(&pairs, wall).describe()),
        format!(
            "Both heuristic, models of more than 100,000 states: {}.",
            Ratios::new(&self::large(results.pairs(RUMUR_HEURISTIC, OURS_HEURISTIC)), wall)
                .describe()
        ),
        format!(
            "States and rules fired are those of our canonical form. Rumur's exhaustive reduction, \
             which counts the same, ended within {EXHAUSTIVE_SECONDS} s on {both}."
        ),
    ]
}

fn symmetry_rates(results: &Results) -> Section {
    let mut table = Table::new([
        "model",
        "Rumur's faster",
        "Rumur states/s",
        "our states/s",
        "ratio",
        "Rumur peak",
        "our peak",
    ]);
    let per_state = |side: &Side| Some(1.0 / side.states_per_second());
    for m in &results.measured {
        let Some(ours) = m.side(OURS_CANONICAL) else { continue };
        let (name, rumur) = best(m).unzip();
        table.push([
            m.model.name.clone(),
            or_unknown(name, |name| format!("`{name}`")),
            rate(rumur),
            rate(Some(ours)),
            quotient(rumur, Some(ours), per_state),
            peak(rumur),
            peak(Some(ours)),
        ]);
    }
    let pairs = large(symmetric_pairs(results));
    let points = vec![
        format!(
            "States per second of ours divided by Rumur's, models of more than 100,000 canonical \
             states; Rumur's heuristic may find more states than there are: {}.",
            Ratios::new(&pairs, per_state).describe()
        ),
        format!(
            "Peak memory of Rumur divided by ours: {}.",
            Ratios::new(&pairs, |s| s.peak_bytes).describe()
        ),
    ];
    let title = "Symmetry, one thread: states per second and peak memory".into();
    Section { title, points, table }
}

fn verdict(results: &Results) -> Section {
    let mut table =
        Table::new(["model", "by", "`rumur`", "`cc`", "verifier", "Rumur", "ours", "ratio"]);
    let total = |side: &Side| Some(side.verdict_seconds());
    let mut row = |m: &Measured, name: &str, theirs: Side, ours: Side| {
        let step = |step: &str| {
            let steps = series(m, name).map_or(&[][..], |s| &s.prepared.steps);
            or_unknown(steps.iter().find(|s| s.name == step), |s| seconds(s.seconds))
        };
        table.push([
            m.model.name.clone(),
            format!("`{name}`"),
            step("rumur"),
            step("cc"),
            time(Some(theirs)),
            seconds(theirs.verdict_seconds()),
            seconds(ours.verdict_seconds()),
            quotient(Some(theirs), Some(ours), total),
        ]);
    };
    for m in &results.measured {
        if let Some((theirs, ours)) = m.side(RUMUR).zip(m.side(OURS)) {
            row(m, RUMUR, theirs, ours);
        }
        if let Some(((name, theirs), ours)) = best(m).zip(m.side(OURS_CANONICAL)) {
            row(m, name, theirs, ours);
        }
    }
    let points = vec![
        format!(
            "From the model's text to the verdict, without symmetry, Rumur's time divided by ours: \
             {}.",
            Ratios::new(&results.pairs(RUMUR, OURS), total).describe()
        ),
        format!(
            "The same with symmetry: {}.",
            Ratios::new(&symmetric_pairs(results), total).describe()
        ),
        "Rumur's includes `rumur` and `cc`; ours needs nothing before the search. One thread each."
            .into(),
    ];
    Section { title: "Time to verdict".into(), points, table }
}

/// The list of models.
fn list(results: &Results) -> Section {
    let mut table = Table::new(["model", "from", "states", "canonical states"]);
    for m in &results.measured {
        table.push([
            m.model.name.clone(),
            m.model.source.clone(),
            states(m.side(OURS)),
            states(m.side(OURS_CANONICAL)),
        ]);
    }
    Section { title: "Models".into(), points: Vec::new(), table }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn row(section: &Section) -> String {
        section.table.rows[0].join(" ")
    }

    #[test]
    fn ratios_are_above_one_where_ours_is_better() {
        let section = no_symmetry(&sample::results());
        let expected = "m 2,000,000 6,000,000 8.00 s 2.00 s 250,000 1,000,000 4.00 64 MiB 16 MiB";
        assert_eq!(row(&section), expected);
        let expected = "geometric mean **4.00**, lowest 4.00 (m), 1 model. The aim is 12.";
        assert!(section.points[0].ends_with(expected), "{}", section.points[0]);
        let section = two_threads(&sample::results());
        assert!(section.points[0].ends_with("The aim is 1.8."), "{}", section.points[0]);
        assert!(row(&section).contains(" 2.00 16 MiB"), "{}", row(&section));
    }

    #[test]
    fn a_model_that_only_ours_reads_has_no_ratio() {
        let mut results = sample::results();
        results.measured[0].series.retain(|s| !s.contender.name.starts_with("rumur"));
        let section = no_symmetry(&results);
        assert_eq!(row(&section), "m 2,000,000 6,000,000 – 2.00 s – 1,000,000 – – 16 MiB");
        assert!(section.points[0].contains(": unknown."), "{}", section.points[0]);
        let section = symmetry(&results);
        assert_eq!(row(&section), "m 1,000,000 3,000,000 – – – 2.00 s 2.00 s 1,000,000 –");
    }

    #[test]
    fn ours_is_compared_with_the_faster_reduction() {
        let mut results = sample::results();
        for s in &mut results.measured[0].series {
            if s.contender.name == RUMUR_EXHAUSTIVE {
                s.runs[0].usage.wall_seconds = 6.0;
            }
        }
        assert!(row(&symmetry(&results)).ends_with(" 3.00"));
        assert!(row(&symmetry_rates(&results)).starts_with("m `rumur-exhaustive` "));
    }

    #[test]
    fn a_search_over_its_limit_is_no_time() {
        let mut results = sample::results();
        for s in &mut results.measured[0].series {
            if s.contender.name == RUMUR_EXHAUSTIVE {
                (s.is_over, s.prepared.limit) = (true, Some(EXHAUSTIVE_SECONDS));
                s.runs.clear();
            }
        }
        let section = symmetry(&results);
        assert!(row(&section).contains(" over 60 s "), "{}", row(&section));
        assert!(row(&section).ends_with(" 4.00"), "{}", row(&section));
    }

    #[test]
    fn time_to_verdict_includes_generation_and_compilation() {
        let section = verdict(&sample::results());
        assert_eq!(row(&section), "m `rumur` 3.00 s 3.00 s 8.00 s 14.00 s 2.00 s 7.00");
        assert_eq!(section.table.rows.len(), 2);
    }

    #[test]
    fn small_models_do_not_count_in_means() {
        let mut results = sample::results();
        for s in &mut results.measured[0].series {
            s.runs[0].figures.states = 100_000;
        }
        assert!(no_symmetry(&results).points[0].contains(": unknown."));
    }
}
