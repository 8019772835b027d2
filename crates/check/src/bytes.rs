//! Copying, comparing and hashing states: short rows of bytes, for which calls
//! of the system's routines cost more than the work. Pieces of sixteen bytes,
//! the last of which may overlap the one before.

const STEP: usize = 16;

#[inline(always)]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    let len = a.len();
    if len != b.len() {
        return false;
    }
    if len < STEP {
        return equal_short(a, b);
    }
    // In words: of pieces the halves would be taken apart again and again.
    let differ = |at: usize| {
        debug_assert!(at + STEP <= len);
        // SAFETY: below, `at` is at most `len - STEP`, and both are `len` long.
        let words =
            |bytes: &[u8]| unsafe { bytes.as_ptr().add(at).cast::<[u64; 2]>().read_unaligned() };
        let ([a, a_next], [b, b_next]) = (words(a), words(b));
        (a ^ b) | (a_next ^ b_next)
    };
    // What is likely to be equal is compared to the end.
    let mut differences = differ(len - STEP);
    if len <= 2 * STEP {
        // Most are as short as that.
        return differences | differ(0) == 0;
    }
    let mut at = 0;
    while at + STEP < len {
        differences |= differ(at);
        at += STEP;
    }
    differences == 0
}

/// The same for fewer bytes than a step.
#[inline(always)]
fn equal_short(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<8>(), b.first_chunk::<8>(), a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a), Some(b), Some(a_end), Some(b_end)) => (a == b) & (a_end == b_end),
        _ => a == b,
    }
}

/// Copies to a row of the same length.
#[inline(always)]
pub fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len();
    assert_eq!(len, to.len());
    if len < STEP {
        match (from.first_chunk::<8>(), from.last_chunk::<8>()) {
            (Some(first), Some(last)) => {
                to[..8].copy_from_slice(first);
                to[len - 8..].copy_from_slice(last);
            }
            _ => to.copy_from_slice(from),
        }
        return;
    }
    if len > 4 * STEP {
        // A loop would be made such a call as well.
        let middle = 2 * STEP..len - 2 * STEP;
        to[middle.clone()].copy_from_slice(&from[middle]);
    }
    let mut step = |at: usize| {
        debug_assert!(at + STEP <= len);
        // SAFETY: below, `at` is at most `len - STEP`, and both are `len` long.
        unsafe {
            let piece = from.as_ptr().add(at).cast::<u128>().read_unaligned();
            to.as_mut_ptr().add(at).cast::<u128>().write_unaligned(piece);
        }
    };
    step(0);
    if len > 2 * STEP {
        step(STEP);
        step(len - 2 * STEP);
    }
    step(len - STEP);
}

/// Odd random numbers.
const KEYS: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0x8BB8_4B93_962E_ACC9];

/// A hash of all bytes; all of its bits are as good as each other. Words are
/// multiplied pair by pair, and both halves of the product are kept (the idea
/// of wyhash).
#[inline(always)]
pub fn hash(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut seed = len as u64 ^ KEYS[0];
    let word = |at: usize| {
        debug_assert!(at + 8 <= len);
        // SAFETY: below, `at` is at most `len - 8`.
        unsafe { bytes.as_ptr().add(at).cast::<u64>().read_unaligned() }
    };
    let (first, last) = if len >= STEP {
        let mut at = 0;
        if len > 4 * STEP {
            // Two at a time, as a product takes longer than to begin another.
            let mut other = KEYS[2];
            while at + 2 * STEP < len {
                seed = multiply(word(at) ^ KEYS[1], word(at + 8) ^ seed);
                other = multiply(word(at + 16) ^ KEYS[2], word(at + 24) ^ other);
                at += 2 * STEP;
            }
            seed ^= other;
        }
        while at + STEP < len {
            seed = multiply(word(at) ^ KEYS[1], word(at + 8) ^ seed);
            at += STEP;
        }
        (word(len - 16), word(len - 8))
    } else if len >= 8 {
        (word(0), word(len - 8))
    } else {
        (bytes.iter().fold(0, |word, byte| word << 8 | *byte as u64), 0)
    };
    multiply(multiply(first ^ KEYS[1], last ^ seed) ^ KEYS[2], KEYS[0])
}

