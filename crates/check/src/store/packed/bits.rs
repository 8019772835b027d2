//! Some bits of a word side by side, and back where they were: what the
//! instructions PEXT and PDEP do on machines that have them, and six steps with
//! masks on others (H. S. Warren: Hacker's Delight, 7-4 and 7-5).

/// Bits of a word.
#[derive(Debug, Clone, Copy)]
pub struct Selected {
    pub mask: u64,
    /// For each step, the bits that move by a power of two.
    moves: [u64; 6],
}

/// Whether this machine has instructions that are fast: those of AMD's before
/// Zen 3 take a step for each bit.
pub fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let slow = matches!(amd_family(), Some(family) if family < 0x19);
        std::arch::is_x86_feature_detected!("bmi2") && !slow
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
fn amd_family() -> Option<u32> {
    // Older compilers call it unsafe.
    #[allow(unused_unsafe)]
    // SAFETY: all machines of this kind have it.
    let cpuid = |leaf| unsafe { std::arch::x86_64::__cpuid(leaf) };
    let maker = cpuid(0);
    let amd = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD";
    let signature = cpuid(1).eax;
    let (base, extended) = (signature >> 8 & 0xF, signature >> 20 & 0xFF);
    amd.then_some(if base == 0xF { base + extended } else { base })
}

impl Selected {
    pub fn new(mask: u64) -> Selected {
        let mut moves = [0; 6];
        // Of each bit that is left, how many that are not selected lie below it:
        // bit by bit of that number, the parity of all below.
        let (mut left, mut below) = (mask, !mask << 1);
        for (step, moved) in moves.iter_mut().enumerate() {
            let mut parity = below;
            for shift in [1, 2, 4, 8, 16, 32] {
                parity ^= parity << shift;
            }
            *moved = parity & left;
            left = (left ^ *moved) | (*moved >> (1 << step));
            below &= !parity;
        }
        Selected { mask, moves }
    }

    /// The selected bits of a word side by side, from the bit at `shift` on. `FAST` only
    /// if the machine is.
    #[inline(always)]
    pub fn gather<const FAST: bool>(&self, word: u64, shift: u32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if FAST {
            let bits;
            // SAFETY: touches nothing but registers, and the machine knows it.
            unsafe {
                std::arch::asm!("pext {bits}, {word}, {mask}", "shlx {bits}, {bits}, {shift}",
                    bits = out(reg) bits, word = in(reg) word, mask = in(reg) self.mask,
                    shift = in(reg) u64::from(shift),
                    options(pure, nomem, nostack, preserves_flags));
            }
            return bits;
        }
        let mut word = word & self.mask;
        for (step, moved) in self.moves.iter().enumerate() {
            let moving = word & moved;
            word = (word ^ moving) | (moving >> (1 << step));
        }
        word << shift
    }

    /// The bits of a word from that at `shift` on where they are selected.
    #[inline(always)]
    pub fn scatter<const FAST: bool>(&self, bits: u64, shift: u32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if FAST {
            let word;
            // SAFETY: as above.
            unsafe {
                std::arch::asm!("shrx {word}, {bits}, {shift}", "pdep {word}, {word}, {mask}",
                    word = out(reg) word, bits = in(reg) bits, mask = in(reg) self.mask,
                    shift = in(reg) u64::from(shift),
                    options(pure, nomem, nostack, preserves_flags));
            }
            return word;
        }
        let mut word = bits >> shift;
        for (step, moved) in self.moves.iter().enumerate().rev() {
            word = (word & !moved) | (word << (1 << step) & moved);
        }
        word & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    /// Bit by bit.
    fn gathered(mask: u64, word: u64) -> u64 {
        let bits = (0..64).filter(|i| mask >> i & 1 != 0).enumerate();
        bits.fold(0, |all, (to, from)| all | (word >> from & 1) << to)
    }

    #[test]
    fn bits_are_gathered_and_scattered() {
        let mut dice = Dice(1);
        for i in 0..2_000 {
            let (a, b, word) = (dice.roll(), dice.roll(), dice.roll());
            let mask = [a, a & b, a | b, 0, u64::MAX, 1 << (a % 64)][i % 6];
            let selected = Selected::new(mask);
            let bits = gathered(mask, word);
            // What lies above does not count.
            let more = bits | a.checked_shl(mask.count_ones()).unwrap_or(0);
            let shift = dice.below(64) as u32;
            let high = more.checked_shr(shift).unwrap_or(0);
            assert_eq!(selected.gather::<false>(word, shift), bits << shift, "{mask:x}");
            assert_eq!(selected.scatter::<false>(more, 0), word & mask, "{mask:x}");
            let scattered = selected.scatter::<false>(more, shift);
            assert_eq!(scattered, selected.scatter::<false>(high, 0), "{mask:x}");
            if is_fast() {
                assert_eq!(selected.gather::<true>(word, shift), bits << shift, "{mask:x}");
                assert_eq!(selected.scatter::<true>(more, 0), word & mask, "{mask:x}");
                assert_eq!(selected.scatter::<true>(more, shift), scattered, "{mask:x}");
            }
        }
    }
}
