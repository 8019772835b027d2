//! Plots as SVG text: lines, bands, dots and levels over two axes.
//!
//! As charts of traces are, a plot is an image that needs nothing from outside,
//! and its classes live below `svg.plot`, so that a page can give it other
//! colours.

use crate::text::{bytes, count, percent, seconds};
use crate::trace::xml::escape;
use std::fmt::Write;

/// What the numbers of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Number,
    /// Shares of one.
    Percent,
    Seconds,
    /// Sizes of arenas, on a logarithmic axis.
    Bits,
}

pub struct Axis<'a> {
    pub label: &'a str,
    pub unit: Unit,
    pub log: bool,
    pub from: f64,
    pub to: f64,
}

pub enum Marks {
    Line(Vec<(f64, f64)>),
    Dots(Vec<(f64, f64)>),
    /// `x`, and an interval of `y`.
    Band(Vec<(f64, f64, f64)>),
    /// A line across.
    Level(f64),
}

pub struct Series<'a> {
    pub name: &'a str,
    /// A number from 0 that stands for a colour.
    pub color: usize,
    pub marks: Marks,
}

pub struct Plot<'a> {
    /// What is read out instead of the image.
    pub title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub series: Vec<Series<'a>>,
}

const STYLE: &str = "\
svg.plot text{font:12px system-ui,sans-serif;fill:#1f2933}
svg.plot .grid{stroke:#e4e7eb}
svg.plot .axis{stroke:#7b8794}
svg.plot .line{fill:none;stroke-width:2}
svg.plot .level{stroke-width:1.5;stroke-dasharray:5 4}
svg.plot .band{opacity:.2}
svg.plot .c0{stroke:#1d6fb8}svg.plot .band.c0,svg.plot .dot.c0{fill:#1d6fb8;stroke:none}
svg.plot .c1{stroke:#c2410c}svg.plot .band.c1,svg.plot .dot.c1{fill:#c2410c;stroke:none}
svg.plot .c2{stroke:#4d7c0f}svg.plot .band.c2,svg.plot .dot.c2{fill:#4d7c0f;stroke:none}
";

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 50.0;
/// The room of a character of a legend.
const CHAR: f64 = 6.6;
/// A line with more points is a smooth curve, and has no dots.
const MOST_DOTS: usize = 60;
/// About so many steps of an axis.
const STEPS: f64 = 5.0;

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Unit::Percent => percent(value),
            Unit::Seconds => seconds(value),
            Unit::Bits => bytes((value / 8.0).round() as u64),
            Unit::Number if value.abs() < 10.0 && value.fract() != 0.0 => format!("{value:.2}"),
            Unit::Number => count(value.max(0.0).round() as u64),
        }
    }

    /// As short as a tick needs it.
    fn tick(self, value: f64) -> String {
        let plain = |value: f64| {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        };
        match self {
            Unit::Percent => format!("{} %", plain(value * 100.0)),
            Unit::Seconds => format!("{} s", plain(value)),
            Unit::Bits => format!("2^{:.0}", value.log2()),
            Unit::Number if value >= 1e9 => format!("{} G", plain(value / 1e9)),
            Unit::Number if value >= 1e6 => format!("{} M", plain(value / 1e6)),
            Unit::Number if value >= 10_000.0 => format!("{} k", plain(value / 1e3)),
            Unit::Number => plain(value),
        }
    }
}

impl Axis<'_> {
    /// Where a value is, from 0 at one end of the axis to 1 at the other.
    fn at(&self, value: f64) -> f64 {
        let of = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let room = of(self.to) - of(self.from);
        let at = if room > 0.0 { (of(value) - of(self.from)) / room } else { 0.5 };
        at.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            return self.powers();
        }
        let room = (self.to - self.from).max(f64::MIN_POSITIVE);
        let step = round_step(room / STEPS);
        // Half a task is none.
        let whole = self.unit == Unit::Number && self.to > STEPS;
        let step = if whole { step.max(1.0) } else { step };
        let first = (self.from / step).ceil();
        (0..20).map(|i| (first + f64::from(i)) * step).filter(|v| *v <= self.to * 1.0001).collect()
    }

    /// Powers of two or ten, not more than fit.
    fn powers(&self) -> Vec<f64> {
        let base: f64 = if self.unit == Unit::Bits { 2.0 } else { 10.0 };
        let exponent = |v: f64| v.max(f64::MIN_POSITIVE).ln() / base.ln();
        let (first, last) = (exponent(self.from).ceil(), exponent(self.to).floor());
        let step = ((last - first) / 10.0).ceil().max(1.0);
        let powers = (0..40).map(|i| first + f64::from(i) * step);
        powers.take_while(|power| *power <= last).map(|power| base.powf(power)).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= least * 0.9999);
    factor.unwrap_or(10.0) * power
}

