//! The page of a swarm.

use super::table::{self, Cell, Table};
use super::trace::{Shown, violation};
use super::unreached::{not_checked, unreached};
use super::{Head, page, section};
use crate::plot::{Axis, Marks, Plot, Series, Unit};
use crate::swarm::{Amount, Figures, Size, SwarmReport, TaskRow};
use crate::text::{bytes, count, percent, plural, seconds};
use ::check::{Discipline, Turns};
use ::swarm::Growth;

/// Of more tasks only the first are in the table.
const MOST_TASKS: usize = 2_000;
/// With more tasks than this their axis is logarithmic.
const MANY: f64 = 200.0;

/// The result of a swarm as a page.
pub fn swarm_page(report: &SwarmReport) -> String {
    let violations: String = report
        .violations
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let shown = Shown {
                kind: v.kind,
                message: &v.message,
                location: &v.location,
                depth: v.depth,
                found_by: Some(v.count),
                reproduce: &v.reproduce,
                trace: &v.trace,
            };
            violation(i + 1, &shown)
        })
        .collect();
    let sections = section("violations", "Violations", &violations)
        + &section("coverage", "Coverage", &coverage(report))
        + &section("sizes", "Arena sizes and what they yield", &sizes(&report.sizes))
        + &section("tasks", "Tasks", &tasks(&report.task_rows))
        + &unreached(&report.unreached, "some task")
        + &not_checked(&report.not_checked)
        + &section("options", "Options", &table::options(&report.options));
    let head = Head {
        command: &report.command,
        model: &report.model,
        version: report.version,
        verdict: report.verdict,
        meaning: &meaning(report),
        figures: &figures(report),
    };
    page(&head, &sections)
}

fn meaning(report: &SwarmReport) -> Vec<String> {
    let mut out = vec![match report.verdict {
        "violation" => {
            let n = plural(report.violations.len() as u64, "violation");
            format!("{n} found; each was run again by the interpreter.")
        }
        "no-violation-found" => {
            "No task has found a violation. States that no task has seen may hide one.".into()
        }
        _ => "The swarm ended early; no task that came to its end has found a violation.".into(),
    }];
    if let Some(stop) = report.stopped_by {
        out.push(format!("Fewer tasks were run than asked for: stopped by {stop}."));
    }
    out
}

fn number(n: f64) -> String {
    count(n.round() as u64)
}

fn amount(amount: &Amount) -> String {
    let high = amount.high.map_or("no limit".into(), number);
    format!("about {} ({} to {high})", number(amount.estimate), number(amount.low))
}

fn by_growth(Growth { estimate, low, high }: Growth) -> String {
    amount(&Amount { estimate, low, high })
}

fn figures(report: &SwarmReport) -> Vec<(&'static str, String)> {
    let Figures { distinct_states, reachable_states, coverage, exact_states, .. } = &report.figures;
    let of = report.tasks.map_or(String::new(), |n| format!(" of {}", count(n.into())));
    let coverage = coverage.as_ref().map(|c| {
        let i = c.interval;
        format!("about {} ({} to {})", percent(i.estimate), percent(i.low), percent(i.high))
    });
    let rows = [
        ("coverage", Some(coverage.unwrap_or("unknown".into()))),
        ("tasks", Some(format!("{}{of}", count(report.tasks_done as u64)))),
        ("different states", Some(amount(distinct_states))),
        ("different states, counted", exact_states.map(count)),
        ("reachable states", reachable_states.as_ref().map(amount)),
        ("reachable states by growth", report.growth.map(by_growth)),
        ("states of all tasks", Some(count(report.states))),
        ("transitions of all tasks", Some(count(report.transitions))),
        ("depth of the deepest task", Some(count(report.depth as u64))),
        ("time", report.seconds.map(seconds)),
        ("first violation after", report.first_violation_seconds.map(seconds)),
        ("states per second", report.states_per_second.map(number)),
        ("memory", report.memory_bytes.map(bytes)),
        ("seed", Some(report.seed.to_string())),
    ];
    rows.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// A point of the curve: where it is, and what was seen there.
type Point<'a> = (f64, &'a Figures);

