//! Copying and comparing states: short rows of bytes, for which calls of the
//! system's routines cost more than the work. Sixteen bytes at a time, and the
//! last sixteen once more where the length is no multiple.

const STEP: usize = 16;

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(bytes[at..at + STEP].try_into().expect("sixteen bytes"))
}

#[inline(always)]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    let len = a.len();
    if len != b.len() {
        return false;
    }
    if len < STEP {
        return a == b;
    }
    let mut at = 0;
    while at + STEP <= len {
        if load(a, at) != load(b, at) {
            return false;
        }
        at += STEP;
    }
    at == len || load(a, len - STEP) == load(b, len - STEP)
}

/// Copies to a row of the same length.
#[inline(always)]
pub fn copy(from: &[u8], to: &mut [u8]) {
    let len = from.len();
    assert_eq!(len, to.len());
    if len < STEP {
        to.copy_from_slice(from);
        return;
    }
    let mut step = |at: usize| to[at..at + STEP].copy_from_slice(&from[at..at + STEP]);
    let mut at = 0;
    while at + STEP <= len {
        step(at);
        at += STEP;
    }
    if at < len {
        step(len - STEP);
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
