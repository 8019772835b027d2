//! How states are packed: which of their bits vary, and where these go.
//!
//! Most bits of a state are the same in all states of a model: the upper ones of
//! counters and locations, variables that nobody changes. What is left often
//! fits in a word.
//!
//! Invariant: a state that fits comes back from its word byte by byte, as each
//! bit that may vary has a place of its own.

use super::bits::{Selected, is_fast};
use serde::{Deserialize, Serialize};

/// Set in all packed states: entries of tables are not 0. Their highest bit is
/// clear.
const MARK: u64 = 1 << ROOM;
/// Bits of a state that fit.
const ROOM: u32 = 62;
/// States of so many different lengths are packed, of up to so many words.
const MOST_LENS: usize = 16;
const MOST_WORDS: usize = 64;
/// If states have not fitted so often, room is made for others.
const MANY_MISFITS: u32 = 2;
/// Bytes behind a state that may be read.
const SLACK: usize = 64;

/// What is known of states: the same makes the same form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Their lengths, that of most states first.
    lens: Vec<usize>,
    /// Word by word, with zeros behind shorter states: the bits that vary, those
    /// that may, and the values of those that may not.
    varies: Vec<u64>,
    may_vary: Vec<u64>,
    constant: Vec<u64>,
    /// How often states did not fit.
    n_misfits: u32,
}

impl Known {
    /// Of some states. `None` if there are none, or if they are not for packing.
    pub fn of<'s>(states: impl Iterator<Item = &'s [u8]>) -> Option<Known> {
        let mut known = Known::default();
        let mut counts = [0u64; MOST_LENS];
        for state in states {
            counts[known.add(state)?] += 1;
        }
        let most = (0..known.lens.len()).max_by_key(|number| counts[*number])?;
        known.lens.swap(0, most);
        known.add_margin();
        Some(known)
    }

    /// The same after some did not fit: `all` adds these and all that are stored.
    /// What varied once, does: else two states that wait to be stored could take
    /// the room from each other for ever.
    pub fn again(
        &self,
        all: impl FnOnce(&mut dyn FnMut(&[u8]) -> Option<()>) -> Option<()>,
    ) -> Option<Known> {
        let (lens, n_misfits) = (self.lens.clone(), self.n_misfits + 1);
        let mut known = Known { lens, n_misfits, ..Known::default() };
        all(&mut |state| known.add(state).map(|_| ()))?;
        let words = known.varies.iter_mut().zip(&mut known.constant).zip(&self.varies);
        for ((varies, constant), before) in words {
            *varies |= before;
            *constant &= !before;
        }
        known.add_margin();
        Some(known)
    }

    /// Makes a state fit; the number of its length.
    #[inline(always)]
    fn add(&mut self, state: &[u8]) -> Option<usize> {
        let number = match self.lens.iter().position(|len| *len == state.len()) {
            Some(number) if !self.constant.is_empty() => number,
            _ => self.add_len(state)?,
        };
        // Behind a shorter state there are zeros.
        let words = words(state).chain(std::iter::repeat(0));
        for ((word, constant), varies) in words.zip(&mut self.constant).zip(&mut self.varies) {
            *varies |= word ^ *constant;
            *constant &= !*varies;
        }
        Some(number)
    }

    #[cold]
    fn add_len(&mut self, state: &[u8]) -> Option<usize> {
        let known = self.lens.iter().position(|len| *len == state.len());
        let number = known.unwrap_or(self.lens.len());
        if known.is_none() {
            self.lens.push(state.len());
        }
        let n_words = self.lens.iter().max()?.div_ceil(8);
        if number >= MOST_LENS || n_words > MOST_WORDS || state.is_empty() {
            return None;
        }
        if self.constant.is_empty() {
            self.constant.extend(words(state));
        }
        self.constant.resize(n_words, 0);
        self.varies.resize(n_words, 0);
        Some(number)
    }

    /// Lets more bits vary, as long as there is room: first the next one of each
    /// byte that has some that do, as numbers grow; if that was not enough before,
    /// those that vary in other bytes, which may be elements of the same array.
    fn add_margin(&mut self) {
        self.may_vary.clone_from(&self.varies);
        let bytes: Vec<u8> = self.varies.iter().flat_map(|word| word.to_le_bytes()).collect();
        let next = |byte: u8| u8::BITS - byte.leading_zeros();
        let growing = bytes.iter().enumerate().filter(|(_, b)| **b != 0 && next(**b) < u8::BITS);
        let mut growing: Vec<(usize, u8)> = growing.map(|(at, byte)| (at, *byte)).collect();
        growing.sort_by_key(|(_, byte)| std::cmp::Reverse(byte.count_ones()));
        growing.iter().for_each(|(at, byte)| self.allow(at * 8 + next(*byte) as usize));
        let any = bytes.iter().fold(0, |any, byte| any | byte);
        let first = bytes.iter().position(|byte| *byte != 0);
        let last = bytes.iter().rposition(|byte| *byte != 0);
        if let (Some(first), Some(last), true) = (first, last, self.n_misfits >= MANY_MISFITS) {
            let bits = (first * 8..last * 8 + 8).filter(|bit| any >> (bit % 8) & 1 != 0);
            bits.for_each(|bit| self.allow(bit));
        }
    }

    fn allow(&mut self, bit: usize) {
        let (word, bit) = (bit / 64, 1 << (bit % 64));
        if self.may_vary[word] & bit == 0 && self.n_bits() < ROOM {
            self.may_vary[word] |= bit;
            self.constant[word] &= !bit;
        }
    }

    /// The bits of packed states, word by word; last the number of the length.
    fn bits(&self) -> impl Iterator<Item = u64> {
        let lens = self.lens.len().next_power_of_two() as u64 - 1;
        self.may_vary.iter().copied().chain([lens])
    }

    fn n_bits(&self) -> u32 {
        self.bits().map(u64::count_ones).sum()
    }
}

