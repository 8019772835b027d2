//! Sizes, times and numbers on the command line.

use std::sync::OnceLock;
use std::time::Duration;

/// `4GiB`, `700MB`, `64K`, or bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024f64.powi(2),
        "g" | "gib" => 1024f64.powi(3),
        "t" | "tib" => 1024f64.powi(4),
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(format!("unknown unit '{unit}': use KiB, MiB or GiB")),
    };
    let bytes = number * factor;
    if !(1.0..=1e18).contains(&bytes) {
        return Err("expected a size such as 4GiB".into());
    }
    Ok(bytes as u64)
}

/// Bits of an arena: `2^30` for so many bits, else a size in bytes.
pub fn arena(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected 2^9 to 2^50 bits, or a size such as 700MiB";
    let bits = match text.trim().strip_prefix("2^") {
        None => size(text)?.saturating_mul(8),
        Some(exponent) => match exponent.parse() {
            Ok(exponent @ 0..=50) => 1 << exponent,
            _ => return Err(EXPECTED.into()),
        },
    };
    if (1 << 9..=1 << 50).contains(&bits) { Ok(bits) } else { Err(EXPECTED.into()) }
}

/// `90s`, `10m`, `1.5h`, `500ms`, or seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(format!("unknown unit '{unit}': use ms, s, m or h")),
    };
    let seconds = number * factor;
    if seconds > 1e9 {
        return Err("expected a time such as 10m".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A number of at least 1.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".into()),
        Ok(n) => Ok(n),
    }
}

/// Above 0, at most 1.
pub fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(p) if p > 0.0 && p <= 1.0 => Ok(p),
        _ => Err("expected a number above 0 and up to 1".into()),
    }
}

/// A number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match positive(text) {
        Ok(n) if n <= MAX_THREADS => Ok(n),
        _ => Err(format!("expected a number from 1 to {MAX_THREADS}")),
    }
}

const MAX_THREADS: usize = 1024;

pub fn default_threads() -> usize {
    // The system answers by files, so it is asked once; also below.
    static THREADS: OnceLock<usize> = OnceLock::new();
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
    *THREADS.get_or_init(|| cores().min(MAX_THREADS))
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    match text[..end].parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, text[end..].trim())),
        _ => Err("expected a number, then a unit".into()),
    }
}

/// Three quarters of the memory of the machine, or of the container if that is
/// less; 4 GiB if both are unknown.
pub fn default_memory() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(find_memory)
}

fn find_memory() -> u64 {
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|text| text.trim().parse::<u64>().ok());
    let known = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    });
    match (known, container) {
        (Some(a), Some(b)) => a.min(b) / 4 * 3,
        (Some(a), None) | (None, Some(a)) => a / 4 * 3,
        (None, None) => 4 << 30,
    }
}

/// Memory that the program has now, which counts too; unknown, what it has
/// commonly.
fn own_memory() -> u64 {
    let known = std::fs::read_to_string("/proc/self/status").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    });
    known.unwrap_or(12 << 20)
}

/// Huge pages that are not full, making native code, stacks and buffers of threads.
const UNCOUNTED_MEMORY: u64 = 12 << 20;

/// What is left to a search if the program may use so much. A program that may
/// use less than it has already cannot obey: then it is half for the search.
pub fn search_memory(memory: u64) -> u64 {
    memory.saturating_sub(own_memory() + UNCOUNTED_MEMORY).max(memory / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_with_units() {
        assert_eq!(size("4GiB"), Ok(4 << 30));
        assert_eq!(size("1.5K"), Ok(1536));
        assert_eq!(size("700MB"), Ok(700_000_000));
        assert_eq!(size("12"), Ok(12));
        for bad in ["", "GiB", "4 parsecs", "-1", "0", "1e30", "9999999TiB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!((arena("2^30"), arena("1KiB")), (Ok(1 << 30), Ok(8192)));
        assert!(
            arena("2^99").is_err()
                && arena("2^8").is_err()
                && arena("1").is_err()
                && arena("2^").is_err()
                && arena("x").is_err()
        );
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "m", "3 weeks", "-2s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert!(search_memory(1 << 30) < 1 << 30 && search_memory(1 << 20) == 1 << 19);
        assert!(positive("0").is_err());
        assert_eq!((probability("0.25"), probability("1")), (Ok(0.25), Ok(1.0)));
        assert!(["0", "1.1", "-1", "nan", "x"].iter().all(|p| probability(p).is_err()));
        assert_eq!(positive("3"), Ok(3));
        assert_eq!(threads("8"), Ok(8));
        assert!(threads("0").is_err() && threads("1025").is_err());
    }
}
