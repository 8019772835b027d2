//! The simple values of a state, and what scalarsets have to do with them.

use crate::rules::{Names, Rules, SetIdx, Simple, Type, TypeIdx, Width};

/// An index by a scalarset, or the slot of a multiset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dim {
    /// A scalarset, or a multiset behind them.
    set: u16,
    index: u8,
    /// Bytes from one element to the next; 0 for slots, which stay where they are.
    stride: u32,
}

/// Values of a scalarset among those of a simple type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    set: u16,
    /// What is in memory for the first of them.
    first: u64,
    count: u8,
}

#[derive(Debug, Clone)]
struct Cell {
    offset: u32,
    width: Width,
    /// The same for all cells that permutations lead to.
    class: u64,
    /// Its part of `Cells::dims` and `Cells::segments`.
    dims: (u32, u32),
    segments: (u32, u32),
}

/// All cells that a permutation can change.
pub struct Cells {
    /// Sizes of the scalarsets; those that are too large are not permuted.
    pub sets: Vec<u8>,
    /// Slots of the multisets.
    slots: Vec<u8>,
    cells: Vec<Cell>,
    dims: Vec<Dim>,
    segments: Vec<Segment>,
}

/// Scalarsets and multisets with more values are left as they are.
const MAX_VALUES: u64 = 250;

impl Cells {
    pub fn new(rules: &Rules) -> Cells {
        let sets = rules.sets.iter().map(|n| if *n <= MAX_VALUES { *n as u8 } else { 0 }).collect();
        let (slots, cells, dims) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Cells { sets, slots, cells, dims, segments: Vec::new() };
        let mut class = 0;
        for variable in &rules.variables {
            class += 1;
            all.collect(rules, variable.ty, variable.offset, mix(class), &[]);
        }
        all
    }

    fn collect(&mut self, rules: &Rules, ty: TypeIdx, at: u32, class: u64, around: &[Dim]) {
        match rules.ty(ty) {
            Type::Simple(simple) => self.simple(rules, simple, at, class, around),
            Type::Record { fields, .. } => {
                for (i, field) in fields.iter().enumerate() {
                    let class = mix(class ^ (1 + i as u64));
                    self.collect(rules, field.ty, at + field.offset, class, around);
                }
            }
            Type::Array { index, element, .. } => {
                let stride = rules.size_of(*element);
                let Type::Simple(Simple { count, .. }) = rules.ty(*index) else { return };
                let segments = self.segments_of(rules, *index);
                for i in 0..*count {
                    let at = at + i as u32 * stride;
                    let segment = segments
                        .iter()
                        .find(|s| (s.first..s.first + u64::from(s.count)).contains(&(i + 1)));
                    match segment {
                        Some(s) => {
                            let index = (i + 1 - s.first) as u8;
                            let dim = Dim { set: s.set, index, stride };
                            let class = mix(class ^ 0xA11 ^ s.first << 20);
                            self.collect(rules, *element, at, class, &[around, &[dim]].concat());
                        }
                        None => self.collect(rules, *element, at, mix(class ^ (i << 24)), around),
                    }
                }
            }
            Type::Multiset { slots, element, .. } => {
                let set = (self.sets.len() + self.slots.len()) as u16;
                self.slots.push((*slots).min(MAX_VALUES) as u8);
                let stride = 1 + rules.size_of(*element);
                for i in 0..*slots {
                    let index = i.min(MAX_VALUES - 1) as u8;
                    let around = [around, &[Dim { set, index, stride: 0 }]].concat();
                    let at = at + i as u32 * stride;
                    let class = mix(class ^ 0x5107);
                    self.add(at, Width::W1, class, &around, &[]);
                    self.collect(rules, *element, at + 1, mix(class), &around);
                }
            }
        }
    }

    fn simple(&mut self, rules: &Rules, simple: &Simple, at: u32, class: u64, around: &[Dim]) {
        let segments = self.segments_in(rules, simple);
        if !segments.is_empty() || !around.is_empty() {
            self.add(at, simple.width, class, around, &segments);
        }
    }

    fn add(&mut self, offset: u32, width: Width, class: u64, dims: &[Dim], segments: &[Segment]) {
        let range = |from: usize, n: usize| (from as u32, (from + n) as u32);
        let cell = Cell {
            offset,
            width,
            class,
            dims: range(self.dims.len(), dims.len()),
            segments: range(self.segments.len(), segments.len()),
        };
        self.dims.extend_from_slice(dims);
        self.segments.extend_from_slice(segments);
        self.cells.push(cell);
    }

    fn segments_of(&self, rules: &Rules, ty: TypeIdx) -> Vec<Segment> {
        match rules.ty(ty) {
            Type::Simple(simple) => self.segments_in(rules, simple),
            _ => Vec::new(),
        }
    }

