//! A look at all slots of a cache line together, without a branch for each.

use super::shard::LINE_SLOTS;
use super::{EMPTY, FROZEN, Position};
use std::sync::atomic::{AtomicU64, Ordering};

const LINE: usize = LINE_SLOTS * size_of::<AtomicU64>();

/// A way to look at a line. What is looked for are entries whose upper bits, from
/// `SHIFT` on, are these.
pub trait Sight {
    /// Whether this machine has it.
    fn is_there() -> bool;

    /// # Safety
    /// There must be a line of slots, and the machine must have it.
    unsafe fn look<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look;
}

/// Slot by slot: what every machine can.
pub struct Each;

/// By vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
pub struct Avx2;

/// By one vector of 64 bytes.
#[cfg(target_arch = "x86_64")]
pub struct Avx512;

/// Calls a function with the best way to look that this machine has.
macro_rules! by_sight {
    ($sight:ident => $call:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            use crate::store::table::{Avx2, Avx512};
            if Avx512::is_there() {
                type $sight = Avx512;
                $call
            } else if Avx2::is_there() {
                type $sight = Avx2;
                $call
            } else {
                type $sight = crate::store::table::Each;
                $call
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            type $sight = crate::store::table::Each;
            $call
        }
    }};
}
pub(crate) use by_sight;

/// The slots of a line that hold what was looked for, and those that hold no entry,
/// a bit for each.
pub struct Look {
    same: u32,
    open: u32,
}

/// Looks for an entry that stands for itself in the line of a position, which a
/// search has found: whether it is there, and if not, the first slot of the search
/// that had no entry, if there is one.
///
/// # Safety
/// The position must be one in a table whose memory is still there, and the machine
/// must have this way to look.
#[inline(always)]
pub unsafe fn look<S: Sight>(from: Position, value: u64) -> (bool, Option<Position>) {
    // SAFETY: the caller's promise; shards consist of whole lines.
    let Look { same, open } = unsafe { S::look::<0>(line_of(from), value) };
    (same != 0, (open != 0).then(|| first_of(open, from)))
}

/// Looks there for an entry whose upper bits, from `SHIFT` on, are these: the first
/// slot of the search that had such an entry, or none.
///
/// # Safety
/// As for `look`.
#[inline(always)]
pub unsafe fn seek<S: Sight, const SHIFT: u32>(from: Position, upper: u64) -> Option<Position> {
    // SAFETY: the caller's promise; shards consist of whole lines.
    let Look { same, open } = unsafe { S::look::<SHIFT>(line_of(from), upper) };
    let either = same | open;
    (either != 0).then(|| first_of(either, from))
}

/// The first of these slots, from that of the position on, all around; what is in it
/// is not known.
#[inline(always)]
fn first_of(slots: u32, from: Position) -> Position {
    let first = from.slot.addr() / size_of::<AtomicU64>() % LINE_SLOTS;
    let next = ((slots | slots << LINE_SLOTS) >> first).trailing_zeros() as usize;
    let slot = line_of(from).wrapping_add((first + next) % LINE_SLOTS);
    Position { slot, value: FROZEN }
}

fn line_of(position: Position) -> *const AtomicU64 {
    position.slot.map_addr(|at| at & !(LINE - 1))
}

impl Sight for Each {
    fn is_there() -> bool {
        true
    }

    #[inline(always)]
    unsafe fn look<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
        let mut look = Look { same: 0, open: 0 };
        for i in 0..LINE_SLOTS {
            // Relaxed: who needs what is behind the entry looks at it again.
            // SAFETY: the caller's promise.
            let there = unsafe { (*line.add(i)).load(Ordering::Relaxed) };
            look.same |= u32::from(there >> SHIFT == upper) << i;
            look.open |= u32::from(there & !FROZEN == EMPTY) << i;
        }
        look
    }
}

