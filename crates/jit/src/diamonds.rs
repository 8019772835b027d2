//! Diamonds: successors that need not be made because they are found another way.
//!
//! Two actions of different processes that have nothing to do with each other
//! can be run in either order, with the same result: the states make a diamond.
//! Of a state the search knows by which action it was found, its *cause*. If
//! state `t` was found from `s` by action `a` of process `p`, an action `b` of
//! a process with a higher number than `p` that is independent of `a` was
//! enabled in `s` already, and leads from `t` to the same state as `a` does
//! from the state that `b` leads to from `s`. So it counts as a transition, but
//! its successor is not made.
//!
//! Why no state is lost by a search that keeps every state, in whatever order and
//! by however many threads states are expanded: claim that for each state `t` that is found and each `b`
//! enabled in it, the state behind `b` is found. Suppose it holds for all
//! processes with a lower number than that of `b`, and for `b` and all states
//! with a shorter way of causes to them than `t`. If `b` is not left out it
//! holds. Else `s` has a shorter way, so the state behind `b` from `s` is found;
//! from there `a`, of a process with a lower number, leads to the state in
//! question. (It would hold the other way round, too, with processes of lower
//! numbers that leave out: fewer successors were spared so.) Breadth first, all
//! states are found at their level: the states of a diamond are on the same
//! levels either way, and the same induction holds level by level.
//!
//! An atomic sequence is one `a`: its footprint is that of all that may follow
//! in it, and it is never left out itself, as it may have several results. A
//! `b` that would go wrong has done so in `s`, where the search has ended, or been told
//! of it (`check` sees to it).
//!
//! Which actions are independent is decided once, by what they may read and
//! write: bytes of global variables, and channels. In doubt they are not.
//!
//! The idea is that of sleep sets (P. Godefroid: Using partial orders to improve
//! automatic verification methods. CAV 1990), of which this keeps one step, so
//! that nothing has to be stored with states.

use crate::facts::Facts;
use ir::model::Step;
use ir::rows::Cause;
use ir::system::{Action, ActionIdx, Expr, Location, Node, Op, Place, ProcIdx, Space, System};
use ir::visit::Access;
use ir::visit::look::{Visitor, visit_op};
use std::collections::HashMap;
use std::ops::Range;

/// Systems with more actions are left as they are: all pairs are looked at.
const MAX_ACTIONS: usize = 4096;
/// A class is a part of a cause, which has a byte for it.
const MAX_CLASSES: usize = 255;
/// A bit for each action of a location, if there is room. Short, so that the masks
/// of all classes fit in the nearest cache.
pub type Mask = u16;
/// Actions of a location that a mask has bits for.
pub const MASKED: usize = Mask::BITS as usize;
/// Most words of all masks.
const MAX_WORDS: usize = 1 << 18;

/// What native code knows of diamonds.
#[derive(Debug, Default)]
pub struct Diamonds {
    /// The class of each action; 0 if it makes no diamonds.
    pub(crate) classes: Vec<u8>,
    /// Whether an action may be left out.
    pub(crate) may_skip: Vec<bool>,
    /// Whether an action may continue an atomic sequence.
    pub(crate) in_sequence: Vec<bool>,
    /// For each class but 0 and each location, in the order of the tables: a
    /// bit for each action of the location, if it may be left out in states
    /// that actions of the class have led to.
    masks: Vec<Mask>,
    /// The same by class and action.
    skipped: Vec<Vec<bool>>,
    /// Locations of all processes.
    n_locations: usize,
}

