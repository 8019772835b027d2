//! The result of `supertrace estimate`: how many states there are, from how
//! many searches find in arenas of different size.

use crate::check::stop_name;
use crate::coverage::Interval;
use crate::plot::{Axis, Marks, Plot, Series, Unit};
use crate::text::{bytes, count, percent, seconds};
use ::check::{Outcome, Stop};
use estimate::growth::{self, Failure, Fit, Point};
use serde::Serialize;
use std::fmt::Write;

/// A search with one arena.
#[derive(Debug, Clone, Serialize)]
pub struct SizedRun {
    pub arena: u64,
    pub states: u64,
    pub transitions: u64,
    pub seconds: f64,
    /// The share of all reachable states, as estimated from all runs.
    pub coverage: Option<f64>,
}

impl SizedRun {
    pub fn new(arena: u64, outcome: &Outcome) -> SizedRun {
        SizedRun {
            arena,
            states: outcome.states,
            transitions: outcome.transitions,
            seconds: outcome.elapsed.as_secs_f64(),
            coverage: None,
        }
    }

    fn point(&self) -> Point {
        Point::new(self.arena, self.states)
    }
}

/// What was measured.
pub struct Input {
    pub model: String,
    /// The model and its flags, for commands that come next.
    pub subject: String,
    pub hashes: u32,
    pub seed: u64,
    /// The smallest arena first.
    pub runs: Vec<SizedRun>,
    /// One with more hash functions in the largest arena.
    pub more_hashes: Option<SizedRun>,
    /// Why there are fewer runs than asked for.
    pub stopped: Option<Stop>,
    pub memory: u64,
    pub bytes_of_exact_state: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct States {
    pub estimate: f64,
    pub low: f64,
    /// `null` if there is no upper limit.
    pub high: Option<f64>,
    pub method: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct EstimateReport {
    pub model: String,
    pub hashes: u32,
    pub seed: u64,
    pub runs: Vec<SizedRun>,
    pub more_hashes: Option<SizedRun>,
    pub stopped_by: Option<&'static str>,
    /// All reachable states; `null` if the runs do not tell.
    pub reachable_states: Option<States>,
    /// Coverage of the run with the largest arena, by method; the reason if a
    /// method fails.
    pub fit: Result<Interval, &'static str>,
    pub simple: Result<Interval, &'static str>,
    /// Growth of states for a doubling of the arena, the last one.
    pub growth_ratio: Option<f64>,
    pub warnings: Vec<String>,
    pub next: Vec<String>,
    #[serde(skip)]
    curve: Option<Fit>,
}

fn why(failure: Failure) -> &'static str {
    match failure {
        Failure::TooFewSizes => "too few arenas",
        Failure::NoEndInSight => "states grow as fast as the arena: no end in sight",
        Failure::Undetermined => "the curve does not fit",
        Failure::Unsound => "a run found no states",
    }
}

impl EstimateReport {
    pub fn new(input: Input) -> EstimateReport {
        let points: Vec<Point> = input.runs.iter().map(SizedRun::point).collect();
        let fit = growth::fit(&points, input.hashes);
        let simple = growth::simple(&points, input.hashes);
        let reached = input.runs.last().map_or(0, |run| run.states) as f64;
        let states = |e: Interval, method| States {
            estimate: reached / e.estimate,
            low: reached / e.high,
            high: (e.low > 0.0).then(|| reached / e.low),
            method,
        };
        let reachable = match (&fit, &simple) {
            (Ok(fit), _) => Some(states(fit.estimate.into(), "fit")),
            (_, Ok(simple)) => Some(states(simple.estimate.into(), "simple")),
            _ => None,
        };
        let mut runs = input.runs;
        for run in &mut runs {
            run.coverage = reachable.as_ref().map(|r| (run.states as f64 / r.estimate).min(1.0));
        }
        let ratio = points.last_chunk().and_then(|[a, b]| growth::growth_ratio(*a, *b));
        let gap = points.last().zip(input.more_hashes.as_ref()).and_then(|(single, more)| {
            let estimate = fit.map(|f| f.estimate).or(simple.map(|s| s.estimate)).ok()?;
            growth::gap(*single, estimate, more.point())
        });
        let warnings = gap.map(|gap| {
            format!(
                "with more hash functions {} times as many states are found in the same arena: \
                 the states are like a line, and there are more than estimated",
                (10.0 / gap.at_most).round() / 10.0
            )
        });
        let memory = (input.memory, input.bytes_of_exact_state);
        EstimateReport {
            next: next(&input.subject, reachable.as_ref(), runs.last(), memory),
            model: input.model,
            hashes: input.hashes,
            seed: input.seed,
            runs,
            more_hashes: input.more_hashes,
            stopped_by: input.stopped.map(stop_name),
            reachable_states: reachable,
            fit: fit.map(|f| f.estimate.into()).map_err(why),
            simple: simple.map(|s| s.estimate.into()).map_err(why),
            growth_ratio: ratio,
            warnings: warnings.into_iter().collect(),
            curve: fit.ok(),
        }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report holds nothing that JSON cannot")
    }

