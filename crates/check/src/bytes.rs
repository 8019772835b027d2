//! Copying and comparing states: short rows of bytes, for which calls of the
//! system's routines cost more than the work. Up to 64 bytes, pieces of
//! sixteen from both ends that may overlap; there are no loops, as the
//! compiler would make calls of them.

const STEP: usize = 16;

#[inline(always)]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    let len = a.len();
    if len != b.len() {
        return false;
    }
    if !(STEP..=4 * STEP).contains(&len) {
        return a == b;
    }
    let differ = |at: usize| {
        // SAFETY: below, `at` is at most `len - STEP`, and both are `len` long.
        unsafe {
            let a = a.as_ptr().add(at).cast::<u128>().read_unaligned();
            a ^ b.as_ptr().add(at).cast::<u128>().read_unaligned()
        }
    };
    let ends = differ(0) | differ(len - STEP);
    if len <= 2 * STEP {
        return ends == 0;
    }
    ends | differ(STEP) | differ(len - 2 * STEP) == 0
}

/// Copies to a row of the same length.
#[inline(always)]
pub fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len();
    assert_eq!(len, to.len());
    if !(STEP..=4 * STEP).contains(&len) {
        to.copy_from_slice(from);
        return;
    }
    let mut step = |at: usize| {
        // SAFETY: below, `at` is at most `len - STEP`, and both are `len` long.
        unsafe {
            let piece = from.as_ptr().add(at).cast::<u128>().read_unaligned();
            to.as_mut_ptr().add(at).cast::<u128>().write_unaligned(piece);
        }
    };
    step(0);
    step(len - STEP);
    if len > 2 * STEP {
        step(STEP);
        step(len - 2 * STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lengths_and_all_differences() {
        for len in 0..70 {
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
