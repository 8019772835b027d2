//! Memory of a search: what it may use, and large zeroed mappings in huge pages.
//!
//! Invariant: what was taken from a `Budget` and not given back never exceeds
//! its limit, whatever the number of threads.

mod spare;

use memmap2::{MmapMut, MmapOptions};
use spare::{Spare, Spares};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The memory a search may use, and what of it is in use.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    spares: Spares,
}

impl Budget {
    pub fn new(limit: u64) -> Budget {
        let [used, peak] = [const { AtomicU64::new(0) }; 2];
        Budget { limit, used, peak, spares: Spares::default() }
    }

    /// Takes so many bytes; false, and nothing taken, if there are not as many left.
    pub fn take(&self, bytes: u64) -> bool {
        self.try_take(bytes) || {
            self.spares.all().into_iter().for_each(|spare| self.release(spare));
            self.try_take(bytes)
        }
    }

    fn try_take(&self, bytes: u64) -> bool {
        // Relaxed: a sum on its own; no other memory is read on its account.
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|&sum| sum <= self.limit)
        });
        if let Ok(before) = taken {
            self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    pub fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes the bytes of pages that nobody uses yet, and clear pages that were kept for
    /// the first of them. Returns the rest, which the system has to provide; `None`,
    /// and nothing taken, if there are not as many left.
    pub fn take_pages(&self, map: &Mapping, pages: Range<usize>) -> Option<Range<usize>> {
        let moved = match map.wants_huge_pages() {
            true => 0,
            false => self.spares.fill(map, pages.clone()),
        };
        // What was kept is taken already.
        let rest = pages.start + moved..pages.end;
        if !self.take(rest.len() as u64) {
            map.release(pages.start, moved);
            self.give(moved as u64);
            return None;
        }
        Some(rest)
    }

    /// Pages were given back, and nobody uses them any more: keeps them for whoever comes
    /// next, if there is plenty, and leaves them to the system if not.
    pub fn keep(&self, map: Arc<Mapping>, pages: Range<usize>) {
        let has_plenty = self.used() < self.limit / PLENTY;
        let keeps = has_plenty && self.spares.are_worth_keeping(&pages);
        if keeps && self.try_take(pages.len() as u64) {
            self.spares.keep(Spare { map, pages });
        } else {
            map.release(pages.start, pages.len());
        }
    }

    fn release(&self, Spare { map, pages }: Spare) {
        map.release(pages.start, pages.len());
        self.give(pages.len() as u64);
    }

    /// Bytes that are kept for whoever comes next; they count as used.
    pub fn spare(&self) -> u64 {
        self.spares.bytes()
    }

    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// What can be taken, with what is kept.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used()) + self.spare()
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }
}

/// Zeroed memory that many threads may use at once. Pages come into being
/// when they are touched, so a mapping may be larger than the machine.
#[derive(Debug)]
pub struct Mapping {
    map: MmapMut,
    start: *mut u8,
    len: usize,
    /// Huge pages were asked for.
    huge: bool,
}

/// There is plenty while less than one part of so many is in use.
const PLENTY: u64 = 4;
const HUGE_PAGE: usize = 2 << 20;
/// So much memory does well with small pages: the tables of so many pages are
/// in the processor's cache.
const LARGE: usize = 64 << 20;

/// To clear a huge page takes a tenth of this. A virtual machine that has
/// given it back to its host waits for five times as long, and gets small
/// pages sooner, of which there are always some that it has kept.
const DEAR: Duration = Duration::from_millis(1);
/// So many dear pages are no accident.
const MOST_DEAR: u32 = 3;
/// Huge pages that were dear, in all of the process: it is the machine's nature.
static N_DEAR: AtomicU32 = AtomicU32::new(0);

