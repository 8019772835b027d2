//! Random systems, as a front-end could have made them.

use crate::expressions::{Generator, Scope, binary};
use crate::random::Random;
use crate::variables::{Variable, frame, scalar};
use ir::scalar::{Kind, Scalar};
use ir::source::Span;
use ir::system::{
    Action, ActionIdx, Binary, Block, Chan, Expr, Frame, Init, LocIdx, Location, Node, Op, Place,
    Proc, ProcIdx, Space, Start, System,
};

struct Outline {
    frame: Frame,
    variables: Vec<Variable>,
    n_params: usize,
    n_locations: usize,
}

pub fn system(r: &mut Random) -> System {
    let chans = chans(r);
    let (mut globals, global_variables) = frame(r, Space::Global, chans.len(), 0);
    let outlines: Vec<Outline> = (0..r.within(1, 3)).map(|_| outline(r, chans.len())).collect();
    let params: Vec<usize> = outlines.iter().map(|o| o.n_params).collect();
    let remote: Vec<Variable> = outlines.iter().flat_map(|o| o.variables.clone()).collect();
    init(r, &mut globals, &global_variables);
    let wild = r.chance(30);
    let mut system = System { name: "random".into(), chans, globals, ..System::default() };
    for (i, outline) in outlines.into_iter().enumerate() {
        let mut variables = global_variables.clone();
        variables.extend(outline.variables.clone());
        let chans = system.chans.clone();
        let mut uses = system.uses;
        let scope = Scope {
            chans: &chans,
            variables: &variables,
            remote: &remote,
            n_locations: outline.n_locations,
            params: &params,
            narrow: false,
            wild,
        };
        let mut generator = Generator { r, uses: &mut uses, scope };
        let proc = process(&mut generator, ProcIdx(i as u32), outline, &mut system.actions);
        system.uses = uses;
        system.procs.push(proc);
    }
    for _ in 0..r.within(1, 4) {
        let mut proc = ProcIdx(r.below(system.procs.len()) as u32);
        // Parameters of these are 0, which is no channel.
        if params[proc.idx()] > 0 && r.chance(90) {
            proc = ProcIdx(params.iter().position(|n| *n == 0).unwrap_or(0) as u32);
        }
        system.start.push(Start { proc, priority: 1 });
    }
    system.uses.priority = r.chance(1);
    number_spans(&mut system);
    system
}

/// Gives each statement a span of its own, so that faults tell where they are.
fn number_spans(system: &mut System) {
    let file = system.sources.add("random", "x ".repeat(1000));
    let mut at = 0;
    let mut number = |span: &mut Span| {
        at = (at + 1) % 1000;
        *span = Span { file, start: at, end: 2 * at };
    };
    for action in &mut system.actions {
        number(&mut action.span);
        if let Some(Op::Block(block)) = action.ops.first_mut() {
            for node in &mut block.nodes {
                if let Node::Do { span, .. } | Node::Select { span, .. } = node {
                    number(span);
                }
            }
        }
    }
}

fn chans(r: &mut Random) -> Vec<Chan> {
    let one = |i: usize, r: &mut Random| {
        let slots = match r.below(20) {
            0 => 300,
            1..=7 => 0,
            _ => r.within(1, 3) as u16,
        };
        let field = |r: &mut Random| {
            if r.chance(15) { Scalar::new(Kind::Chan) } else { scalar(r) }
        };
        let fields = (0..r.within(1, 3)).map(|_| field(r)).collect();
        Chan { name: format!("q{i}"), slots, fields }
    };
    (0..r.within(1, 4)).map(|i| one(i, r)).collect()
}

fn outline(r: &mut Random, n_chans: usize) -> Outline {
    let n_params = if r.chance(30) { r.within(1, 2) } else { 0 };
    let (mut frame, variables) = frame(r, Space::Local, n_chans, n_params);
    init(r, &mut frame, &variables[n_params..]);
    let n_locations = if r.chance(3) { 260 } else { r.within(3, 8) };
    Outline { frame, variables, n_params, n_locations }
}

fn init(r: &mut Random, frame: &mut Frame, variables: &[Variable]) {
    for variable in variables.iter().filter(|v| !v.is_chan() && v.count == 1) {
        if r.chance(40) {
            let value = Expr::Const(r.below(300) as i32 - 20);
            frame.init.push(Init::Assign(place(variable), value));
        }
    }
}

fn place(variable: &Variable) -> Place {
    let Variable { space, offset, ty, .. } = variable.clone();
    Place { space, offset, indices: Vec::new(), ty }
}

