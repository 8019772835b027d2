//! The options of `cargo xtask bench`.

use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask bench [OPTION...]
       cargo xtask bench latency [--json FILE]
       cargo xtask bench murphi [OPTION...]

Compares 'supertrace check' with other checkers, at present Spin: several settings of
each ('contenders') on a fixed list of models of 0.1 to 20 million states, three times
in turn; then the time to verdict on small models. 'latency' measures what random
access to memory costs on this machine; 'murphi' compares with Rumur on Murphi models.

  --models NAME...   these models of the list, or files, and no small models
  --only NAME...     these contenders: spin, spin-por, spin-collapse, ours, ours-core,
                     ours-all, ours-compress, ours-default, spin-bitstate,
                     ours-bitstate, ours-bitstate-core, ours-bitstate-all
  --quick            only five models of middle size, and a few small ones
  --startup          only the small models
  --repeat N         runs of each contender on each model (3)
  --corpus DIR       where the corpus is (../shared/corpus/promela)
  --supertrace FILE  measure this binary instead of building one
  --pan FLAGS        flags of size for pan, e.g. '-m10000000 -w26', instead of
                     those chosen for each model
  --json FILE        write all measurements to FILE
  --svg FILE         draw the speeds to FILE
  --write            write docs/benchmarks.md, docs/benchmarks.svg, docs/benchmarks.json";

#[derive(Debug)]
pub struct Options {
    pub models: Vec<String>,
    pub only: Vec<String>,
    pub quick: bool,
    pub startup: bool,
    pub repeat: usize,
    pub corpus: PathBuf,
    pub supertrace: Option<PathBuf>,
    pub pan: Option<String>,
    pub json: Option<PathBuf>,
    pub svg: Option<PathBuf>,
    pub write: bool,
}

impl Options {
    /// The command that measures the same again, without names of files.
    pub fn command(&self) -> String {
        let mut line = String::from("cargo xtask bench");
        for (flag, names) in [(" --models ", &self.models), (" --only ", &self.only)] {
            if !names.is_empty() {
                line += flag;
                line += &names.join(" ");
            }
        }
        for (flag, on) in [(" --quick", self.quick), (" --startup", self.startup)] {
            line += if on { flag } else { "" };
        }
        if let Some(flags) = &self.pan {
            line += &format!(" --pan '{flags}'");
        }
        line + &format!(" --repeat {}", self.repeat)
    }
}

/// The options, or nothing if only help was wanted (and has been printed).
pub fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options {
        models: Vec::new(),
        only: Vec::new(),
        quick: false,
        startup: false,
        repeat: 3,
        corpus: super::machine::root().join("../shared/corpus/promela"),
        supertrace: None,
        pan: None,
        json: None,
        svg: None,
        write: false,
    };
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        if let Some(names) = match arg.as_str() {
            "--models" => Some(&mut options.models),
            "--only" => Some(&mut options.only),
            _ => None,
        } {
            names.push(args.next().ok_or(format!("'{arg}' needs a value"))?.clone());
            while let Some(name) = args.next_if(|a| !a.starts_with("--")) {
                names.push(name.clone());
            }
            continue;
        }
        let mut value = || args.next().ok_or(format!("'{arg}' needs a value"));
        match arg.as_str() {
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(None);
            }
            "--quick" => options.quick = true,
            "--startup" => options.startup = true,
            "--write" => options.write = true,
            "--repeat" => options.repeat = positive(value()?)?,
            "--corpus" => options.corpus = value()?.into(),
            "--supertrace" => options.supertrace = Some(value()?.into()),
            "--pan" => options.pan = Some(value()?.clone()),
            "--json" => options.json = Some(value()?.into()),
            "--svg" => options.svg = Some(value()?.into()),
            other => return Err(format!("unknown option '{other}'\n\n{HELP}")),
        }
    }
    if options.write && options.startup {
        return Err("'--write' wants the whole bench, not '--startup' alone".into());
    }
    Ok(Some(options))
}

pub fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or(format!("'{text}' is not a positive number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&args).map(|options| options.expect("no help was asked for"))
    }

    #[test]
    fn lists_of_names_end_at_the_next_option() {
        let options = parsed("--only spin ours --models mcs.3 --repeat 5 --quick").unwrap();
        assert_eq!(options.only, ["spin", "ours"]);
        assert_eq!(options.models, ["mcs.3"]);
        assert_eq!((options.repeat, options.quick), (5, true));
        assert_eq!(
            options.command(),
            "cargo xtask bench --models mcs.3 --only spin ours --quick --repeat 5"
        );
    }

    #[test]
    fn help_names_every_contender() {
        let all = super::super::contenders::all(2);
        assert!(all.iter().all(|c| HELP.contains(c.name)));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parsed("--startup --write").is_err());
        assert!(parsed("--fast").unwrap_err().starts_with("unknown option '--fast'"));
        assert_eq!(parsed("--repeat 0").unwrap_err(), "'0' is not a positive number");
        assert_eq!(parsed("--models").unwrap_err(), "'--models' needs a value");
    }
}
