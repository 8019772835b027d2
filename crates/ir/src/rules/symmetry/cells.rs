//! The parts of a state that permutations change.
//!
//! A *block* is an array that is indexed by a scalarset, and by no other around
//! it: its elements are moved as a whole, and what has nothing to do with other
//! scalarset values in them is hashed and compared as a whole. All else that
//! scalarsets have to do with are *links*, one by one. Values of scalarsets,
//! and slots of multisets, are *elements*, numbered over all of them.

use super::colours::mix;
use crate::rules::{Multiset, Names, Rules, SetIdx, Simple, Type, TypeIdx, Width, multisets};

/// Elements of one scalarset, or slots of one multiset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    pub first: usize,
    pub count: usize,
}

/// Eight bytes of a state, zeros behind its end.
#[inline(always)]
fn word(state: &[u8], at: usize) -> u64 {
    match state[at..].first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => state[at..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// An array whose elements are moved as a whole.
#[derive(Debug, Clone)]
pub struct Block {
    pub offset: usize,
    pub stride: usize,
    pub set: Set,
    pub class: u64,
    /// Of the bytes of an element, eight at a time: those that are no links.
    pub masks: Vec<u64>,
}

impl Block {
    /// The bytes of an element that are no links, eight at a time.
    #[inline(always)]
    pub fn words<'s>(&'s self, state: &'s [u8], nth: usize) -> impl Iterator<Item = u64> + 's {
        let at = self.offset + nth * self.stride;
        self.masks.iter().enumerate().map(move |(i, mask)| word(state, at + 8 * i) & mask)
    }
}

/// An index by a scalarset, or the slot of a multiset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    pub element: u32,
    /// Where the elements of its set begin.
    pub first: u32,
    /// Bytes from one element to the next; 0 for slots, which stay where they are.
    pub stride: u32,
}

/// Values of a scalarset among those of a simple type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub set: Set,
    /// What is in memory for the first of them.
    pub raw: u64,
}

impl Segment {
    const NONE: Segment = Segment { set: Set { first: 0, count: 0 }, raw: 0 };
}

/// A simple value with indices or of a type that permutations change.
#[derive(Debug, Clone)]
pub struct Link {
    pub offset: usize,
    width: Width,
    /// The same for all links that permutations lead to.
    pub class: u64,
    /// Most links have one index and values of one scalarset at most, which
    /// are at hand; all are in these parts of `Cells::dims` and `Cells::segments`.
    pub index: Option<u32>,
    segment: Segment,
    dims: (u32, u32),
    segments: (u32, u32),
    /// It has been moved with its block: only its value may have to change.
    in_block: bool,
    /// It tells whether the slot of a multiset is taken: if not, so many links
    /// behind it, those of the slot, need no look.
    pub slot_links: usize,
}

pub struct Cells {
    /// The scalarsets; those with too many values have no elements.
    pub sets: Vec<Set>,
    pub n_elements: usize,
    pub blocks: Vec<Block>,
    pub links: Vec<Link>,
    dims: Vec<Dim>,
    segments: Vec<Segment>,
    multisets: Vec<Multiset>,
}

/// Scalarsets with more values are left as they are.
const MAX_VALUES: u64 = 250;

impl Cells {
    pub fn new(rules: &Rules) -> Cells {
        let mut n_elements = 0;
        let sets = rules.sets.iter().map(|n| {
            let count = if *n <= MAX_VALUES { *n as usize } else { 0 };
            n_elements += count;
            Set { first: n_elements - count, count }
        });
        let mut cells = Cells {
            sets: sets.collect(),
            n_elements,
            blocks: Vec::new(),
            links: Vec::new(),
            dims: Vec::new(),
            segments: Vec::new(),
            multisets: multisets(rules),
        };
        for (i, variable) in rules.variables.iter().enumerate() {
            let at = variable.offset as usize;
            cells.collect(rules, variable.ty, at, mix(i as u64 + 1), &[]);
        }
        cells
    }