/// The words of a state; the last one goes on with zeros.
#[inline(always)]
fn words(state: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = state.as_chunks();
    let rest = (!rest.is_empty()).then(|| {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        word
    });
    words.iter().copied().chain(rest).map(u64::from_le_bytes)
}

#[derive(Debug, Clone)]
pub struct Form {
    known: Known,
    /// One for each word of the longest state, and one for the number of the
    /// length.
    fields: Vec<Field>,
    /// The words of states of the first length.
    first: Vec<Word>,
    /// The machine selects bits in no time.
    fast: bool,
}

/// The bits of a word of states that may vary, and where they go.
#[derive(Debug, Clone, Copy)]
struct Field {
    bits: Selected,
    shift: u32,
}

/// A word of states: the bits that belong to the state, those of them that may
/// not vary, and their values.
#[derive(Debug, Clone, Copy)]
struct Word {
    field: Field,
    own: u64,
    fixed: u64,
    values: u64,
}

impl Field {
    #[inline(always)]
    fn pack<const FAST: bool>(&self, word: u64) -> u64 {
        self.bits.gather::<FAST>(word) << self.shift
    }

    #[inline(always)]
    fn unpack<const FAST: bool>(&self, packed: u64) -> u64 {
        self.bits.scatter::<FAST>(packed >> self.shift)
    }
}

impl Form {
    /// `None` if too many bits vary.
    pub fn new(known: Known) -> Option<Form> {
        let len = *known.lens.first()?;
        let n_words = known.may_vary.len();
        let sound = |len: &usize| (1..=n_words * 8).contains(len);
        if known.n_bits() > ROOM || known.constant.len() != n_words || !known.lens.iter().all(sound)
        {
            return None;
        }
        let mut shift = 0;
        let lay = |bits: u64| {
            let field = Field { bits: Selected::new(bits), shift };
            shift += bits.count_ones();
            field
        };
        let fields: Vec<Field> = known.bits().map(lay).collect();
        let word = |(at, field): (usize, &Field)| {
            let own = u64::MAX >> (64 - 8 * (len - 8 * at).min(8));
            let (fixed, values) = (!known.may_vary[at] & own, known.constant[at] & own);
            Word { field: *field, own, fixed, values }
        };
        let first = fields.iter().enumerate().take(len.div_ceil(8)).map(word).collect();
        Some(Form { known, fields, first, fast: is_fast() })
    }

    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Whether the machine makes `FAST` packing possible.
    #[inline(always)]
    pub fn is_fast(&self) -> bool {
        self.fast
    }

    /// Packs a state that begins at a place, with at least seven bytes behind it.
    /// `None` if it does not fit.
    #[inline(always)]
    pub fn pack<const FAST: bool>(&self, bytes: &[u8], at: usize, len: usize) -> Option<u64> {
        if len != self.known.lens[0] {
            return self.pack_other(&bytes[at..at + len]);
        }
        let words = bytes[at..at + self.first.len() * 8].as_chunks().0;
        let (mut packed, mut misfit) = (MARK, 0);
        for (Word { field, own, fixed, values }, word) in self.first.iter().zip(words) {
            let word = u64::from_le_bytes(*word) & own;
            misfit |= (word ^ values) & fixed;
            packed |= field.pack::<FAST>(word);
        }
        (misfit == 0).then_some(packed)
    }

    #[cold]
    fn pack_other(&self, state: &[u8]) -> Option<u64> {
        let Known { lens, constant, may_vary, .. } = &self.known;
        let number = lens.iter().position(|len| *len == state.len())?;
        let mut words: Vec<u64> = words(state).collect();
        words.resize(may_vary.len(), 0);
        let mut known = words.iter().zip(constant).zip(may_vary);
        if known.any(|((word, constant), may_vary)| (word ^ constant) & !may_vary != 0) {
            return None;
        }
        words.push(number as u64);
        let fields = self.fields.iter().zip(words);
        Some(fields.fold(MARK, |packed, (field, word)| packed | field.pack::<false>(word)))
    }