/// What stands for a state where the state is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u64, pub u64);

/// A fingerprint of all bytes, the same in all searches; `Keys` make of it one
/// of a search.
#[inline(always)]
pub fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let [a, b] = sum(bytes);
    Fingerprint(a, b)
}

/// Bytes of which each word has a key of its own.
const PIECE: usize = 128;
/// These keys: random numbers.
static WORD_KEYS: [[u64; 2]; PIECE / STEP] = word_keys();

const fn word_keys() -> [[u64; 2]; PIECE / STEP] {
    let mut keys = [[0; 2]; PIECE / STEP];
    let mut n = 0;
    while n < 2 * keys.len() {
        let mixed = (n as u64 + 1).wrapping_mul(KEYS[0]);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        keys[n / 2][n % 2] = mixed ^ mixed >> 31;
        n += 1;
    }
    keys
}

/// All bytes as a number: words, each with its key added, are multiplied pair by
/// pair, and the products are added up (NH: J. Black et al.: UMAC, CRYPTO 1999). What
/// differs in one pair differs in the sum, whatever the others are, and no product
/// waits for another. After a piece the sum so far is hashed.
#[inline(always)]
fn sum(bytes: &[u8]) -> [u64; 2] {
    match bytes.len() {
        STEP..=PIECE => halves(add_piece(bytes, first_sum(bytes.len()))),
        0..STEP => {
            let product = product(halves(padded(bytes)), WORD_KEYS[0]);
            halves(first_sum(bytes.len()).wrapping_add(product))
        }
        _ => sum_of_others(bytes),
    }
}

/// Fewer bytes than a step, and zeros behind them; without a copy, as what was written
/// in parts takes long to be read as a whole.
#[inline(always)]
fn padded(bytes: &[u8]) -> u128 {
    let missing = STEP - bytes.len();
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
            // Of eight bytes none is left.
            let last = last.checked_shr(8 * missing as u32).unwrap_or(0);
            (last as u128) << 64 | first as u128
        }
        _ => bytes.iter().rev().fold(0, |all, byte| all << 8 | *byte as u128),
    }
}

fn first_sum(len: usize) -> u128 {
    (KEYS[2] as u128) << 64 | (KEYS[1] ^ len as u64) as u128
}

fn halves(sum: u128) -> [u64; 2] {
    [sum as u64, (sum >> 64) as u64]
}

fn product([x, y]: [u64; 2], [k, l]: [u64; 2]) -> u128 {
    x.wrapping_add(k) as u128 * y.wrapping_add(l) as u128
}

/// Adds the products of a piece, or of as many bytes as are left, at least a step.
#[inline(always)]
fn add_piece(bytes: &[u8], sum: u128) -> u128 {
    let len = bytes.len();
    assert!((STEP..=PIECE).contains(&len));
    let words = |at: usize| {
        debug_assert!(at + STEP <= len);
        // SAFETY: below, `at` is at most `len - STEP`.
        let words = unsafe { bytes.as_ptr().add(at).cast::<[u64; 2]>().read_unaligned() };
        words.map(u64::to_le)
    };
    let add = |sum: u128, at: usize, i: usize| sum.wrapping_add(product(words(at), WORD_KEYS[i]));
    let before = |sum: u128, n: usize| (0..n).fold(sum, |sum, i| add(sum, i * STEP, i));
    let n = (len - 1) / STEP;
    // Written out, as the end of a loop costs as much as a product.
    let sum = match n {
        0 => sum,
        1 => before(sum, 1),
        2 => before(sum, 2),
        3 => before(sum, 3),
        4 => before(sum, 4),
        5 => before(sum, 5),
        6 => before(sum, 6),
        _ => before(sum, 7),
    };
    add(sum, len - STEP, n)
}

