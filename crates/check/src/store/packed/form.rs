//! How states are packed: which of their bits vary, and where these go.
//!
//! Most bits of a state are the same in all states of a model: the upper ones of
//! counters and locations, variables that nobody changes. What is left often
//! fits in a word.
//!
//! Invariant: a state that fits comes back from its word byte by byte, as each
//! bit that may vary has a place of its own.

use super::Aim;
use super::bits::{Selected, is_fast};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Set in all packed states: entries of tables are not 0. Their highest bit is
/// clear.
const MARK: u64 = 1 << ROOM;
/// Bits of a state that fit.
const ROOM: u32 = 62;
/// States of so many different lengths are packed, of up to so many words.
const MOST_LENS: usize = 16;
const MOST_WORDS: usize = 64;
/// Words of states that are packed to save time, and bits that are left then.
pub const FEW_WORDS: usize = 8;
const SPARE_BITS: u32 = 10;
/// Bytes behind a state that may be read.
const SLACK: usize = 64;

/// What is known of states: the same makes the same form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Their lengths, that of most states first.
    lens: Vec<usize>,
    /// The longest that was added.
    n_bytes: usize,
    /// Word by word, as far as there are states: the bits that vary, those that
    /// may, and the values of those that may not.
    varies: Vec<u64>,
    may_vary: Vec<u64>,
    constant: Vec<u64>,
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

    /// The same after some did not fit: `all` adds these and `Form::bounds` of all that
    /// are stored.
    /// What varied once, does: else two states that wait to be stored could take
    /// the room from each other for ever.
    pub fn again(
        &self,
        all: impl FnOnce(&mut dyn FnMut(&[u8]) -> Option<()>) -> Option<()>,
    ) -> Option<Known> {
        let mut known = Known { lens: self.lens.clone(), ..Known::default() };
        all(&mut |state| known.add(state).map(|_| ()))?;
        known.extend(self.n_bytes, self.constant.iter().copied());
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
            Some(number) if state.len() <= self.n_bytes => number,
            _ => self.add_len(state)?,
        };
        let words = words(state).zip(own(state.len()));
        let known = self.constant.iter_mut().zip(&mut self.varies);
        for ((word, own), (constant, varies)) in words.zip(known) {
            *varies |= (word ^ *constant) & own;
            *constant &= !*varies;
        }
        Some(number)
    }

    #[cold]
    fn add_len(&mut self, state: &[u8]) -> Option<usize> {
        let known = self.lens.iter().position(|len| *len == state.len());
        let number = known.unwrap_or(self.lens.len());
        let n_words = state.len().div_ceil(8);
        if number >= MOST_LENS || n_words > MOST_WORDS || state.is_empty() {
            return None;
        }
        if known.is_none() {
            self.lens.push(state.len());
        }
        self.extend(state.len(), words(state));
        Some(number)
    }

    /// What no state has had so far is as it is in these words of so many bytes.
    fn extend(&mut self, n_bytes: usize, words: impl Iterator<Item = u64>) {
        let had = own(self.n_bytes).chain(std::iter::repeat(0));
        self.n_bytes = self.n_bytes.max(n_bytes);
        self.constant.resize(self.n_bytes.div_ceil(8), 0);
        self.varies.resize(self.n_bytes.div_ceil(8), 0);
        for ((constant, word), had) in self.constant.iter_mut().zip(words).zip(had) {
            *constant |= word & !had;
        }
    }

    /// Lets more bits vary, as long as there is room: first those that vary in bytes
    /// alike, nearest first; then the next one of each byte that has some that do, as
    /// numbers grow; then those that vary in any other byte.
    fn add_margin(&mut self) {
        self.may_vary.clone_from(&self.varies);
        if self.n_bits() >= ROOM {
            return;
        }
        let mut bytes: Vec<u8> = self.varies.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.n_bytes);
        alike(&bytes).into_iter().for_each(|bit| self.allow(bit));
        let growing = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        let mut growing: Vec<(usize, u8)> = growing.map(|(at, byte)| (at, *byte)).collect();
        growing.sort_by_key(|(_, byte)| Reverse(byte.count_ones()));
        // Behind the highest bit that is the lowest one of the next byte.
        let next = |(at, byte): &(usize, u8)| (at + 1) * 8 - byte.leading_zeros() as usize;
        growing.iter().map(next).for_each(|bit| self.allow(bit));
        let any = bytes.iter().fold(0, |any, byte| any | byte);
        let first = bytes.iter().position(|byte| *byte != 0);
        let last = bytes.iter().rposition(|byte| *byte != 0);
        if let (Some(first), Some(last)) = (first, last) {
            let bits = (first * 8..last * 8 + 8).filter(|bit| any >> (bit % 8) & 1 != 0);
            bits.for_each(|bit| self.allow(bit));
        }
    }

    fn allow(&mut self, bit: usize) {
        let (is_own, word, bit) = (bit < 8 * self.n_bytes, bit / 64, 1 << (bit % 64));
        if is_own && self.may_vary[word] & bit == 0 && self.n_bits() < ROOM {
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

/// Bits that do not vary in a byte but in one like it, which may be an element of the
/// same array or the same variable of another process; in a byte where nothing varies,
/// those that do on both of its sides. The nearest come first.
fn alike(bytes: &[u8]) -> Vec<usize> {
    let varying: Vec<(usize, u8)> =
        bytes.iter().copied().enumerate().filter(|(_, byte)| *byte != 0).collect();
    let is_like =
        |byte: u8, other: u8| byte & other == byte && other.count_ones() <= 2 * byte.count_ones();
    let mut bits = Vec::new();
    let mut add = |at: usize, missing: u8, distance: usize| {
        let missing = (0..8).filter(|bit| missing >> bit & 1 != 0);
        bits.extend(missing.map(|bit| (distance, at * 8 + bit)));
    };
    for (at, byte) in &varying {
        for (other_at, other) in varying.iter().filter(|(_, other)| is_like(*byte, *other)) {
            add(*at, other & !byte, at.abs_diff(*other_at));
        }
    }
    for sides in varying.windows(2) {
        let [(left, a), (right, b)] = [sides[0], sides[1]];
        (left + 1..right).for_each(|at| add(at, a & b, (at - left).min(right - at)));
    }
    bits.sort_unstable();
    bits.into_iter().map(|(_, bit)| bit).collect()
}

/// The words of a state; the last one goes on with zeros.
#[inline(always)]
fn words(state: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = state.as_chunks();
    let rest = (!rest.is_empty()).then(|| match state.last_chunk() {
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest.iter().rfold(0, |word, byte| word << 8 | u64::from(*byte)),
    });
    words.iter().copied().map(u64::from_le_bytes).chain(rest)
}

/// The bits of each word that belong to a state of this length.
fn own(len: usize) -> impl Iterator<Item = u64> {
    let own = move |at: usize| u64::MAX >> (64 - 8 * (len - 8 * at).min(8));
    (0..len.div_ceil(8)).map(own)
}

#[derive(Debug, Clone)]
pub struct Form {
    known: Known,
    /// In the order of `Known::lens`.
    by_len: Vec<Plan>,
    /// Where the number of the length is.
    number_shift: u32,
    /// The machine selects bits in no time.
    fast: bool,
}

/// How states of one length are packed.
#[derive(Debug, Clone)]
pub struct Plan {
    len: usize,
    /// Set in all of them: `MARK`, and the number of the length.
    mark: u64,
    words: Vec<Word>,
}

/// A word of states: the bits that may vary and where they go, those that may
/// not, and their values.
#[derive(Debug, Clone, Copy)]
struct Word {
    bits: Selected,
    shift: u32,
    fixed: u64,
    values: u64,
}

impl Plan {
    /// How many words.
    pub fn n_words(&self) -> usize {
        self.words.len()
    }

    /// For many states. With `N` above 0 there are so many words.
    #[inline(always)]
    pub fn packer<const N: usize>(&self) -> Packer<'_> {
        let words = if N > 0 { &self.words[..N] } else { &self.words };
        Packer { len: self.len, mark: self.mark, words }
    }

    /// The same to put them together.
    #[inline(always)]
    pub fn unpacker<const N: usize>(&self) -> Unpacker<'_> {
        Unpacker(self.packer::<N>())
    }
}

