//! The options of `cargo xtask bench`.

use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask bench [OPTION...]

Compares 'supertrace check' with Spin's compiled verifier. Without options: all
corpus models of 100,000 states or more, three times.

  --models FILE...   these models instead
  --quick            only five models of middle size
  --repeat N         runs of each tool on each model (3)
  --corpus DIR       where the corpus is (../shared/corpus/promela)
  --supertrace FILE  measure this binary instead of building one
  --pan FLAGS        flags of size for pan, e.g. '-m10000000 -w26', instead of
                     those chosen for each model
  --json FILE        write all measurements to FILE
  --write            write the table to docs/benchmarks.md";

pub struct Options {
    pub models: Vec<PathBuf>,
    pub quick: bool,
    pub repeat: usize,
    pub corpus: PathBuf,
    pub supertrace: Option<PathBuf>,
    pub pan: Option<String>,
    pub json: Option<PathBuf>,
    pub write: bool,
}

/// The options, or nothing if only help was wanted (and has been printed).
pub fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options {
        models: Vec::new(),
        quick: false,
        repeat: 3,
        corpus: super::machine::root().join("../shared/corpus/promela"),
        supertrace: None,
        pan: None,
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
            "--repeat" => options.repeat = positive(value()?)?,
            "--corpus" => options.corpus = value()?.into(),
            "--supertrace" => options.supertrace = Some(value()?.into()),
            "--pan" => options.pan = Some(value()?.clone()),
            "--json" => options.json = Some(value()?.into()),
            "--models" => {
                options.models.push(value()?.into());
                while let Some(file) = args.next_if(|a| !a.starts_with("--")) {
                    options.models.push(file.into());
                }
            }
            other => return Err(format!("unknown option '{other}'\n\n{HELP}")),
        }
    }
    Ok(Some(options))
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or(format!("'{text}' is not a positive number"))
}