    fn collect(&mut self, rules: &Rules, ty: TypeIdx, at: usize, class: u64, around: &[Dim]) {
        match rules.ty(ty) {
            Type::Simple(simple) => {
                let segments = self.segments_in(rules, simple);
                // With one index by a scalarset it is part of a block.
                let in_block = matches!(around, [dim] if dim.stride > 0);
                if !segments.is_empty() || !around.is_empty() && !in_block {
                    self.link(at, simple.width, class, around, &segments);
                }
            }
            Type::Record { fields, .. } => {
                for (i, field) in fields.iter().enumerate() {
                    let class = mix(class ^ (1 + i as u64));
                    self.collect(rules, field.ty, at + field.offset as usize, class, around);
                }
            }
            Type::Array { index, element, .. } => {
                self.array(rules, (*index, *element), at, class, around);
            }
            Type::Multiset { slots, element, .. } => {
                let (slots, stride) = (*slots as usize, 1 + rules.size_of(*element) as usize);
                let first = self.n_elements;
                self.n_elements += slots;
                for i in 0..slots {
                    let element_idx = (first + i) as u32;
                    let dim = Dim { element: element_idx, first: first as u32, stride: 0 };
                    let around = [around, &[dim]].concat();
                    let taken = self.links.len();
                    self.link(at + i * stride, Width::W1, mix(class ^ 0x5107), &around, &[]);
                    self.collect(rules, *element, at + i * stride + 1, mix(class), &around);
                    self.links[taken].slot_links = self.links.len() - taken - 1;
                }
            }
        }
    }

    fn array(
        &mut self,
        rules: &Rules,
        (index, element): (TypeIdx, TypeIdx),
        at: usize,
        class: u64,
        around: &[Dim],
    ) {
        let Type::Simple(Simple { count, .. }) = rules.ty(index) else { return };
        let stride = rules.size_of(element) as usize;
        let segments = match rules.ty(index) {
            Type::Simple(simple) => self.segments_in(rules, simple),
            _ => Vec::new(),
        };
        if around.is_empty() && stride > 0 && !segments.is_empty() {
            let mut plain = Vec::new();
            self.plain_bytes(rules, element, &mut plain);
            let word = |part: &[u8]| {
                part.iter().rev().fold(0, |word: u64, byte| word << 8 | u64::from(*byte))
            };
            let masks: Vec<u64> = plain.chunks(8).map(word).collect();
            for (i, segment) in segments.iter().enumerate() {
                let offset = at + (segment.raw as usize - 1) * stride;
                let class = mix(class ^ (i as u64 + 1) << 40);
                let (set, masks) = (segment.set, masks.clone());
                self.blocks.push(Block { offset, stride, set, class, masks });
            }
        }
        for i in 0..*count as usize {
            let at = at + i * stride;
            let nth = |s: &Segment| (i + 1).wrapping_sub(s.raw as usize);
            match segments.iter().find(|s| nth(s) < s.set.count) {
                Some(s) => {
                    let element_idx = (s.set.first + nth(s)) as u32;
                    let (first, stride) = (s.set.first as u32, stride as u32);
                    let dim = Dim { element: element_idx, first, stride };
                    let class = mix(class ^ 0xA11 ^ s.raw << 20);
                    self.collect(rules, element, at, class, &[around, &[dim]].concat());
                }
                None => self.collect(rules, element, at, mix(class ^ (i as u64) << 24), around),
            }
        }
    }

    /// For each byte of a value, whether it has nothing to do with scalarsets:
    /// all bits or none.
    fn plain_bytes(&self, rules: &Rules, ty: TypeIdx, plain: &mut Vec<u8>) {
        let from = plain.len();
        let whole = |plain: &mut Vec<u8>, byte| {
            plain.resize(from + rules.size_of(ty) as usize, byte);
        };
        match rules.ty(ty) {
            Type::Simple(simple) if self.segments_in(rules, simple).is_empty() => {
                whole(plain, 0xFF)
            }
            Type::Simple(_) | Type::Multiset { .. } => whole(plain, 0),
            Type::Record { fields, .. } => {
                fields.iter().for_each(|field| self.plain_bytes(rules, field.ty, plain));
            }
            Type::Array { index, element, .. } => {
                let Type::Simple(simple) = rules.ty(*index) else { return };
                let segments = self.segments_in(rules, simple);
                for raw in 1..=simple.count {
                    let nth = |s: &Segment| raw.wrapping_sub(s.raw) as usize;
                    if segments.iter().any(|s| nth(s) < s.set.count) {
                        plain.resize(plain.len() + rules.size_of(*element) as usize, 0);
                    } else {
                        self.plain_bytes(rules, *element, plain);
                    }
                }
            }
        }
    }

    fn link(&mut self, at: usize, width: Width, class: u64, dims: &[Dim], segments: &[Segment]) {
        let range = |from: usize, n: usize| (from as u32, (from + n) as u32);
        self.links.push(Link {
            offset: at,
            width,
            class,
            index: dims.first().map(|dim| dim.element),
            segment: segments.first().copied().unwrap_or(Segment::NONE),
            dims: range(self.dims.len(), dims.len()),
            segments: range(self.segments.len(), segments.len()),
            in_block: matches!(dims, [dim] if dim.stride > 0),
            slot_links: 0,
        });
        self.dims.extend_from_slice(dims);
        self.segments.extend_from_slice(segments);
    }