impl Diamonds {
    /// Finds them, if there are any; the other facts must be known.
    pub fn new(facts: &Facts) -> Diamonds {
        let system = facts.system;
        let n_locations = system.procs.iter().map(|proc| proc.locations.len()).sum();
        let mut diamonds = Diamonds {
            classes: vec![0; system.actions.len()],
            may_skip: vec![false; system.actions.len()],
            in_sequence: in_sequence(system),
            masks: Vec::new(),
            skipped: Vec::new(),
            n_locations,
        };
        let provided = system.procs.iter().any(|proc| proc.provided.is_some());
        // Of states that differ in hidden variables the first one found stands
        // for all, so there it matters in which order they are found.
        let hidden = facts.layout.hidden > 0;
        let many = system.actions.len() > MAX_ACTIONS;
        let uses = system.uses.last || system.uses.claims;
        if facts.worth_compiling() && !(many || uses || provided || hidden) {
            diamonds.find(facts);
        }
        diamonds
    }

    fn find(&mut self, facts: &Facts) {
        let system = facts.system;
        let footprints = footprints(facts);
        // Many actions leave the same footprint, so kinds of them are compared.
        let mut kinds = Kinds::default();
        let mut to_skip: Vec<Option<usize>> = system
            .actions
            .iter()
            .zip(&footprints)
            .map(|(action, footprint)| {
                can_skip(facts, action, footprint).then(|| kinds.number(footprint))
            })
            .collect();
        for action in locations(facts).flat_map(|location| location.actions.iter().skip(MASKED)) {
            to_skip[action.idx()] = None;
        }
        let n_to_skip = kinds.all.len();
        let mut classes: HashMap<Vec<bool>, u8> = HashMap::new();
        let mut class_of_kind: HashMap<usize, u8> = HashMap::new();
        for i in 0..system.actions.len() {
            let footprint = of_sequence(facts, &footprints, ActionIdx(i as u32));
            let kind = kinds.number(&footprint);
            self.classes[i] = *class_of_kind.entry(kind).or_insert_with(|| {
                let independent = kinds.all[..n_to_skip].iter();
                let skipped: Vec<bool> =
                    independent.map(|other| footprint.is_independent_of(other)).collect();
                let next = classes.len() + 1;
                let room = next <= MAX_CLASSES && next * self.n_locations <= MAX_WORDS;
                match classes.get(&skipped) {
                    Some(class) => *class,
                    None if room && skipped.contains(&true) => {
                        classes.insert(skipped, next as u8);
                        next as u8
                    }
                    None => 0,
                }
            });
        }
        let mut by_class: Vec<(u8, Vec<bool>)> =
            classes.into_iter().map(|(skipped, class)| (class, skipped)).collect();
        by_class.sort_unstable();
        for (_, kinds) in by_class {
            let skips = |kind: &Option<usize>| kind.is_some_and(|kind| kinds[kind]);
            let skipped: Vec<bool> = to_skip.iter().map(skips).collect();
            self.masks.extend(locations(facts).map(|location| mask(location, &skipped)));
            self.may_skip.iter_mut().zip(&skipped).for_each(|(may, skips)| *may |= skips);
            self.skipped.push(skipped);
        }
    }

    /// What a successor is found by, if this is the first step to it.
    pub fn cause(&self, step: Step) -> Cause {
        match self.classes.get(step.action.idx()) {
            None | Some(0) => 0,
            Some(class) => Cause::from_le_bytes([step.process, *class]),
        }
    }

    /// Whether a step from a state of this cause leads to what is found another way.
    pub fn leaves_out(&self, cause: Cause, step: Step) -> bool {
        let [process, class] = cause.to_le_bytes();
        let skipped = (class as usize).checked_sub(1).and_then(|class| self.skipped.get(class));
        step.process > process && skipped.is_some_and(|skipped| skipped[step.action.idx()])
    }

    /// What states that a class has led to leave out; none for class 0.
    pub(crate) fn masks_of(&self, class: u8) -> Option<&[Mask]> {
        let start = (class as usize).checked_sub(1)? * self.n_locations;
        self.masks.get(start..start + self.n_locations)
    }
}

/// All locations, in the order of the tables.
fn locations<'s>(facts: &Facts<'s>) -> impl Iterator<Item = &'s Location> {
    facts.system.procs.iter().flat_map(|proc| &proc.locations)
}