/// Packs states of one length.
pub struct Packer<'f> {
    pub len: usize,
    mark: u64,
    words: &'f [Word],
}

impl Packer<'_> {
    /// Packs a state that begins at a place, with at least seven bytes behind it.
    /// `None` if it does not fit. `FAST` only if the form is.
    #[inline(always)]
    pub fn pack<const FAST: bool>(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes = bytes[at..at + self.words.len() * 8].as_chunks().0;
        let (mut packed, mut misfit) = (self.mark, 0);
        for (Word { bits, shift, fixed, values }, word) in self.words.iter().zip(bytes) {
            let word = u64::from_le_bytes(*word);
            misfit |= (word ^ values) & fixed;
            packed |= bits.gather::<FAST>(word, *shift);
        }
        (misfit == 0).then_some(packed)
    }
}

/// Puts states of one length together.
pub struct Unpacker<'f>(Packer<'f>);

impl Unpacker<'_> {
    /// Puts a state together, with `SLACK` bytes behind it. `FAST` only if the form is.
    #[inline(always)]
    pub fn unpack<'b, const FAST: bool>(&self, packed: u64, space: &'b mut Vec<u8>) -> &'b [u8] {
        let Unpacker(Packer { len, words, .. }) = self;
        let size = words.len() * 8 + SLACK;
        if space.len() < size {
            grow(space, size);
        }
        let state = space[..size].as_chunks_mut().0;
        for (Word { bits, shift, values, .. }, word) in words.iter().zip(state) {
            *word = (values | bits.scatter::<FAST>(packed, *shift)).to_le_bytes();
        }
        &space[..*len]
    }
}

