//! `cargo xtask fuzz --murphi`: random Murphi models.

mod checkers;
mod express;
mod generate;
mod place;
mod routine;
mod rule;
mod statement;
mod types;

pub use generate::model;

use super::{Campaign, Options, failed, run};
use checkers::Checkers;
use std::process::ExitCode;

pub fn main(options: &Options, seed: u64) -> ExitCode {
    let checkers = match Checkers::new(options.rumur) {
        Ok(checkers) => checkers,
        Err(message) => return failed(&message),
    };
    if options.rumur && !checkers.has_rumur() {
        println!("skipped: comparing with Rumur needs 'rumur' and 'cc' on the path");
    }
    let flags = if checkers.has_rumur() { " --murphi --rumur" } else { " --murphi" };
    let campaign = Campaign {
        flags,
        extension: "m",
        comment: "--",
        generate: model,
        compare: &|text| checkers.compare(text),
    };
    let code = run(options, seed, &campaign);
    println!("{}", checkers.summary());
    code
}
