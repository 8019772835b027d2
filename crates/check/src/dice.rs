//! Chance.

/// A small generator of numbers (Vigna's splitmix).
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let n = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        n ^ (n >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.roll() as u128 * limit as u128) >> 64) as usize
    }
}