#[cfg(target_arch = "x86_64")]
impl Sight for Avx2 {
    fn is_there() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
    }

    #[inline(always)]
    unsafe fn look<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
        let (same, open): (u32, u32);
        // SAFETY: reads one line, the caller's promise. Each slot is read as a whole, as
        // by a relaxed load.
        unsafe {
            std::arch::asm!(
                "vmovdqa ymm0, ymmword ptr [{line}]",
                "vmovdqa ymm1, ymmword ptr [{line} + 32]",
                "vmovq xmm2, {upper}",
                "vpbroadcastq ymm2, xmm2",
                "vpsrlq ymm3, ymm0, {shift}",
                "vpcmpeqq ymm3, ymm3, ymm2",
                "vmovmskpd {same:e}, ymm3",
                "vpsrlq ymm3, ymm1, {shift}",
                "vpcmpeqq ymm3, ymm3, ymm2",
                "vmovmskpd {half:e}, ymm3",
                "shl {half:e}, 4",
                "or {same:e}, {half:e}",
                // Without the highest bit, as frozen slots have it.
                "vpaddq ymm0, ymm0, ymm0",
                "vpaddq ymm1, ymm1, ymm1",
                "vpxor xmm2, xmm2, xmm2",
                "vpcmpeqq ymm0, ymm0, ymm2",
                "vpcmpeqq ymm1, ymm1, ymm2",
                "vmovmskpd {open:e}, ymm0",
                "vmovmskpd {half:e}, ymm1",
                "shl {half:e}, 4",
                "or {open:e}, {half:e}",
                "vzeroupper",
                line = in(reg) line,
                upper = in(reg) upper,
                shift = const SHIFT,
                same = out(reg) same,
                open = out(reg) open,
                half = out(reg) _,
                // The last instruction is for all of them.
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(readonly, nostack),
            );
        }
        Look { same, open }
    }
}

#[cfg(target_arch = "x86_64")]
impl Sight for Avx512 {
    /// Not on the first machines with such instructions, which slowed down for them:
    /// later ones have VBMI2, too.
    fn is_there() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
    }

    #[inline(always)]
    unsafe fn look<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
        let (same, open): (u32, u32);
        // SAFETY: as above. Only registers are used that older instructions do not know,
        // so that these need not be told.
        unsafe {
            std::arch::asm!(
                "vmovdqa64 zmm16, zmmword ptr [{line}]",
                "vpbroadcastq zmm17, {upper}",
                "vpsrlq zmm18, zmm16, {shift}",
                "vpcmpeqq k1, zmm18, zmm17",
                // Without the highest bit, as frozen slots have it.
                "vpaddq zmm16, zmm16, zmm16",
                "vptestnmq k2, zmm16, zmm16",
                "kmovw {same:e}, k1",
                "kmovw {open:e}, k2",
                line = in(reg) line,
                upper = in(reg) upper,
                shift = const SHIFT,
                same = out(reg) same,
                open = out(reg) open,
                out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _, out("k2") _,
                options(readonly, nostack, preserves_flags),
            );
        }
        Look { same, open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    #[repr(align(64))]
    struct Line([AtomicU64; LINE_SLOTS]);

    /// Whether an entry was there, where it may be put, and what `seek` finds.
    type Found = (bool, Option<*const AtomicU64>, Option<*const AtomicU64>);

    #[test]
    fn a_look_finds_what_a_search_slot_by_slot_does() {
        let mut dice = Dice(5);
        let (mut n_found, mut n_frozen) = (0, 0);
        for _ in 0..5_000 {
            let line = Line(std::array::from_fn(|_| {
                AtomicU64::new([EMPTY, FROZEN, 1 + dice.below(12) as u64][2.min(dice.below(6))])
            }));
            let (first, value) = (dice.below(LINE_SLOTS), 1 + dice.below(12) as u64);
            let from = Position { slot: &line.0[first], value: FROZEN };
            let around = (first..first + LINE_SLOTS).map(|at| &line.0[at % LINE_SLOTS]);
            let values = around.map(|slot| (slot.load(Ordering::Relaxed), &raw const *slot));
            let values: Vec<_> = values.collect();
            let there = values.iter().any(|(there, _)| *there == value);
            let open = values.iter().find(|(there, _)| there & !FROZEN == EMPTY);
            const SHIFT: u32 = 2;
            let has_upper =
                |there: u64| there >> SHIFT == value >> SHIFT || there & !FROZEN == EMPTY;
            let sought = values.iter().find(|(there, _)| has_upper(*there)).map(|(_, slot)| *slot);
            fn found<S: Sight>(from: Position, value: u64) -> Option<Found> {
                // SAFETY: the line is there.
                S::is_there().then(|| unsafe {
                    let (is_there, open) = look::<S>(from, value);
                    let sought = seek::<S, SHIFT>(from, value >> SHIFT);
                    (is_there, open.map(|open| open.slot), sought.map(|sought| sought.slot))
                })
            }
            let expected = (there, open.map(|(_, slot)| *slot), sought);
            assert_eq!(found::<Each>(from, value), Some(expected));
            #[cfg(target_arch = "x86_64")]
            for found in [found::<Avx2>(from, value), found::<Avx512>(from, value)] {
                assert!(found.is_none_or(|found| found == expected));
            }
            n_found += there as usize;
            n_frozen += open.is_some_and(|(there, _)| *there == FROZEN) as usize;
        }
        assert!(n_found > 100 && n_frozen > 100, "{n_found} found, {n_frozen} frozen");
    }
}
