//! From elements to locations and ordered transitions, as Spin's generator and
//! verifier do it together (`put_seq` and `retrans` in Spin's terms).

use super::flow::{Body, El, Element, MAX_JUMPS, Node, Seq, Status, Target};
use crate::diagnostic::Diagnostic;
use ir::source::Span;
use ir::system::{Expr, Op};

/// A transition from a location.
#[derive(Debug, Clone)]
pub struct Transition {
    pub el: El,
    /// 0 after the process has ended.
    pub target: u32,
    pub atomic: bool,
    /// Locations whose transitions escape from this one.
    escapes: Vec<u32>,
    /// The escape this transition is itself, 0 if none.
    pub escape: u32,
    is_dot: bool,
}

/// What a location is before selections are resolved.
#[derive(Debug, Clone)]
enum Table {
    Empty,
    One(Transition),
    /// A selection or block: locations where its branches start.
    Links(Vec<u32>),
}

#[derive(Debug, Default)]
pub struct Automaton {
    /// By location number.
    pub transitions: Vec<Vec<Transition>>,
    pub end: Vec<bool>,
    pub accept: Vec<bool>,
    pub progress: Vec<bool>,
    pub initial: u32,
}

pub struct Builder<'b> {
    body: &'b mut Body,
    tables: Vec<Table>,
    done: Vec<bool>,
    errors: &'b mut Vec<Diagnostic>,
}

