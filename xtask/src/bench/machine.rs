//! What the bench runs on and with.

use std::path::PathBuf;
use std::process::Command;

/// The root of the project.
pub fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or(xtask.clone(), PathBuf::from)
}

/// The first line that a tool prints about its version.
pub fn first_line(tool: &str, flag: &str) -> Option<String> {
    let output = Command::new(tool).arg(flag).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find(|l| !l.trim().is_empty()).map(|l| l.trim().to_string())
}

/// The processor's name.
pub fn processor() -> Option<String> {
    processor_name(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}

fn processor_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_string())
}

/// Memory that is used once before each run: as much as most contenders need.
const WARM_MEMORY: usize = 512 << 20;

/// Uses memory once and frees it. A virtual machine that has given free memory
/// back to its host gets it again at microseconds a page, and who runs after a
/// long run of others would pay for that.
pub fn warm_memory() {
    const PAGE: usize = 4096;
    let mut memory = vec![0u8; WARM_MEMORY];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

/// The commit that is checked out.
pub fn commit() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(root())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's memory in GiB, rounded.
pub fn memory_gib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kib + (1 << 19)) >> 20)
}

/// Processes that want a core, averaged over the last minute.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Wall-clock times mean little if other work wants the cores too.
pub fn warn_if_busy(load: Option<f64>) {
    if let Some(load) = load.filter(|&load| load > cores() as f64 - 1.0) {
        eprintln!("warning: load is {load} on {} cores: trust CPU time more than wall", cores());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_of_the_processor() {
        let cpuinfo = "processor\t: 0\nmodel name\t: A Fast One\nflags\t: fpu\n";
        assert_eq!(processor_name(cpuinfo).as_deref(), Some("A Fast One"));
        assert_eq!(processor_name(""), None);
    }
}
