//! States without the bits that are always zero: less to store, to hash and to
//! compare. Where a bit goes is of no importance as long as each has a place of
//! its own, so words are turned and laid over each other where they fit.
//!
//! Invariant: the packing depends on the model alone, not on the machine:
//! hashes of packed states are the same everywhere.

use super::{Rules, Type, TypeIdx};

/// Packed states have a multiple of so many bytes: stores would waste the rest.
const UNIT: usize = 4;
/// Longer states are left as they are.
const LONGEST: usize = 1 << 16;
/// Words with bits left that are tried next: what is close together stays so.
const WINDOW: usize = 16;
/// Pieces of fewer bits are not made as long as there is room for all.
const FEW_BITS: u32 = 6;

/// Some bits of a word of states, and where they go: to a word of packed
/// states, after a turn to the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub bits: u64,
    pub state: u32,
    pub packed: u16,
    pub turn: u16,
}

/// How states are packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packing {
    /// Bytes of a packed state.
    pub packed_size: usize,
    /// In the order of packed words.
    pub by_packed: Vec<Piece>,
    /// In the order of words of states.
    pub by_state: Vec<Piece>,
}

impl Packing {
    /// `None` if states would not get shorter.
    pub fn new(rules: &Rules) -> Option<Packing> {
        let mut used = vec![0; rules.size as usize];
        for variable in &rules.variables {
            mark_used(rules, variable.ty, &mut used[variable.offset as usize..]);
        }
        Packing::of(&used)
    }

    /// Of states in which no other bits can be set.
    fn of(used: &[u8]) -> Option<Packing> {
        let n_bits: usize = used.iter().map(|byte| byte.count_ones() as usize).sum();
        let packed_size = n_bits.div_ceil(8 * UNIT) * UNIT;
        if n_bits == 0 || packed_size >= used.len() || used.len() > LONGEST {
            return None;
        }
        let by_packed = pieces(used, packed_size, packed_size * 8 - n_bits);
        let mut by_state = by_packed.clone();
        by_state.sort_by_key(|piece| piece.state);
        Some(Packing { packed_size, by_packed, by_state })
    }

    /// Packs a state. Both slices go on for at least seven bytes.
    #[inline(always)]
    pub fn pack(&self, state: &[u8], to: &mut [u8]) {
        let (words, to) = (state.as_chunks().0, to.as_chunks_mut().0);
        let (mut at, mut sum) = (0, 0);
        for piece in &self.by_packed {
            if piece.packed != at {
                to[at as usize] = u64::to_le_bytes(sum);
                (at, sum) = (piece.packed, 0);
            }
            let word = u64::from_le_bytes(words[piece.state as usize]);
            sum |= (word & piece.bits).rotate_left(piece.turn.into());
        }
        to[at as usize] = sum.to_le_bytes();
    }

    /// Makes the state of a packed one in memory that is zero or has the state
    /// of another, and goes on for at least seven bytes.
    #[inline(always)]
    pub fn unpack(&self, packed: &[u8], to: &mut [u8]) {
        let to = to.as_chunks_mut().0;
        let (mut at, mut sum) = (0, 0);
        for piece in &self.by_state {
            if piece.state != at {
                to[at as usize] = u64::to_le_bytes(sum);
                (at, sum) = (piece.state, 0);
            }
            let word = word(packed, piece.packed.into());
            sum |= word.rotate_right(piece.turn.into()) & piece.bits;
        }
        to[at as usize] = sum.to_le_bytes();
    }
}

/// A word of a packed state: the last may have half of the bytes only.
#[inline(always)]
fn word(packed: &[u8], at: usize) -> u64 {
    let bytes = &packed[at * 8..];
    match bytes.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => bytes.first_chunk().map_or(0, |half| u32::from_le_bytes(*half).into()),
    }
}

