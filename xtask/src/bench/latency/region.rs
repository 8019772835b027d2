//! Memory to measure: a mapping of the wanted kind of pages.

use memmap2::MmapMut;

pub const MIB: usize = 1 << 20;
pub const SMALL_PAGE: usize = 4096;
pub const HUGE_PAGE: usize = 2 * MIB;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pages {
    Small,
    Huge,
}

impl Pages {
    pub fn name(self) -> &'static str {
        match self {
            Pages::Small => "4 KiB",
            Pages::Huge => "2 MiB",
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Pages::Small => SMALL_PAGE,
            Pages::Huge => HUGE_PAGE,
        }
    }
}

/// Zeroed memory that begins where a huge page may begin.
pub struct Region {
    map: MmapMut,
    start: usize,
    len: usize,
}

impl Region {
    pub fn new(len: usize, pages: Pages) -> Result<Region, String> {
        // A mapping ends where it likes; huge pages have to fit into it whole.
        let whole = len.next_multiple_of(HUGE_PAGE) + HUGE_PAGE;
        let map = MmapMut::map_anon(whole).map_err(|e| format!("cannot map {whole} bytes: {e}"))?;
        #[cfg(target_os = "linux")]
        map.advise(match pages {
            Pages::Small => memmap2::Advice::NoHugePage,
            Pages::Huge => memmap2::Advice::HugePage,
        })
        .map_err(|e| format!("no pages of {}: {e}", pages.name()))?;
        let start = map.as_ptr().align_offset(HUGE_PAGE);
        Ok(Region { map, start, len })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }

    /// How much of it the kernel has put into huge pages, if it tells.
    pub fn huge_share(&self) -> Option<f64> {
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let huge = huge_bytes(&smaps, self.map.as_ptr() as usize + self.start)?;
        // The mapping may have a neighbour in the same line of the kernel's table.
        Some((huge as f64 / self.len as f64).min(1.0))
    }
}

/// 'AnonHugePages' of the mapping around `address`.
fn huge_bytes(smaps: &str, address: usize) -> Option<usize> {
    let mut inside = false;
    for line in smaps.lines() {
        if let Some(range) = range(line) {
            inside = range.contains(&address);
        } else if let (true, Some(rest)) = (inside, line.strip_prefix("AnonHugePages:")) {
            let kib: usize = rest.split_whitespace().next()?.parse().ok()?;
            return Some(kib * 1024);
        }
    }
    None
}

/// The addresses in a line like '7f00-7fff rw-p 00000000 00:00 0'.
fn range(line: &str) -> Option<std::ops::Range<usize>> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    let hex = |text| usize::from_str_radix(text, 16).ok();
    Some(hex(from)?..hex(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_huge_pages_of_the_right_mapping() {
        let smaps = "\
1000-2000 rw-p 00000000 00:00 0
AnonHugePages:         0 kB
2000-9000 rw-p 00000000 00:00 0
Size:                 28 kB
AnonHugePages:      2048 kB
";
        assert_eq!(huge_bytes(smaps, 0x2fff), Some(HUGE_PAGE));
        assert_eq!(huge_bytes(smaps, 0x1fff), Some(0));
        assert_eq!(huge_bytes(smaps, 0x9000), None);
    }

    #[test]
    fn a_region_has_its_size_and_begins_at_a_huge_page() {
        let mut region = Region::new(3 * SMALL_PAGE, Pages::Small).unwrap();
        let bytes = region.bytes();
        assert_eq!((bytes.len(), bytes.as_ptr() as usize % HUGE_PAGE), (3 * SMALL_PAGE, 0));
    }
}