    pub fn text(&self, color: bool) -> String {
        let bold = |text: String| if color { format!("\x1b[1m{text}\x1b[0m") } else { text };
        let mut out = String::new();
        let headline = match &self.reachable_states {
            Some(states) => {
                let number = |n: f64| count(n.round() as u64);
                let high = states.high.map_or("no limit".into(), number);
                let (estimate, low) = (number(states.estimate), number(states.low));
                format!("about {estimate} reachable states ({low} to {high}), by {}", states.method)
            }
            None => "the number of reachable states cannot be told yet".into(),
        };
        let _ = writeln!(out, "{}: {}", self.model, bold(headline));
        let most = self.runs.iter().map(|run| run.states).max().unwrap_or(0).max(1);
        for run in &self.runs {
            let bar = "#".repeat((run.states * 40).div_ceil(most) as usize);
            let coverage = run.coverage.map_or(String::new(), |c| format!(" {:>8}", percent(c)));
            let (arena, states) = (bytes(run.arena / 8), count(run.states));
            let _ = writeln!(
                out,
                "  {arena:>10} {states:>14} states{coverage} {:>10}  {bar}",
                seconds(run.seconds)
            );
        }
        if let Some(ratio) = self.growth_ratio {
            let _ = writeln!(out, "  growth ratio {ratio:.3}: 2 far from all states, 1 at the end");
        }
        for (name, result) in [("fit", &self.fit), ("simple", &self.simple)] {
            let _ = match result {
                Ok(e) => writeln!(
                    out,
                    "  {name}: the last run saw {} ({} to {})",
                    percent(e.estimate),
                    percent(e.low),
                    percent(e.high)
                ),
                Err(why) => writeln!(out, "  {name}: {why}"),
            };
        }
        if let Some(stop) = self.stopped_by {
            let _ = writeln!(out, "  ended by the limit of {stop} before the largest arena");
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "  warning: {warning}");
        }
        for next in &self.next {
            let _ = writeln!(out, "  next: {next}");
        }
        out
    }