impl Plot<'_> {
    pub fn svg(&self) -> String {
        let title = escape(self.title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" \
             aria-label=\"{title}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n<style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
        );
        self.axes(&mut out);
        for series in &self.series {
            self.draw(series, &mut out);
        }
        self.legend(&mut out);
        out + "</svg>\n"
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.at(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.at(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn axes(&self, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.y.ticks() {
            let (y, text) = (self.y(tick), self.y.unit.tick(tick));
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{text}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        for tick in self.x.ticks() {
            let (x, text) = (self.x(tick), self.x.unit.tick(tick));
            let _ = writeln!(
                out,
                "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/><text x=\"{x:.1}\" y=\"{}\" \
                 text-anchor=\"middle\">{text}</text>",
                bottom + 19.0
            );
        }
        let (middle_x, middle_y) = ((LEFT + right) / 2.0, (TOP + bottom) / 2.0);
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{LEFT} {bottom}H{right}\"/>\n\
             <text x=\"{middle_x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(14 {middle_y}) rotate(-90)\" text-anchor=\"middle\">{}\
             </text>",
            HEIGHT - 10.0,
            escape(self.x.label),
            escape(self.y.label)
        );
    }

    fn draw(&self, series: &Series, out: &mut String) {
        let color = series.color;
        let place = |(x, y): (f64, f64)| format!("{:.1},{:.1}", self.x(x), self.y(y));
        match &series.marks {
            Marks::Line(points) => {
                let line: Vec<String> = points.iter().copied().map(place).collect();
                let line = line.join(" ");
                let _ = writeln!(out, "<polyline class=\"line c{color}\" points=\"{line}\"/>");
                if points.len() <= MOST_DOTS {
                    self.dots(points, 2.0, series, out);
                }
            }
            Marks::Dots(points) => self.dots(points, 4.0, series, out),
            Marks::Band(points) => {
                let upper = points.iter().map(|(x, _, high)| place((*x, *high)));
                let lower = points.iter().rev().map(|(x, low, _)| place((*x, *low)));
                let around: Vec<String> = upper.chain(lower).collect();
                let around = around.join(" ");
                let _ = writeln!(out, "<polygon class=\"band c{color}\" points=\"{around}\"/>");
            }
            Marks::Level(value) => {
                let (y, right) = (self.y(*value), WIDTH - RIGHT);
                let line = format!("M{LEFT} {y:.1}H{right}");
                let _ = writeln!(out, "<path class=\"level c{color}\" d=\"{line}\"/>");
            }
        }
    }

    /// Points that tell their values on a hover.
    fn dots(&self, points: &[(f64, f64)], radius: f64, series: &Series, out: &mut String) {
        for (x, y) in points {
            let _ = writeln!(
                out,
                "<circle class=\"dot c{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}: {}, \
                 {}: {}</title></circle>",
                series.color,
                self.x(*x),
                self.y(*y),
                escape(self.x.label),
                self.x.unit.show(*x),
                escape(series.name),
                self.y.unit.show(*y)
            );
        }
    }

    fn legend(&self, out: &mut String) {
        let mut x = 12.0;
        for series in &self.series {
            let color = series.color;
            let sign = match series.marks {
                Marks::Band(_) => format!(
                    "<rect class=\"band c{color}\" x=\"{x:.1}\" y=\"10\" width=\"16\" \
                     height=\"10\"/>"
                ),
                Marks::Dots(_) => {
                    format!(
                        "<circle class=\"dot c{color}\" cx=\"{:.1}\" cy=\"15\" r=\"4\"/>",
                        x + 8.0
                    )
                }
                Marks::Line(_) => format!("<path class=\"line c{color}\" d=\"M{x:.1} 15h16\"/>"),
                Marks::Level(_) => {
                    format!("<path class=\"level c{color}\" d=\"M{x:.1} 15h16\"/>")
                }
            };
            let _ = writeln!(
                out,
                "{sign}<text x=\"{:.1}\" y=\"19\">{}</text>",
                x + 21.0,
                escape(series.name)
            );
            x += 36.0 + series.name.chars().count() as f64 * CHAR;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: Unit, log: bool, from: f64, to: f64) -> Axis<'static> {
        Axis { label: "a < b", unit, log, from, to }
    }

    fn ticks(unit: Unit, log: bool, from: f64, to: f64) -> Vec<String> {
        axis(unit, log, from, to).ticks().into_iter().map(|v| unit.tick(v)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let percents = ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"];
        assert_eq!(ticks(Unit::Percent, false, 0.0, 1.0), percents);
        assert_eq!(ticks(Unit::Number, false, 0.0, 60.0), ["0", "20", "40", "60"]);
        assert_eq!(ticks(Unit::Number, false, 0.0, 7.0), ["0", "2", "4", "6"]);
        assert_eq!(ticks(Unit::Number, true, 1.0, 20_000.0), ["1", "10", "100", "1000", "10 k"]);
        let bits = ticks(Unit::Bits, true, f64::from(1 << 18), f64::from(1 << 21));
        assert_eq!(bits, ["2^18", "2^19", "2^20", "2^21"]);
        assert_eq!(
            ticks(Unit::Seconds, false, 0.0, 0.05),
            ["0 s", "0.01 s", "0.02 s", "0.03 s", "0.04 s", "0.05 s"]
        );
        assert_eq!(ticks(Unit::Number, false, 0.0, 0.0).len(), 1);
    }

    #[test]
    fn a_plot_shows_its_series_and_keeps_them_inside() {
        let plot = Plot {
            title: "t \"1\" <2>",
            x: axis(Unit::Number, false, 0.0, 10.0),
            y: axis(Unit::Percent, false, 0.0, 1.0),
            series: vec![
                Series { name: "wide", color: 0, marks: Marks::Band(vec![(1.0, -9.0, 1e300)]) },
                Series { name: "line", color: 0, marks: Marks::Line(vec![(1.0, 0.5)]) },
                Series { name: "dots", color: 1, marks: Marks::Dots(vec![(10.0, f64::INFINITY)]) },
                Series { name: "all", color: 2, marks: Marks::Level(0.9) },
            ],
        };
        let svg = plot.svg();
        assert!(svg.contains("aria-label=\"t &quot;1&quot; &lt;2&gt;\""), "{svg}");
        assert!(svg.contains(">a &lt; b<") && svg.contains(">all<") && svg.contains(">wide<"));
        assert!(svg.contains("<title>a &lt; b: 1, line: 50.0 %</title>"), "{svg}");
        assert!(svg.contains(&format!("cx=\"{:.1}\" cy=\"{TOP:.1}\"", WIDTH - RIGHT)), "{svg}");
        assert_eq!(svg, plot.svg());
    }
}
