//! Systems of up to three linear equations.

/// Solves the first `size` equations for as many unknowns, by elimination with
/// the largest pivot. `None` if they do not determine them.
pub fn solve_linear(mut rows: [[f64; 3]; 3], mut right: [f64; 3], size: usize) -> Option<[f64; 3]> {
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        right.swap(column, pivot);
        if !rows[column][column].is_normal() {
            return None;
        }
        for row in column + 1..size {
            let factor = rows[row][column] / rows[column][column];
            let pivot_row = rows[column];
            for (entry, above) in rows[row].iter_mut().zip(pivot_row) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|i| rows[row][i] * solution[i]).sum();
        solution[row] = (right[row] - known) / rows[row][row];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_with_a_zero_in_the_way() {
        let rows = [[0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [3.0, 0.0, -1.0]];
        // x = 1, y = -2, z = 5.
        let found = solve_linear(rows, [1.0, 4.0, -2.0], 3).expect("regular");
        for (x, expected) in found.into_iter().zip([1.0, -2.0, 5.0]) {
            assert!((x - expected).abs() < 1e-12, "{found:?}");
        }
        let two = [[2.0, 0.0, 9.0], [0.0, 4.0, 9.0], [9.0, 9.0, 9.0]];
        assert_eq!(solve_linear(two, [1.0, 1.0, 7.0], 2), Some([0.5, 0.25, 0.0]));
    }

    #[test]
    fn singular_systems_have_no_solution() {
        assert_eq!(solve_linear([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0; 3]], [1.0; 3], 2), None);
        assert_eq!(solve_linear([[f64::NAN; 3]; 3], [1.0; 3], 3), None);
    }
}
