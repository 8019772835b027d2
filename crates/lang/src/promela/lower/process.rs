//! Process types: from a body to locations and actions.

use super::expr::param_places;
use super::{Lowerer, dstep};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Decl};
use crate::promela::automaton::{Automaton, Builder, Transition};
use crate::promela::flow::{Body, Flow, Node};
use ir::source::Span;
use ir::system::{Action, ActionIdx, Expr, Frame, LocIdx, Location, Op, Place, ProcIdx, Space};
use ir::visit::change::{Visitor, visit_expr, visit_op};

/// Locations a process type can have.
const MAX_LOCATIONS: u32 = 65_535;

/// What stands in front of a process type's body.
pub(super) struct Head<'a> {
    pub params: &'a [Decl],
    /// It may use the parameters.
    pub provided: Option<&'a ast::Expr>,
}

impl<'a> Head<'a> {
    pub fn of(proctype: &'a ast::Proctype) -> Head<'a> {
        Head { params: &proctype.params, provided: proctype.provided.as_ref() }
    }
}

impl Lowerer<'_> {
    pub(super) fn process(
        &mut self,
        idx: ProcIdx,
        name: &str,
        span: Span,
        head: Head,
        body: &ast::Body,
    ) {
        self.locals = Frame::default();
        self.process = Some(idx);
        self.scopes.open();
        let params = self.params(head.params);
        let provided = head.provided.and_then(|clause| self.expr(clause));
        let body = self.body(body);
        self.scopes.close();
        self.process = None;
        let proc = &mut self.system.procs[idx.idx()];
        proc.name = name.to_string();
        proc.span = span;
        proc.params = params;
        proc.provided = provided;
        proc.frame = std::mem::take(&mut self.locals);
        proc.claims = std::mem::take(&mut self.claims);
        self.system.uses.claims |= !proc.claims.is_empty();
        self.bodies.push((idx, body));
    }

    fn params(&mut self, params: &[Decl]) -> Vec<Place> {
        let mut places = Vec::new();
        for decl in params {
            for var in decl.vars.iter().filter(|v| v.init.is_some() || v.bound.is_some()) {
                let message = "a parameter cannot be an array or have an initial value";
                self.error(Diagnostic::error(var.name.span, message));
            }
            self.declare(decl, Space::Local, false);
            // They have what they are given, whatever the fields of a record begin with.
            self.locals.init.clear();
            for var in &decl.vars {
                if let Some(variable) = self.lookup(&var.name.node) {
                    places.extend(param_places(variable));
                }
            }
        }
        places
    }

    fn body(&mut self, body: &ast::Body) -> Body {
        let mut counter = std::mem::take(&mut self.counter);
        let mut flow = Flow::new(&mut counter);
        self.scopes.open();
        self.initialisation = true;
        flow.open_seq();
        self.steps(&body.steps, &mut flow);
        let end = flow.new_el(Node::End, body.end, "-end-".into());
        flow.append(end);
        let top = flow.close_seq();
        self.scopes.close();
        let body = flow.finish(top);
        self.counter = counter;
        body
    }

    /// A claim or event trace: checked for errors, numbered, not kept.
    pub(super) fn claim(&mut self, body: &ast::Body) {
        self.in_claim = true;
        self.locals = Frame::default();
        let mut body = self.body(body);
        self.in_claim = false;
        Builder::new(&mut body, self.diagnostics).build();
    }

    pub(super) fn build_automata(&mut self) {
        let mut bodies = std::mem::take(&mut self.bodies);
        let locations = self.resolve_remote_labels(&mut bodies);
        for (idx, mut body) in bodies {
            if body.next_seqno > MAX_LOCATIONS {
                let span = self.system.procs[idx.idx()].span;
                self.error(Diagnostic::error(span, "this process type is too large"));
                continue;
            }
            let automaton = Builder::new(&mut body, self.diagnostics).build();
            self.add_proc(idx, &body, automaton);
        }
        let mut patch = PatchLabels { locations };
        for action in &mut self.system.actions {
            action.ops.iter_mut().for_each(|op| visit_op(op, &mut patch));
        }
        for proc in &mut self.system.procs {
            if let Some(clause) = &mut proc.provided {
                visit_expr(clause, &mut patch);
            }
        }
    }

