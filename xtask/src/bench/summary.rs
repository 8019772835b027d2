//! Medians of one model's runs, and means over the models.

use super::{Measured, Run};

/// What one tool did on one model: medians of its runs.
pub struct Side {
    /// Wall clock of the process.
    pub wall_seconds: f64,
    pub cpu_seconds: Option<f64>,
    pub reported_seconds: f64,
    pub peak_bytes: Option<f64>,
    /// From the model's text to the end of the search.
    pub verdict_seconds: f64,
}

pub struct Row {
    pub name: String,
    pub states: u64,
    pub transitions: u64,
    pub spin: Side,
    pub ours: Side,
}

/// Geometric means over the models; above 1, ours is the better.
pub struct Means {
    pub speed_by_wall: f64,
    pub speed_by_cpu: Option<f64>,
    pub speed_by_report: f64,
    pub verdict: f64,
    pub memory: Option<f64>,
}

impl Side {
    fn new(runs: &[Run], preparation: f64) -> Side {
        let wall_seconds = median(runs.iter().map(|r| r.usage.wall_seconds)).unwrap_or(f64::NAN);
        Side {
            wall_seconds,
            cpu_seconds: median(runs.iter().filter_map(|r| r.usage.cpu_seconds)),
            reported_seconds: median(runs.iter().map(|r| r.reported_seconds)).unwrap_or(f64::NAN),
            peak_bytes: median(runs.iter().filter_map(|r| r.usage.peak_bytes.map(|b| b as f64))),
            verdict_seconds: preparation + wall_seconds,
        }
    }
}

impl Row {
    /// `measured` has at least one run of each tool.
    pub fn new(measured: &Measured) -> Row {
        let pan = &measured.pan;
        Row {
            name: measured.model.name.clone(),
            states: measured.ours[0].states,
            transitions: measured.ours[0].transitions,
            spin: Side::new(&measured.spin, pan.generate_seconds + pan.compile_seconds),
            ours: Side::new(&measured.ours, 0.0),
        }
    }

    pub fn speed(&self, side: &Side) -> f64 {
        self.states as f64 / side.wall_seconds
    }

    pub fn bytes_per_state(&self, side: &Side) -> Option<f64> {
        side.peak_bytes.map(|bytes| bytes / self.states as f64)
    }

    /// Our states per second divided by Spin's.
    pub fn ratio(&self) -> f64 {
        self.spin.wall_seconds / self.ours.wall_seconds
    }

    pub fn verdict_ratio(&self) -> f64 {
        self.spin.verdict_seconds / self.ours.verdict_seconds
    }
}

impl Means {
    pub fn new(rows: &[Row]) -> Means {
        // A clock of hundredths can say zero: such a model has no ratio by it.
        let mean = |of: &dyn Fn(&Side) -> Option<f64>| {
            geometric_mean(rows.iter().filter_map(|r| {
                let (spin, ours) = (of(&r.spin)?, of(&r.ours)?);
                (spin > 0.0 && ours > 0.0).then(|| spin / ours)
            }))
        };
        Means {
            speed_by_wall: geometric_mean(rows.iter().map(Row::ratio)).unwrap_or(f64::NAN),
            speed_by_cpu: mean(&|side| side.cpu_seconds),
            speed_by_report: mean(&|side| Some(side.reported_seconds)).unwrap_or(f64::NAN),
            verdict: geometric_mean(rows.iter().map(Row::verdict_ratio)).unwrap_or(f64::NAN),
            memory: mean(&|side| side.peak_bytes),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers_of_runs() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
    }

    #[test]
    fn geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        let mean = geometric_mean([0.25, 4.0].into_iter()).unwrap();
        assert!((mean - 1.0).abs() < 1e-12);
    }
}