/// The same of more bytes than a piece has.
#[inline(never)]
fn sum_of_others(bytes: &[u8]) -> [u64; 2] {
    let len = bytes.len();
    let mut sum = first_sum(len);
    let mut start = 0;
    while len - start > PIECE {
        sum = add_piece(&bytes[start..start + PIECE], sum);
        // Both halves of the product go on, and what was multiplied with them, so that
        // nothing is lost where a factor is zero.
        let [a, b] = halves(sum);
        let mixed = (a ^ KEYS[0]) as u128 * (b ^ KEYS[1]) as u128;
        sum = mixed ^ ((a as u128) << 64 | b as u128);
        start += PIECE;
    }
    // The last step may begin in the piece before.
    let rest = &bytes[start..];
    halves(match rest.len() {
        STEP.. => add_piece(rest, sum),
        _ => add_piece(&bytes[len - STEP..], sum),
    })
}

impl Fingerprint {
    /// A number that stands for the state in all searches.
    #[inline(always)]
    pub fn fixed(self) -> u64 {
        multiply(self.0 ^ KEYS[0], self.1 ^ KEYS[2])
    }
}

/// Make the fingerprints of a search, of which each seed gives others: two hashes
/// that know nothing of each other.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    first: u64,
    second: u64,
    /// The second hash is one of the first.
    is_narrow: bool,
}

impl Keys {
    pub fn new(seed: u64) -> Keys {
        let key = |own: u64, other: u64| multiply(seed ^ own, other) ^ own;
        let (first, second) = (key(KEYS[1], KEYS[2]), key(KEYS[2], KEYS[0]));
        Keys { first, second, is_narrow: false }
    }

    /// The same, but the first hash tells the second, so that it is enough to
    /// keep the first.
    pub fn narrow(seed: u64) -> Keys {
        Keys { is_narrow: true, ..Keys::new(seed) }
    }

    #[inline(always)]
    pub fn turn(self, Fingerprint(a, b): Fingerprint) -> Fingerprint {
        if self.is_narrow {
            return self.widen(multiply(a ^ self.first, b ^ KEYS[0]));
        }
        self.turn_wide(Fingerprint(a, b))
    }

    /// The same if keys are not narrow.
    #[inline(always)]
    pub fn turn_wide(self, Fingerprint(a, b): Fingerprint) -> Fingerprint {
        debug_assert!(!self.is_narrow);
        let first = multiply(a ^ self.first, b ^ KEYS[0]);
        Fingerprint(first, multiply(a ^ KEYS[1], b ^ self.second))
    }

    /// All of a fingerprint of which this is the first hash, if keys are narrow.
    #[inline(always)]
    pub fn widen(self, first: u64) -> Fingerprint {
        Fingerprint(first, multiply(first ^ KEYS[1], self.second))
    }
}

#[inline(always)]
fn multiply(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn few_bytes_are_padded_with_zeros() {
        let bytes: Vec<u8> = (1..STEP as u8).map(|byte| byte * 16 + 15).collect();
        for len in 0..STEP {
            let mut expected = [0; STEP];
            expected[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(padded(&bytes[..len]), u128::from_le_bytes(expected), "{len}");
        }
    }

    /// States that differ in their first bytes, with the same bytes behind.
    #[test]
    fn long_runs_of_the_same_bytes_hide_no_difference() {
        for filler in [0, 1, 0xFF] {
            for len in [100, 500, 1_000, 5_000] {
                let states = (0..2_000u32).map(|n| {
                    let mut state = n.to_le_bytes().to_vec();
                    state.resize(len, filler);
                    state
                });
                let (mut prints, mut hashes) = (HashSet::new(), HashSet::new());
                for state in states {
                    let print = fingerprint(&state);
                    prints.insert((print.fixed(), Keys::new(3).turn(print).0));
                    hashes.insert(hash(&state));
                }
                assert_eq!((prints.len(), hashes.len()), (2_000, 2_000), "{filler} {len}");
            }
        }
    }

    #[test]
    fn all_lengths_and_all_differences() {
        for len in 0..200 {
            let a: Vec<u8> = (0..len).collect();
            let mut b = vec![0xFF; len as usize];
            copy(&a, &mut b);
            assert!(a == b && equal(&a, &b));
            assert!(!equal(&a, &[&b[..], &[0]].concat()));
            for i in 0..len as usize {
                b[i] ^= 0x80;
                assert!(!equal(&a, &b), "{len} {i}");
                b[i] ^= 0x80;
            }
        }
    }
}
