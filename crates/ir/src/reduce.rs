//! Reductions that keep the verdict: fewer states, the same faults.
//!
//! *Dead variables*: a local variable that will be written before it is read
//! again is set to 0, so that states that differ only in it become one.
//!
//! *Merging*: a statement that only touches its process's own variables and
//! can always run is run together with the statement before it. It commutes
//! with all steps of other processes, so no fault and no deadlock is lost.
//!
//! Both map paths of the reduced system to paths of the given one
//! ([`expand_steps`]); so the reduced system never has more states.

use crate::model::Step;
use crate::scalar::Scalar;
use crate::system::{
    Action, ActionIdx, Binary, Cell, Expr, Init, LocIdx, Op, Place, Proc, ProcIdx, Space, System,
};
use crate::visit::Access;
use crate::visit::look::{Visitor, visit_op, visit_system};
use std::collections::{BTreeMap, BTreeSet};

/// A local scalar that only its process can see, by its offset.
type Locals = BTreeMap<u32, Scalar>;
type Live = BTreeSet<u32>;

/// Most statements merged into one: more would copy the rest of a long
/// sequence into each of its statements.
const MAX_MERGED: usize = 32;

pub fn reduce(system: &System) -> System {
    let mut reduced = system.clone();
    let mut remotes = Remotes::default();
    visit_system(&reduced, &mut remotes);
    let procs = || (0..system.procs.len()).map(|i| ProcIdx(i as u32));
    // Before merging: it works on the locations as they are written.
    procs().for_each(|proc| reset_dead_variables(&mut reduced, proc, &remotes));
    if !(system.uses.control || system.uses.priority || system.uses.last) {
        let unmerged = reduced.clone();
        procs().for_each(|proc| merge_statements(&mut reduced, &unmerged, proc, &remotes));
    }
    reduced
}

/// The steps of the given system that a path of the reduced one stands for.
/// At its end a path with a fault stops at the action that has it.
pub fn expand_steps(reduced: &System, steps: &[Step], faulty: bool) -> Vec<Step> {
    let mut out = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        out.push(*step);
        if !(faulty && i + 1 == steps.len()) {
            let then = &reduced.action(step.action).then;
            out.extend(then.iter().map(|a| Step { process: step.process, action: *a }));
        }
    }
    out
}

/// Marks what was merged into an action that was reached. A search that has not
/// begun has reached nothing.
pub fn expand_reached(reduced: &System, reached: &mut Vec<bool>) {
    reached.resize(reduced.actions.len(), false);
    for (i, action) in reduced.actions.iter().enumerate() {
        if reached[i] {
            action.then.iter().for_each(|a| reached[a.idx()] = true);
        }
    }
}

/// Reads and writes of an operation to locals.
#[derive(Default)]
struct LocalUse {
    reads: Live,
    writes: Live,
    /// Elements found by an index: reads and writes of unknown cells.
    indexed: Vec<Place>,
    global: bool,
}

impl Visitor for LocalUse {
    fn expr(&mut self, expr: &Expr) {
        self.global |= !matches!(
            expr,
            Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Cond(..)
                | Expr::Pid
        );
    }

    fn place(&mut self, place: &Place, access: Access) {
        if place.space == Space::Global || access == Access::Remote {
            self.global = true;
        } else if !place.indices.is_empty() {
            self.indexed.push(place.clone());
        } else if access == Access::Write {
            self.writes.insert(place.offset);
        } else {
            self.reads.insert(place.offset);
        }
    }
}

fn local_use(op: &Op) -> LocalUse {
    let mut uses = LocalUse::default();
    visit_op(op, &mut uses);
    uses
}

fn actions_of(system: &System, proc: ProcIdx) -> Vec<(LocIdx, ActionIdx)> {
    let locations = system.proc(proc).locations.iter().enumerate();
    locations.flat_map(|(i, l)| l.actions.iter().map(move |a| (LocIdx(i as u32), *a))).collect()
}