    fn segments_in(&self, rules: &Rules, simple: &Simple) -> Vec<Segment> {
        let of = |set: SetIdx, raw: u64| {
            let set = self.sets[set.0 as usize];
            (set.count > 0).then_some(Segment { set, raw })
        };
        match &simple.names {
            Names::Scalarset { set, .. } => of(*set, 1).into_iter().collect(),
            Names::Union(members) => {
                let mut first = 1;
                let mut found = Vec::new();
                for member in members {
                    let Type::Simple(simple) = rules.ty(*member) else { continue };
                    if let Names::Scalarset { set, .. } = simple.names {
                        found.extend(of(set, first));
                    }
                    first += simple.count;
                }
                found
            }
            _ => Vec::new(),
        }
    }

    #[inline(always)]
    pub fn dims(&self, link: &Link) -> &[Dim] {
        &self.dims[link.dims.0 as usize..link.dims.1 as usize]
    }

    #[inline(always)]
    pub fn raw(&self, link: &Link, state: &[u8]) -> u64 {
        link.width.load(state, link.offset)
    }

    /// The element that the value of a link is, and its segment.
    #[inline(always)]
    pub fn value(&self, link: &Link, raw: u64) -> Option<(usize, &Segment)> {
        let (from, to) = link.segments;
        let nth = raw.wrapping_sub(link.segment.raw) as usize;
        if nth < link.segment.set.count {
            return Some((link.segment.set.first + nth, &self.segments[from as usize]));
        }
        if to - from < 2 {
            return None;
        }
        self.segments[from as usize + 1..to as usize].iter().find_map(|segment| {
            let nth = raw.wrapping_sub(segment.raw) as usize;
            (nth < segment.set.count).then(|| (segment.set.first + nth, segment))
        })
    }

    /// True if a link has more than one index.
    #[inline(always)]
    pub fn is_wide(&self, link: &Link) -> bool {
        link.dims.1 - link.dims.0 > 1
    }

    /// Writes what a permutation changes in a state; `names` are the new names
    /// of elements, counted in their sets. `to` has a copy of the state.
    pub fn permute(&self, state: &[u8], names: &[u8], to: &mut [u8]) {
        for Block { offset, stride, set, .. } in &self.blocks {
            for i in 0..set.count {
                let (from, name) = (offset + i * stride, names[set.first + i] as usize);
                let target = offset + name * stride;
                match stride {
                    1 => to[target] = state[from],
                    _ => to[target..target + stride].copy_from_slice(&state[from..from + stride]),
                }
            }
        }
        for m in &self.multisets {
            to[m.offset..m.offset + m.slots * m.stride].fill(0);
        }
        let mut links = self.links.iter();
        while let Some(link) = links.next() {
            let mut raw = self.raw(link, state);
            if raw == 0 && link.in_block {
                continue;
            }
            if let Some((element, segment)) = self.value(link, raw) {
                raw = segment.raw + u64::from(names[element]);
            }
            let mut at = link.offset as i64;
            for dim in self.dims(link).iter().filter(|dim| dim.stride > 0) {
                let name = i64::from(names[dim.element as usize]);
                at += (name - i64::from(dim.element - dim.first)) * i64::from(dim.stride);
            }
            link.width.store(to, at as usize, raw);
            if link.slot_links > 0 && raw == 0 {
                links.nth(link.slot_links - 1);
            }
        }
    }

    /// Whether a state stays the same if two elements of a scalarset change
    /// their names. Without multisets only.
    pub fn exchangeable(&self, state: &[u8], a: usize, b: usize) -> bool {
        let same_element = |block: &Block| {
            let Set { first, count } = block.set;
            !(first..first + count).contains(&a)
                || block.words(state, a - first).eq(block.words(state, b - first))
        };
        let other = |element: usize| match element {
            e if e == a => b,
            e if e == b => a,
            e => e,
        };
        self.blocks.iter().all(same_element)
            && self.links.iter().all(|link| {
                let raw = self.raw(link, state);
                let renamed = self.value(link, raw).map_or(raw, |(element, segment)| {
                    segment.raw + (other(element) - segment.set.first) as u64
                });
                let mut at = link.offset as i64;
                for dim in self.dims(link) {
                    let element = dim.element as usize;
                    at += (other(element) as i64 - element as i64) * i64::from(dim.stride);
                }
                at == link.offset as i64 && raw == renamed
                    || link.width.load(state, at as usize) == renamed
            })
    }
}
