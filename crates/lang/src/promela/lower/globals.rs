//! Where global variables go in the end: hidden ones first, so that what counts
//! for equality is one piece; channels that are always the same ones behind all
//! that is in states.

use ir::system::{Cell, Expr, Init, Place, Space, System};
use ir::visit::{Access, change, look};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub fn place_globals(system: &mut System) {
    let constant = constant_channels(system);
    let globals = &mut system.globals;
    if constant.is_empty() && globals.cells.iter().all(|c| !c.hidden) {
        return;
    }
    let is_constant = |offset: u32| constant.contains_key(&offset);
    let mut moved: Vec<(u32, u32)> = Vec::new();
    let mut at = 0;
    globals.size = 0;
    // They stay in the order in which they were declared.
    let mut cells: Vec<&mut Cell> = globals.cells.iter_mut().collect();
    cells.sort_by_cached_key(|c| (is_constant(c.offset), !c.hidden, c.offset));
    for cell in cells {
        if !is_constant(cell.offset) {
            globals.size = at + cell.ty.repr.size();
        }
        moved.push((cell.offset, at));
        cell.offset = at;
        at += cell.ty.repr.size();
    }
    moved.sort_unstable();
    for init in &mut globals.init {
        if let Init::Channels { offset, .. } = init {
            *offset = new_offset(&moved, *offset);
        }
    }
    change::visit_system(system, &mut Relocate { moved, constant });
}

/// Cells keep their neighbours in a variable, so a table by cell is enough.
struct Relocate {
    /// Cells by where they were, and where they are.
    moved: Vec<(u32, u32)>,
    /// By cells before they were moved the numbers of their channels.
    constant: HashMap<u32, i32>,
}

impl change::Visitor for Relocate {
    fn expr(&mut self, expr: &mut Expr) {
        let Expr::Load(place) = expr else { return };
        let known = self.constant.get(&place.offset);
        if let (Space::Global, Some(number)) = (place.space, known) {
            *expr = Expr::Const(*number);
        }
    }

    fn place(&mut self, place: &mut Place, _access: Access) {
        if place.space == Space::Global {
            place.offset = new_offset(&self.moved, place.offset);
        }
    }
}

fn new_offset(moved: &[(u32, u32)], offset: u32) -> u32 {
    let found = moved.binary_search_by_key(&offset, |(old, _)| *old);
    found.map_or(offset, |at| moved[at].1)
}

/// The cells of channels that are never written, and only read to send, to
/// receive or to ask how full the channel is; with the numbers of the channels.
fn constant_channels(system: &System) -> HashMap<u32, i32> {
    // Who claims channels for itself is asked which these are in each state.
    if system.uses.claims {
        return HashMap::new();
    }
    let mut uses = Uses::default();
    look::visit_system(system, &mut uses);
    let (reads, as_channel) = (times(&uses.reads), times(&uses.as_channel));
    let is_constant = |cell: u32| {
        let is_other = || uses.others.iter().any(|bytes| bytes.contains(&cell));
        reads.get(&cell) == as_channel.get(&cell) && !is_other()
    };
    let hidden = system.globals.cells.iter().filter(|cell| cell.hidden);
    let hidden: HashSet<u32> = hidden.map(|cell| cell.offset).collect();
    let (mut constant, mut number) = (HashMap::new(), 0);
    for init in &system.globals.init {
        let Init::Channels { offset, stride, count, .. } = *init else { continue };
        let cells: Vec<(u32, i32)> =
            (0..count).map(|i| (offset + i * stride, number + 1 + i as i32)).collect();
        number += count as i32;
        // Those of one variable stay together.
        let together = count == 1 || stride == 1;
        if together && cells.iter().all(|(cell, _)| is_constant(*cell) && !hidden.contains(cell)) {
            constant.extend(cells);
        }
    }
    constant
}

/// How often each cell comes.
fn times(cells: &[u32]) -> HashMap<u32, usize> {
    let mut times = HashMap::new();
    for cell in cells {
        *times.entry(*cell).or_default() += 1;
    }
    times
}

/// What is done with global cells.
#[derive(Default)]
struct Uses {
    /// By their offsets: all that are read without an index, and those that say
    /// which channel is meant.
    reads: Vec<u32>,
    as_channel: Vec<u32>,
    /// What is written, or read by an index.
    others: Vec<Range<u32>>,
}

impl look::Visitor for Uses {
    fn channel(&mut self, chan: &Expr) {
        if let Expr::Load(place) = chan
            && (place.space, place.indices.is_empty()) == (Space::Global, true)
        {
            self.as_channel.push(place.offset);
        }
    }

    fn place(&mut self, place: &Place, access: Access) {
        match (place.space, access, place.indices.is_empty()) {
            (Space::Global, Access::Read, true) => self.reads.push(place.offset),
            (Space::Global, ..) => {
                let reach: u32 =
                    place.indices.iter().map(|i| i.bound.saturating_sub(1) * i.stride).sum();
                let end = place.offset + reach + place.ty.repr.size();
                self.others.push(place.offset..end);
            }
            (Space::Local, ..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::promela::load;
    use crate::promela::preprocess::FileLoader;

    #[test]
    fn channels_that_stay_are_in_no_state() {
        let text = "chan sent = [1] of { byte }; byte x; hidden byte y;
            chan asked = [0] of { byte }; chan kept = [1] of { byte };
            chan given = [1] of { byte }; chan chosen[2] = [1] of { byte };
            chan set = [1] of { byte }; chan unused = [1] of { byte };
            active proctype P() {
                chan c = kept; byte i;
                sent!1; sent?[1]; d_step { sent?x; y = len(asked) };
                c!1; chosen[i]!1; set!1; set = given; asked!x
            }";
        let system = load("m.pml", text.into(), &[], &FileLoader).system.expect("a model");
        let globals = &system.globals;
        let names = |stay: bool| -> Vec<&str> {
            let cells = globals.cells.iter().filter(|cell| (cell.offset < globals.size) == stay);
            cells.map(|cell| cell.name.as_str()).collect()
        };
        assert_eq!(names(false), ["sent", "asked", "unused"]);
        assert_eq!(names(true), ["x", "y", "kept", "given", "chosen[0]", "chosen[1]", "set"]);
        assert_eq!(globals.size, 7);
    }
}
