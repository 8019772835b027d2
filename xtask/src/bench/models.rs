//! Which models are measured: a fixed list, so that figures of different days
//! and machines can be compared.
//!
//! Full searches of 0.1 to 20 million states: shorter ones cannot be timed,
//! longer ones would make the bench a matter of days. A model that is not on
//! the machine is named as skipped.

use super::options::Options;
use std::path::{Path, PathBuf};

/// Where the Debian package of Spin keeps its examples.
const SPIN_EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Five models of middle size and different kinds: puzzle, ring, mutual
/// exclusion by shared memory, queue lock, protocol.
const QUICK: [&str; 5] = ["adding.2", "cambridge.1", "lamport_nonatomic.3", "mcs.3", "sokoban.2"];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// `../shared/corpus/promela`: models of the BEEM benchmark.
    Corpus,
    /// Its directory `large`.
    Large,
    /// The data transfer protocol of Spin's examples, with channels of four
    /// slots instead of two, which makes it 1.7 times as large.
    Dtp,
    /// `../shared/corpus/murphi/cmurphi`.
    Cmurphi,
    /// Our `german.m` with four nodes.
    German,
}

/// A model of the list with the states of its full graph, by Spin's count.
struct Listed {
    name: &'static str,
    source: Source,
    states: u64,
}

const fn corpus(name: &'static str, states: u64) -> Listed {
    Listed { name, source: Source::Corpus, states }
}

const fn large(name: &'static str, states: u64) -> Listed {
    Listed { name, source: Source::Large, states }
}

/// Of the directory `large`, these are not in it: at.5 (32 million states),
/// leader_filters.7 (26), mcs.5 (61), szymanski.5 (80), and firewire_link.5 and
/// peterson.5, which are larger than 8 GiB of memory or four minutes can show.
const LIST: &[Listed] = &[
    corpus("adding.2", 836_838),
    corpus("adding.3", 1_894_376),
    corpus("adding.4", 3_370_680),
    corpus("adding.5", 5_271_456),
    corpus("adding.6", 7_609_684),
    corpus("at.3", 1_711_622),
    corpus("bridge.1", 168_452),
    corpus("cambridge.1", 336_338),
    corpus("cambridge.2", 493_279),
    corpus("cambridge.3", 616_010),
    corpus("cambridge.4", 2_243_566),
    corpus("firewire_link.2", 157_073),
    corpus("firewire_link.4", 105_967),
    corpus("frogs.3", 760_791),
    corpus("hanoi.2", 531_443),
    corpus("krebs.2", 738_840),
    corpus("lamport_nonatomic.1", 185_198),
    corpus("lamport_nonatomic.2", 156_016),
    corpus("lamport_nonatomic.3", 344_676),
    corpus("leader_filters.5", 1_572_886),
    corpus("mcs.3", 571_461),
    corpus("mcs.6", 332_546),
    corpus("needham.3", 261_839),
    corpus("peterson.2", 124_704),
    corpus("peterson.3", 170_156),
    corpus("peterson.4", 1_119_560),
    corpus("protocols.4", 3_708_573),
    corpus("rushhour.3", 156_725),
    corpus("rushhour.4", 327_677),
    corpus("sokoban.2", 761_635),
    corpus("szymanski.3", 1_128_424),
    corpus("szymanski.4", 2_313_863),
    large("at.4", 6_597_247),
    large("krebs.4", 18_399_946),
    Listed { name: "dtp.4", source: Source::Dtp, states: 427_567 },
];

#[derive(Clone, Debug)]
pub struct Model {
    pub name: String,
    /// For the reader of the report.
    pub source: String,
    pub path: PathBuf,
    /// States of the full graph, if they are known.
    pub states: Option<u64>,
}

/// Murphi models, which other parts find by their names.
const MURPHI: &[Listed] = &[
    Listed { name: "german.4", source: Source::German, states: 1_024_920 },
    Listed { name: "mcslock2", source: Source::Cmurphi, states: 3_240_032 },
];

