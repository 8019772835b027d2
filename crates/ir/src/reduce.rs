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
    Action, ActionIdx, Binary, Expr, LocIdx, Op, Place, Proc, ProcIdx, Space, System,
};
use crate::visit::{Access, Visitor, visit_op};
use std::collections::{BTreeMap, BTreeSet};

/// A local scalar that only its process can see, by its offset.
type Locals = BTreeMap<u32, Scalar>;
type Live = BTreeSet<u32>;

pub fn reduce(system: &System) -> System {
    let mut reduced = system.clone();
    // Before merging: it works on the locations as they are written.
    for i in 0..system.procs.len() {
        reset_dead_variables(&mut reduced, ProcIdx(i as u32));
    }
    if !(system.uses.control || system.uses.priority || system.uses.last) {
        for i in 0..system.procs.len() {
            merge_statements(&mut reduced, ProcIdx(i as u32));
        }
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

/// Marks what was merged into an action that was reached.
pub fn expand_reached(reduced: &System, reached: &mut [bool]) {
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
    fn expr(&mut self, expr: &mut Expr) {
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

    fn place(&mut self, place: &mut Place, access: Access) {
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
    visit_op(&mut op.clone(), &mut uses);
    uses
}

fn actions_of(system: &System, proc: ProcIdx) -> Vec<(LocIdx, ActionIdx)> {
    let locations = system.proc(proc).locations.iter().enumerate();
    locations.flat_map(|(i, l)| l.actions.iter().map(move |a| (LocIdx(i as u32), *a))).collect()
}

/// The locals that may be reset: scalars never reached by an index.
fn private_locals(system: &System, proc: ProcIdx) -> Locals {
    let frame = &system.proc(proc).frame;
    let mut locals: Locals =
        frame.cells.iter().filter(|c| !c.observed).map(|c| (c.offset, c.ty.clone())).collect();
    let mut drop_indexed = |uses: LocalUse| {
        for place in uses.indexed {
            let reach = place.indices.iter().map(|i| (i.bound - 1) * i.stride).sum::<u32>();
            locals.retain(|offset, _| *offset < place.offset || *offset > place.offset + reach);
        }
    };
    for (_, action) in actions_of(system, proc) {
        system.action(action).ops.iter().for_each(|op| drop_indexed(local_use(op)));
    }
    // These are read at any location.
    let Proc { provided, claims, .. } = system.proc(proc);
    for expr in provided.iter().chain(claims.iter().map(|c| &c.chan)) {
        let uses = local_use(&Op::Cond(expr.clone()));
        locals.retain(|offset, _| !uses.reads.contains(offset));
    }
    locals
}

fn reset_dead_variables(system: &mut System, proc: ProcIdx) {
    let locals = private_locals(system, proc);
    let actions = actions_of(system, proc);
    let live = liveness(system, proc, &actions);
    for (from, idx) in actions {
        let action = system.action(idx);
        let Some(target) = action.target else { continue };
        if matches!(action.ops[0], Op::Exit) || is_handshake(system, &action.ops[0]) {
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

/// A send that may have to wait for its receive: nothing may run in between.
fn is_handshake(system: &System, op: &Op) -> bool {
    matches!(op, Op::Send { .. }) && system.chans.iter().any(|c| c.slots == 0)
}

fn merge_statements(system: &mut System, proc: ProcIdx) {
    if system.proc(proc).provided.is_some() || system.proc(proc).deterministic {
        return;
    }
    let observed: Live =
        system.proc(proc).frame.cells.iter().filter(|c| c.observed).map(|c| c.offset).collect();
    let original = system.clone();
    for (_, idx) in actions_of(system, proc) {
        let action = original.action(idx);
        if action.atomic || is_handshake(system, &action.ops[0]) {
            continue;
        }
        let Some(mut at) = action.target else { continue };
        let mut seen = BTreeSet::from([at]);
        while let Some(next) = mergeable(&original, original.proc(proc), at, &observed) {
            let merged = original.action(next);
            let Some(target) = merged.target else { break };
            let action = &mut system.actions[idx.idx()];
            action.ops.extend(merged.ops.iter().filter(|op| **op != Op::Skip).cloned());
            action.then.push(next);
            action.target = Some(target);
            at = target;
            if !seen.insert(at) {
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