/// Bytes of frames that other processes look at. A remote reference does not
/// check the type of the process it finds, so they count for all types.
#[derive(Default)]
struct Remotes(Vec<std::ops::Range<u32>>);

impl Visitor for Remotes {
    fn place(&mut self, place: &Place, access: Access) {
        if access == Access::Remote {
            self.0.push(place.offset..place.offset + reach(place) + place.ty.repr.size());
        }
    }
}

/// Distance from the first to the last element that the indices can mean.
fn reach(place: &Place) -> u32 {
    place.indices.iter().map(|i| (i.bound - 1) * i.stride).sum()
}

/// Locals that someone may look at while the process is at any location.
fn observed_locals(system: &System, proc: ProcIdx, remotes: &Remotes) -> Live {
    let Proc { frame, provided, claims, .. } = system.proc(proc);
    let remote = |cell: &Cell| {
        let bytes = cell.offset..cell.offset + cell.ty.repr.size();
        remotes.0.iter().any(|r| r.start < bytes.end && bytes.start < r.end)
    };
    let mut observed: Live = frame.cells.iter().filter(|c| remote(c)).map(|c| c.offset).collect();
    for expr in provided.iter().chain(claims.iter().map(|c| &c.chan)) {
        observed.extend(local_use(&Op::Cond(expr.clone())).reads);
    }
    observed
}

/// The locals that may be reset: scalars never reached by an index.
fn private_locals(system: &System, proc: ProcIdx, remotes: &Remotes) -> Locals {
    let observed = observed_locals(system, proc, remotes);
    let cells = system.proc(proc).frame.cells.iter();
    let mut locals: Locals =
        cells.filter(|c| !observed.contains(&c.offset)).map(|c| (c.offset, c.ty.clone())).collect();
    let mut drop_indexed = |op: &Op| {
        for place in local_use(op).indexed {
            let last = place.offset + reach(&place);
            locals.retain(|offset, _| *offset < place.offset || *offset > last);
        }
    };
    for (_, action) in actions_of(system, proc) {
        system.action(action).ops.iter().for_each(&mut drop_indexed);
    }
    for expr in system.proc(proc).provided.iter().chain(claimed(system, proc)) {
        drop_indexed(&Op::Cond(expr.clone()));
    }
    locals
}

fn claimed(system: &System, proc: ProcIdx) -> impl Iterator<Item = &Expr> {
    system.proc(proc).claims.iter().map(|c| &c.chan)
}

fn reset_dead_variables(system: &mut System, proc: ProcIdx, remotes: &Remotes) {
    let locals = private_locals(system, proc, remotes);
    let actions = actions_of(system, proc);
    let live = liveness(system, proc, &actions);
    // What is dead from the start starts as 0.
    let initial = system.proc(proc).initial;
    let zero = |(offset, ty): (&u32, &Scalar)| Init::Assign(local(*offset, ty), Expr::Const(0));
    let dead = locals.iter().filter(|(offset, _)| !live[initial.idx()].contains(offset));
    let resets: Vec<Init> = dead.map(zero).collect();
    system.procs[proc.idx()].frame.init.extend(resets);
    for (from, idx) in actions {
        let action = system.action(idx);
        let Some(target) = action.target else { continue };
        if matches!(action.ops[0], Op::Exit) {
            continue;
        }
        let writes = local_use(&action.ops[0]).writes;
        let dead: Vec<Op> = locals
            .iter()
            .filter(|(offset, _)| {
                let maybe_set = live[from.idx()].contains(offset) || writes.contains(offset);
                maybe_set && !live[target.idx()].contains(offset)
            })
            .filter(|(offset, _)| !sets_to_zero(&action.ops[0], **offset))
            .map(|(offset, ty)| Op::Assign(local(*offset, ty), Expr::Const(0)))
            .collect();
        system.actions[idx.idx()].ops.extend(dead);
    }
}

