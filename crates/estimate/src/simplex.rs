//! The lowest point of a function of two variables (Nelder and Mead 1965).

const STEPS: usize = 200;
/// Values that differ by less are the same.
const PRECISION: f64 = 1e-8;

type Point = [f64; 2];

/// Where a function is lowest, as far as can be seen from `start`, and its
/// value there. Values that are no numbers count as high.
pub(crate) fn minimise(start: Point, function: impl Fn(Point) -> f64) -> (Point, f64) {
    let value = |at: Point| {
        let value = function(at);
        (at, if value.is_nan() { f64::INFINITY } else { value })
    };
    let [x, y] = start;
    let mut corners = [value(start), value([x + 0.5, y]), value([x, y + 0.5])];
    for _ in 0..STEPS {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [best, second, worst] = corners;
        if worst.1 - best.1 < PRECISION {
            break;
        }
        // A point on the line from the worst through the middle of the others.
        let along = |factor: f64| {
            let middle = |i: usize| (best.0[i] + second.0[i]) / 2.0;
            let coordinate = |i: usize| middle(i) + factor * (middle(i) - worst.0[i]);
            value([coordinate(0), coordinate(1)])
        };
        let mirrored = along(1.0);
        corners[2] = if mirrored.1 < best.1 {
            lower(along(2.0), mirrored)
        } else if mirrored.1 < second.1 {
            mirrored
        } else {
            let inside = if mirrored.1 < worst.1 { along(0.5) } else { along(-0.5) };
            if inside.1 < worst.1.min(mirrored.1) {
                inside
            } else {
                let halfway =
                    |p: Point| value([(p[0] + best.0[0]) / 2.0, (p[1] + best.0[1]) / 2.0]);
                corners[1] = halfway(second.0);
                halfway(worst.0)
            }
        };
    }
    corners.into_iter().reduce(lower).unwrap_or((start, f64::INFINITY))
}

fn lower(a: (Point, f64), b: (Point, f64)) -> (Point, f64) {
    if a.1 < b.1 { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valleys_are_found() {
        let (at, _) = minimise([5.0, -3.0], |[x, y]| (x - 1.0).powi(2) + (y - 2.0).powi(2));
        assert!((at[0] - 1.0).abs() < 1e-3 && (at[1] - 2.0).abs() < 1e-3, "{at:?}");
        // Rosenbrock's.
        let banana = |[x, y]: Point| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2);
        let (at, value) = minimise([-1.2, 1.0], banana);
        assert!(value < 1e-4, "{at:?} {value}");
        let (_, nowhere) = minimise([0.0, 0.0], |_| f64::NAN);
        assert_eq!(nowhere, f64::INFINITY);
    }
}
