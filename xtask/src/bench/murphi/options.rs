//! The options of `cargo xtask bench murphi`.

use crate::bench::machine;
use crate::bench::options::positive;
use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask bench murphi [OPTION...]

Compares 'supertrace check' with Rumur on a fixed list of Murphi models, three times in
turn: without symmetry, with it, and ours with two threads.

  --models NAME...   these models of the list, or files
  --repeat N         runs of each contender on each model (3)
  --corpus DIR       where the corpus is (../shared/corpus/murphi/cmurphi)
  --supertrace FILE  measure this binary instead of building one
  --json FILE        write all measurements to FILE
  --write            write docs/benchmarks-murphi.md and docs/benchmarks-murphi.json";

#[derive(Debug)]
pub struct Options {
    pub models: Vec<String>,
    pub repeat: usize,
    pub corpus: PathBuf,
    pub supertrace: Option<PathBuf>,
    pub json: Option<PathBuf>,
    pub write: bool,
}

impl Options {
    /// The command that measures the same again, without names of files.
    pub fn command(&self) -> String {
        let mut line = String::from("cargo xtask bench murphi");
        if !self.models.is_empty() {
            line += &format!(" --models {}", self.models.join(" "));
        }
        line + &format!(" --repeat {}", self.repeat)
    }
}

/// The options, or nothing if only help was wanted (and has been printed).
pub fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options {
        models: Vec::new(),
        repeat: 3,
        corpus: machine::root().join("../shared/corpus/murphi/cmurphi"),
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
            "--models" => {
                options.models.push(value()?.clone());
                while let Some(name) = args.next_if(|a| !a.starts_with("--")) {
                    options.models.push(name.clone());
                }
            }
            "--repeat" => options.repeat = positive(value()?)?,
            "--corpus" => options.corpus = value()?.into(),
            "--supertrace" => options.supertrace = Some(value()?.into()),
            "--json" => options.json = Some(value()?.into()),
            "--write" => options.write = true,
            other => return Err(format!("unknown option '{other}'\n\n{HELP}")),
        }
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
    fn the_list_of_models_ends_at_the_next_option() {
        let options = parsed("--models german-4 bakery-20 --repeat 1 --write").unwrap();
        assert_eq!(options.models, ["german-4", "bakery-20"]);
        assert!(options.write);
        let expected = "cargo xtask bench murphi --models german-4 bakery-20 --repeat 1";
        assert_eq!(options.command(), expected);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parsed("--only ours").unwrap_err().starts_with("unknown option '--only'"));
        assert_eq!(parsed("--models").unwrap_err(), "'--models' needs a value");
    }
}
