//! Control flow of one process type, built the way Spin builds it.
//!
//! State counts can only equal Spin's if the control locations do, and so do
//! trails only if statements carry Spin's numbers. So this module keeps Spin's
//! intermediate form: elements linked into sequences, numbered in the order in
//! which Spin's parser reduces statements. `automaton` makes locations of it.

use super::ast::Name;
use crate::diagnostic::Diagnostic;
use ir::source::Span;
use ir::system::{Expr, Op};

/// Jumps to follow before the control flow is taken for circular.
pub const MAX_JUMPS: usize = 500;

/// An element of this flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct El(pub u32);

/// A sequence of this flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seq(u32);

/// A `break` target: filled in when the loop is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop(u32);

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Op(Op),
    Else,
    Goto(Target),
    /// Where the branches of a selection meet.
    Dot,
    /// Where a loop is left.
    Break,
    If(Vec<Seq>),
    Do(Vec<Seq>),
    Unless {
        main: Seq,
        escape: Seq,
    },
    Atomic(Seq),
    Dstep(Seq),
    Block(Seq),
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Label { name: Name, scope: Vec<u32> },
    Break(Loop),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// The process keeps control after this element.
    pub atomic: bool,
    /// The last element of an atomic sequence.
    pub last: bool,
    /// Inside a `d_step`.
    pub dstep: bool,
}

impl Status {
    pub fn in_atomic(self) -> bool {
        self.atomic || self.last
    }
}

#[derive(Debug, Clone)]
pub struct Element {
    pub node: Node,
    /// Number in the process type: the location.
    pub seqno: u32,
    /// Number in the model: what a trail file holds.
    pub id: u32,
    pub next: Option<El>,
    /// Escapes of enclosing `unless`, innermost last added first.
    pub escapes: Vec<Seq>,
    pub status: Status,
    pub span: Span,
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    pub first: Option<El>,
    pub last: Option<El>,
    /// The last element before anything was appended for control flow.
    pub extent: Option<El>,
}

pub struct Label {
    pub name: Name,
    pub scope: Vec<u32>,
    pub el: El,
    pub span: Span,
}

/// Numbers that run over the whole model.
#[derive(Default)]
pub struct Counter {
    pub next_id: u32,
}

pub struct Flow<'c> {
    pub elements: Vec<Element>,
    sequences: Vec<Sequence>,
    open: Vec<Seq>,
    pub labels: Vec<Label>,
    loops: Vec<Option<El>>,
    pub open_loops: Vec<Loop>,
    pub next_seqno: u32,
    counter: &'c mut Counter,
}

/// What a flow holds once it is complete.
pub struct Body {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    pub labels: Vec<Label>,
    pub loops: Vec<Option<El>>,
    pub top: Seq,
    pub next_seqno: u32,
}

