//! Coverage from several bitstate runs in arenas of different size.
//!
//! One run does not know what lies behind the states it lost; several know how
//! the number of states reached grows with the arena. Far from full coverage it
//! doubles with the arena, close to it it stays. Paper 004 makes a curve of
//! that, equation (4): in an arena of `2^l` bits
//!
//! `N(l) = M / (1 + C e^(-k r l))^(1/k)`
//!
//! states are reached, with M reachable states, k hash functions, and a growth
//! rate r of about ln 2. [`simple`] solves it for M with two runs and r = ln 2,
//! [`fit`] fits M, C and r to four or more. Both say the coverage of the run in
//! the largest arena. Section 4.2 of the paper finds them better than what one
//! run can say below a coverage of about one half, and best with one hash
//! function; [`gap`] finds models for which one hash function is misled.

mod curve;
mod fit;
mod gap;
mod linear;
mod simple;

pub use fit::{Fit, fit};
pub use gap::{Gap, gap};
pub use simple::{Simple, simple};

/// One run: the size of its arena and what it reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// l, the logarithm to base 2 of the arena's bits.
    pub log_bits: f64,
    /// N, the states that were found to be new.
    pub reached: f64,
}

impl Point {
    /// The point of a run in an arena of so many bits.
    pub fn new(bits: u64, reached: u64) -> Point {
        Point { log_bits: (bits as f64).log2(), reached: reached as f64 }
    }

    fn is_sound(&self) -> bool {
        self.log_bits.is_finite() && self.reached.is_finite() && self.reached >= 1.0
    }
}

/// Why runs have no common estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Fewer arenas of different size than unknowns.
    TooFewSizes,
    /// States grow faster than the arena in all runs: no end can be seen.
    NoEndInSight,
    /// The curve does not fit, or fits with any number of states.
    Undetermined,
    /// No hash function, or a run with no states or an impossible arena.
    Unsound,
}

/// How the number of states grows for each doubling of the arena (paper 001,
/// section 3.1): 2 far from full coverage, 1 at full coverage. For arenas that
/// are not a factor of two apart, the geometric mean of the doublings between
/// them. `None` if they are of the same size or one has reached nothing.
pub fn growth_ratio(smaller: Point, larger: Point) -> Option<f64> {
    let doublings = larger.log_bits - smaller.log_bits;
    let sound = smaller.is_sound() && larger.is_sound() && doublings != 0.0;
    let ratio = ((larger.reached / smaller.reached).ln() / doublings).exp();
    (sound && ratio.is_finite()).then_some(ratio)
}

/// Points by size, one for each: runs of the same size are averaged.
fn by_size(points: &[Point], hashes: u32) -> Result<Vec<Point>, Failure> {
    if hashes == 0 || !points.iter().all(Point::is_sound) {
        return Err(Failure::Unsound);
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.log_bits.total_cmp(&b.log_bits));
    let same = |a: &Point, b: &Point| b.log_bits - a.log_bits < 1e-6;
    let mean = |runs: &[Point]| {
        let sum: f64 = runs.iter().map(|p| p.reached).sum();
        Point { reached: sum / runs.len() as f64, ..runs[0] }
    };
    Ok(sorted.chunk_by(same).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation (4) as it is printed, for tests.
    pub fn curve(m: f64, c: f64, r: f64, k: u32, l: f64) -> Point {
        let k = f64::from(k);
        Point { log_bits: l, reached: m / (1.0 + c * (-k * r * l).exp()).powf(1.0 / k) }
    }

    #[test]
    fn growth_ratio_for_each_doubling() {
        let small = Point::new(1 << 20, 1000);
        assert_eq!(growth_ratio(small, Point::new(1 << 21, 2000)), Some(2.0));
        assert_eq!(growth_ratio(small, Point::new(1 << 21, 1000)), Some(1.0));
        let two = growth_ratio(small, Point::new(1 << 22, 2250)).expect("sound");
        assert!((two - 1.5).abs() < 1e-12);
        assert_eq!(growth_ratio(small, Point::new(1 << 20, 2000)), None);
        assert_eq!(growth_ratio(Point::new(1 << 20, 0), small), None);
        assert_eq!(growth_ratio(Point::new(0, 10), small), None);
    }

    #[test]
    fn runs_of_the_same_size_are_averaged() {
        let points = [Point::new(1 << 21, 5), Point::new(1 << 20, 3), Point::new(1 << 21, 10)];
        let sorted = by_size(&points, 1).expect("sound");
        assert_eq!(sorted, [Point::new(1 << 20, 3), Point { log_bits: 21.0, reached: 7.5 }]);
        assert_eq!(by_size(&points, 0), Err(Failure::Unsound));
        assert_eq!(by_size(&[Point::new(1 << 20, 0)], 1), Err(Failure::Unsound));
    }
}