fn mask(location: &Location, skipped: &[bool]) -> Mask {
    let actions = location.actions.iter().take(MASKED).enumerate();
    actions.filter(|(_, a)| skipped[a.idx()]).fold(0, |mask, (i, _)| mask | 1 << i)
}

/// Different footprints, and their numbers.
#[derive(Default)]
struct Kinds {
    all: Vec<Footprint>,
    numbers: HashMap<Footprint, usize>,
}

impl Kinds {
    fn number(&mut self, footprint: &Footprint) -> usize {
        if let Some(number) = self.numbers.get(footprint) {
            return *number;
        }
        self.numbers.insert(footprint.clone(), self.all.len());
        self.all.push(footprint.clone());
        self.all.len() - 1
    }
}

/// Whether an action has one successor and nothing else that someone may want
/// to know.
fn can_skip(facts: &Facts, action: &Action, footprint: &Footprint) -> bool {
    let proc = facts.system.proc(action.proc);
    !footprint.everything && !action.atomic && !proc.deterministic && !footprint.asserts
}

/// What an action may read and write, besides its own process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Footprint {
    reads: Bits,
    writes: Bits,
    /// It may depend on all there is.
    everything: bool,
    asserts: bool,
}

impl Footprint {
    fn add_all(&mut self, other: &Footprint) {
        self.reads.add_all(&other.reads);
        self.writes.add_all(&other.writes);
        self.everything |= other.everything;
        self.asserts |= other.asserts;
    }