impl<'c> Flow<'c> {
    pub fn new(counter: &'c mut Counter) -> Flow<'c> {
        Flow {
            elements: Vec::new(),
            sequences: Vec::new(),
            open: Vec::new(),
            labels: Vec::new(),
            loops: Vec::new(),
            open_loops: Vec::new(),
            next_seqno: 1,
            counter,
        }
    }

    pub fn finish(self, top: Seq) -> Body {
        let Flow { elements, sequences, labels, loops, next_seqno, .. } = self;
        let mut body = Body { elements, sequences, labels, loops, top, next_seqno };
        body.tie_loose_ends();
        body
    }

    pub fn el(&self, el: El) -> &Element {
        &self.elements[el.0 as usize]
    }

    fn el_mut(&mut self, el: El) -> &mut Element {
        &mut self.elements[el.0 as usize]
    }

    pub fn new_el(&mut self, node: Node, span: Span, text: String) -> El {
        let el = El(self.elements.len() as u32);
        self.elements.push(Element {
            node,
            seqno: self.next_seqno,
            id: self.counter.next_id,
            next: None,
            escapes: Vec::new(),
            status: Status::default(),
            span,
            text,
        });
        self.next_seqno += 1;
        self.counter.next_id += 1;
        el
    }

    pub fn open_seq(&mut self) {
        let seq = Seq(self.sequences.len() as u32);
        self.sequences.push(Sequence { first: None, last: None, extent: None });
        self.open.push(seq);
    }

    pub fn close_seq(&mut self) -> Seq {
        let seq = self.open.pop().expect("a sequence is open");
        let sequence = &mut self.sequences[seq.0 as usize];
        sequence.extent = sequence.last;
        seq
    }

    pub fn sequence(&self, seq: Seq) -> Sequence {
        self.sequences[seq.0 as usize]
    }

    fn current(&self) -> Seq {
        *self.open.last().expect("a sequence is open")
    }

    /// The last element of the open sequence.
    pub fn last(&self) -> Option<El> {
        self.sequence(self.current()).last
    }

    pub fn append(&mut self, el: El) {
        let seq = self.current();
        self.append_to(el, seq);
    }

    fn append_to(&mut self, el: El, seq: Seq) {
        // A goto that has such a label would be skipped over: a skip takes the label.
        if matches!(self.el(el).node, Node::Goto(_)) && self.has_special_label(el) {
            let (span, text) = (self.el(el).span, "(1)".to_string());
            let skip = self.new_el(Node::Op(Op::Skip), span, text);
            if let Some(label) = self.labels.iter_mut().rev().find(|l| l.el == el) {
                label.el = skip;
            }
            self.append_to(skip, seq);
        }
        let sequence = &mut self.sequences[seq.0 as usize];
        match sequence.last {
            None => sequence.first = Some(el),
            Some(last) => self.elements[last.0 as usize].next = Some(el),
        }
        self.sequences[seq.0 as usize].last = Some(el);
    }

    fn has_special_label(&self, el: El) -> bool {
        let special = |n: &str| ["accept", "end", "progress"].iter().any(|p| n.starts_with(p));
        self.labels.iter().any(|l| l.el == el && special(&l.name))
    }

    pub fn open_loop(&mut self) -> Loop {
        let id = Loop(self.loops.len() as u32);
        self.loops.push(None);
        self.open_loops.push(id);
        id
    }

    /// A selection or a loop of these options; the element that labels mean.
    pub fn select(&mut self, mut options: Vec<Seq>, is_loop: bool, span: Span, text: &str) -> El {
        let e = self.new_el(Node::Dot, span, text.to_string());
        let dot = self.new_el(Node::Dot, span, ".(goto)".into());
        // `else` is tried last.
        let is_else = |flow: &Flow, s: &Seq| {
            let first = flow.sequence(*s).first;
            first.is_some_and(|el| matches!(flow.el(el).node, Node::Else))
        };
        if let Some(at) = options.iter().position(|s| is_else(self, s)) {
            let option = options.remove(at);
            options.push(option);
        }
        for option in &options {
            self.append_to(dot, *option);
        }
        if is_loop {
            self.elements[e.0 as usize].node = Node::Do(options);
            self.append(dot);
            let exit = self.new_el(Node::Break, span, "break".into());
            if let Some(Loop(id)) = self.open_loops.pop() {
                self.loops[id as usize] = Some(exit);
            }
            self.append(e);
            self.append(exit);
        } else {
            self.elements[e.0 as usize].node = Node::If(options);
            self.append(e);
            self.append(dot);
        }
        e
    }

    pub fn unless(&mut self, main: Seq, escape: Seq, span: Span) -> El {
        let e = self.new_el(Node::Unless { main, escape }, span, "unless".into());
        let dot = self.new_el(Node::Dot, span, ".(goto)".into());
        self.append_to(dot, main);
        self.append_to(dot, escape);
        self.attach_escape(main, escape);
        self.append(e);
        self.append(dot);
        e
    }

    fn attach_escape(&mut self, seq: Seq, escape: Seq) {
        let Sequence { first, extent, .. } = self.sequence(seq);
        let mut at = first;
        while let Some(el) = at {
            self.escape_el(el, escape);
            if Some(el) == extent {
                break;
            }
            at = self.el(el).next;
        }
    }

    fn escape_el(&mut self, el: El, escape: Seq) {
        if self.el(el).escapes.contains(&escape) {
            return;
        }
        for inner in self.el(el).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.el_mut(el).escapes.insert(0, escape);
        match self.el(el).node.clone() {
            Node::Unless { main, .. } => self.attach_escape(main, escape),
            Node::If(options) | Node::Do(options) => {
                for option in options {
                    self.attach_escape(option, escape);
                }
            }
            Node::Dstep(seq) => {
                if let Some(first) = self.sequence(seq).first {
                    self.escape_el(first, escape);
                }
            }
            Node::Atomic(seq) | Node::Block(seq) => self.attach_escape(seq, escape),
            _ => {}
        }
    }

    /// Marks a sequence as atomic, or as the inside of a `d_step`.
    pub fn make_atomic(&mut self, seq: Seq, dstep: bool) {
        let Sequence { first, last, .. } = self.sequence(seq);
        if let (Some(first), Some(last)) = (first, last) {
            self.walk_atomic(first, last, dstep);
            self.mark_last(last);
        }
    }

    fn mark_last(&mut self, last: El) {
        match self.el(last).node.clone() {
            Node::Block(seq) | Node::Atomic(seq) => self.make_last_atomic(seq),
            Node::Unless { main, .. } => self.make_last_atomic(main),
            _ => {
                let status = &mut self.el_mut(last).status;
                status.atomic = false;
                status.last = true;
            }
        }
    }

    /// The last step of a sequence that ends an atomic one.
    fn make_last_atomic(&mut self, seq: Seq) {
        let dstep = self.sequence(seq).last.is_some_and(|l| self.el(l).status.dstep);
        self.make_atomic(seq, dstep);
    }

    fn walk_atomic(&mut self, first: El, last: El, dstep: bool) {
        let mut at = Some(first);
        while let Some(el) = at {
            let status = &mut self.el_mut(el).status;
            status.atomic = true;
            status.dstep |= dstep;
            let inner = match self.el(el).node.clone() {
                Node::Atomic(seq) | Node::Block(seq) => Some(seq),
                Node::Dstep(seq) if dstep => Some(seq),
                _ => None,
            };
            if let Some(seq) = inner {
                self.el_mut(el).node = Node::Block(seq);
                self.walk_seq(seq, dstep);
            }
            match self.el(el).node.clone() {
                Node::If(options) | Node::Do(options) => {
                    options.into_iter().for_each(|o| self.walk_seq(o, dstep));
                }
                Node::Unless { main, escape } => {
                    self.walk_seq(main, dstep);
                    self.walk_seq(escape, dstep);
                }
                _ => {}
            }
            if el == last {
                break;
            }
            at = self.el(el).next;
        }
    }

    fn walk_seq(&mut self, seq: Seq, dstep: bool) {
        let Sequence { first, last, .. } = self.sequence(seq);
        if let (Some(first), Some(last)) = (first, last) {
            self.walk_atomic(first, last, dstep);
        }
    }

    /// Spin drops all but the first of a row of unlabelled skips in an option.
    pub fn prune_skips(&mut self, seq: Seq) {
        let Sequence { first, last, extent } = self.sequence(seq);
        let (mut previous, mut at, mut skips) = (None::<El>, first, 0);
        while let Some(el) = at {
            let next = self.el(el).next;
            let print = matches!(&self.el(el).node, Node::Op(Op::Print { .. }));
            let skip = matches!(
                &self.el(el).node,
                Node::Op(Op::Skip) | Node::Op(Op::Cond(Expr::Const(1)))
            );
            if (skip || print) && !self.labels.iter().any(|l| l.el == el) {
                skips += 1;
                let inner = Some(el) != first && Some(el) != last && Some(el) != extent;
                if let (true, true, Some(before)) = (skips > 1 && skip, inner, previous) {
                    self.el_mut(before).next = next;
                    at = next;
                    continue;
                }
            } else {
                skips = 0;
            }
            previous = Some(el);
            at = next;
        }
    }
}

impl Body {
    pub fn el(&self, el: El) -> &Element {
        &self.elements[el.0 as usize]
    }