/// Calls a function for a form: `FAST` if the form is, and `N` words, 0 if there are
/// many.
macro_rules! by_form {
    ($form:expr, $fast:ident, $n:ident => $call:expr) => {{
        macro_rules! call {
            ($is_fast:literal, $n_words:literal) => {{
                const $fast: bool = $is_fast;
                const $n: usize = $n_words;
                $call
            }};
        }
        match ($form.is_fast(), $form.most().n_words()) {
            (true, 1) => call!(true, 1),
            (true, 2) => call!(true, 2),
            (true, 3) => call!(true, 3),
            (true, 4) => call!(true, 4),
            (true, _) => call!(true, 0),
            (false, _) => call!(false, 0),
        }
    }};
}
pub(super) use by_form;

impl Form {
    /// `None` if too many bits vary.
    pub fn new(known: Known) -> Option<Form> {
        let n_words = known.may_vary.len();
        let sound = |len: &usize| (1..=n_words * 8).contains(len);
        let is_sound = !known.lens.is_empty() && known.lens.iter().all(sound);
        if known.n_bits() > ROOM || known.constant.len() != n_words || !is_sound {
            return None;
        }
        let mut number_shift = 0;
        let shifts = known.may_vary.iter().map(|bits| {
            number_shift += bits.count_ones();
            number_shift - bits.count_ones()
        });
        let shifts: Vec<u32> = shifts.collect();
        let plan = |(number, len): (usize, &usize)| {
            let word = |(at, own): (usize, u64)| Word {
                bits: Selected::new(known.may_vary[at] & own),
                shift: shifts[at],
                fixed: !known.may_vary[at] & own,
                values: known.constant[at] & own,
            };
            let words = own(*len).enumerate().map(word).collect();
            Plan { len: *len, mark: MARK | (number as u64) << number_shift, words }
        };
        let by_len = known.lens.iter().enumerate().map(plan).collect();
        Some(Form { known, by_len, number_shift, fast: is_fast() })
    }

    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Whether the machine makes `FAST` packing possible.
    #[inline(always)]
    pub fn is_fast(&self) -> bool {
        self.fast
    }

    /// Whether it is worth packing states in this form: to save time there must be
    /// few words to pack, and bits left for what may vary later.
    pub fn is_worth_it(&self, aim: Aim) -> bool {
        let n_bits: u32 = self.known.varies.iter().map(|word| word.count_ones()).sum();
        aim == Aim::Memory || (self.most().n_words() <= FEW_WORDS && n_bits + SPARE_BITS <= ROOM)
    }

    /// How most states are packed.
    #[inline(always)]
    pub fn most(&self) -> &Plan {
        &self.by_len[0]
    }