fn coverage(report: &SwarmReport) -> String {
    let by_tasks: Vec<Point> = report.curve.iter().map(|f| (f.tasks as f64, f)).collect();
    let by_time: Vec<Point> = moments(report).into_iter().zip(&report.curve).collect();
    let mut out = String::new();
    if report.figures.coverage.is_none() {
        out.push_str(match report.tasks_done {
            0 | 1 => "<p>Less than two tasks do not tell how much they have seen.</p>\n",
            _ => {
                "<p>Tasks that end at a violation do not tell how much there is to be seen: \
                 with <code>--until all</code> they go on.</p>\n"
            }
        });
    } else {
        out.push_str(
            "<p>The share of all reachable states that the tasks have seen together, estimated \
             from how many states were seen by one task only, by two, and so on; the band is \
             its interval.</p>\n",
        );
    }
    let last = report.curve.last().map_or(1.0, |f| f.tasks as f64);
    let log = last > MANY;
    let label = if log { "tasks (logarithmic)" } else { "tasks" };
    let from = if log { 1.0 } else { 0.0 };
    let tasks = || Axis { label, unit: Unit::Number, log, from, to: last };
    let end = by_time.last().map_or(1.0, |(at, _)| *at);
    let time = || Axis { label: "time", unit: Unit::Seconds, log: false, from: 0.0, to: end };
    let plots = [
        coverage_plot("coverage against tasks", tasks(), &by_tasks),
        coverage_plot("coverage against time", time(), &by_time),
        states_plot("states against tasks", tasks(), &by_tasks),
        states_plot("states against time", time(), &by_time),
    ];
    out + &figure_row(plots)
}

/// When the tasks of each point of the curve had come to their end; nothing if
/// that is not known.
fn moments(report: &SwarmReport) -> Vec<f64> {
    if report.task_rows.iter().all(|row| row.times.is_none()) {
        return Vec::new();
    }
    let mut latest = 0.0;
    // Tasks of an earlier run, which was resumed, were there from the beginning.
    let ends: Vec<f64> = report
        .task_rows
        .iter()
        .map(|row| {
            latest = row.times.map_or(latest, |(_, end)| end.max(latest));
            latest
        })
        .collect();
    report.curve.iter().map(|f| ends.get(f.tasks - 1).copied().unwrap_or(latest)).collect()
}

fn coverage_plot(title: &str, x: Axis, points: &[Point]) -> Option<String> {
    let known = points.iter().filter_map(|(at, f)| Some((*at, f.coverage.as_ref()?.interval)));
    let known: Vec<_> = known.collect();
    if known.len() < 2 {
        return None;
    }
    let band = known.iter().map(|(at, i)| (*at, i.low, i.high)).collect();
    let line = known.iter().map(|(at, i)| (*at, i.estimate)).collect();
    let plot = Plot {
        title,
        x,
        y: Axis { label: "coverage", unit: Unit::Percent, log: false, from: 0.0, to: 1.0 },
        series: vec![
            Series { name: "interval", color: 0, marks: Marks::Band(band) },
            Series { name: "estimate", color: 0, marks: Marks::Line(line) },
        ],
    };
    Some(plot.svg())
}