/// The models that were asked for and are there, and those that are not.
/// Models that have to be made are written to `scratch`.
pub fn select(options: &Options, scratch: &Path) -> Result<(Vec<Model>, Vec<String>), String> {
    let (mut models, mut skipped) = (Vec::new(), Vec::new());
    if options.models.is_empty() {
        for listed in LIST.iter().filter(|l| !options.quick || QUICK.contains(&l.name)) {
            match listed.locate(&options.corpus, scratch) {
                Ok(model) => models.push(model),
                Err(obstacle) => skipped.push(format!("model '{}': {obstacle}", listed.name)),
            }
        }
    }
    for name in &options.models {
        models.push(match LIST.iter().find(|l| l.name == name) {
            Some(listed) => listed.locate(&options.corpus, scratch)?,
            None => given(Path::new(name))?,
        });
    }
    Ok((models, skipped))
}

/// A model of the list, if it is there.
pub fn find(name: &str, corpus: &Path, scratch: &Path) -> Result<Model, String> {
    let listed = LIST.iter().chain(MURPHI).find(|l| l.name == name);
    listed.ok_or(format!("'{name}' is not in the list"))?.locate(corpus, scratch)
}

impl Listed {
    fn locate(&self, corpus: &Path, scratch: &Path) -> Result<Model, String> {
        let file = format!("{}.pml", self.name);
        let (path, source) = match self.source {
            Source::Corpus => (present(corpus, &file, "the corpus")?, "corpus"),
            Source::Large => {
                (present(&corpus.join("large"), &file, "the corpus")?, "corpus, large")
            }
            Source::Dtp => {
                let examples = Path::new(SPIN_EXAMPLES);
                let original = present(examples, "dtp.pml", "Spin's examples (Debian's package)")?;
                let path = scratch.join(file);
                replace(&original, "= [2] of", "= [4] of", &path)?;
                (path, "Spin's `dtp.pml`, channels `[4]`")
            }
            Source::Cmurphi => {
                let examples = corpus.join("../murphi/cmurphi");
                let file = format!("mux-{}.m", self.name);
                (present(&examples, &file, "the corpus")?, "corpus, CMurphi")
            }
            Source::German => {
                let ours = super::machine::root().join("models/murphi");
                let original = present(&ours, "german.m", "our models")?;
                let path = scratch.join("german.4.m");
                replace(&original, "nodes: 3;", "nodes: 4;", &path)?;
                (path, "our `german.m`, four nodes")
            }
        };
        Ok(Model { name: self.name.into(), source: source.into(), path, states: Some(self.states) })
    }
}

/// Names the place by what it is: the report is not of this machine alone.
pub fn present(dir: &Path, file: &str, place: &str) -> Result<PathBuf, String> {
    let path = dir.join(file);
    if path.is_file() {
        std::path::absolute(&path).map_err(|e| e.to_string())
    } else {
        Err(format!("'{file}' is not in {place}"))
    }
}

/// Writes a model with one text in place of another.
fn replace(from: &Path, old: &str, new: &str, to: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(from)
        .map_err(|e| format!("cannot read '{}': {e}", from.display()))?;
    if !text.contains(old) {
        return Err(format!("there is no '{old}' in '{}'", from.display()));
    }
    std::fs::write(to, text.replace(old, new))
        .map_err(|e| format!("cannot write '{}': {e}", to.display()))
}

/// A model that is a file of the user.
pub fn given(path: &Path) -> Result<Model, String> {
    if !path.is_file() {
        return Err(format!("'{}' is neither a file nor a model of the list", path.display()));
    }
    let path = std::path::absolute(path).map_err(|e| e.to_string())?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Model { name, source: "given".into(), path, states: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_no_model_twice_and_the_right_sizes() {
        let mut names: Vec<&str> = LIST.iter().map(|l| l.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(LIST.iter().all(|l| (100_000..=20_000_000).contains(&l.states)));
        assert!(QUICK.iter().all(|q| names.contains(q)));
    }

    #[test]
    fn a_missing_model_is_named() {
        let nowhere = Path::new("nowhere");
        let found = LIST[0].locate(nowhere, nowhere).map(|m| m.name);
        assert_eq!(found, Err("'adding.2.pml' is not in the corpus".into()));
    }
}