fn local(offset: u32, ty: &Scalar) -> Place {
    Place { space: Space::Local, offset, indices: Vec::new(), ty: ty.clone() }
}

fn sets_to_zero(op: &Op, offset: u32) -> bool {
    matches!(op, Op::Assign(place, Expr::Const(0))
        if place.space == Space::Local && place.indices.is_empty() && place.offset == offset)
}

/// For each location, the locals that may be read before they are written.
fn liveness(system: &System, proc: ProcIdx, actions: &[(LocIdx, ActionIdx)]) -> Vec<Live> {
    let mut live = vec![Live::new(); system.proc(proc).locations.len()];
    loop {
        let mut changed = false;
        for (from, idx) in actions.iter().rev() {
            let action = system.action(*idx);
            let uses = local_use(&action.ops[0]);
            let mut before = uses.reads;
            if let Some(target) = action.target {
                // Inside a block a write may be skipped.
                let kills = !matches!(action.ops[0], Op::Block(_));
                let after = live[target.idx()].iter().copied();
                before.extend(after.filter(|o| !(kills && uses.writes.contains(o))));
            }
            let size = live[from.idx()].len();
            live[from.idx()].extend(before);
            changed |= live[from.idx()].len() > size;
        }
        if !changed {
            return live;
        }
    }
}

/// A send that may have to wait for its receive: no step may come in between.
fn is_handshake(system: &System, op: &Op) -> bool {
    matches!(op, Op::Send { .. }) && system.chans.iter().any(|c| c.slots == 0)
}

fn merge_statements(system: &mut System, original: &System, proc: ProcIdx, remotes: &Remotes) {
    if system.proc(proc).provided.is_some() || system.proc(proc).deterministic {
        return;
    }
    let observed = observed_locals(system, proc, remotes);
    for (_, idx) in actions_of(system, proc) {
        let action = original.action(idx);
        if action.atomic || is_handshake(system, &action.ops[0]) {
            continue;
        }
        let Some(mut at) = action.target else { continue };
        let mut seen = BTreeSet::from([at]);
        while let Some(next) = mergeable(original, original.proc(proc), at, &observed) {
            let merged = original.action(next);
            let Some(target) = merged.target else { break };
            let action = &mut system.actions[idx.idx()];
            action.ops.extend(merged.ops.iter().filter(|op| **op != Op::Skip).cloned());
            action.then.push(next);
            action.target = Some(target);
            at = target;
            if !seen.insert(at) || action.then.len() >= MAX_MERGED {
                break;
            }
        }
    }
}

/// The only action at a location, if it may be merged into the one before.
fn mergeable(system: &System, proc: &Proc, at: LocIdx, observed: &Live) -> Option<ActionIdx> {
    let location = &proc.locations[at.idx()];
    let [idx] = &location.actions[..] else { return None };
    if location.accept || location.progress {
        return None;
    }
    let action: &Action = system.action(*idx);
    let harmless = !action.atomic && action.ops.iter().all(|op| runs_always(op, observed));
    harmless.then_some(*idx)
}

fn runs_always(op: &Op, observed: &Live) -> bool {
    let fits = match op {
        Op::Skip => true,
        Op::Assign(place, expr) => place.indices.is_empty() && !can_fault(expr),
        _ => false,
    };
    let uses = local_use(op);
    fits && !uses.global && uses.indexed.is_empty() && uses.writes.is_disjoint(observed)
}

fn can_fault(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Pid => false,
        Expr::Load(place) => !place.indices.is_empty(),
        Expr::Unary(_, e) => can_fault(e),
        Expr::Binary(op, a, b) => {
            matches!(op, Binary::Div | Binary::Rem) || can_fault(a) || can_fault(b)
        }
        Expr::Cond(c, a, b) => can_fault(c) || can_fault(a) || can_fault(b),
        _ => true,
    }
}