/// Different states: the estimate, and what was counted if it was.
fn states_plot(title: &str, x: Axis, points: &[Point]) -> Option<String> {
    if points.len() < 2 {
        return None;
    }
    let high = |a: &Amount| a.high.unwrap_or(a.estimate);
    let seen = |f: &Figures| f.distinct_states;
    let top = points.iter().map(|(_, f)| high(&seen(f))).fold(1.0, f64::max);
    let mut to = top * 1.05;
    let band = points.iter().map(|(at, f)| (*at, seen(f).low, high(&seen(f)))).collect();
    let line = points.iter().map(|(at, f)| (*at, seen(f).estimate)).collect();
    let mut series = vec![
        Series { name: "interval", color: 0, marks: Marks::Band(band) },
        Series { name: "seen", color: 0, marks: Marks::Line(line) },
    ];
    let exact = points.iter().filter_map(|(at, f)| Some((*at, f.exact_states? as f64)));
    let exact: Vec<(f64, f64)> = exact.collect();
    if !exact.is_empty() {
        series.push(Series { name: "counted", color: 1, marks: Marks::Dots(exact) });
    }
    // Far away it would press all else to the ground.
    let reachable = points.last().and_then(|(_, f)| f.reachable_states);
    if let Some(all) = reachable.filter(|all| all.estimate < 3.0 * top) {
        to = to.max(all.estimate * 1.1);
        let marks = Marks::Level(all.estimate);
        series.push(Series { name: "reachable", color: 2, marks });
    }
    let y = Axis { label: "states", unit: Unit::Number, log: false, from: 0.0, to };
    Some(Plot { title, x, y, series }.svg())
}

/// Plots side by side, as far as there is room.
fn figure_row(plots: impl IntoIterator<Item = Option<String>>) -> String {
    let plots: String =
        plots.into_iter().flatten().map(|svg| format!("<figure>{svg}</figure>\n")).collect();
    if plots.is_empty() { plots } else { format!("<div class=\"plots\">\n{plots}</div>\n") }
}

fn sizes(sizes: &[Size]) -> String {
    if sizes.is_empty() {
        return String::new();
    }
    let row = |size: &Size| {
        let each = size.violations as f64 / size.tasks.max(1) as f64;
        vec![
            Cell::numeric(bytes(size.arena / 8)).by(size.arena as f64),
            Cell::number(size.arena),
            Cell::number(size.tasks),
            Cell::numeric(number(size.states)),
            Cell::numeric(number(size.states * size.tasks as f64)),
            Cell::seconds(size.seconds),
            Cell::number(size.violations),
            Cell::numeric(format!("{each:.3}")),
        ]
    };
    let table = Table {
        caption: "Tasks by the size of their arena",
        heads: &[
            "arena",
            "bits",
            "tasks",
            "states a task",
            "states of all",
            "time a task",
            "violations",
            "violations a task",
        ],
        rows: sizes.iter().map(row).collect(),
        sortable: true,
    };
    table.html() + &figure_row(size_plots(sizes))
}

/// What a task yields against the size of its arena, if there are several.
fn size_plots(sizes: &[Size]) -> [Option<String>; 3] {
    let plot = |title, label, unit, of: &dyn Fn(&Size) -> Option<f64>| {
        let points: Option<Vec<(f64, f64)>> =
            sizes.iter().map(|size| Some((size.arena as f64, of(size)?))).collect();
        let points = points.filter(|points| points.len() > 1)?;
        let most = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
        let (first, last) = (points.last()?.0, points.first()?.0);
        let plot = Plot {
            title,
            x: Axis {
                label: "bits of the arena",
                unit: Unit::Bits,
                log: true,
                from: first / 1.4,
                to: last * 1.4,
            },
            y: Axis { label, unit, log: false, from: 0.0, to: most * 1.1 },
            series: vec![Series { name: label, color: 1, marks: Marks::Dots(points) }],
        };
        (most > 0.0).then(|| plot.svg())
    };
    let violations = |s: &Size| Some(s.violations as f64 / s.tasks.max(1) as f64);
    [
        plot("states by size of the arena", "states a task", Unit::Number, &|s| Some(s.states)),
        plot("violations by size of the arena", "violations a task", Unit::Number, &violations),
        plot("time by size of the arena", "time a task", Unit::Seconds, &|s| s.seconds),
    ]
}