    fn segments_in(&self, rules: &Rules, simple: &Simple) -> Vec<Segment> {
        let of = |set: SetIdx, first: u64| {
            let count = self.sets[set.0 as usize];
            (count > 0).then_some(Segment { set: set.0 as u16, first, count })
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

    fn dims_of(&self, cell: &Cell) -> &[Dim] {
        &self.dims[cell.dims.0 as usize..cell.dims.1 as usize]
    }

    /// The scalarset value that a cell has, if it has one.
    #[inline]
    fn value(&self, cell: &Cell, raw: u64) -> Option<(u16, u8, u64)> {
        let segments = &self.segments[cell.segments.0 as usize..cell.segments.1 as usize];
        segments.iter().find_map(|s| {
            let nth = raw.wrapping_sub(s.first);
            (nth < u64::from(s.count)).then_some((s.set, nth as u8, s.first))
        })
    }

    /// Writes all cells of a state to where a permutation leads them.
    pub fn permute(&self, state: &[u8], names: &[Vec<u8>], to: &mut [u8]) {
        for cell in &self.cells {
            let mut raw = cell.width.load(state, cell.offset as usize);
            if let Some((set, value, first)) = self.value(cell, raw) {
                raw = first + u64::from(names[set as usize][value as usize]);
            }
            let mut at = i64::from(cell.offset);
            for dim in self.dims_of(cell).iter().filter(|dim| dim.stride > 0) {
                let name = names[dim.set as usize][dim.index as usize];
                at += (i64::from(name) - i64::from(dim.index)) * i64::from(dim.stride);
            }
            cell.width.store(to, at as usize, raw);
        }
    }

    /// Whether a state stays the same if two values of a scalarset change
    /// their names. Without multisets only.
    pub fn exchangeable(&self, state: &[u8], set: usize, a: u8, b: u8) -> bool {
        let other = |value: u8| match value {
            v if v == a => b,
            v if v == b => a,
            v => v,
        };
        self.cells.iter().all(|cell| {
            let raw = cell.width.load(state, cell.offset as usize);
            let renamed = match self.value(cell, raw) {
                Some((s, value, first)) if s as usize == set => first + u64::from(other(value)),
                _ => raw,
            };
            let mut at = i64::from(cell.offset);
            for dim in self.dims_of(cell).iter().filter(|dim| dim.set as usize == set) {
                let far = i64::from(other(dim.index)) - i64::from(dim.index);
                at += far * i64::from(dim.stride);
            }
            cell.width.load(state, at as usize) == renamed
        })
    }
}

/// The colours of all values of scalarsets, and of the slots of multisets.
pub struct Colours {
    /// Where those of each set begin in the lists.
    starts: Vec<usize>,
    colours: Vec<u64>,
    sums: Vec<u64>,
    n_sets: usize,
}

impl Colours {
    pub fn new(cells: &Cells) -> Colours {
        let mut starts = vec![0];
        for n in cells.sets.iter().chain(&cells.slots) {
            starts.push(starts[starts.len() - 1] + *n as usize);
        }
        let n = starts[starts.len() - 1];
        Colours { starts, colours: vec![0; n], sums: vec![0; n], n_sets: cells.sets.len() }
    }

    /// The colours of the values of a scalarset.
    pub fn of(&self, set: usize) -> &[u64] {
        &self.colours[self.starts[set]..self.starts[set + 1]]
    }

    pub fn find(&mut self, cells: &Cells, state: &[u8]) {
        self.colours.fill(0);
        let mut n_before = 0;
        loop {
            self.refine(cells, state);
            let n = self.n_colours();
            if n <= n_before || n == self.starts[self.n_sets] {
                return;
            }
            n_before = n;
        }
    }

    /// How many values of scalarsets can be told apart.
    fn n_colours(&self) -> usize {
        let distinct = |set: usize| {
            let colours = self.of(set);
            (0..colours.len()).filter(|i| !colours[..*i].contains(&colours[*i])).count()
        };
        (0..self.n_sets).map(distinct).sum()
    }

    /// New colours: of all that is said about a value, and the colours of the
    /// others that are named with it.
    fn refine(&mut self, cells: &Cells, state: &[u8]) {
        self.sums.fill(0);
        for cell in &cells.cells {
            let raw = cell.width.load(state, cell.offset as usize);
            let dims = cells.dims_of(cell);
            let value = cells.value(cell, raw);
            let mut hash = cell.class;
            match value {
                Some((set, value, first)) => {
                    hash ^= mix(self.colours[self.starts[set as usize] + value as usize] ^ first);
                }
                None => hash = hash.wrapping_add(raw.wrapping_mul(ODD)),
            }
            for (i, dim) in dims.iter().enumerate() {
                let colour = self.colours[self.starts[dim.set as usize] + dim.index as usize];
                hash = hash.wrapping_add(mix(colour.wrapping_add(i as u64 + 1)));
                hash ^= coincidences(i, dim, dims, value);
            }
            let hash = mix(hash);
            for (i, dim) in dims.iter().enumerate() {
                let at = self.starts[dim.set as usize] + dim.index as usize;
                self.sums[at] = self.sums[at].wrapping_add(mix(hash.wrapping_add(i as u64)));
            }
            if let Some((set, value, _)) = value {
                let at = self.starts[set as usize] + value as usize;
                self.sums[at] = self.sums[at].wrapping_add(mix(hash ^ ODD));
            }
        }
        for (colour, sum) in self.colours.iter_mut().zip(&self.sums) {
            *colour = mix(*colour ^ *sum);
        }
    }
}

/// Which other indices of a cell, or its value, name the same value as this index.
fn coincidences(i: usize, dim: &Dim, dims: &[Dim], value: Option<(u16, u8, u64)>) -> u64 {
    let mut mask = 0u64;
    for (j, other) in dims.iter().enumerate().skip(i + 1) {
        let same = (other.set, other.index) == (dim.set, dim.index);
        mask |= u64::from(same) << ((8 * i + j) % 64);
    }
    if let Some((set, value, _)) = value {
        let same = (set, value) == (dim.set, dim.index);
        mask |= u64::from(same) << ((8 * i + 7) % 64);
    }
    mask
}

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}
