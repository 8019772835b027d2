//! Hash functions that are remainders of polynomials over GF(2), as Spin's are:
//! a state is a long polynomial, its hash the remainder by a random irreducible
//! one of degree 64.
//!
//! A polynomial of degree 64 is held without its highest term, which is always
//! there.

use crate::bytes::Fingerprint;
use crate::dice::Dice;

/// Two independent remainders.
pub struct Crc {
    tables: [Box<[u64; 256]>; 2],
    /// Polynomials that were tried before both were irreducible.
    tries: u32,
}

impl Crc {
    /// Two random polynomials.
    pub fn new(seed: u64) -> Crc {
        let mut dice = Dice(seed);
        let mut tries = 0;
        let mut polynomial = || {
            loop {
                // Without the term of degree 0, x would be a factor.
                let candidate = dice.roll() | 1;
                tries += 1;
                if is_irreducible(candidate) {
                    return candidate;
                }
            }
        };
        let tables = [polynomial(), polynomial()].map(table);
        Crc { tables, tries }
    }

    pub fn tries(&self) -> u32 {
        self.tries
    }

    pub fn fingerprint(&self, bytes: &[u8]) -> Fingerprint {
        let [a, b] = &self.tables;
        // Not 0, so that leading zeros count; so does the length.
        let start = !(bytes.len() as u64);
        let (mut x, mut y) = (start, start);
        for byte in bytes {
            x = x << 8 ^ a[(x >> 56) as usize ^ *byte as usize];
            y = y << 8 ^ b[(y >> 56) as usize ^ *byte as usize];
        }
        Fingerprint(x, y)
    }
}

/// What each highest byte is, reduced.
fn table(polynomial: u64) -> Box<[u64; 256]> {
    let entry = |byte: usize| (0..8).fold((byte as u64) << 56, |rest, _| shift(rest, polynomial));
    Box::new(std::array::from_fn(entry))
}

/// A remainder times x.
fn shift(rest: u64, polynomial: u64) -> u64 {
    rest << 1 ^ if rest >> 63 == 1 { polynomial } else { 0 }
}

fn square(rest: u64, polynomial: u64) -> u64 {
    let mut product = 0;
    for bit in (0..64).rev() {
        product = shift(product, polynomial);
        product ^= if rest >> bit & 1 == 1 { rest } else { 0 };
    }
    product
}

/// Rabin's test: x^(2^64) is x, and x^(2^32) - x has no factor in common with
/// the polynomial (2 is the only prime that divides 64).
fn is_irreducible(polynomial: u64) -> bool {
    let x = 2;
    let half = (0..32).fold(x, |rest, _| square(rest, polynomial));
    let whole = (0..32).fold(half, |rest, _| square(rest, polynomial));
    whole == x && are_coprime(1 << 64 | polynomial as u128, (half ^ x) as u128)
}

fn are_coprime(mut a: u128, mut b: u128) -> bool {
    while b != 0 {
        while a != 0 && a.leading_zeros() <= b.leading_zeros() {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        std::mem::swap(&mut a, &mut b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irreducible_polynomials_are_told_from_others() {
        // x^64 + x^4 + x^3 + x + 1 is irreducible (it is that of CRC-64-ISO).
        assert!(is_irreducible(0b11011));
        // The same with x^4 left out has an even number of terms, so x + 1 is
        // a factor; x^64 + 1 is (x + 1)^64.
        assert!(!is_irreducible(0b01011) && !is_irreducible(1));
        // (x^32 + x^7 + x^3 + x^2 + 1)^2, a square of an irreducible one.
        let square = 1 << 14 | 1 << 6 | 1 << 4 | 1;
        assert!(!is_irreducible(square));
    }

    #[test]
    fn one_in_32_is_irreducible() {
        // Of all of degree 64 one in 64, of those with the term 1 one in 32.
        let tries: u32 = (0..200).map(|seed| Crc::new(seed).tries()).sum();
        assert!((26.0..38.0).contains(&(tries as f64 / 400.0)), "{tries}");
    }

    #[test]
    fn remainders_are_those_of_long_division() {
        let crc = Crc { tables: [table(0b11011), table(0b11011)], tries: 0 };
        let bytes = [0x12, 0x34, 0xAB];
        let mut rest = !(bytes.len() as u64);
        for byte in bytes {
            rest ^= (byte as u64) << 56;
            rest = (0..8).fold(rest, |rest, _| shift(rest, 0b11011));
        }
        assert_eq!(crc.fingerprint(&bytes), Fingerprint(rest, rest));
        assert_ne!(crc.fingerprint(&[0]), crc.fingerprint(&[0, 0]));
    }
}