fn tasks(rows: &[TaskRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let note = match rows.len() > MOST_TASKS {
        true => format!(
            "<p class=\"note\">The first {} of {} tasks.</p>\n",
            count(MOST_TASKS as u64),
            count(rows.len() as u64)
        ),
        false => String::new(),
    };
    let table = Table {
        caption: "Tasks; a header sorts them",
        heads: &[
            "task",
            "search",
            "order",
            "arena",
            "hashes",
            "depth bound",
            "states",
            "transitions",
            "depth",
            "full",
            "violations",
            "time",
            "end",
        ],
        rows: rows.iter().take(MOST_TASKS).map(task).collect(),
        sortable: true,
    };
    note + &table.html()
}

fn task(row: &TaskRow) -> Vec<Cell> {
    let TaskRow { task, done, times } = row;
    let search = match task.search {
        Discipline::Dfs => "dfs".into(),
        Discipline::Bfs => "bfs".into(),
        Discipline::Switches(n) => format!("dfs, {n} switches"),
        Discipline::Walk(_) => "random walk".to_string(),
    };
    let order = match task.order {
        Turns::Forward => "forward",
        Turns::Reverse => "reverse",
        Turns::Rotated => "rotated",
        Turns::Random => "random",
    };
    let full = done.bits_set as f64 / done.arena.max(1) as f64;
    let no_bound = || Cell::numeric("–").by(f64::MAX);
    vec![
        Cell::number(task.number),
        Cell::text(search),
        Cell::text(order),
        Cell::numeric(bytes(done.arena / 8)).by(done.arena as f64),
        Cell::number(task.hashes),
        task.depth.map_or_else(no_bound, Cell::number),
        Cell::number(done.states),
        Cell::number(done.transitions),
        Cell::number(done.depth),
        Cell::numeric(percent(full)),
        Cell::number(done.violations.len()),
        Cell::seconds(times.map(|(time, _)| time)),
        Cell::seconds(times.map(|(_, end)| end)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::swarm::{Done, Portfolio, Settings};

    fn rows(n: u32) -> Vec<TaskRow> {
        let settings = Settings {
            seed: 1,
            portfolio: Portfolio::Halving,
            arena: 1 << 20,
            hashes: None,
            depth: None,
            plain: false,
        };
        let row = |number| TaskRow {
            task: settings.task(number),
            done: Done {
                limit: None,
                arena: 1 << 20,
                bits_set: 1 << 18,
                states: 1000,
                transitions: 3000,
                depth: 50,
                alike: true,
                violations: Vec::new(),
            },
            times: (number > 0).then_some((0.5, 0.5 * f64::from(number))),
        };
        (0..n).map(row).collect()
    }

    #[test]
    fn of_many_tasks_the_first_are_shown() {
        let few = tasks(&rows(2000));
        assert!(!few.contains("class=\"note\""));
        assert_eq!(few.matches("<tr><td").count(), 2000);
        let many = tasks(&rows(2001));
        assert!(many.contains("The first 2,000 of 2,001 tasks."));
        assert_eq!(many.matches("<tr><td").count(), 2000);
        assert!(many.contains("<td class=\"n\">25.0 %</td>") && many.contains("data-v=\"0.5\""));
        assert_eq!(many, tasks(&rows(2001)));
        assert_eq!(tasks(&[]), "");
    }

    #[test]
    fn arenas_of_several_sizes_are_drawn_and_one_is_not() {
        let size = |log: u32, violations| Size {
            arena: 1 << log,
            tasks: 10,
            states: f64::from(log) * 100.0,
            seconds: None,
            violations,
        };
        let html = sizes(&[size(20, 1), size(19, 0)]);
        assert_eq!(html.matches("<svg").count(), 2, "states and violations, no times: {html}");
        assert!(html.contains("<td class=\"n\">0.100</td>"), "{html}");
        let one = sizes(&[size(20, 0)]);
        assert!(one.contains("128.0 KiB") && !one.contains("<svg"), "{one}");
    }
}
