//! Colours of elements: hashes of what a state says about them.

use super::cells::{Block, Cells, Dim};

pub struct Colours {
    pub colours: Vec<u64>,
    /// What blocks say, which is the same in all rounds.
    base: Vec<u64>,
    sums: Vec<u64>,
}

impl Colours {
    pub fn new(cells: &Cells) -> Colours {
        let none = vec![0; cells.n_elements];
        Colours { colours: none.clone(), base: none.clone(), sums: none }
    }

    /// Finds the colours of all elements of a state.
    pub fn find(&mut self, cells: &Cells, state: &[u8]) {
        self.base.fill(0);
        for block in &cells.blocks {
            self.look_at(block, state);
        }
        self.colours.copy_from_slice(&self.base);
        self.settle(cells, state);
    }

    /// Gives an element a colour that no other has.
    pub fn set_apart(&mut self, element: usize) {
        self.colours[element] = mix(self.colours[element] ^ APART);
    }

    /// Refines the colours until no more elements are told apart.
    pub fn settle(&mut self, cells: &Cells, state: &[u8]) {
        let (mut n_before, all) = self.n_colours(cells);
        while !cells.links.is_empty() && n_before < all {
            self.refine(cells, state);
            let (n, _) = self.n_colours(cells);
            if n <= n_before {
                return;
            }
            n_before = n;
        }
    }

    fn look_at(&mut self, block: &Block, state: &[u8]) {
        if block.masks.iter().all(|mask| *mask == 0) {
            return;
        }
        let base = &mut self.base[block.set.first..block.set.first + block.set.count];
        if block.stride == 1 {
            let bytes = &state[block.offset..block.offset + base.len()];
            for (sum, byte) in base.iter_mut().zip(bytes) {
                *sum = sum.wrapping_add(mix(block.class ^ u64::from(*byte)));
            }
            return;
        }
        for (nth, sum) in base.iter_mut().enumerate() {
            let hash = block.words(state, nth).fold(block.class, |hash, word| mix(hash ^ word));
            *sum = sum.wrapping_add(mix(hash));
        }
    }

    /// How many elements of scalarsets can be told apart, and how many there are.
    fn n_colours(&self, cells: &Cells) -> (usize, usize) {
        let (mut n, mut all) = (0, 0);
        for set in &cells.sets {
            let colours = &self.colours[set.first..set.first + set.count];
            for (i, colour) in colours.iter().enumerate() {
                n += !colours[..i].iter().any(|other| other == colour) as usize;
            }
            all += colours.len();
        }
        (n, all)
    }

    /// New colours: of all that is said about an element, and the colours of
    /// the others that are named with it.
    fn refine(&mut self, cells: &Cells, state: &[u8]) {
        self.sums.copy_from_slice(&self.base);
        let mut links = cells.links.iter();
        while let Some(link) = links.next() {
            let raw = cells.raw(link, state);
            if raw == 0 {
                // That nothing is said tells as much.
                if link.slot_links > 0 {
                    links.nth(link.slot_links - 1);
                }
                continue;
            }
            let value = cells.value(link, raw);
            let hash = link.class
                ^ match value {
                    Some((element, segment)) => mix(self.colours[element] ^ segment.raw),
                    None => raw.wrapping_mul(ODD),
                };
            let element = value.map_or(usize::MAX, |(element, _)| element);
            let hash = match link.index {
                _ if cells.is_wide(link) => self.note_wide(cells.dims(link), element, hash),
                Some(index) => self.note_index(index as usize, element, hash),
                None => mix(hash),
            };
            if let Some((element, _)) = value {
                self.sums[element] = self.sums[element].wrapping_add(hash.wrapping_mul(ODD));
            }
        }
        for (colour, sum) in self.colours.iter_mut().zip(&self.sums) {
            *colour = mix(colour.wrapping_mul(ODD) ^ *sum);
        }
    }
}

impl Colours {
    /// Adds what a link says to the sum of its only index; the hash with it.
    #[inline(always)]
    fn note_index(&mut self, index: usize, value: usize, hash: u64) -> u64 {
        let hash = hash.wrapping_add(mix(self.colours[index].wrapping_add(1)));
        let hash = mix(hash ^ u64::from(value == index) << 7);
        self.sums[index] = self.sums[index].wrapping_add(mix(hash));
        hash
    }

    /// The same for several indices.
    fn note_wide(&mut self, dims: &[Dim], value: usize, mut hash: u64) -> u64 {
        for (i, dim) in dims.iter().enumerate() {
            let colour = self.colours[dim.element as usize];
            hash = hash.wrapping_add(mix(colour.wrapping_add(i as u64 + 1)));
            hash ^= coincidences(i, dim, dims, value);
        }
        let hash = mix(hash);
        for (i, dim) in dims.iter().enumerate() {
            let sum = &mut self.sums[dim.element as usize];
            *sum = sum.wrapping_add(mix(hash.wrapping_add(i as u64)));
        }
        hash
    }
}

/// Which other indices of a link, or its value, are the same element as this index.
#[inline(always)]
fn coincidences(i: usize, dim: &Dim, dims: &[Dim], value: usize) -> u64 {
    let mut mask = u64::from(value == dim.element as usize) << ((8 * i + 7) % 64);
    for (j, other) in dims.iter().enumerate().skip(i + 1) {
        mask |= u64::from(other.element == dim.element) << ((8 * i + j) % 64);
    }
    mask
}

const APART: u64 = 0x5851_F42D_4C95_7F2D;
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline(always)]
pub fn mix(x: u64) -> u64 {
    let product = u128::from(x ^ 0xD6E8_FEB8_6659_FD93) * u128::from(ODD);
    product as u64 ^ (product >> 64) as u64
}
