//! Progress of a search on standard error, if that is a terminal.

use check::Progress;
use report::text::{bytes, count};
use std::io::IsTerminal;

pub fn wanted(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

pub fn show(progress: &Progress) {
    let seconds = progress.elapsed.as_secs_f64();
    let rate = progress.states as f64 / seconds.max(1e-9);
    let whole = seconds as u64;
    crate::draw(&format!(
        "\r\x1b[K{} states, {}/s, depth {}, {}, {}:{:02}",
        count(progress.states),
        count(rate as u64),
        count(progress.depth as u64),
        bytes(progress.memory),
        whole / 60,
        whole % 60
    ));
}

pub fn clear() {
    crate::draw("\r\x1b[K");
}