    pub fn el_mut(&mut self, el: El) -> &mut Element {
        &mut self.elements[el.0 as usize]
    }

    pub fn sequence(&self, seq: Seq) -> Sequence {
        self.sequences[seq.0 as usize]
    }

    /// Links the end of each block to what follows the block, outermost first.
    fn tie_loose_ends(&mut self) {
        for i in (0..self.elements.len()).rev() {
            let (Node::Atomic(seq) | Node::Block(seq) | Node::Dstep(seq)) = self.elements[i].node
            else {
                continue;
            };
            let mut follows = self.elements[i].next;
            if follows.is_none() {
                continue;
            }
            while let Some(el) = follows
                && matches!(self.el(el).node, Node::Dot)
            {
                follows = self.el(el).next;
            }
            if let Some(last) = self.sequence(seq).last
                && self.el(last).next.is_none()
            {
                self.el_mut(last).next = follows;
            }
        }
    }

    /// The element a jump leads to.
    pub fn target(&self, target: &Target, span: Span) -> Result<El, Diagnostic> {
        match target {
            Target::Break(Loop(id)) => self.loops[*id as usize]
                .ok_or_else(|| Diagnostic::error(span, "'break' outside a loop")),
            Target::Label { name, scope } => self.label(name, scope).ok_or_else(|| {
                Diagnostic::error(span, format!("there is no label '{name}' in this process type"))
            }),
        }
    }

    /// The label in the same block, else in an enclosing one, else anywhere.
    fn label(&self, name: &Name, scope: &[u32]) -> Option<El> {
        let same_name = || self.labels.iter().rev().filter(|l| l.name == *name);
        same_name()
            .find(|l| l.scope == scope)
            .or_else(|| {
                same_name().filter(|l| scope.starts_with(&l.scope)).max_by_key(|l| l.scope.len())
            })
            .or_else(|| same_name().next())
            .map(|l| l.el)
    }
}
