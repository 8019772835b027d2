//! Which models are measured.

use super::options::Options;
use std::path::PathBuf;

/// Below this, the searches are too short to be timed.
const MIN_STATES: u64 = 100_000;

/// Five models of middle size and different kinds: puzzle, ring, mutual
/// exclusion by shared memory, queue lock, protocol.
const QUICK: [&str; 5] = ["adding.2", "cambridge.1", "lamport_nonatomic.3", "mcs.3", "sokoban.2"];

#[derive(Clone)]
pub struct Model {
    pub name: String,
    pub path: PathBuf,
}

/// The models to measure, sorted by name where the corpus is the source.
pub fn select(options: &Options) -> Result<Vec<Model>, String> {
    if !options.models.is_empty() {
        return options.models.iter().map(given).collect();
    }
    let path = options.corpus.join("expected.tsv");
    let table = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read '{}': {e}", path.display()))?;
    let names = large_enough(&table);
    let mut names: Vec<&str> =
        names.into_iter().filter(|n| !options.quick || QUICK.contains(n)).collect();
    names.sort_unstable();
    Ok(names
        .into_iter()
        .map(|name| Model { name: name.into(), path: options.corpus.join(format!("{name}.pml")) })
        .collect())
}

fn given(path: &PathBuf) -> Result<Model, String> {
    let path = std::path::absolute(path).map_err(|e| e.to_string())?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if path.is_file() {
        Ok(Model { name, path })
    } else {
        Err(format!("'{}' is not there", path.display()))
    }
}

/// Names in the lines 'name TAB states TAB ...' that have enough states.
fn large_enough(table: &str) -> Vec<&str> {
    table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split('\t');
            let name = fields.next()?;
            let states: u64 = fields.next()?.parse().ok()?;
            (states >= MIN_STATES).then_some(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_models_of_the_least_size_on() {
        let table = "# model\tstates\na.1\t99999\t5\nb.1\t100000\t7\nc.1\tunknown\n";
        assert_eq!(large_enough(table), ["b.1"]);
    }
}