// SAFETY: the pointer is that of the mapping, which lives as long; who reads
// and writes through it answers for the order.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Address space for `bytes`, to be used anywhere; `None` if the system refuses.
    pub fn new(bytes: usize) -> Option<Mapping> {
        let mut mapping = Mapping::aligned(bytes, 1)?;
        if bytes >= LARGE {
            mapping.prefer_huge_pages(0);
        }
        Some(mapping)
    }

    /// The same, to be used from its start on, perhaps but a little.
    pub fn growing(bytes: usize) -> Option<Mapping> {
        let mut mapping = Mapping::aligned(bytes, 1)?;
        mapping.prefer_huge_pages(LARGE);
        Some(mapping)
    }

    /// The same, to be provided and released by the piece, which has a power of
    /// two of bytes.
    pub fn in_pieces(bytes: usize, piece: usize) -> Option<Mapping> {
        if bytes <= 2 * piece {
            return Mapping::aligned(bytes, 1);
        }
        let mut mapping = Mapping::aligned(bytes, piece)?;
        // Larger ones would be there before all of their pieces are.
        if piece >= HUGE_PAGE && bytes >= LARGE {
            mapping.prefer_huge_pages(0);
        }
        Some(mapping)
    }

    fn aligned(bytes: usize, alignment: usize) -> Option<Mapping> {
        let len = bytes.checked_add(alignment - 1)?;
        let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon().ok()?;
        let start = map.as_mut_ptr();
        let start = start.wrapping_add(start.align_offset(alignment));
        Some(Mapping { map, start, len: bytes, huge: false })
    }

    /// In large memory without huge pages a random access costs a second one
    /// for the page table. Refusal costs speed only.
    fn prefer_huge_pages(&mut self, from: usize) {
        #[cfg(target_os = "linux")]
        if from < self.map.len() && N_DEAR.load(Ordering::Relaxed) < MOST_DEAR {
            let rest = self.map.len() - from;
            self.huge = self.map.advise_range(memmap2::Advice::HugePage, from, rest).is_ok();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = from;
    }

    fn wants_huge_pages(&self) -> bool {
        self.huge && N_DEAR.load(Ordering::Relaxed) < MOST_DEAR
    }

    /// Pages of `len` bytes were provided in such a time: if they were dear
    /// once more, those that are not there yet are to be small.
    #[cfg(target_os = "linux")]
    fn judge_pages(&self, len: usize, taken: Duration) {
        let is_dear = len >= HUGE_PAGE && taken > DEAR * (len / HUGE_PAGE) as u32;
        // Relaxed: a count on its own.
        if is_dear && N_DEAR.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_DEAR {
            let _ = self.map.advise(memmap2::Advice::NoHugePage);
        }
    }

    /// Where a place is in all of the mapping.
    fn offset(&self, at: usize) -> usize {
        self.start as usize - self.map.as_ptr() as usize + at
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Has the system provide whole pages that will be written soon, which
    /// leaves what they hold as it is; false if it does not know how.
    pub fn provide(&self, at: usize, len: usize) -> bool {
        #[cfg(target_os = "linux")]
        {
            if len == 0 {
                return true;
            }
            let (advice, start) = (memmap2::Advice::PopulateWrite, Instant::now());
            let is_provided = self.map.advise_range(advice, self.offset(at), len).is_ok();
            self.judge_pages(len, start.elapsed());
            is_provided
        }
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// Provides the next of all pages, of which so many bytes were provided;
    /// false if there are no more.
    pub fn provide_next(&self, provided: &AtomicU64) -> bool {
        const STEP: u64 = 2 << 20;
        // Relaxed: whatever the order, a page may be provided twice.
        let from = provided.fetch_add(STEP, Ordering::Relaxed);
        let left = (self.len() as u64).saturating_sub(from);
        left > 0 && self.provide(from as usize, left.min(STEP) as usize)
    }

    /// Moves whole pages of another mapping here and clears them; nobody may use them
    /// there or here meanwhile. There they read as zero from then on. False, and nothing
    /// done, if the system does not know how.
    fn adopt(&self, at: usize, from: &Mapping, from_at: usize, len: usize) -> bool {
        assert!(at + len <= self.len && from_at + len <= from.len);
        #[cfg(target_os = "linux")]
        // SAFETY: both are pages of mappings that live on, anonymous and private, and
        // the caller says that nobody uses them.
        unsafe {
            let (old, new) = (from.start.add(from_at).cast(), self.start.add(at));
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            if !(old as usize | new as usize | len).is_multiple_of(page) {
                return false;
            }
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;
            if libc::mremap(old, len, len, flags, new) != new.cast() {
                // What was here may be gone.
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
                let fixed = kind | libc::MAP_FIXED;
                let again = libc::mmap(new.cast(), len, access, fixed, -1, 0);
                assert!(again == new.cast(), "no address space where there was some");
                return false;
            }
            new.write_bytes(0, len);
        }
        cfg!(target_os = "linux")
    }

    /// Gives whole pages back to the system; they read as zero from then on.
    /// Nobody may use them meanwhile.
    pub fn release(&self, at: usize, len: usize) {
        #[cfg(unix)]
        // SAFETY: the caller says that nobody uses these bytes, and zero is a
        // value like any other for whoever does later.
        unsafe {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            let _ = self.map.unchecked_advise_range(advice, self.offset(at), len);
        }
        #[cfg(not(unix))]
        let _ = (at, len);
    }
}

/// Asks for a cache line that will be read soon.
#[inline(always)]
pub fn prefetch(at: *const u8) {
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

/// The same for one that may be written soon: if another core has it, that one gives
/// it up at once, and a locked instruction need not wait for it.
#[inline(always)]
pub fn prefetch_to_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above; processors without this instruction take it for none.
    unsafe {
        std::arch::asm!("prefetchw [{at}]", at = in(reg) at, options(nostack, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{at}]", at = in(reg) at, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_no_more_than_it_has() {
        let budget = Budget::new(100);
        assert!(budget.take(60) && !budget.take(41) && budget.take(40));
        assert!(!budget.take(1) && !budget.take(u64::MAX));
        budget.give(50);
        assert_eq!((budget.used(), budget.peak(), budget.left()), (50, 100, 50));
    }
}