impl<'b> Builder<'b> {
    pub fn new(body: &'b mut Body, errors: &'b mut Vec<Diagnostic>) -> Builder<'b> {
        let tables = vec![Table::Empty; body.next_seqno as usize];
        let done = vec![false; body.elements.len()];
        Builder { body, tables, done, errors }
    }

    pub fn build(mut self) -> Automaton {
        let top = self.body.top;
        let Some(first) = self.body.sequence(top).first else {
            return Automaton::default();
        };
        let initial = self.skip_jumps(first, Status::default());
        let initial = self.body.el(initial).seqno;
        self.put_seq(top);
        let n = self.tables.len();
        let mut automaton = Automaton {
            transitions: vec![Vec::new(); n],
            end: vec![false; n],
            accept: vec![false; n],
            progress: vec![false; n],
            initial,
        };
        for label in &self.body.labels {
            let at = self.body.el(label.el).seqno as usize;
            automaton.end[at] |= label.name.starts_with("end");
            automaton.accept[at] |= label.name.starts_with("accept");
            automaton.progress[at] |= label.name.starts_with("progress");
        }
        for el in &self.body.elements {
            automaton.end[el.seqno as usize] |= matches!(el.node, Node::End);
        }
        self.flatten(&mut automaton);
        self.resolve(&mut automaton);
        add_escapes(&mut automaton);
        for i in 1..n {
            if let [only] = &automaton.transitions[i][..]
                && only.is_dot
                && automaton.end[i]
            {
                let target = only.target as usize;
                automaton.end[target] = true;
            }
        }
        automaton
    }

    /// Follows elements that are no steps (Spin's `huntele`). From inside an
    /// atomic sequence it stops before leaving it: that takes a step.
    fn skip_jumps(&mut self, from: El, status: Status) -> El {
        let mut el = from;
        for _ in 0..MAX_JUMPS {
            let element = self.body.el(el);
            let next = match &element.node {
                Node::Goto(target) => match self.jump(target, element) {
                    Ok(next) => next,
                    Err(error) => {
                        self.errors.push(error);
                        return el;
                    }
                },
                Node::Dot | Node::Break => match element.next {
                    Some(next) => next,
                    None => return el,
                },
                Node::Unless { main, .. } => match self.body.sequence(*main).first {
                    // `unless` nests no deeper than statements do.
                    Some(first) => self.skip_jumps(first, status),
                    None => return el,
                },
                _ => return el,
            };
            if status.atomic && !self.body.el(next).status.atomic {
                return el;
            }
            if next == el {
                break;
            }
            el = next;
        }
        let span = self.body.el(from).span;
        self.errors.push(Diagnostic::error(span, "this jump leads in a circle"));
        from
    }

    /// The target of a goto; only what is inside a `d_step` may jump inside it.
    fn jump(&self, target: &Target, from: &Element) -> Result<El, Diagnostic> {
        let to = self.body.target(target, from.span)?;
        if self.body.el(to).status.dstep && !from.status.dstep {
            let help = "put the label in front of the d_step";
            return Err(Diagnostic::error(from.span, "jump into a d_step").help(help));
        }
        Ok(to)
    }

    /// The first real element of a branch (Spin's `huntstart`).
    fn branch_start(&mut self, first: El) -> El {
        let mut el = first;
        for _ in 0..MAX_JUMPS {
            let element = self.body.el(el);
            el = match (&element.node, element.next) {
                (Node::Dot, Some(next)) => next,
                (Node::Unless { main, .. }, _) => match self.body.sequence(*main).first {
                    Some(first) => first,
                    None => return el,
                },
                _ => return el,
            };
        }
        el
    }

    fn put_seq(&mut self, seq: Seq) {
        let last = self.body.sequence(seq).last;
        let mut at = self.body.sequence(seq).first;
        while let Some(el) = at {
            if !std::mem::replace(&mut self.done[el.0 as usize], true) {
                self.put(el);
            }
            if Some(el) == last {
                break;
            }
            at = self.body.el(el).next;
        }
    }

    fn put(&mut self, el: El) {
        let seqno = self.body.el(el).seqno as usize;
        match self.body.el(el).node.clone() {
            Node::Unless { main, .. } => self.put_seq(main),
            Node::If(options) | Node::Do(options) => {
                let mut links = Vec::new();
                for option in &options {
                    let Some(first) = self.body.sequence(*option).first else { continue };
                    let start = self.branch_start(first);
                    let start = self.body.el(start);
                    // Spin drops branches that can never be taken.
                    let never = matches!(start.node, Node::Op(Op::Cond(Expr::Const(0))))
                        && start.escapes.is_empty();
                    if !never {
                        links.push(start.seqno);
                    }
                }
                self.tables[seqno] = Table::Links(links);
                options.into_iter().for_each(|o| self.put_seq(o));
            }
            Node::Atomic(seq) | Node::Block(seq) => {
                let start = self.enter_block(el, seq);
                if let Some(start) = start {
                    self.tables[seqno] = Table::Links(vec![self.body.el(start).seqno]);
                }
                self.put_seq(seq);
            }
            Node::Dstep(seq) => {
                self.enter_block(el, seq);
                self.put_step(el);
            }
            _ => self.put_step(el),
        }
    }

    /// Mends the marks of a block's jumps and ties its end; returns its start.
    fn enter_block(&mut self, el: El, seq: Seq) -> Option<El> {
        self.mend_atomic(seq);
        let start = self.body.sequence(seq).first.map(|first| self.branch_start(first));
        if let Some(last) = self.body.sequence(seq).last {
            self.body.el_mut(last).next = self.body.el(el).next;
        }
        start
    }

    /// A goto out of an atomic sequence ends it; one into another goes on.
    fn mend_atomic(&mut self, seq: Seq) {
        let extent = self.body.sequence(seq).extent;
        let mut at = self.body.sequence(seq).first;
        while let Some(el) = at {
            match self.body.el(el).node.clone() {
                Node::Goto(target) => {
                    if let Ok(to) = self.body.target(&target, Span::NONE) {
                        let inside = self.body.el(to).status.in_atomic();
                        let status = &mut self.body.el_mut(el).status;
                        if status.in_atomic() {
                            (status.atomic, status.last) = (inside, !inside);
                        }
                    }
                }
                Node::If(options) | Node::Do(options) => {
                    options.into_iter().for_each(|o| self.mend_atomic(o));
                }
                Node::Unless { main, escape } => {
                    self.mend_atomic(main);
                    self.mend_atomic(escape);
                }
                _ => {}
            }
            if Some(el) == extent {
                break;
            }
            at = self.body.el(el).next;
        }
    }

    fn put_step(&mut self, el: El) {
        let element = self.body.el(el);
        let (seqno, status) = (element.seqno as usize, element.status);
        let is_dot = matches!(element.node, Node::Dot);
        let next = match &element.node {
            Node::Goto(target) => match self.jump(target, element) {
                Ok(next) => Some(next),
                Err(error) => {
                    self.errors.push(error);
                    return;
                }
            },
            Node::End => None,
            _ => element.next,
        };
        let target = match next {
            Some(next) => {
                let next = self.skip_jumps(next, status);
                self.body.el(next).seqno
            }
            None => 0,
        };
        let sequences = if is_dot { Vec::new() } else { self.body.el(el).escapes.clone() };
        let mut escapes = Vec::new();
        for escape in &sequences {
            if let Some(first) = self.body.sequence(*escape).first {
                let start = self.skip_jumps(first, status);
                escapes.push(self.body.el(start).seqno);
            }
        }
        let atomic = status.atomic;
        self.tables[seqno] =
            Table::One(Transition { el, target, atomic, escapes, escape: 0, is_dot });
        sequences.into_iter().for_each(|s| self.put_seq(s));
    }

    /// Replaces links to selections by the links of these. The marks of a
    /// selection that stands first in a branch pass to where its branches start.
    fn flatten(&mut self, automaton: &mut Automaton) {
        for _ in 0..self.tables.len() + 1 {
            let mut changed = false;
            for i in 1..self.tables.len() {
                let Table::Links(links) = self.tables[i].clone() else { continue };
                let mut flat = Vec::new();
                for link in links {
                    match &self.tables[link as usize] {
                        Table::Links(inner) if link as usize != i => {
                            changed = true;
                            for &start in inner {
                                pass_marks(automaton, link, start);
                                flat.push(start);
                            }
                        }
                        _ => flat.push(link),
                    }
                }
                self.tables[i] = Table::Links(flat);
            }
            if !changed {
                return;
            }
        }
    }

    /// Gives each selection the transitions of its branches.
    fn resolve(&mut self, automaton: &mut Automaton) {
        for i in 1..self.tables.len() {
            match &self.tables[i] {
                Table::Empty => {}
                Table::One(transition) => automaton.transitions[i].push(transition.clone()),
                Table::Links(links) => {
                    for &link in links {
                        if let Table::One(transition) = &self.tables[link as usize] {
                            let transition = transition.clone();
                            pass_marks(automaton, link, transition.target);
                            automaton.transitions[i].push(transition);
                        }
                    }
                }
            }
        }
    }
}

fn pass_marks(automaton: &mut Automaton, from: u32, to: u32) {
    for marks in [&mut automaton.end, &mut automaton.accept, &mut automaton.progress] {
        marks[to as usize] |= marks[from as usize];
    }
}

/// Puts the transitions of escapes in front, the outermost escape first.
fn add_escapes(automaton: &mut Automaton) {
    for i in 1..automaton.transitions.len() {
        let own = automaton.transitions[i].clone();
        for transition in &own {
            for &escape in transition.escapes.iter().rev() {
                for candidate in automaton.transitions[escape as usize].clone() {
                    if automaton.transitions[i].iter().any(|t| t.el == candidate.el) {
                        continue;
                    }
                    let copy = Transition { escape, ..candidate };
                    automaton.transitions[i].insert(0, copy);
                }
            }
        }
    }
}