    /// The location of each label that some process looks at.
    fn resolve_remote_labels(&mut self, bodies: &mut [(ProcIdx, Body)]) -> Vec<(ProcIdx, u32)> {
        let mut locations = Vec::new();
        for (proc, name) in std::mem::take(&mut self.remote_labels) {
            let body = bodies.iter_mut().find(|(idx, _)| *idx == proc).map(|(_, body)| body);
            let found = body.and_then(|body| {
                let el = body.labels.iter().rev().find(|l| l.name == name.node)?.el;
                Some(self.visible_location(body, el))
            });
            if found.is_none() {
                let proc = self.system.procs[proc.idx()].name.clone();
                let message = format!("process type '{proc}' has no label '{}'", name.node);
                self.error(Diagnostic::error(name.span, message));
            }
            locations.push((proc, found.unwrap_or(0)));
        }
        locations
    }

    /// A labelled goto is no location: it becomes a skip, with the goto behind it.
    fn visible_location(&mut self, body: &mut Body, el: crate::promela::flow::El) -> u32 {
        if matches!(body.el(el).node, Node::Goto(_)) {
            let mut goto = body.el(el).clone();
            goto.seqno = body.next_seqno;
            goto.id = self.counter.next_id;
            body.next_seqno += 1;
            self.counter.next_id += 1;
            body.elements.push(goto);
            let moved = crate::promela::flow::El(body.elements.len() as u32 - 1);
            let element = body.el_mut(el);
            element.node = Node::Op(Op::Skip);
            element.text = "(1)".into();
            element.next = Some(moved);
        }
        body.el(el).seqno
    }

    fn add_proc(&mut self, idx: ProcIdx, body: &Body, automaton: Automaton) {
        let mut locations = vec![Location::default(); automaton.transitions.len()];
        for (i, location) in locations.iter_mut().enumerate() {
            location.end = automaton.end[i];
            location.accept = automaton.accept[i];
            location.progress = automaton.progress[i];
            for transition in &automaton.transitions[i] {
                if let Some(action) = self.action(idx, body, transition) {
                    location.actions.push(ActionIdx(self.system.actions.len() as u32));
                    self.system.actions.push(action);
                }
            }
        }
        for label in &body.labels {
            let at = body.el(label.el).seqno as usize;
            locations[at].labels.push(label.name.to_string());
        }
        let proc = &mut self.system.procs[idx.idx()];
        proc.locations = locations;
        proc.initial = LocIdx(automaton.initial);
    }

    fn action(&mut self, proc: ProcIdx, body: &Body, transition: &Transition) -> Option<Action> {
        let element = body.el(transition.el);
        let op = match &element.node {
            Node::Op(op) => op.clone(),
            Node::Else => Op::Else,
            Node::Goto(_) | Node::Dot | Node::Break => Op::Skip,
            Node::End => Op::Exit,
            Node::Dstep(seq) => Op::Block(Box::new(dstep::build(body, *seq, self.diagnostics)?)),
            _ => return None,
        };
        Some(Action {
            proc,
            ops: vec![op],
            target: (transition.target > 0).then_some(LocIdx(transition.target)),
            atomic: transition.atomic,
            escape: transition.escape,
            span: element.span,
            text: element.text.clone(),
            trail_id: element.id,
            then: Vec::new(),
        })
    }
}

/// Replaces the number of a remote label by its location.
struct PatchLabels {
    locations: Vec<(ProcIdx, u32)>,
}

impl Visitor for PatchLabels {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::At { loc, .. } = expr {
            loc.0 = self.locations.get(loc.idx()).map_or(0, |(_, location)| *location);
        }
    }
}