/// The bits that values of a type may set.
fn mark_used(rules: &Rules, ty: TypeIdx, used: &mut [u8]) {
    match rules.ty(ty) {
        Type::Simple(simple) => {
            let bits = u64::MAX.checked_shr(simple.count.leading_zeros()).unwrap_or(0);
            let width = simple.width.bytes() as usize;
            used[..width].copy_from_slice(&bits.to_le_bytes()[..width]);
        }
        Type::Record { fields, .. } => {
            for field in fields {
                mark_used(rules, field.ty, &mut used[field.offset as usize..]);
            }
        }
        Type::Array { element, size, .. } => {
            let stride = rules.size_of(*element) as usize;
            for i in 0..(*size as usize).checked_div(stride).unwrap_or(0) {
                mark_used(rules, *element, &mut used[i * stride..]);
            }
        }
        Type::Multiset { slots, element, .. } => {
            let stride = 1 + rules.size_of(*element) as usize;
            for i in 0..*slots as usize {
                used[i * stride] = 1;
                mark_used(rules, *element, &mut used[i * stride + 1..]);
            }
        }
    }
}

/// Finds a place for each bit, in as few pieces as is easily done. So many
/// bits of packed states may stay free.
fn pieces(used: &[u8], packed_size: usize, mut spare: usize) -> Vec<Piece> {
    let mut left: Vec<u64> = used
        .chunks(8)
        .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
        .collect();
    let mut pieces = Vec::new();
    let mut first = 0;
    for packed in 0..packed_size.div_ceil(8) {
        let n_bytes = (packed_size - packed * 8).min(8);
        let mut free = u64::MAX >> (64 - 8 * n_bytes);
        while free != 0 {
            while left.get(first) == Some(&0) {
                first += 1;
            }
            let Some((state, bits, turn)) = largest(free, &left, first) else { break };
            let rest = free.count_ones() as usize;
            if bits.count_ones() < FEW_BITS && rest <= spare {
                spare -= rest;
                break;
            }
            free &= !bits.rotate_left(turn);
            left[state] &= !bits;
            pieces.push(Piece {
                bits,
                state: state as u32,
                packed: packed as u16,
                turn: turn as u16,
            });
        }
    }
    // Else states that differ would be taken for the same.
    assert!(left.iter().all(|bits| *bits == 0), "each bit has a place");
    pieces
}

/// The most bits of one word that fit into what is free, with their turn; of
/// the words from the first on.
fn largest(free: u64, left: &[u64], first: usize) -> Option<(usize, u64, u32)> {
    let words = left.iter().enumerate().skip(first).filter(|(_, bits)| **bits != 0).take(WINDOW);
    let mut best: Option<(usize, u64, u32)> = None;
    for (state, bits) in words {
        for turn in 0..64 {
            let bits = bits & free.rotate_right(turn);
            if bits.count_ones() > best.map_or(0, |(_, bits, _)| bits.count_ones()) {
                best = Some((state, bits, turn));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn numbers(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 8
        }
    }

    #[test]
    fn states_come_back_as_they_were() {
        let mut n_packed = 0;
        for seed in 1..400 {
            let mut next = numbers(seed);
            let len = 1 + (next() % 300) as usize;
            let widest = 1 + next() % 8;
            let used: Vec<u8> =
                (0..len).map(|_| ((1u32 << (next() % (widest + 1))) - 1) as u8).collect();
            let Some(packing) = Packing::of(&used) else { continue };
            n_packed += 1;
            let n_bits: usize = used.iter().map(|byte| byte.count_ones() as usize).sum();
            assert!(packing.packed_size < n_bits / 8 + 2 * UNIT, "{used:?}");
            // What lies behind a state is not to be trusted.
            let mut state = vec![0xFF; len + 8];
            for (byte, used) in state.iter_mut().zip(&used) {
                *byte = next() as u8 & used;
            }
            let mut packed = vec![0xFF; packing.packed_size + 8];
            packing.pack(&state, &mut packed);
            let mut back = vec![0; len + 8];
            packing.unpack(&packed[..packing.packed_size], &mut back);
            assert_eq!(back[..len], state[..len], "{used:?}");
        }
        assert!(n_packed > 100, "{n_packed}");
    }

    #[test]
    fn full_bytes_are_not_packed() {
        assert_eq!(Packing::of(&[0xFF; 40]), None);
        assert_eq!(Packing::of(&[0; 40]), None);
        assert_eq!(Packing::of(&[1; 40]).map(|p| p.packed_size), Some(8));
    }
}
