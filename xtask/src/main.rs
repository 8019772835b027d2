//! Chores of the project: `cargo xtask TASK`.

mod bench;
mod fuzz;
mod lean;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((task, rest)) if task == "bench" => bench::main(rest),
        Some((task, rest)) if task == "fuzz" => fuzz::main(rest),
        Some((task, rest)) if task == "lean" => lean::main(rest),
        _ => {
            eprintln!("usage: cargo xtask bench [OPTION...]    ('bench --help' lists them)");
            eprintln!("       cargo xtask bench latency [--json FILE]");
            eprintln!("       cargo xtask bench murphi [OPTION...]");
            eprintln!("       cargo xtask lean [OPTION...]     ('lean --help' lists them)");
            eprintln!("       cargo xtask fuzz [--seconds N] [--seed N] [--models N] [--out DIR]");
            eprintln!("       cargo xtask fuzz --engines | --murphi [--rumur] [OPTION...]");
            ExitCode::from(2)
        }
    }
}
