//! `d_step`: a deterministic program made of the elements inside it.

use crate::diagnostic::Diagnostic;
use crate::promela::flow::{Body, El, MAX_JUMPS, Node as FlowNode, Seq};
use ir::source::Span;
use ir::system::{Block, Expr, Node, Op};
use std::collections::{HashMap, HashSet};

pub(super) struct BlockBuilder<'b> {
    body: &'b Body,
    /// Elements inside the `d_step`: all others are behind its end.
    members: HashSet<El>,
    nodes: Vec<Node>,
    node_of: HashMap<El, u32>,
    errors: &'b mut Vec<Diagnostic>,
}

/// The block of the `d_step` whose inside is `seq`.
pub(super) fn build(body: &Body, seq: Seq, errors: &mut Vec<Diagnostic>) -> Option<Block> {
    let first = body.sequence(seq).first?;
    let mut builder = BlockBuilder {
        body,
        members: HashSet::new(),
        nodes: vec![Node::Done],
        node_of: HashMap::new(),
        errors,
    };
    builder.collect(seq);
    let entry = builder.node(Some(first));
    let mut guards = Vec::new();
    builder.guards(first, &mut guards);
    Some(Block { guards, entry, nodes: builder.nodes })
}

impl BlockBuilder<'_> {
    fn collect(&mut self, seq: Seq) {
        let last = self.body.sequence(seq).last;
        let mut at = self.body.sequence(seq).first;
        while let Some(el) = at {
            self.members.insert(el);
            match &self.body.el(el).node {
                FlowNode::If(options) | FlowNode::Do(options) => {
                    options.iter().for_each(|o| self.collect(*o));
                }
                FlowNode::Block(inner) | FlowNode::Atomic(inner) | FlowNode::Dstep(inner) => {
                    self.collect(*inner);
                }
                FlowNode::Unless { main, .. } => self.collect(*main),
                _ => {}
            }
            if Some(el) == last {
                break;
            }
            at = self.body.el(el).next;
        }
    }

    /// The element where execution goes on, past jumps; `None` behind the end.
    fn follow(&mut self, from: Option<El>) -> Option<El> {
        let mut el = from?;
        for _ in 0..MAX_JUMPS {
            if !self.members.contains(&el) {
                return None;
            }
            let element = self.body.el(el);
            let next = match &element.node {
                FlowNode::Goto(target) => match self.body.target(target, element.span) {
                    Ok(next) => {
                        self.check_jump(next, element.span);
                        Some(next)
                    }
                    Err(error) => {
                        self.errors.push(error);
                        return None;
                    }
                },
                FlowNode::Dot | FlowNode::Break => element.next,
                FlowNode::Block(seq) | FlowNode::Atomic(seq) | FlowNode::Dstep(seq) => {
                    self.body.sequence(*seq).first
                }
                FlowNode::Unless { main, .. } => self.body.sequence(*main).first,
                _ => return Some(el),
            };
            el = next?;
        }
        let span = self.body.el(el).span;
        self.errors.push(Diagnostic::error(span, "this jump leads in a circle"));
        None
    }

    fn check_jump(&mut self, to: El, span: Span) {
        let exit = matches!(self.body.el(to).node, FlowNode::Break);
        if !self.members.contains(&to) && !exit {
            self.errors.push(
                Diagnostic::error(span, "jump out of a d_step")
                    .help("use 'atomic', or put the goto behind the d_step"),
            );
        }
    }

    /// The node for an element, made on the first call. The recursion ends
    /// because nodes get their number before what follows them.
    fn node(&mut self, at: Option<El>) -> u32 {
        let mut work = Vec::new();
        let entry = self.reserve(at, &mut work);
        while let Some((el, idx)) = work.pop() {
            let element = self.body.el(el);
            let span = element.span;
            let node = match element.node.clone() {
                FlowNode::If(options) | FlowNode::Do(options) => {
                    let options = options
                        .iter()
                        .map(|o| {
                            let first = self.body.sequence(*o).first;
                            self.reserve(first, &mut work)
                        })
                        .collect();
                    Node::Select { options, span }
                }
                FlowNode::Op(op) => {
                    self.check_op(&op, span);
                    let next = self.reserve(self.body.el(el).next, &mut work);
                    Node::Do { op, next, span }
                }
                FlowNode::Else => {
                    let next = self.reserve(self.body.el(el).next, &mut work);
                    Node::Do { op: Op::Else, next, span }
                }
                _ => Node::Done,
            };
            self.nodes[idx as usize] = node;
        }
        entry
    }

    fn reserve(&mut self, at: Option<El>, work: &mut Vec<(El, u32)>) -> u32 {
        let Some(el) = self.follow(at) else { return 0 };
        if let Some(idx) = self.node_of.get(&el) {
            return *idx;
        }
        let idx = self.nodes.len() as u32;
        self.nodes.push(Node::Done);
        self.node_of.insert(el, idx);
        work.push((el, idx));
        idx
    }

    fn check_op(&mut self, op: &Op, span: Span) {
        if let Op::Cond(Expr::Run { .. }) | Op::Assign(_, Expr::Run { .. }) = op {
            self.errors.push(Diagnostic::error(span, "'run' inside a d_step").help("use 'atomic'"));
        }
    }

    /// What must hold for the block to start, as Spin works it out: selections
    /// count those of their branches that start with a test.
    fn guards(&self, first: El, out: &mut Vec<Op>) {
        match &self.body.el(first).node {
            FlowNode::Op(op @ (Op::Cond(_) | Op::Send { .. } | Op::Receive(_))) => {
                out.push(op.clone());
            }
            FlowNode::Else => out.push(Op::Else),
            FlowNode::Block(seq) | FlowNode::Unless { main: seq, .. } => {
                if let Some(inner) = self.body.sequence(*seq).first {
                    self.guards(inner, out);
                }
            }
            FlowNode::If(_) => self.option_guards(first, out),
            FlowNode::Dot => {
                let next = self.body.el(first).next;
                if let Some(next) = next
                    && matches!(self.body.el(next).node, FlowNode::Do(_))
                {
                    self.option_guards(next, out);
                }
            }
            _ => {}
        }
    }

    fn option_guards(&self, el: El, out: &mut Vec<Op>) {
        let (FlowNode::If(options) | FlowNode::Do(options)) = &self.body.el(el).node else {
            return;
        };
        for option in options {
            let Some(first) = self.body.sequence(*option).first else { continue };
            match &self.body.el(first).node {
                // `else` can always be taken if nothing else can.
                FlowNode::Else => out.push(Op::Skip),
                FlowNode::Op(Op::Skip) => out.push(Op::Skip),
                _ => self.guards(first, out),
            }
        }
    }
}