    /// Puts a state together; how long it is. There are `SLACK` bytes more.
    #[inline(always)]
    pub fn unpack<const FAST: bool>(&self, packed: u64, state: &mut Vec<u8>) -> usize {
        if self.known.lens.len() > 1 {
            let number = self.fields.last().map_or(0, |field| field.unpack::<FAST>(packed));
            if number != 0 {
                return self.unpack_other(packed, number as usize, state);
            }
        }
        let size = self.first.len() * 8 + SLACK;
        if state.len() != size {
            state.resize(size, 0);
        }
        for (Word { field, values, .. }, word) in self.first.iter().zip(state.as_chunks_mut().0) {
            *word = (values | field.unpack::<FAST>(packed)).to_le_bytes();
        }
        self.known.lens[0]
    }

    #[cold]
    fn unpack_other(&self, packed: u64, number: usize, state: &mut Vec<u8>) -> usize {
        let words = self.known.constant.iter().zip(&self.fields);
        let words = words.map(|(constant, field)| constant | field.unpack::<false>(packed));
        state.clear();
        state.extend(words.flat_map(u64::to_le_bytes));
        state.resize(state.len() + SLACK, 0);
        self.known.lens[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn pack(form: &Form, state: &[u8]) -> Option<u64> {
        // What lies behind a state is not to be trusted.
        let padded: Vec<u8> = state.iter().copied().chain([0xA5; 8]).collect();
        let slow = form.pack::<false>(&padded, 0, state.len());
        if form.is_fast() {
            assert_eq!(form.pack::<true>(&padded, 0, state.len()), slow);
        }
        slow
    }

    fn unpack(form: &Form, packed: u64) -> Vec<u8> {
        let mut space = vec![0x5A; 7];
        let len = form.unpack::<false>(packed, &mut space);
        let state = space[..len].to_vec();
        if form.is_fast() {
            let len = form.unpack::<true>(packed, &mut space);
            assert_eq!(state, space[..len]);
        }
        state
    }

    /// States of some lengths, in which few bits vary.
    fn states(dice: &mut Dice) -> Vec<Vec<u8>> {
        let lens: Vec<usize> = (0..1 + dice.below(3)).map(|_| 1 + dice.below(60)).collect();
        let constant: Vec<u8> = (0..60).map(|_| dice.roll() as u8).collect();
        let mut varies = [0u8; 60];
        for _ in 0..dice.below(64) {
            varies[dice.below(60)] |= 1 << dice.below(8);
        }
        let mut state = || {
            let len = lens[dice.below(lens.len())];
            let bytes = constant.iter().zip(&varies).take(len);
            bytes.map(|(c, v)| c ^ dice.roll() as u8 & v).collect()
        };
        (0..200).map(|_| state()).collect()
    }

    #[test]
    fn states_come_back_as_they_were_and_others_do_not_fit() {
        let mut dice = Dice(3);
        let (mut n_forms, mut n_misfits) = (0, 0);
        for _ in 0..500 {
            let states = states(&mut dice);
            let (known, others) = states.split_at(8);
            let Some(form) = Known::of(known.iter().map(Vec::as_slice)).and_then(Form::new) else {
                continue;
            };
            n_forms += 1;
            assert!(known.iter().all(|state| pack(&form, state).is_some()));
            for state in others {
                match pack(&form, state) {
                    Some(packed) => {
                        assert!(packed >> 63 == 0 && packed != 0);
                        assert_eq!(unpack(&form, packed), *state);
                    }
                    None => n_misfits += 1,
                }
            }
            let all = |add: &mut dyn FnMut(&[u8]) -> Option<()>| {
                states.iter().try_for_each(|state| add(state))
            };
            let Some(wider) = form.known().again(all).and_then(Form::new) else { continue };
            let varied = wider.known().varies.iter().zip(&form.known().varies);
            assert!(varied.into_iter().all(|(now, before)| before & !now == 0));
            for state in &states {
                let packed = pack(&wider, state).expect("a state that was known");
                assert_eq!(unpack(&wider, packed), *state);
            }
        }
        assert!(n_forms > 100 && n_misfits > 100, "{n_forms} forms, {n_misfits} misfits");
    }

    #[test]
    fn too_many_bits_have_no_form() {
        let ones = |n: usize| Known::of([vec![0; n], vec![0xFF; n]].iter().map(Vec::as_slice));
        assert!(ones(7).and_then(Form::new).is_some());
        assert!(ones(8).and_then(Form::new).is_none());
        let long = [vec![0; 8 * MOST_WORDS + 1]];
        assert_eq!(Known::of(long.iter().map(Vec::as_slice)), None);
    }
}
