//! The plot: model by model, speed relative to Spin and states per second.
//!
//! Dots on logarithmic axes, because ratios multiply; one line a model, the
//! model with the best ratio on top. Written by hand: a plotting crate would
//! be larger than all of xtask, for two panels of dots.

use super::contenders::{OURS, OURS_ALL, OURS_COMPRESS, SPIN, SPIN_COLLAPSE};
use super::summary::geometric_mean;
use super::{Measured, Results};
use std::fmt::Write;

const ROW: f64 = 17.0;
const TOP: f64 = 112.0;
const LEGEND: f64 = 44.0;
const LEGEND_LINE: f64 = 16.0;
const BOTTOM: f64 = 44.0;
const LABELS: f64 = 140.0;
const PANEL: f64 = 400.0;
const GAP: f64 = 40.0;
const WIDTH: f64 = LABELS + 2.0 * PANEL + 2.0 * GAP;

/// Colours that the colour-blind can tell apart (Okabe and Ito 2008).
const BLACK: &str = "#444444";
const BLUE: &str = "#0072b2";
const ORANGE: &str = "#e69f00";
const GREEN: &str = "#009e73";

/// Dots of one colour: a value for each model, where there is one.
struct Dots {
    label: &'static str,
    colour: &'static str,
    values: Vec<Option<f64>>,
}

struct Panel {
    title: &'static str,
    left: f64,
    dots: Vec<Dots>,
    /// A value to mark, such as 'as fast as Spin'.
    reference: Option<f64>,
    show: fn(f64) -> String,
}

pub fn svg(results: &Results) -> String {
    let mut models: Vec<&Measured> = results.measured.iter().collect();
    let order = |m: &Measured| ratio(m, SPIN, OURS).unwrap_or(0.0);
    models.sort_by(|a, b| order(b).total_cmp(&order(a)));

    let height = TOP + ROW * models.len() as f64 + BOTTOM;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"11\" fill=\"#222222\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"#ffffff\"/>\n"
    );
    for (i, model) in models.iter().enumerate() {
        let (x, y) = (LABELS - 10.0, row(i));
        if i % 2 == 0 {
            let (top, width) = (y - ROW / 2.0, WIDTH - GAP / 2.0);
            let _ = writeln!(
                out,
                "<rect x=\"0\" y=\"{top}\" width=\"{width}\" height=\"{ROW}\" fill=\"#f5f5f5\"/>"
            );
        }
        out += &text(x, y + 4.0, "end", &model.model.name);
    }
    for panel in panels(&models) {
        out += &panel.svg(models.len());
    }
    out + "</svg>\n"
}

fn panels(models: &[&Measured]) -> [Panel; 2] {
    let dots = |label, colour, value: &dyn Fn(&Measured) -> Option<f64>| Dots {
        label,
        colour,
        values: models.iter().map(|m| value(m)).collect(),
    };
    let speed = |m: &Measured, contender| m.side(contender).map(|s| s.states_per_second());
    [
        Panel {
            title: "Speed relative to Spin on the same graph",
            left: LABELS,
            dots: vec![
                dots("one thread", BLUE, &|m| ratio(m, SPIN, OURS)),
                dots("all cores", ORANGE, &|m| ratio(m, SPIN, OURS_ALL)),
                dots("compressed, to Spin with COLLAPSE", GREEN, &|m| {
                    ratio(m, SPIN_COLLAPSE, OURS_COMPRESS)
                }),
            ],
            reference: Some(1.0),
            show: |value| format!("{value}×"),
        },
        Panel {
            title: "States per second",
            left: LABELS + PANEL + GAP,
            dots: vec![
                dots("Spin", BLACK, &|m| speed(m, SPIN)),
                dots("one thread", BLUE, &|m| speed(m, OURS)),
                dots("all cores", ORANGE, &|m| speed(m, OURS_ALL)),
            ],
            reference: None,
            show: short,
        },
    ]
}

/// How many times as fast as `theirs` `ours` is.
fn ratio(m: &Measured, theirs: &str, ours: &str) -> Option<f64> {
    Some(m.side(theirs)?.wall_seconds / m.side(ours)?.wall_seconds)
}