    /// Packs a state of any length, as `Packer::pack` does.
    #[inline(never)]
    pub fn pack(&self, bytes: &[u8], at: usize, len: usize) -> Option<u64> {
        let plan = self.by_len.iter().find(|plan| plan.len == len)?;
        match self.fast {
            true => plan.packer::<0>().pack::<true>(bytes, at),
            false => plan.packer::<0>().pack::<false>(bytes, at),
        }
    }

    /// Puts a state together. There are `SLACK` bytes behind it.
    #[inline(never)]
    pub fn state<'b>(&self, packed: u64, space: &'b mut Vec<u8>) -> &'b [u8] {
        let plan = &self.by_len[self.number_of(packed)];
        match self.fast {
            true => plan.unpacker::<0>().unpack::<true>(packed, space),
            false => plan.unpacker::<0>().unpack::<false>(packed, space),
        }
    }

    /// Whether a packed state is as long as most.
    #[inline(always)]
    pub fn is_one_of_most(&self, packed: u64) -> bool {
        self.number_of(packed) == 0
    }

    /// Packs a state that lies anywhere; `None` if it does not fit. `space` is for
    /// a copy.
    pub fn pack_one(&self, state: &[u8], space: &mut Vec<u8>) -> Option<u64> {
        space.clear();
        space.extend_from_slice(state);
        space.extend_from_slice(&[0; size_of::<u64>()]);
        self.pack(space, 0, state.len())
    }

    /// For all packed states of each length the bits that are set in each of them and
    /// those that are set in any: states themselves, and what differs in them varies.
    pub fn bounds(&self, words: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
        let mut bounds = vec![[u64::MAX, 0]; self.by_len.len()];
        for word in words {
            let [all, any] = &mut bounds[self.number_of(word)];
            (*all, *any) = (*all & word, *any | word);
        }
        bounds.into_iter().filter(|[_, any]| *any != 0).flatten()
    }

    /// Which length a packed state has.
    #[inline(always)]
    fn number_of(&self, packed: u64) -> usize {
        ((packed ^ MARK) >> self.number_shift) as usize
    }

    /// Whether a word is a packed state, as far as can be seen.
    pub fn is_packed(&self, word: u64) -> bool {
        word >> ROOM == 1 && self.number_of(word) < self.by_len.len()
    }
}

#[cold]
#[inline(never)]
fn grow(space: &mut Vec<u8>, size: usize) {
    space.resize(size, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn pack(form: &Form, state: &[u8]) -> Option<u64> {
        // What lies behind a state is not to be trusted.
        let padded: Vec<u8> = state.iter().copied().chain([0xA5; 8]).collect();
        let slow = Form { fast: false, ..form.clone() }.pack(&padded, 0, state.len());
        assert_eq!(form.pack(&padded, 0, state.len()), slow);
        slow
    }

    fn unpack(form: &Form, packed: u64) -> Vec<u8> {
        assert!(form.is_packed(packed));
        let mut space = vec![0x5A; 7];
        let slow = Form { fast: false, ..form.clone() };
        let state = slow.state(packed, &mut space).to_vec();
        assert_eq!(form.state(packed, &mut space), state);
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
            let packed: Vec<u64> = states.iter().filter_map(|state| pack(&form, state)).collect();
            let again = |words: &[u64]| {
                form.known().again(|add| words.iter().try_for_each(|w| add(&unpack(&form, *w))))
            };
            let bounds: Vec<u64> = form.bounds(packed.iter().copied()).collect();
            assert_eq!(again(&bounds), again(&packed), "they vary as all do");
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
    fn room_is_made_for_what_varies_in_bytes_alike() {
        let bits = |bytes: &[u8]| alike(bytes);
        assert_eq!(bits(&[0b111, 0b11, 0]), [8 + 2]);
        // The nearest first, and nothing of what is not alike.
        assert_eq!(bits(&[0b11, 0b11, 0b111, 0xFF]), [8 + 2, 2]);
        // Where nothing varies, what does on both sides.
        assert_eq!(bits(&[0b11, 0, 0, 0b101]), [8, 2 * 8]);
        assert!(bits(&[0, 1, 1, 0]).is_empty());
        let known = Known::of([[0u8, 0, 0], [1, 0, 1]].iter().map(|state| &state[..]));
        let form = known.and_then(Form::new).expect("few bits");
        assert_eq!(unpack(&form, pack(&form, &[1, 1, 0]).expect("room")), [1, 1, 0]);
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
