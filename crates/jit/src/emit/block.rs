//! `d_step` blocks: their nodes become blocks of code that work on `out`.

use super::{Emitter, Role};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{self as clif, InstBuilder};
use cranelift_frontend::Variable;
use ir::system::{Block, Expr, Node, Op, Place};
use ir::visit::Access;
use ir::visit::look::{Visitor, visit_op};

/// Times that loops are run before the interpreter takes over, which finds
/// out whether the block ends.
const MAX_REPEATS: i64 = 1 << 20;

impl Emitter<'_, '_> {
    /// Runs a block and goes on, or goes to `blocked` if no guard holds.
    pub(super) fn block(&mut self, block: &Block, blocked: clif::Block) {
        if !block.guards.is_empty() {
            let enabled = self.b.create_block();
            for guard in &block.guards {
                let next = self.b.create_block();
                self.test(guard, enabled, next);
                self.enter(next);
            }
            self.jump(blocked);
            self.enter(enabled);
        }
        self.copy();
        self.in_block = true;
        self.nodes(block);
        self.in_block = false;
    }

    fn nodes(&mut self, block: &Block) {
        let start = start(block);
        let graph = Graph::of(block, start);
        let repeats = graph.loops.contains(&true).then(|| {
            let repeats = self.b.declare_var(I32);
            let zero = self.int(0);
            self.b.def_var(repeats, zero);
            repeats
        });
        let blocks: Vec<Option<clif::Block>> =
            graph.entered.iter().map(|entered| entered.then(|| self.b.create_block())).collect();
        let at = |node: u32| blocks[node as usize].expect("a node that is entered has a block");
        let done = self.b.create_block();
        self.jump(at(start));
        if graph.loops.contains(&true) {
            // What comes later in the code may have run before.
            block.nodes.iter().for_each(|node| self.will_write_all(node));
        }
        for &i in &graph.order {
            let Some(here) = blocks[i] else { continue };
            // Sealed when all nodes have made their jumps.
            self.b.switch_to_block(here);
            if let (true, Some(repeats)) = (graph.loops[i], repeats) {
                self.count_repeat(repeats);
            }
            match &block.nodes[i] {
                Node::Done => self.jump(done),
                Node::Do { op, next, span } => {
                    self.span = *span;
                    self.node_op(op, self.give_up);
                    self.jump(at(*next));
                }
                Node::Select { options, .. } => self.select(block, options, &at),
            }
        }
        blocks.iter().flatten().for_each(|block| self.b.seal_block(*block));
        self.enter(done);
    }

