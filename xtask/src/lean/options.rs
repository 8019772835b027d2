//! The options of `cargo xtask lean`.

use super::PARTS;
use crate::bench::machine;
use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask lean [OPTION...]

Searches models of the corpus with lossy stores: what precision on demand wins back (pod),
how good estimates of the number of states are (estimate), how often the coverage interval
contains the truth (interval), and the data transfer protocol of the papers (dtp). Runs
swarms: next to Spin's verifier (snark), what they see of all states and what they say of it
(curves), and what they cost besides (throughput).

  --only NAME...     these parts: pod, pod-murphi, estimate, interval, dtp, snark, curves, throughput
  --quick            fewer models and settings; cannot be written
  --corpus DIR       where the corpus is (../shared/corpus/promela)
  --supertrace FILE  run this binary instead of building one
  --json FILE        write all records to FILE
  --write            write docs/lean.md and docs/lean.json; parts that were not run stay";

#[derive(Debug)]
pub struct Options {
    pub only: Vec<String>,
    pub quick: bool,
    pub corpus: PathBuf,
    pub supertrace: Option<PathBuf>,
    pub json: Option<PathBuf>,
    pub write: bool,
}

impl Options {
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part)
    }

    /// The command that measures a part again, without names of files.
    pub fn command(&self, part: &str) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        format!("cargo xtask lean --only {part}{quick}")
    }
}

/// The options, or nothing if only help was wanted (and has been printed).
pub fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options {
        only: Vec::new(),
        quick: false,
        corpus: machine::root().join("../shared/corpus/promela"),
        supertrace: None,
        json: None,
        write: false,
    };
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("'{arg}' needs a value"));
        match arg.as_str() {
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(None);
            }
            "--quick" => options.quick = true,
            "--write" => options.write = true,
            "--corpus" => options.corpus = value()?.into(),
            "--supertrace" => options.supertrace = Some(value()?.into()),
            "--json" => options.json = Some(value()?.into()),
            "--only" => {
                options.only.push(value()?.clone());
                while let Some(name) = args.next_if(|a| !a.starts_with("--")) {
                    options.only.push(name.clone());
                }
            }
            other => return Err(format!("unknown option '{other}'\n\n{HELP}")),
        }
    }
    if let Some(name) = options.only.iter().find(|n| PARTS.iter().all(|part| part.name != *n)) {
        return Err(format!("no part '{name}'; there are pod, estimate, interval, dtp"));
    }
    if options.write && options.quick {
        return Err("'--write' wants all settings, not '--quick'".into());
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&args).map(|options| options.expect("no help was asked for"))
    }

    #[test]
    fn parts_are_chosen_by_name() {
        let options = parsed("--only pod dtp --quick").unwrap();
        assert!(options.wants("pod") && options.wants("dtp") && !options.wants("interval"));
        assert_eq!(options.command("dtp"), "cargo xtask lean --only dtp --quick");
        assert!(parsed("").unwrap().wants("interval"));
        assert!(PARTS.iter().all(|part| HELP.contains(part.name)));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parsed("--only pods").unwrap_err().starts_with("no part 'pods'"));
        assert!(parsed("--quick --write").is_err());
        assert!(parsed("--fast").is_err());
        assert_eq!(parsed("--json").unwrap_err(), "'--json' needs a value");
    }
}
