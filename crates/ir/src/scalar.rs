//! Scalar types: how a value looks to people and how many bits of it are kept.

use std::fmt;

/// What kind of value a variable holds; decides how it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Chan,
    /// An enumeration: index into `System::enums`.
    Enum(usize),
}

/// How a value is stored: the bits that survive an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repr {
    /// The lowest `n` bits, unsigned; 1 to 31.
    Unsigned(u8),
    I16,
    I32,
}

impl Repr {
    pub const U8: Repr = Repr::Unsigned(8);

    /// Bytes the value takes in a state.
    pub fn size(self) -> u32 {
        match self {
            Repr::Unsigned(n) if n <= 8 => 1,
            Repr::Unsigned(n) if n <= 16 => 2,
            Repr::I16 => 2,
            _ => 4,
        }
    }

    /// The value that is read back after `value` was assigned.
    pub fn truncate(self, value: i32) -> i32 {
        match self {
            Repr::Unsigned(n) => value & ((1u32 << n) - 1) as i32,
            Repr::I16 => value as i16 as i32,
            Repr::I32 => value,
        }
    }

    /// Reads the value stored at `at`.
    #[inline]
    pub fn load(self, bytes: &[u8], at: usize) -> i32 {
        match self {
            Repr::Unsigned(n) if n <= 8 => bytes[at] as i32,
            Repr::Unsigned(n) if n <= 16 => u16::from_le_bytes([bytes[at], bytes[at + 1]]) as i32,
            Repr::I16 => i16::from_le_bytes([bytes[at], bytes[at + 1]]) as i32,
            _ => i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
        }
    }

    /// Stores `value`, truncated, at `at`.
    #[inline]
    pub fn store(self, bytes: &mut [u8], at: usize, value: i32) {
        let value = self.truncate(value);
        match self.size() {
            1 => bytes[at] = value as u8,
            2 => bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
            _ => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
        }
    }
}

/// The type of a scalar variable or message field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    pub kind: Kind,
    pub repr: Repr,
}

impl Scalar {
    pub const INT: Scalar = Scalar { kind: Kind::Int, repr: Repr::I32 };
    pub const BYTE: Scalar = Scalar { kind: Kind::Byte, repr: Repr::U8 };

    pub fn new(kind: Kind) -> Scalar {
        let repr = match kind {
            Kind::Bit | Kind::Bool => Repr::Unsigned(1),
            Kind::Byte | Kind::Pid | Kind::Chan | Kind::Enum(_) => Repr::U8,
            Kind::Short => Repr::I16,
            Kind::Int | Kind::Unsigned => Repr::I32,
        };
        Scalar { kind, repr }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (&self.kind, self.repr) {
            (Kind::Bit, _) => write!(f, "bit"),
            (Kind::Bool, _) => write!(f, "bool"),
            (Kind::Byte, _) => write!(f, "byte"),
            (Kind::Pid, _) => write!(f, "pid"),
            (Kind::Short, _) => write!(f, "short"),
            (Kind::Int, _) => write!(f, "int"),
            (Kind::Unsigned, Repr::Unsigned(n)) => write!(f, "unsigned:{n}"),
            (Kind::Unsigned, _) => write!(f, "unsigned"),
            (Kind::Chan, _) => write!(f, "chan"),
            (Kind::Enum(e), _) => write!(f, "enum{e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignment_keeps_the_low_bits_and_reads_back_the_same() {
        let cases = [
            (Repr::Unsigned(1), 3, 1),
            (Repr::U8, -1, 255),
            (Repr::U8, 256, 0),
            (Repr::Unsigned(5), 33, 1),
            (Repr::Unsigned(12), -1, 4095),
            (Repr::Unsigned(31), -1, i32::MAX),
            (Repr::I16, 40_000, -25_536),
            (Repr::I32, i32::MIN, i32::MIN),
        ];
        for (repr, value, expected) in cases {
            let mut bytes = [0xAA; 6];
            repr.store(&mut bytes, 1, value);
            assert_eq!(repr.load(&bytes, 1), expected, "{repr:?} {value}");
            assert_eq!(bytes[0], 0xAA);
            assert_eq!(bytes[1 + repr.size() as usize], 0xAA);
        }
    }
}
