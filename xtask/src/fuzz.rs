//! `cargo xtask fuzz`: random models, checked by Spin and by us, must have the
//! same states, transitions and first violation. With `--engines`: by native
//! code and by the interpreter, without Spin.

mod checkers;
mod engines;
mod generate;
mod item;
pub mod random;
mod shrink;

use checkers::{Checkers, Comparison};
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
}

pub fn main(args: &[String]) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let seed = options.seed.unwrap_or(clock >> 10);
    if options.show {
        print!("{}", item::text(&generate::model(seed)));
        return ExitCode::SUCCESS;
    }
    if options.engines {
        return engines::run(&options, seed);
    }
    match Checkers::new() {
        Ok(Some(checkers)) => run(&options, seed, &checkers),
        Ok(None) => {
            println!("skipped: comparing needs 'spin' and 'gcc' on the path");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        seconds: 60,
        seed: None,
        models: u64::MAX,
        out: PathBuf::from("target/fuzz"),
        show: false,
        engines: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let switch = match arg.as_str() {
            "--show" => Some(&mut options.show),
            "--engines" => Some(&mut options.engines),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("'{arg}' needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("'{value}' is no number"));
        match arg.as_str() {
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = Some(number()?),
            "--models" => options.models = number()?,
            "--out" => options.out = PathBuf::from(value),
            _ => return Err(format!("unknown option '{arg}'")),
        }
    }
    Ok(options)
}

fn run(options: &Options, first_seed: u64, checkers: &Checkers) -> ExitCode {
    println!("seed {first_seed}");
    let deadline = Instant::now() + Duration::from_secs(options.seconds);
    let (mut compared, mut differences) = (0, 0);
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = first_seed;
    while Instant::now() < deadline && compared < options.models {
        let items = generate::model(seed);
        match checkers.compare(&item::text(&items)) {
            Comparison::Same => compared += 1,
            Comparison::Skipped(why) => *skipped.entry(why).or_default() += 1,
            Comparison::Different(difference) => {
                compared += 1;
                differences += 1;
                println!("seed {seed}: {difference}");
                let (items, difference) = shrink::shrink(items, difference, checkers);
                if let Err(error) = report(options, seed, &item::text(&items), &difference) {
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

fn report(options: &Options, seed: u64, text: &str, difference: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(&options.out)?;
    let path = options.out.join(format!("{seed}.pml"));
    std::fs::write(&path, format!("// seed {seed}: {difference}\n{text}"))?;
    println!("  shrunk to {}: {difference}", path.display());
    Ok(())
}