impl Panel {
    fn svg(&self, rows: usize) -> String {
        let values = || self.dots.iter().flat_map(|d| d.values.iter().flatten().copied());
        let Some(axis) = Axis::new(values().chain(self.reference), self.left) else {
            return String::new();
        };
        let bottom = TOP + ROW * rows as f64;
        let mut out = format!("<g font-weight=\"bold\" font-size=\"13\">{}</g>\n", {
            text(self.left, 24.0, "start", self.title)
        });
        for tick in axis.ticks() {
            let x = axis.x(tick);
            out += &vertical(x, TOP - 6.0, bottom, "#d0d0d0", "");
            out += &text(x, bottom + 16.0, "middle", &(self.show)(tick));
        }
        if let Some(reference) = self.reference {
            out += &vertical(axis.x(reference), TOP - 6.0, bottom, "#222222", "");
        }
        // What is measured is drawn; a series without values has no place in the legend.
        let mut legend = LEGEND;
        for dots in self.dots.iter().filter(|d| d.values.iter().any(Option::is_some)) {
            let mean = geometric_mean(dots.values.iter().flatten().copied());
            let shown = mean.map_or(String::new(), short);
            let label = format!("{}: geometric mean {shown}", dots.label);
            out += &dot(self.left + 5.0, legend, dots.colour);
            out += &text(self.left + 15.0, legend + 4.0, "start", &label);
            legend += LEGEND_LINE;
            if let Some(mean) = mean {
                out += &vertical(axis.x(mean), TOP - 12.0, bottom, dots.colour, "3,3");
            }
            for (i, value) in dots.values.iter().enumerate() {
                out += &value.map_or(String::new(), |v| dot(axis.x(v), row(i), dots.colour));
            }
        }
        out
    }
}

/// The middle of a model's line.
fn row(i: usize) -> f64 {
    TOP + ROW * (i as f64 + 0.5)
}

fn text(x: f64, y: f64, anchor: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

fn dot(x: f64, y: f64, colour: &str) -> String {
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\" fill-opacity=\"0.85\"/>\n"
    )
}

fn vertical(x: f64, top: f64, bottom: f64, colour: &str, dashes: &str) -> String {
    format!(
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" \
         stroke=\"{colour}\" stroke-dasharray=\"{dashes}\"/>\n"
    )
}

/// Two digits and a unit: 1.5M, 320k, 0.59.
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 999_500.0 => (v / 1e6, "M"),
        v if v >= 999.5 => (v / 1e3, "k"),
        v => (v, ""),
    };
    match scaled {
        s if s >= 9.95 => format!("{s:.0}{unit}"),
        s if s >= 0.995 => format!("{}{unit}", format!("{s:.1}").trim_end_matches(".0")),
        s => format!("{s:.2}{unit}"),
    }
}

/// A logarithmic axis over the width of a panel.
struct Axis {
    left: f64,
    low: f64,
    high: f64,
}

impl Axis {
    /// Nothing if there are no values above zero.
    fn new(values: impl Iterator<Item = f64>, left: f64) -> Option<Axis> {
        let logs: Vec<f64> = values.filter(|v| *v > 0.0).map(f64::log10).collect();
        let low = logs.iter().copied().min_by(f64::total_cmp)?;
        let high = logs.iter().copied().max_by(f64::total_cmp)?;
        let margin = (0.05 * (high - low)).max(0.05);
        Some(Axis { left, low: low - margin, high: high + margin })
    }

    fn x(&self, value: f64) -> f64 {
        self.left + PANEL * (value.log10() - self.low) / (self.high - self.low)
    }

    /// 1, 2 and 5 of every decade, or its 1 alone if there are many.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        let digits: &[f64] = if self.high - self.low > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = decades.flat_map(|decade| {
            digits.iter().map(move |digit| {
                // Division keeps 0.1 and 0.5 free of rounding errors.
                if decade < 0 { digit / 10f64.powi(-decade) } else { digit * 10f64.powi(decade) }
            })
        });
        ticks.filter(|tick| (self.low..=self.high).contains(&tick.log10())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_spans_its_values_and_multiplies() {
        let axis = Axis::new([0.2, 5.0].into_iter(), 100.0).unwrap();
        assert!(axis.x(0.2) > 100.0 && axis.x(5.0) < 100.0 + PANEL);
        let step = axis.x(2.0) - axis.x(1.0);
        assert!((axis.x(4.0) - axis.x(2.0) - step).abs() < 1e-9);
        assert_eq!(axis.ticks(), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert!(Axis::new(std::iter::empty(), 0.0).is_none());
    }

    #[test]
    fn one_value_has_an_axis_too() {
        let axis = Axis::new([3e6].into_iter(), 0.0).unwrap();
        assert!((axis.x(3e6) - PANEL / 2.0).abs() < 1e-9);
    }

    #[test]
    fn draws_a_dot_for_each_value_and_the_best_model_on_top() {
        let svg = svg(&super::super::sample::results());
        // Six series of two models, and one dot each in the legends.
        assert_eq!(svg.matches("<circle").count(), 6 * 2 + 6);
        assert!(svg.find(">fast<") < svg.find(">slow<"));
    }

    #[test]
    fn short_numbers() {
        let shown = [0.587, 1.0, 2.54, 10.0, 320_000.0, 1_500_000.0].map(short);
        assert_eq!(shown, ["0.59", "1", "2.5", "10", "320k", "1.5M"]);
    }
}
