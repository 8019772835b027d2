//! The `supertrace` binary: files, flags, terminals, exit codes.

mod args;
mod check;
mod command;
mod counterexample;
mod engine;
mod estimate;
mod load;
mod progress;
mod show;
mod simulate;
mod storage;
mod swarm;
mod trail;
mod units;

use args::{Cli, Command};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// Exit codes that scripts can rely on.
pub mod exit {
    pub const NO_VIOLATION: u8 = 0;
    pub const VIOLATION: u8 = 1;
    pub const BAD_INPUT: u8 = 2;
    pub const STOPPED: u8 = 3;
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { 0 });
        }
    };
    let result = match &cli.command {
        Command::Check(args) => check::run(args),
        Command::Estimate(args) => estimate::run(args),
        Command::Swarm(args) => swarm::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Show(args) => show::run(args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::from(exit::BAD_INPUT)
        }
    }
}

/// Prints to standard output; a closed pipe (`| head`) is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// A line to standard error, for what is no result.
pub fn note(text: &str) {
    draw(&format!("supertrace: {text}\n"));
}

/// Text to standard error as it is.
pub fn draw(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