fn process(g: &mut Generator, idx: ProcIdx, outline: Outline, actions: &mut Vec<Action>) -> Proc {
    let mut locations = vec![Location::default(); outline.n_locations];
    // Of many locations most are never entered, but numbers are large.
    let used: Vec<usize> = match outline.n_locations {
        n if n > 100 => vec![1, 5, 255, 256, 259],
        n => (1..n).collect(),
    };
    let atomic = [0, 15, 50][g.r.below(3)];
    let escapes = g.r.chance(20);
    for &at in &used {
        locations[at].end = g.r.chance(20);
        if at == used[used.len() - 1] && g.r.chance(70) {
            add(actions, &mut locations[at], exit(idx));
            continue;
        }
        for i in 0..g.r.within(1, 3) {
            let mut ops = vec![first_op(g, i)];
            for _ in 0..if g.r.chance(15) { g.r.within(1, 2) } else { 0 } {
                ops.push(g.assign());
            }
            let mut action = exit(idx);
            action.ops = ops;
            action.target = g.r.pick(&used).map(|l| LocIdx(*l as u32));
            action.atomic = g.r.chance(atomic);
            action.escape = if escapes && g.r.chance(60) { g.r.below(3) as u32 } else { 0 };
            add(actions, &mut locations[at], action);
        }
    }
    Proc {
        name: format!("p{}", idx.0),
        span: Span::NONE,
        params: outline.variables[..outline.n_params].iter().map(place).collect(),
        frame: outline.frame,
        locations,
        initial: LocIdx(used[0] as u32),
        provided: g.r.chance(8).then(|| g.expr(2)),
        deterministic: g.scope.wild && g.r.chance(10),
        claims: Vec::new(),
    }
}

fn exit(proc: ProcIdx) -> Action {
    Action {
        proc,
        ops: vec![Op::Exit],
        target: None,
        atomic: false,
        escape: 0,
        span: Span::NONE,
        text: String::new(),
        trail_id: 0,
        then: Vec::new(),
    }
}

fn add(actions: &mut Vec<Action>, location: &mut Location, action: Action) {
    location.actions.push(ActionIdx(actions.len() as u32));
    actions.push(action);
}

fn first_op(g: &mut Generator, i: usize) -> Op {
    match g.r.below(60) {
        0..=3 if i > 0 => Op::Else,
        4 if g.scope.wild || g.r.chance(40) => Op::Cond(g.run()),
        5..=13 => Op::Block(Box::new(block(g))),
        _ => g.op(),
    }
}

/// A block: statements, choices and loops; its guards are its first statements.
fn block(g: &mut Generator) -> Block {
    let narrow = std::mem::replace(&mut g.scope.narrow, true);
    let n = g.r.within(1, 6);
    let mut nodes = Vec::new();
    for i in 0..n {
        // Mostly on; sometimes back.
        let next = if g.scope.wild && g.r.chance(12) { g.r.below(n + 1) } else { i + 1 } as u32;
        let any = i == 0 || (g.scope.wild && g.r.chance(25));
        let op = if any { g.op() } else { g.assign() };
        nodes.push(Node::Do { op, next, span: Span::NONE });
    }
    nodes.push(Node::Done);
    for _ in 0..g.r.below(3) {
        select(g, &mut nodes, n);
    }
    if g.r.chance(30) {
        count_loop(g, &mut nodes, n);
    }
    g.scope.narrow = narrow;
    let entry = if !g.scope.wild || g.r.chance(70) { 0 } else { g.r.below(nodes.len()) as u32 };
    let guards = guards(g, &nodes, entry);
    Block { guards, entry, nodes }
}

/// A choice, that some statement leads to.
fn select(g: &mut Generator, nodes: &mut Vec<Node>, n: usize) {
    let mut options: Vec<u32> = Vec::new();
    for _ in 0..g.r.within(1, 2) {
        // In tame systems to the end, so that there is no endless loop.
        let next = if g.scope.wild { g.r.below(n + 1) } else { n } as u32;
        options.push(nodes.len() as u32);
        nodes.push(Node::Do { op: g.op(), next, span: Span::NONE });
    }
    if !g.scope.wild || g.r.chance(70) {
        options.push(nodes.len() as u32);
        nodes.push(Node::Do { op: Op::Else, next: n as u32, span: Span::NONE });
    } else if g.r.chance(30) {
        options.push(n as u32);
    }
    let here = nodes.len() as u32;
    nodes.push(Node::Select { options, span: Span::NONE });
    let from = g.r.below(n);
    if let Node::Do { next, .. } = &mut nodes[from] {
        *next = here;
    }
}

/// `do :: v < c -> v++ :: else -> break od`, in front of the end.
fn count_loop(g: &mut Generator, nodes: &mut Vec<Node>, n: usize) {
    let Op::Assign(place, _) = g.assign() else { return };
    if !place.indices.is_empty() {
        return;
    }
    let value = Expr::Load(Box::new(place.clone()));
    let limit = Expr::Const(g.r.below(40) as i32);
    let here = nodes.len() as u32;
    let (again, count) = (here + 2, here + 3);
    let less = Op::Cond(binary(Binary::Lt, value.clone(), limit));
    nodes.push(Node::Do { op: less, next: count, span: Span::NONE });
    nodes.push(Node::Do { op: Op::Else, next: n as u32, span: Span::NONE });
    nodes.push(Node::Select { options: vec![here, here + 1], span: Span::NONE });
    let more = Op::Assign(place, binary(Binary::Add, value, Expr::Const(1)));
    nodes.push(Node::Do { op: more, next: again, span: Span::NONE });
    if let Node::Do { next, .. } = &mut nodes[n - 1] {
        *next = again;
    }
}

fn guards(g: &mut Generator, nodes: &[Node], entry: u32) -> Vec<Op> {
    if g.scope.wild && g.r.chance(20) {
        return Vec::new();
    }
    match &nodes[entry as usize] {
        Node::Do { op, .. } => vec![op.clone()],
        Node::Select { options, .. } => options
            .iter()
            .filter_map(|o| match &nodes[*o as usize] {
                Node::Do { op, .. } => Some(op.clone()),
                _ => None,
            })
            .collect(),
        Node::Done => Vec::new(),
    }
}
