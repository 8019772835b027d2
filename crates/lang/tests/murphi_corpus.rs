//! Our models are accepted. If the corpus is there: those that Rumur and
//! CMurphi accept are accepted, those that Rumur rejects are rejected.

use std::path::{Path, PathBuf};

/// Rejected for a wrong option of Rumur's: the model itself is right.
const WRONG_OPTION: &[&str] = &["bound-illegal"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn corpus() -> Option<PathBuf> {
    let path = root().join("../shared/corpus/murphi");
    if !path.is_dir() {
        // Past the test harness, which would show it for failed tests only.
        use std::io::Write;
        let why = "../shared/corpus is not there";
        let _ = writeln!(std::io::stderr(), "SKIPPED corpus of Murphi models: {why}");
        return None;
    }
    Some(path)
}

/// The errors of a model, as they are shown.
fn errors(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a readable model");
    let loaded = lang::murphi::read(&path.display().to_string(), text);
    let errors = loaded.diagnostics.iter().filter(|d| d.is_error());
    let errors: String = errors.map(|d| d.render(&loaded.sources)).collect();
    assert_eq!(loaded.model.is_none(), !errors.is_empty(), "{}", path.display());
    errors
}

#[test]
fn rumur_and_we_reject_the_same_models() {
    let Some(corpus) = corpus() else { return };
    let directory = corpus.join("rumur-tests");
    let table = std::fs::read_to_string(directory.join("expected.tsv")).expect("expected.tsv");
    let mut n = 0;
    let mut differences = String::new();
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let mut columns = line.split('\t');
        let (Some(name), Some(rejected)) = (columns.next(), columns.next()) else {
            panic!("a line of expected.tsv has a name and whether it is rejected: {line}")
        };
        let rejected = rejected == "1" && !WRONG_OPTION.contains(&name);
        let errors = errors(&directory.join(format!("{name}.m")));
        if rejected == errors.is_empty() {
            let expected = if rejected { "rejected" } else { "accepted" };
            differences += &format!("{name} should be {expected}\n{errors}");
        }
        n += 1;
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(n >= 175, "only {n} models were read");
}

/// All models of a directory.
fn models(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of models");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "m")).collect()
}

#[test]
fn models_of_cmurphi_are_accepted() {
    let Some(corpus) = corpus() else { return };
    let models = models(&corpus.join("cmurphi"));
    for path in &models {
        let errors = errors(path);
        assert!(errors.is_empty(), "{errors}");
    }
    assert!(models.len() >= 16, "only {} models were read", models.len());
}
