//! Which models are measured: a fixed list, so that figures of different days
//! and machines can be compared.
//!
//! Examples of CMurphi's distribution and our own, these with a constant
//! larger than in `models/murphi`, so that searches are long enough to be
//! timed and Rumur's are not much longer than half a minute.

use super::options::Options;
use crate::bench::contenders::{Contender, Graph, Tool};
use crate::bench::machine;
use crate::bench::models::{Model, given, present};
use std::path::Path;

/// A search that a model is for, and what it counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Search {
    /// It is left out: too large, or there is no symmetry.
    No,
    /// It has so many states and fires so many rules.
    Counts(u64, u64),
    /// What it counts is not known.
    Unknown,
}

enum Source {
    /// `../shared/corpus/murphi/cmurphi`.
    Corpus,
    /// A file of `models/murphi`, in which `from` becomes `to`.
    Own { file: &'static str, from: &'static str, to: &'static str },
}

/// A model of the list. The counts are Rumur's or CMurphi's.
struct Listed {
    name: &'static str,
    source: Source,
    full: Search,
    canonical: Search,
    not_for_rumur: Option<&'static str>,
}

const fn corpus(name: &'static str, full: Search, canonical: Search) -> Listed {
    Listed { name, source: Source::Corpus, full, canonical, not_for_rumur: None }
}

const fn own(
    name: &'static str,
    (file, from, to): (&'static str, &'static str, &'static str),
    full: Search,
    canonical: Search,
) -> Listed {
    Listed { name, source: Source::Own { file, from, to }, full, canonical, not_for_rumur: None }
}

use Search::{Counts, No};

/// Left out, as Rumur takes more than a minute: two_phase_commit with five
/// participants without symmetry, and mux-n_peterson, which has more than 25
/// million states. Dijkstra's four processes have 183,463 states, which are too
/// few to time ours; five take Rumur half a minute.
const LIST: &[Listed] = &[
    corpus("mux-mcslock1", Counts(554_221, 2_216_884), Counts(23_636, 94_544)),
    corpus("mux-mcslock2", Counts(3_240_032, 9_720_096), Counts(540_219, 1_620_657)),
    corpus("mux-n_peterson", No, Counts(163_298, 1_143_086)),
    Listed {
        not_for_rumur: Some("Rumur has neither multisets nor unions"),
        ..corpus("others-newcache3", Counts(1_514_250, 9_472_976), Counts(34_781, 217_195))
    },
    own(
        "german-4",
        ("german.m", "nodes: 3;", "nodes: 4;"),
        Counts(1_024_920, 5_387_472),
        Counts(26_015, 136_868),
    ),
    own("german-5", ("german.m", "nodes: 3;", "nodes: 5;"), No, Counts(123_153, 810_700)),
    own(
        "two_phase_commit-4",
        ("two_phase_commit.m", "participants: 3;", "participants: 4;"),
        Counts(205_365, 1_578_019),
        Counts(11_133, 85_944),
    ),
    own(
        "two_phase_commit-6",
        ("two_phase_commit.m", "participants: 3;", "participants: 6;"),
        No,
        Counts(151_550, 1_764_003),
    ),
    own(
        "moesi-5",
        ("moesi.m", "caches: 4;", "caches: 5;"),
        Counts(1_355_520, 7_490_950),
        Counts(8_846, 49_419),
    ),
    own("moesi-8", ("moesi.m", "caches: 4;", "caches: 8;"), No, Counts(134_539, 1_261_530)),
    own("bakery-20", ("bakery.m", "tickets: 5;", "tickets: 20;"), Counts(803_185, 2_135_164), No),
    own(
        "dijkstra-5",
        ("dijkstra.m", "processes: 4;", "processes: 5;"),
        Counts(4_391_687, 21_958_435),
        No,
    ),
];

/// A model with the searches that it is for.
pub struct Subject {
    pub model: Model,
    pub full: Search,
    pub canonical: Search,
    pub not_for_rumur: Option<&'static str>,
}

impl Subject {
    fn search(&self, graph: Graph) -> Search {
        if graph == Graph::Full { self.full } else { self.canonical }
    }

    pub fn wants(&self, contender: &Contender) -> bool {
        let able = contender.tool != Tool::Rumur || self.not_for_rumur.is_none();
        able && self.search(contender.graph) != Search::No
    }

    /// States and rules fired in a graph, if they are known.
    pub fn expects(&self, graph: Graph) -> Option<(u64, u64)> {
        match self.search(graph) {
            Counts(states, rules) if matches!(graph, Graph::Full | Graph::Canonical) => {
                Some((states, rules))
            }
            _ => None,
        }
    }

    /// Who is left out, and why.
    pub fn obstacle(&self) -> Option<String> {
        self.not_for_rumur.map(|why| format!("Rumur on '{}': {why}", self.model.name))
    }
}

/// The models that were asked for and are there, and those that are not.
/// Models that have to be made are written to `scratch`.
pub fn select(options: &Options, scratch: &Path) -> Result<(Vec<Subject>, Vec<String>), String> {
    let (mut subjects, mut skipped) = (Vec::new(), Vec::new());
    if options.models.is_empty() {
        for listed in LIST {
            match listed.locate(&options.corpus, scratch) {
                Ok(subject) => subjects.push(subject),
                Err(obstacle) => skipped.push(format!("model '{}': {obstacle}", listed.name)),
            }
        }
    }
    for name in &options.models {
        subjects.push(match LIST.iter().find(|l| l.name == name) {
            Some(listed) => listed.locate(&options.corpus, scratch)?,
            None => of_user(Path::new(name))?,
        });
    }
    Ok((subjects, skipped))
}

impl Listed {
    fn locate(&self, corpus: &Path, scratch: &Path) -> Result<Subject, String> {
        let file = format!("{}.m", self.name);
        let (path, source) = match self.source {
            Source::Corpus => (present(corpus, &file, "the corpus")?, "CMurphi".to_string()),
            Source::Own { file: original, from, to } => {
                let path = scratch.join(&file);
                enlarge(&machine::root().join("models/murphi").join(original), from, to, &path)?;
                (path, format!("`models/murphi/{original}` with `{to}`"))
            }
        };
        let states = match self.full {
            Counts(states, _) => Some(states),
            _ => None,
        };
        let model = Model { name: self.name.into(), source, path, states };
        let (full, canonical, not_for_rumur) = (self.full, self.canonical, self.not_for_rumur);
        Ok(Subject { model, full, canonical, not_for_rumur })
    }
}

/// A copy of a model in which `from`, which is in it once, is `to`.
fn enlarge(original: &Path, from: &str, to: &str, copy: &Path) -> Result<(), String> {
    let shown = original.display();
    let text =
        std::fs::read_to_string(original).map_err(|e| format!("cannot read '{shown}': {e}"))?;
    if text.matches(from).count() != 1 {
        return Err(format!("'{from}' is not once in '{shown}'"));
    }
    std::fs::write(copy, text.replace(from, to))
        .map_err(|e| format!("cannot write '{}': {e}", copy.display()))
}

/// A model that is a file of the user.
fn of_user(path: &Path) -> Result<Subject, String> {
    let model = given(path)?;
    let text = std::fs::read_to_string(&model.path)
        .map_err(|e| format!("cannot read '{}': {e}", path.display()))?;
    let has_scalarsets = text.to_lowercase().contains("scalarset");
    let canonical = if has_scalarsets { Search::Unknown } else { No };
    Ok(Subject { model, full: Search::Unknown, canonical, not_for_rumur: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::murphi::contenders::{self, OURS_CANONICAL, OURS_HEURISTIC};

    #[test]
    fn the_list_has_no_model_twice_and_large_ones_without_symmetry() {
        let mut names: Vec<&str> = LIST.iter().map(|l| l.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let small = |l: &Listed| matches!(l.full, Counts(states, _) if states <= 100_000);
        assert!(!LIST.iter().any(small));
    }

    #[test]
    fn our_models_have_the_constants_that_are_enlarged() {
        for listed in LIST {
            if let Source::Own { file, from, .. } = listed.source {
                let path = machine::root().join("models/murphi").join(file);
                let text = std::fs::read_to_string(&path).unwrap();
                assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            }
        }
    }

    #[test]
    fn a_model_names_who_searches_it() {
        let subject = Subject {
            model: Model {
                name: "m".into(),
                source: "made up".into(),
                path: "nowhere".into(),
                states: None,
            },
            full: No,
            canonical: Counts(7, 9),
            not_for_rumur: Some("it is so"),
        };
        let all = contenders::all();
        let names: Vec<&str> = all.iter().filter(|c| subject.wants(c)).map(|c| c.name).collect();
        assert_eq!(names, [OURS_CANONICAL, contenders::OURS_CANONICAL_TWO, OURS_HEURISTIC]);
        assert_eq!(subject.expects(Graph::Canonical), Some((7, 9)));
        assert_eq!(subject.expects(Graph::OursHeuristic), None);
        assert_eq!(subject.obstacle().as_deref(), Some("Rumur on 'm': it is so"));
    }
}
