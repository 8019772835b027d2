//! Page faults: what the first touch of a page costs, clearing it included.

use super::TRIALS;
use super::region::{MIB, Pages, Region};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Enough for 128 huge pages.
const SIZE: usize = 256 * MIB;

pub struct Faults {
    pub page_bytes: usize,
    /// For one page.
    pub ns: f64,
}

impl Faults {
    pub fn json(&self) -> Value {
        json!({ "page_bytes": self.page_bytes, "ns": self.ns })
    }
}

pub fn measure(pages: Pages) -> Result<Faults, String> {
    let page_bytes = pages.bytes();
    let mut ns = f64::INFINITY;
    for _ in 0..TRIALS {
        let mut region = Region::new(SIZE, pages)?;
        let bytes = region.bytes();
        let start = Instant::now();
        bytes.iter_mut().step_by(page_bytes).for_each(|byte| *byte = 1);
        let elapsed = start.elapsed().as_secs_f64();
        black_box(bytes);
        ns = ns.min(elapsed * 1e9 / (SIZE / page_bytes) as f64);
    }
    Ok(Faults { page_bytes, ns })
}
