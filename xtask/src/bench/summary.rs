//! Medians of one model's runs, and what ratios of all models come to.

use super::{Measured, Results, Run, Series};

/// What one contender did on one model: medians of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub states: f64,
    pub transitions: f64,
    /// Wall clock of the process.
    pub wall_seconds: f64,
    pub cpu_seconds: Option<f64>,
    pub reported_seconds: f64,
    pub peak_bytes: Option<f64>,
    pub store_bytes_per_state: Option<f64>,
    /// What was done once before the search.
    pub preparation_seconds: f64,
}

impl Side {
    /// Nothing if there are no runs.
    fn new(series: &Series) -> Option<Side> {
        let of = |value: &dyn Fn(&Run) -> Option<f64>| median(series.runs.iter().filter_map(value));
        let figures = series.runs.first()?.figures;
        Some(Side {
            states: figures.states as f64,
            transitions: figures.transitions as f64,
            wall_seconds: of(&|run| Some(run.usage.wall_seconds))?,
            cpu_seconds: of(&|run| run.usage.cpu_seconds),
            reported_seconds: of(&|run| Some(run.figures.seconds))?,
            peak_bytes: of(&|run| run.usage.peak_bytes.map(|b| b as f64)),
            store_bytes_per_state: of(&|run| run.figures.store_bytes_per_state),
            preparation_seconds: series.prepared.steps.iter().map(|step| step.seconds).sum(),
        })
    }

    pub fn states_per_second(&self) -> f64 {
        self.states / self.wall_seconds
    }

    pub fn transitions_per_second(&self) -> f64 {
        self.transitions / self.wall_seconds
    }

    pub fn peak_bytes_per_state(&self) -> Option<f64> {
        self.peak_bytes.map(|bytes| bytes / self.states)
    }

    /// From the model's text to the end of the search.
    pub fn verdict_seconds(&self) -> f64 {
        self.preparation_seconds + self.wall_seconds
    }
}

impl Measured {
    pub fn side(&self, contender: &str) -> Option<Side> {
        self.series.iter().find(|s| s.contender.name == contender).and_then(Side::new)
    }
}

/// A model on which both of two contenders were measured.
pub struct Pair<'a> {
    pub measured: &'a Measured,
    pub theirs: Side,
    pub ours: Side,
}

impl Results {
    pub fn pairs(&self, theirs: &str, ours: &str) -> Vec<Pair<'_>> {
        let pair = |m| {
            let (theirs, ours) = (Measured::side(m, theirs)?, Measured::side(m, ours)?);
            Some(Pair { measured: m, theirs, ours })
        };
        self.measured.iter().filter_map(pair).collect()
    }
}

/// Ratios of several models, above 1 where ours is the better.
pub struct Ratios<'a> {
    each: Vec<(&'a str, f64)>,
}

impl<'a> Ratios<'a> {
    /// Of `quantity`, of which less is better. A clock of hundredths can say
    /// zero: such a model has no ratio by it.
    pub fn new(pairs: &'a [Pair<'a>], quantity: impl Fn(&Side) -> Option<f64>) -> Ratios<'a> {
        let each = pairs.iter().filter_map(|p| {
            let (theirs, ours) = (quantity(&p.theirs)?, quantity(&p.ours)?);
            let known = theirs > 0.0 && ours > 0.0;
            known.then(|| (p.measured.model.name.as_str(), theirs / ours))
        });
        Ratios { each: each.collect() }
    }

    pub fn from_each(each: Vec<(&'a str, f64)>) -> Ratios<'a> {
        Ratios { each }
    }

    pub fn geometric_mean(&self) -> Option<f64> {
        geometric_mean(self.each.iter().map(|(_, ratio)| *ratio))
    }

    pub fn lowest(&self) -> Option<(&'a str, f64)> {
        self.each.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied()
    }

    /// 'geometric mean 3.21, lowest 1.05 (name), 40 models'.
    pub fn describe(&self) -> String {
        match (self.geometric_mean(), self.lowest()) {
            (Some(mean), Some((name, ratio))) => {
                let n = self.each.len();
                let models = if n == 1 { "model" } else { "models" };
                format!("geometric mean **{mean:.2}**, lowest {ratio:.2} ({name}), {n} {models}")
            }
            _ => "unknown".into(),
        }
    }
}

pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
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
        assert_eq!(geometric_mean(std::iter::empty()), None);
    }

    #[test]
    fn describes_ratios_by_mean_and_lowest() {
        let ratios = Ratios::from_each(vec![("a", 8.0), ("b", 2.0)]);
        assert_eq!(ratios.describe(), "geometric mean **4.00**, lowest 2.00 (b), 2 models");
        assert_eq!(Ratios::from_each(Vec::new()).describe(), "unknown");
    }
}