    /// States by size of the arena, with the curve.
    pub fn svg(&self) -> String {
        let logs: Vec<f64> = self.runs.iter().map(|run| (run.arena as f64).log2()).collect();
        let first = logs.first().copied().unwrap_or(0.0);
        let last = logs.last().copied().unwrap_or(1.0) + 3.0;
        let reached = self.runs.iter().map(|run| run.states as f64).fold(1.0, f64::max);
        let top = self.reachable_states.as_ref().map_or(reached, |s| s.estimate.max(reached)) * 1.1;
        let mut series = Vec::new();
        if let Some(fit) = &self.curve {
            let k = f64::from(self.hashes);
            let point = |i| {
                let log = first + (last - first) * f64::from(i) / 100.0;
                let states =
                    fit.states / (1.0 + (fit.log_c - k * fit.rate * log).exp()).powf(1.0 / k);
                (log.exp2(), states)
            };
            let marks = Marks::Line((0..=100).map(point).collect());
            series.push(Series { name: "fit", color: 2, marks });
        }
        let level = self.reachable_states.as_ref().map(|states| {
            let label = count(states.estimate.round() as u64);
            (states.estimate, format!("about {label} reachable"))
        });
        if let Some((states, name)) = &level {
            series.push(Series { name, color: 0, marks: Marks::Level(*states) });
        }
        let runs = self.runs.iter().map(|run| (run.arena as f64, run.states as f64)).collect();
        series.push(Series { name: "searches", color: 1, marks: Marks::Dots(runs) });
        let (from, to) = (first.exp2(), last.exp2());
        let plot = Plot {
            title: "states by size of the arena",
            x: Axis { label: "bits of the arena", unit: Unit::Bits, log: true, from, to },
            y: Axis { label: "states", unit: Unit::Number, log: false, from: 0.0, to: top },
            series,
        };
        plot.svg()
    }
}

/// Bits of an arena for each state with which hardly anything is missed.
const ROOMY: f64 = 64.0;

/// Bytes that an exact search takes at least, whatever the model.
const SMALLEST: f64 = (8 << 20) as f64;

fn next(
    subject: &str,
    reachable: Option<&States>,
    largest: Option<&SizedRun>,
    (memory, bytes_of_state): (u64, u64),
) -> Vec<String> {
    let Some(states) = reachable else {
        let arena = largest.map_or(1 << 27, |run| run.arena.saturating_mul(16));
        let log = (arena as f64).log2().round();
        return vec![format!("larger arenas: supertrace estimate {subject} --arena 2^{log}")];
    };
    let exact = SMALLEST + states.estimate * bytes_of_state as f64;
    let size = bytes(exact as u64);
    if exact < memory as f64 * 0.9 {
        return vec![format!("an exact search needs about {size}: supertrace check {subject}")];
    }
    let log = (states.estimate * ROOMY).log2().ceil();
    vec![
        format!("an exact search needs about {size}, more than the memory it may use"),
        format!("nearly all states: supertrace check {subject} --store bitstate --arena 2^{log}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(states: &[u64]) -> Input {
        let run = |(i, states): (usize, &u64)| SizedRun {
            arena: 1 << (18 + i),
            states: *states,
            transitions: 3 * states,
            seconds: 0.1,
            coverage: None,
        };
        Input {
            model: "m.pml".into(),
            subject: "m.pml".into(),
            hashes: 1,
            seed: 0,
            runs: states.iter().enumerate().map(run).collect(),
            more_hashes: None,
            stopped: None,
            memory: 1 << 30,
            bytes_of_exact_state: 50,
        }
    }

    #[test]
    fn a_curve_that_bends_has_an_end() {
        // A logistic curve of a million states.
        let of = |l: f64| (1e6 / (1.0 + (-(l - 20.0) * 2f64.ln()).exp())) as u64;
        let report = EstimateReport::new(input(&[18.0, 19.0, 20.0, 21.0, 22.0, 23.0].map(of)));
        let states = report.reachable_states.as_ref().expect("an end");
        assert!((states.estimate - 1e6).abs() < 1e4, "{states:?}");
        assert!(report.text(false).contains("an exact search needs about 55."));
        assert!(report.svg().starts_with("<svg") && report.json().contains("\"fit\""));
    }

    #[test]
    fn a_straight_line_has_none() {
        let report = EstimateReport::new(input(&[1000, 2000, 4000, 8000]));
        assert!(report.reachable_states.is_none());
        assert!(report.text(false).contains("larger arenas"));
        assert!(EstimateReport::new(input(&[])).reachable_states.is_none());
    }
}
