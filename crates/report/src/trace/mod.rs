//! Views of a trace: a listing of its steps, a table with a column for each
//! process, and a message sequence chart.
//!
//! Each view is a pure function from a trace to text. A trace may come from a
//! file that anybody wrote, so no view trusts its names, sizes or order: text is
//! cleaned of control characters before it reaches a terminal or an SVG.

mod chart;
mod columns;
mod delivery;
mod ending;
pub(crate) mod labels;
mod lanes;
mod paint;
mod steps;
mod svg;
mod text;
mod tie;
pub(crate) mod values;
pub(crate) mod xml;

#[cfg(test)]
pub(crate) mod sample;

pub use chart::{msc_svg, msc_svg_last};
pub use columns::columns;
pub use steps::steps;