    /// What is read from now on may be written by then.
    fn will_write_all(&mut self, node: &Node) {
        struct Writes<'e, 'a, 's>(&'e mut Emitter<'a, 's>);
        impl Visitor for Writes<'_, '_, '_> {
            fn place(&mut self, place: &Place, access: Access) {
                if access == Access::Write {
                    self.0.will_write(place);
                }
            }
        }
        if let Node::Do { op, .. } = node {
            visit_op(op, &mut Writes(self));
        }
    }

    fn select(&mut self, block: &Block, options: &[u32], at: &dyn Fn(u32) -> clif::Block) {
        for option in options {
            match &block.nodes[*option as usize] {
                Node::Do { op, next, span } => {
                    self.span = *span;
                    let otherwise = self.b.create_block();
                    self.node_op(op, otherwise);
                    self.jump(at(*next));
                    self.enter(otherwise);
                }
                _ => return self.jump(at(*option)),
            }
        }
        self.jump(self.give_up);
    }

    fn node_op(&mut self, op: &Op, blocked: clif::Block) {
        // Options are tried in order and `else` comes last.
        if !matches!(op, Op::Else) {
            self.op(op, blocked);
        }
    }

    fn count_repeat(&mut self, repeats: Variable) {
        let n = self.b.use_var(repeats);
        let n = self.b.ins().iadd_imm(n, 1);
        self.b.def_var(repeats, n);
        let many = self.b.ins().icmp_imm(IntCC::SignedGreaterThan, n, MAX_REPEATS);
        self.give_up_if(many);
    }

    /// Goes to `yes` if an operation would run now, else to `no`.
    fn test(&mut self, op: &Op, yes: clif::Block, no: clif::Block) {
        match op {
            Op::Cond(Expr::Run { .. }) => self.jump(self.give_up),
            Op::Cond(expr) => self.branch(expr, yes, no),
            Op::Else => {
                let ran = self.b.use_var(self.ran);
                self.b.ins().brif(ran, no, &[], yes, &[]);
            }
            Op::Send { chan, .. } => self.branch(&Expr::NotFull(Box::new(chan.clone())), yes, no),
            Op::Receive(receive) => {
                self.each_channel(&receive.chan, |e, target| {
                    e.can_meet(receive, &target, no);
                    e.find_message(receive, &target, no);
                    e.leave_for(yes);
                });
                self.jump(no);
            }
            Op::Block(block) if !block.guards.is_empty() => {
                for guard in &block.guards {
                    let next = self.b.create_block();
                    self.test(guard, yes, next);
                    self.enter(next);
                }
                self.jump(no);
            }
            Op::Exit => self.jump(self.give_up),
            Op::Skip | Op::Assign(..) | Op::Assert(_) | Op::Print { .. } => self.jump(yes),
            Op::Block(_) | Op::SetPriority { .. } => self.jump(yes),
        }
    }

    /// In a rendezvous: a block that begins with its receive is interpreted.
    pub(super) fn give_up_if_block_receives(&mut self, block: &Block) {
        debug_assert_eq!(self.role, Role::Receives);
        for guard in &block.guards {
            match guard {
                Op::Cond(Expr::Run { .. }) => self.give_up(),
                Op::Receive(receive) => {
                    let other = self.b.create_block();
                    self.each_channel(&receive.chan, |e, target| {
                        e.can_meet(receive, &target, other);
                        e.give_up();
                    });
                    self.jump(other);
                    self.enter(other);
                }
                Op::Block(inner) => self.give_up_if_block_receives(inner),
                _ => {}
            }
        }
    }
}

/// The node that a block goes on with when a guard holds: a condition that was
/// the guard need not be looked at again.
fn start(block: &Block) -> u32 {
    match (&block.guards[..], &block.nodes[block.entry as usize]) {
        ([guard @ Op::Cond(_)], Node::Do { op, next, .. }) if op == guard => *next,
        _ => block.entry,
    }
}

/// Which nodes of a block are entered by a jump, and which of these by one back.
struct Graph {
    entered: Vec<bool>,
    loops: Vec<bool>,
    /// Those that are entered: all jumps but those back lead to later ones.
    order: Vec<usize>,
}

impl Graph {
    fn of(block: &Block, start: u32) -> Graph {
        let (n, start) = (block.nodes.len(), start as usize);
        let (entered, loops) = (vec![false; n], vec![false; n]);
        let mut graph = Graph { entered, loops, order: Vec::new() };
        // Depth first, with the nodes on the way there marked.
        let mut on_path = vec![false; n];
        let mut stack = vec![(start, successors(block, start))];
        graph.entered[start] = true;
        on_path[start] = true;
        while let Some((node, todo)) = stack.last_mut() {
            match todo.pop() {
                None => {
                    on_path[*node] = false;
                    graph.order.push(*node);
                    stack.pop();
                }
                Some(next) if on_path[next] => graph.loops[next] = true,
                Some(next) if graph.entered[next] => {}
                Some(next) => {
                    graph.entered[next] = true;
                    on_path[next] = true;
                    stack.push((next, successors(block, next)));
                }
            }
        }
        graph.order.reverse();
        graph
    }
}

/// Where code jumps to from a node. Options are part of their `Select`.
fn successors(block: &Block, node: usize) -> Vec<usize> {
    match &block.nodes[node] {
        Node::Done => Vec::new(),
        Node::Do { next, .. } => vec![*next as usize],
        Node::Select { options, .. } => options
            .iter()
            .map(|option| match &block.nodes[*option as usize] {
                Node::Do { next, .. } => *next as usize,
                _ => *option as usize,
            })
            .collect(),
    }
}
