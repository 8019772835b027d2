//! Reads of random cache lines: one after the other, and prefetched in batches.

use super::TRIALS;
use super::region::{Pages, Region};
use crate::fuzz::random::Random;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

const LINE: usize = 64;
/// In each trial: a quarter of a second where memory is slow.
const READS: usize = 1 << 21;

pub struct Reads {
    pub bytes: usize,
    pub pages: Pages,
    /// Each address is what the read before it found.
    pub dependent_ns: f64,
    pub batch_16_ns: f64,
    pub batch_64_ns: f64,
    pub huge_share: Option<f64>,
}

impl Reads {
    pub fn json(&self) -> Value {
        json!({
            "bytes": self.bytes,
            "page_bytes": self.pages.bytes(),
            "dependent_ns": self.dependent_ns,
            "batch_16_ns": self.batch_16_ns,
            "batch_64_ns": self.batch_64_ns,
            "huge_share": self.huge_share,
        })
    }
}

/// `size` is a power of two.
pub fn measure(size: usize, pages: Pages) -> Result<Reads, String> {
    let mut region = Region::new(size, pages)?;
    link_at_random(region.bytes());
    let huge_share = region.huge_share();
    let bytes: &[u8] = region.bytes();
    Ok(Reads {
        bytes: size,
        pages,
        dependent_ns: least(|_| follow(bytes, READS)),
        batch_16_ns: least(|trial| read_in_batches::<16>(bytes, READS, trial)),
        batch_64_ns: least(|trial| read_in_batches::<64>(bytes, READS, trial)),
        huge_share,
    })
}

/// The least time for a read of all trials, in nanoseconds.
fn least(reads: impl Fn(u64) -> u64) -> f64 {
    let trial = |trial| {
        let start = Instant::now();
        black_box(reads(trial));
        start.elapsed().as_secs_f64() * 1e9 / READS as f64
    };
    (0..TRIALS as u64).map(trial).fold(f64::INFINITY, f64::min)
}

/// The number at the begin of a line.
#[inline(always)]
fn get(bytes: &[u8], line: usize) -> u64 {
    let at = line * LINE;
    bytes[at..at + 8].try_into().map_or(0, u64::from_ne_bytes)
}

fn set(bytes: &mut [u8], line: usize, value: u64) {
    bytes[line * LINE..][..8].copy_from_slice(&value.to_ne_bytes());
}

/// Makes every line name another, so that all of them form one cycle
/// (Sattolo 1986).
fn link_at_random(bytes: &mut [u8]) {
    let lines = bytes.len() / LINE;
    let mut random = Random::new(lines as u64);
    for line in 0..lines {
        set(bytes, line, line as u64);
    }
    for line in (1..lines).rev() {
        let other = random.below(line);
        let (a, b) = (get(bytes, line), get(bytes, other));
        set(bytes, line, b);
        set(bytes, other, a);
    }
}

fn follow(bytes: &[u8], reads: usize) -> u64 {
    (0..reads).fold(0, |line, _| get(bytes, line as usize))
}

/// Draws `N` lines, prefetches all, then reads all.
fn read_in_batches<const N: usize>(bytes: &[u8], reads: usize, seed: u64) -> u64 {
    let mask = bytes.len() / LINE - 1;
    let mut random = Random::new(seed);
    let mut lines = [0; N];
    let mut sum = 0u64;
    for _ in 0..reads / N {
        for line in &mut lines {
            *line = random.next() as usize & mask;
            prefetch(&bytes[*line * LINE]);
        }
        for &line in &lines {
            sum = sum.wrapping_add(get(bytes, line));
        }
    }
    sum
}

/// Asks for a cache line that will be read soon.
#[inline(always)]
#[allow(unsafe_code)]
fn prefetch(at: &u8) {
    let at: *const u8 = at;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing a program can see and never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_form_one_cycle_through_all_lines() {
        let mut bytes = vec![0; 128 * LINE];
        link_at_random(&mut bytes);
        let first_return = (1..=128).find(|&reads| follow(&bytes, reads) == 0);
        assert_eq!(first_return, Some(128));
    }

    #[test]
    fn batches_read_as_many_lines_as_asked() {
        let mut bytes = vec![0; 128 * LINE];
        (0..128).for_each(|line| set(&mut bytes, line, 1));
        assert_eq!(read_in_batches::<16>(&bytes, 64, 0), 64);
    }
}
