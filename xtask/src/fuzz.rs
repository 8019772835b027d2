//! `cargo xtask fuzz`: random models, checked by Spin and by us, must have the
//! same states, transitions and first violation. With `--engines`: by native
//! code and by the interpreter, without Spin. With `--murphi`: random Murphi
//! models, by native code, by the interpreter and, with `--rumur`, by Rumur.

mod checkers;
mod engines;
mod generate;
mod item;
mod murphi;
pub mod random;
mod scratch;
mod shrink;

use checkers::Checkers;
use item::Item;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

struct Options {
    seconds: u64,
    seed: Option<u64>,
    /// Models to compare at most.
    models: u64,
    out: PathBuf,
    /// Print the model of the seed and stop.
    show: bool,
    /// Compare native code with the interpreter instead of us with Spin.
    engines: bool,
    /// Murphi models instead of Promela models.
    murphi: bool,
    /// Compare them with Rumur too.
    rumur: bool,
}

/// What came of comparing the results for a model.
pub enum Comparison {
    Same,
    Skipped(String),
    /// A kind, a colon, and the two results.
    Different(String),
}

/// What is generated and how it is compared.
struct Campaign<'c> {
    /// How this campaign is started.
    flags: &'c str,
    extension: &'c str,
    /// What a comment begins with.
    comment: &'c str,
    generate: fn(u64) -> Vec<Item>,
    compare: &'c dyn Fn(&str) -> Comparison,
}

impl<'c> Campaign<'c> {
    fn promela(flags: &'c str, compare: &'c dyn Fn(&str) -> Comparison) -> Campaign<'c> {
        let generate = generate::model;
        Campaign { flags, extension: "pml", comment: "//", generate, compare }
    }
}

pub fn main(args: &[String]) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(message) => return failed(&message),
    };
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let seed = options.seed.unwrap_or(clock >> 10);
    if options.show {
        let model = if options.murphi { murphi::model(seed) } else { generate::model(seed) };
        print!("{}", item::text(&model));
        return ExitCode::SUCCESS;
    }
    if options.murphi {
        return murphi::main(&options, seed);
    }
    if options.engines {
        return engines::run(&options, seed);
    }
    match Checkers::new() {
        Ok(Some(checkers)) => {
            run(&options, seed, &Campaign::promela("", &|text| checkers.compare(text)))
        }
        Ok(None) => {
            println!("skipped: comparing needs 'spin' and 'gcc' on the path");
            ExitCode::SUCCESS
        }
        Err(message) => failed(&message),
    }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        seconds: 60,
        seed: None,
        models: u64::MAX,
        out: PathBuf::from("target/fuzz"),
        show: false,
        engines: false,
        murphi: false,
        rumur: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let switch = match arg.as_str() {
            "--show" => Some(&mut options.show),
            "--engines" => Some(&mut options.engines),
            "--murphi" => Some(&mut options.murphi),
            "--rumur" => Some(&mut options.rumur),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("'{arg}' needs a value"))?;
        let parsed = |text: &str| text.parse::<u64>().map_err(|_| format!("'{text}' is no number"));
        match arg.as_str() {
            "--seconds" => options.seconds = parsed(value)?,
            "--time" => options.seconds = parsed(value.strip_suffix('s').unwrap_or(value))?,
            "--seed" => options.seed = Some(parsed(value)?),
            "--models" => options.models = parsed(value)?,
            "--out" => options.out = PathBuf::from(value),
            _ => return Err(format!("unknown option '{arg}'")),
        }
    }
    Ok(options)
}

fn run(options: &Options, first_seed: u64, campaign: &Campaign) -> ExitCode {
    println!("seed {first_seed}");
    let deadline = Instant::now() + Duration::from_secs(options.seconds);
    let (mut compared, mut differences) = (0, 0);
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = first_seed;
    while Instant::now() < deadline && compared < options.models {
        let items = (campaign.generate)(seed);
        match (campaign.compare)(&item::text(&items)) {
            Comparison::Same => compared += 1,
            Comparison::Skipped(why) => *skipped.entry(why).or_default() += 1,
            Comparison::Different(difference) => {
                compared += 1;
                differences += 1;
                println!("seed {seed}: {difference}");
                let (items, difference) = shrink::shrink(items, difference, campaign.compare);
                let text = item::text(&items);
                if let Err(error) = report(options, campaign, seed, &text, &difference) {
                    eprintln!("error: {error}");
                }
            }
        }
        seed = seed.wrapping_add(1);
        if compared > 0 && seed.wrapping_sub(first_seed).is_multiple_of(100) {
            let n_skipped: u64 = skipped.values().sum();
            println!("{compared} compared, {n_skipped} skipped, next seed {seed}");
        }
    }
    for (why, n) in &skipped {
        println!("skipped {n}: {why}");
    }
    let n_skipped: u64 = skipped.values().sum();
    println!("{compared} models compared, {n_skipped} skipped, {differences} differences");
    if differences > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Writes and prints a model that shows a difference.
fn report(
    options: &Options,
    campaign: &Campaign,
    seed: u64,
    text: &str,
    difference: &str,
) -> std::io::Result<()> {
    std::fs::create_dir_all(&options.out)?;
    let Campaign { flags, extension, comment, .. } = campaign;
    let path = options.out.join(format!("{seed}.{extension}"));
    let first_line = difference.lines().next().unwrap_or_default();
    std::fs::write(&path, format!("{comment} seed {seed}: {first_line}\n{text}"))?;
    println!("  shrunk to {}: {difference}\n{text}", path.display());
    println!("  to repeat: cargo xtask fuzz{flags} --seed {seed} --models 1");
    Ok(())
}
