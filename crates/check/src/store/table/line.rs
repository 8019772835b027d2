//! A look at all slots of a cache line together, without a branch for each.

use super::shard::LINE_SLOTS;
use super::{EMPTY, FROZEN, Position};
use std::sync::atomic::{AtomicU64, Ordering};

const LINE: usize = LINE_SLOTS * size_of::<AtomicU64>();

/// Whether this machine has the instructions for a `FAST` look.
pub fn can_look_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The slots of a line that hold what was looked for, and those that hold no entry,
/// a bit for each.
struct Look {
    same: u32,
    open: u32,
}

/// Looks for an entry that stands for itself in the line of a position, which a
/// search has found: whether it is there, and if not, the first slot of the search
/// that had no entry, if there is one. `FAST` only if the machine is.
///
/// # Safety
/// The position must be one in a table whose memory is still there, and `FAST` false
/// unless `can_look_fast`.
#[inline(always)]
pub unsafe fn look<const FAST: bool>(from: Position, value: u64) -> (bool, Option<Position>) {
    // SAFETY: the caller's promise.
    let Look { same, open } = unsafe { Look::at::<FAST, 0>(from, value) };
    (same != 0, (open != 0).then(|| first_of(open, from)))
}

/// Looks there for an entry whose upper bits, from `SHIFT` on, are these: the first
/// slot of the search that had such an entry, or none.
///
/// # Safety
/// As for `look`.
#[inline(always)]
pub unsafe fn seek<const FAST: bool, const SHIFT: u32>(
    from: Position,
    upper: u64,
) -> Option<Position> {
    // SAFETY: the caller's promise.
    let Look { same, open } = unsafe { Look::at::<FAST, SHIFT>(from, upper) };
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

impl Look {
    /// # Safety
    /// As for `look`.
    #[inline(always)]
    unsafe fn at<const FAST: bool, const SHIFT: u32>(from: Position, upper: u64) -> Look {
        let line = line_of(from);
        // SAFETY: the caller's promise; shards consist of whole lines.
        unsafe {
            match FAST {
                true => look_fast::<SHIFT>(line, upper),
                false => look_at_each::<SHIFT>(line, upper),
            }
        }
    }
}

/// # Safety
/// There must be a line of slots.
#[inline(always)]
unsafe fn look_at_each<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
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

/// # Safety
/// There must be a line of slots, and the machine must know the instructions.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn look_fast<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
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

/// # Safety
/// As for `look_at_each`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn look_fast<const SHIFT: u32>(line: *const AtomicU64, upper: u64) -> Look {
    // SAFETY: the caller's promise.
    unsafe { look_at_each::<SHIFT>(line, upper) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    #[repr(align(64))]
    struct Line([AtomicU64; LINE_SLOTS]);

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
            let expected = (there, open.map(|(_, slot)| *slot));
            let as_slots = |(there, open): (bool, Option<Position>)| (there, open.map(|o| o.slot));
            const SHIFT: u32 = 2;
            let has_upper =
                |there: u64| there >> SHIFT == value >> SHIFT || there & !FROZEN == EMPTY;
            let sought = values.iter().find(|(there, _)| has_upper(*there)).map(|(_, slot)| *slot);
            let as_slot = |sought: Option<Position>| sought.map(|position| position.slot);
            // SAFETY: the line is there.
            unsafe {
                assert_eq!(as_slots(look::<false>(from, value)), expected);
                assert_eq!(as_slot(seek::<false, SHIFT>(from, value >> SHIFT)), sought);
                if can_look_fast() {
                    assert_eq!(as_slots(look::<true>(from, value)), expected);
                    assert_eq!(as_slot(seek::<true, SHIFT>(from, value >> SHIFT)), sought);
                }
            }
            n_found += there as usize;
            n_frozen += open.is_some_and(|(there, _)| *there == FROZEN) as usize;
        }
        assert!(n_found > 100 && n_frozen > 100, "{n_found} found, {n_frozen} frozen");
    }
}
