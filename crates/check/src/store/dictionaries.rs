//! Dictionaries of leaves: parts of states that many states have in common.

use super::Full;
use super::shape::LEAF;
use super::words::{Desk, Words};
use crate::files::Trouble;
use crate::memory::Budget;
use crossbeam_epoch::Guard;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// One dictionary for each length of leaves in words; the first also has the
/// nodes, which are two numbers in a word.
pub struct Dictionaries {
    pub one: Words<1>,
    two: Words<2>,
    three: Words<3>,
    four: Words<4>,
}

/// What a thread keeps of them.
#[derive(Default)]
pub struct Desks {
    pub one: Desk<1>,
    two: Desk<2>,
    three: Desk<3>,
    four: Desk<4>,
}

/// Words of a leaf.
pub const WORDS: usize = LEAF / 8;
pub type Leaf = [u64; WORDS];

impl Dictionaries {
    pub fn new(budget: &Arc<Budget>) -> Option<Dictionaries> {
        Some(Dictionaries {
            one: Words::new(budget)?,
            two: Words::new(budget)?,
            three: Words::new(budget)?,
            four: Words::new(budget)?,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.one.bytes() + self.two.bytes() + self.three.bytes() + self.four.bytes()
    }

    /// The number of a leaf of so many bytes, if it is known at once.
    #[inline(always)]
    pub fn ask(&self, leaf: &Leaf, size: usize, mark: u32, desks: &mut Desks) -> Option<u32> {
        let [a, b, c, d] = *leaf;
        match size.div_ceil(8) {
            0 | 1 => self.one.ask(&[a], mark, &mut desks.one),
            2 => self.two.ask(&[a, b], mark, &mut desks.two),
            3 => self.three.ask(&[a, b, c], mark, &mut desks.three),
            _ => self.four.ask(&[a, b, c, d], mark, &mut desks.four),
        }
    }

    /// Tells the numbers of leaves that were asked for.
    pub fn resolve(
        &self,
        size: usize,
        desks: &mut Desks,
        guard: &Guard,
        tell: impl FnMut(u32, u32),
    ) -> Result<(), Full> {
        match size.div_ceil(8) {
            0 | 1 => self.one.resolve(&mut desks.one, guard, tell),
            2 => self.two.resolve(&mut desks.two, guard, tell),
            3 => self.three.resolve(&mut desks.three, guard, tell),
            _ => self.four.resolve(&mut desks.four, guard, tell),
        }
    }

    #[inline(always)]
    pub fn prefetch(&self, number: u32, size: usize) {
        match size.div_ceil(8) {
            0 | 1 => self.one.prefetch(number),
            2 => self.two.prefetch(number),
            3 => self.three.prefetch(number),
            _ => self.four.prefetch(number),
        }
    }

    #[inline]
    pub fn leaf(&self, number: u32, size: usize) -> Leaf {
        match size.div_ceil(8) {
            0 | 1 => {
                let [a] = self.one.row(number);
                [a, 0, 0, 0]
            }
            2 => {
                let [a, b] = self.two.row(number);
                [a, b, 0, 0]
            }
            3 => {
                let [a, b, c] = self.three.row(number);
                [a, b, c, 0]
            }
            _ => self.four.row(number),
        }
    }

    #[inline]
    pub fn join(&self, number: u32) -> u64 {
        self.one.row(number)[0]
    }

    /// Writes all leaves with their numbers. Nobody may be asking for any.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.one.save(to)?;
        self.two.save(to)?;
        self.three.save(to)?;
        self.four.save(to)
    }

    /// Reads what `save` has written.
    pub fn load(from: &mut dyn Read, budget: &Arc<Budget>) -> Result<Dictionaries, Trouble> {
        Ok(Dictionaries {
            one: Words::load(from, budget)?,
            two: Words::load(from, budget)?,
            three: Words::load(from, budget)?,
            four: Words::load(from, budget)?,
        })
    }
}