    fn is_independent_of(&self, other: &Footprint) -> bool {
        !self.everything
            && !other.everything
            && !self.writes.meets(&other.reads)
            && !self.writes.meets(&other.writes)
            && !self.reads.meets(&other.writes)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Bits(Vec<u64>);

impl Bits {
    fn add(&mut self, range: Range<usize>) {
        if self.0.len() * 64 < range.end {
            self.0.resize(range.end.div_ceil(64), 0);
        }
        range.for_each(|i| self.0[i / 64] |= 1 << (i % 64));
    }

    fn add_all(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

fn footprints(facts: &Facts) -> Vec<Footprint> {
    let system = facts.system;
    let mut all: Vec<Footprint> = system.actions.iter().map(|a| footprint(facts, a)).collect();
    // Whether an `else` or an escape is enabled depends on its neighbours.
    for location in locations(facts) {
        let actions = || location.actions.iter().map(|a| system.action(*a));
        if !actions().any(|a| a.escape > 0 || a.ops.first().is_some_and(has_else)) {
            continue;
        }
        let mut reads = Bits::default();
        let mut everything = false;
        for ActionIdx(i) in &location.actions {
            reads.add_all(&all[*i as usize].reads);
            everything |= all[*i as usize].everything;
        }
        for ActionIdx(i) in &location.actions {
            all[*i as usize].reads.add_all(&reads);
            all[*i as usize].everything |= everything;
        }
    }
    all
}

fn in_sequence(system: &System) -> Vec<bool> {
    let mut in_sequence = vec![false; system.actions.len()];
    for action in system.actions.iter().filter(|action| action.atomic) {
        let Some(target) = action.target else { continue };
        let location = &system.proc(action.proc).locations[target.idx()];
        location.actions.iter().for_each(|next| in_sequence[next.idx()] = true);
    }
    in_sequence
}

/// What an action and all that may follow it in an atomic sequence read and write.
fn of_sequence(facts: &Facts, footprints: &[Footprint], first: ActionIdx) -> Footprint {
    if !facts.system.action(first).atomic {
        return footprints[first.idx()].clone();
    }
    let mut all = Footprint::default();
    let mut seen = vec![false; footprints.len()];
    let mut waiting = vec![first];
    while let Some(idx) = waiting.pop() {
        if std::mem::replace(&mut seen[idx.idx()], true) {
            continue;
        }
        all.add_all(&footprints[idx.idx()]);
        let action = facts.system.action(idx);
        if let (true, Some(target)) = (action.atomic, action.target) {
            let proc = facts.system.proc(action.proc);
            waiting.extend(&proc.locations[target.idx()].actions);
        }
    }
    all
}

fn has_else(op: &Op) -> bool {
    match op {
        Op::Else => true,
        Op::Block(block) => block.guards.iter().any(has_else),
        _ => false,
    }
}

fn footprint(facts: &Facts, action: &Action) -> Footprint {
    let mut walk = Walk { facts, proc: action.proc, footprint: Footprint::default() };
    for op in &action.ops {
        walk.op(op);
    }
    walk.footprint
}

/// Goes through the operations of an action.
struct Walk<'f, 's> {
    facts: &'f Facts<'s>,
    proc: ProcIdx,
    footprint: Footprint,
}

impl Walk<'_, '_> {
    fn op(&mut self, op: &Op) {
        match op {
            Op::Send { chan, .. } => self.use_channel(chan),
            Op::Receive(receive) => self.use_channel(&receive.chan),
            Op::Exit | Op::SetPriority { .. } => self.footprint.everything = true,
            Op::Assert(_) => self.footprint.asserts = true,
            Op::Block(block) => {
                block.guards.iter().for_each(|guard| self.op(guard));
                for node in &block.nodes {
                    if let Node::Do { op, .. } = node {
                        self.op(op);
                    }
                }
                return;
            }
            Op::Skip | Op::Else | Op::Cond(_) | Op::Assign(..) | Op::Print { .. } => {}
        }
        visit_op(op, self);
    }

    /// A message comes or goes.
    fn use_channel(&mut self, chan: &Expr) {
        match self.channels(chan) {
            Some(channels) => {
                self.footprint.reads.add(channels.clone());
                self.footprint.writes.add(channels);
            }
            None => self.footprint.everything = true,
        }
    }

    /// The channels that are looked at by their numbers, behind the bytes of
    /// all variables. None if that is not known, or if one has no buffer, so
    /// that other processes take part.
    fn channels(&self, chan: &Expr) -> Option<Range<usize>> {
        let known = self.facts.known_channel(self.proc, chan)?;
        if known.space == Space::Local || self.facts.system.chans[known.chan.idx()].slots == 0 {
            return None;
        }
        let first = self.facts.system.globals.size as usize + known.first;
        let count = known.index.map_or(1, |index| index.bound as usize);
        Some(first..first + count)
    }
}

impl Visitor for Walk<'_, '_> {
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Len(chan)
            | Expr::Full(chan)
            | Expr::Empty(chan)
            | Expr::NotFull(chan)
            | Expr::NotEmpty(chan) => match self.channels(chan) {
                Some(channels) => self.footprint.reads.add(channels),
                None => self.footprint.everything = true,
            },
            Expr::Const(_)
            | Expr::Load(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cond(..)
            | Expr::Pid => {}
            Expr::Remote { .. }
            | Expr::At { .. }
            | Expr::Poll(_)
            | Expr::Run { .. }
            | Expr::Timeout
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Enabled(_)
            | Expr::PcValue(_)
            | Expr::Priority(_)
            | Expr::TheProcess(_)
            | Expr::NonProgress => self.footprint.everything = true,
        }
    }

    fn place(&mut self, place: &Place, access: Access) {
        if access == Access::Remote {
            self.footprint.everything = true;
        }
        if place.space == Space::Local {
            return;
        }
        match access {
            Access::Write => self.footprint.writes.add(bytes(place)),
            Access::Read | Access::Remote => self.footprint.reads.add(bytes(place)),
        }
    }
}

/// The bytes of the frame that a place may mean.
pub(crate) fn bytes(place: &Place) -> Range<usize> {
    let (mut start, mut reach) = (place.offset as usize, 0);
    for index in &place.indices {
        let most = index.bound.max(1) as usize - 1;
        match index.expr {
            Expr::Const(at) if (0..=most as i64).contains(&i64::from(at)) => {
                start += at as usize * index.stride as usize;
            }
            _ => reach += most * index.stride as usize,
        }
    }
    start..start + reach + place.ty.repr.size() as usize
}
