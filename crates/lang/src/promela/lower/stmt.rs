//! Statements: each adds its elements to the flow, in Spin's order.

use super::Lowerer;
use super::types::VarType;
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Body, ExprKind, Stmt, StmtKind, VarDecl, VarInit, VarRef};
use crate::promela::flow::{El, Flow, Label, Node, Seq, Target};
use ir::source::Span;
use ir::system::{Binary, Claim, Expr, Op, Place, Space};

impl Lowerer<'_> {
    pub(super) fn steps(&mut self, steps: &[Stmt], flow: &mut Flow) {
        for step in steps {
            self.add(step, flow);
        }
    }

    /// Adds a statement to the open sequence; returns what a label on it means.
    fn add(&mut self, stmt: &Stmt, flow: &mut Flow) -> Option<El> {
        match &stmt.kind {
            StmtKind::Decl(decl) => {
                self.local_decl(decl, flow);
                None
            }
            StmtKind::Exclusive { receive, chans } => {
                for chan in chans {
                    self.claim_channel(*receive, chan);
                }
                None
            }
            _ => {
                let el = self.element(stmt, flow);
                self.initialisation = false;
                // Nothing may vanish without a word.
                if el.is_none() && !self.diagnostics.iter().any(Diagnostic::is_error) {
                    let message = "this statement cannot stand here";
                    self.error(Diagnostic::error(stmt.span, message));
                }
                el
            }
        }
    }

    /// `xr` and `xs` on an array mean each of its channels.
    fn claim_channel(&mut self, receive: bool, var: &VarRef) {
        let bound = match &var.parts[..] {
            [part] if part.index.is_none() => self.lookup(&part.name).and_then(|v| v.bound),
            _ => None,
        };
        let Some(bound) = bound else {
            if let Some(chan) = self.chan(var) {
                self.claims.push(Claim { receive, chan });
            }
            return;
        };
        for i in 0..bound {
            let mut element = var.clone();
            let index = ast::Expr { kind: ExprKind::Const(i as i32), span: var.span };
            element.parts[0].index = Some(Box::new(index));
            if let Some(chan) = self.chan(&element) {
                self.claims.push(Claim { receive, chan });
            }
        }
    }

    fn element(&mut self, stmt: &Stmt, flow: &mut Flow) -> Option<El> {
        match &stmt.kind {
            StmtKind::Label(name, inner) => {
                let el = self.labelled(stmt, inner, flow)?;
                let scope = self.scopes.path.clone();
                let twice = |l: &Label| l.name == name.node && l.scope == scope;
                if flow.labels.iter().any(twice) {
                    let message = format!("label '{}' appears twice", name.node);
                    self.error(Diagnostic::error(name.span, message));
                }
                flow.labels.push(Label { name: name.node.clone(), scope, el, span: name.span });
                Some(el)
            }
            StmtKind::If(options) | StmtKind::Do(options) => {
                let is_loop = matches!(stmt.kind, StmtKind::Do(_));
                if is_loop {
                    flow.open_loop();
                }
                let options = self.options(options, flow);
                let text = if is_loop { "do" } else { "if" };
                Some(flow.select(options, is_loop, stmt.span, text))
            }
            StmtKind::Unless(main, escape) => self.unless(stmt, main, escape, flow),
            StmtKind::For { var, range, body } => self.for_loop(stmt, var, range, body, flow),
            StmtKind::Select { var, low, high, plain } => {
                self.select(stmt, var, (low, high), *plain, flow)
            }
            _ => {
                let el = self.simple(stmt, flow)?;
                flow.append(el);
                Some(el)
            }
        }
    }

    /// A goto's label decides how the goto is added, so it must be known first.
    fn labelled(&mut self, stmt: &Stmt, inner: &Stmt, flow: &mut Flow) -> Option<El> {
        if !matches!(inner.kind, StmtKind::Goto(_) | StmtKind::Break) {
            return self.element(inner, flow);
        }
        let el = self.simple(inner, flow)?;
        let StmtKind::Label(name, _) = &stmt.kind else { return None };
        let scope = self.scopes.path.clone();
        flow.labels.push(Label { name: name.node.clone(), scope, el, span: name.span });
        flow.append(el);
        flow.labels.pop().map(|label| label.el)
    }

    /// An element for a statement that is no selection, loop or `unless`.
    fn simple(&mut self, stmt: &Stmt, flow: &mut Flow) -> Option<El> {
        let (node, text) = match &stmt.kind {
            StmtKind::Block(body) => {
                let seq = self.block(body, "{", flow)?;
                (Node::Block(seq), "{ ... }".into())
            }
            StmtKind::Atomic(body) => {
                let seq = self.block(body, "atomic {", flow)?;
                let el = flow.new_el(Node::Atomic(seq), stmt.span, "atomic { ... }".into());
                flow.make_atomic(seq, false);
                return Some(el);
            }
            StmtKind::Dstep(body) => {
                let seq = self.block(body, "d_step {", flow)?;
                let text = self.text(stmt.span);
                let el = flow.new_el(Node::Dstep(seq), stmt.span, text);
                flow.make_atomic(seq, true);
                return Some(el);
            }
            StmtKind::Break => {
                let target = *flow.open_loops.last()?;
                (Node::Goto(Target::Break(target)), "break".into())
            }
            StmtKind::Goto(name) => {
                let scope = self.scopes.path.clone();
                let target = Target::Label { name: name.node.clone(), scope };
                (Node::Goto(target), format!("goto {}", name.node))
            }
            StmtKind::Else => (Node::Else, "else".into()),
            _ => (Node::Op(self.op(stmt)?), self.text(stmt.span)),
        };
        Some(flow.new_el(node, stmt.span, text))
    }

    fn op(&mut self, stmt: &Stmt) -> Option<Op> {
        Some(match &stmt.kind {
            StmtKind::Assign(var, value) if var.parts[0].name.as_ref() == "_priority" => {
                self.uses_priority = self.uses_priority.or(Some(stmt.span));
                Op::SetPriority { pid: Expr::Pid, priority: self.expr(value)? }
            }
            StmtKind::Assign(var, value) => {
                let value = self.expr(value);
                let place = self.target(var)?;
                Op::Assign(place, value?)
            }
            StmtKind::Step(var, by) => {
                let place = self.target(var)?;
                let old = Expr::Load(Box::new(place.clone()));
                let op = if *by > 0 { Binary::Add } else { Binary::Sub };
                Op::Assign(place, Expr::Binary(op, Box::new(old), Box::new(Expr::Const(1))))
            }
            StmtKind::Send { chan, sorted, args } => {
                let chan = self.chan(chan);
                let mut values = Vec::new();
                let mut complete = true;
                for arg in args {
                    complete &= self.message_arg(arg, &mut values).is_some();
                }
                if !complete {
                    return None;
                }
                Op::Send { chan: chan?, sorted: *sorted, args: values }
            }
            StmtKind::Receive { chan, random, keep, args } => {
                Op::Receive(self.receive(chan, *random, *keep, args)?)
            }
            StmtKind::Assert(expr) => Op::Assert(self.expr(expr)?),
            StmtKind::Print { format, args } => {
                let args: Vec<_> = args.iter().map(|a| self.expr(a)).collect();
                let args = args.into_iter().collect::<Option<Vec<_>>>()?;
                Op::Print { format: format.to_string(), args }
            }
            StmtKind::Printm(expr) => {
                Op::Print { format: "%e".into(), args: vec![self.expr(expr)?] }
            }
            StmtKind::SetPriority(pid, priority) => {
                self.uses_priority = self.uses_priority.or(Some(stmt.span));
                let (pid, priority) = (self.expr(pid), self.expr(priority));
                Op::SetPriority { pid: pid?, priority: priority? }
            }
            StmtKind::Expr(expr) => {
                self.check_run(expr);
                match self.expr(expr)? {
                    Expr::Const(1) => Op::Skip,
                    expr => Op::Cond(expr),
                }
            }
            _ => return None,
        })
    }

    /// Spin allows `run` on its own or as the value of an assignment only.
    fn check_run(&mut self, expr: &ast::Expr) {
        fn has_run(e: &ast::Expr) -> bool {
            match &e.kind {
                ExprKind::Run { .. } => true,
                ExprKind::Unary(_, e) => has_run(e),
                ExprKind::Binary(_, a, b) => has_run(a) || has_run(b),
                ExprKind::Cond(a, b, c) => has_run(a) || has_run(b) || has_run(c),
                _ => false,
            }
        }
        if !matches!(expr.kind, ExprKind::Run { .. }) && has_run(expr) {
            let message = "'run' inside an expression";
            let help = "start the process in a statement of its own";
            self.error(Diagnostic::error(expr.span, message).help(help));
        }
    }

    /// A place that may be assigned to.
    pub(super) fn target(&mut self, var: &VarRef) -> Option<Place> {
        if var.parts.len() == 1 && &*var.parts[0].name == "_" {
            return Some(self.scratch());
        }
        if self.predefined(var).is_some() {
            let message = format!("'{}' cannot be assigned to", var.parts[0].name);
            self.error(Diagnostic::error(var.span, message));
            return None;
        }
        self.place(var)
    }

    pub(super) fn text(&self, span: Span) -> String {
        let text = self.system.sources.text(span);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn block(&mut self, body: &Body, opening: &str, flow: &mut Flow) -> Option<Seq> {
        self.scopes.open();
        let initialisation = std::mem::replace(&mut self.initialisation, false);
        flow.open_seq();
        self.steps(&body.steps, flow);
        let seq = flow.close_seq();
        self.initialisation = initialisation;
        self.scopes.close();
        // Without a first element there was an error, or there are declarations only.
        let Some(first) = flow.sequence(seq).first else {
            self.check_empty(body);
            return None;
        };
        if let Some(label) = flow.labels.iter().find(|l| l.el == first) {
            let message = format!("label '{}' at the start of a block", label.name);
            let help = format!("put it before the block: '{}: {opening} ... }}'", label.name);
            let span = label.span;
            self.error(Diagnostic::error(span, message).help(help));
        }
        Some(seq)
    }

    fn check_empty(&mut self, body: &Body) {
        let only_claims = |s: &Stmt| matches!(s.kind, StmtKind::Exclusive { .. });
        if !body.steps.is_empty() && body.steps.iter().all(only_claims) {
            let message = "a sequence needs at least one statement";
            self.error(Diagnostic::error(body.end, message).help("'skip' does nothing"));
        }
    }

    fn options(&mut self, options: &[Body], flow: &mut Flow) -> Vec<Seq> {
        let mut sequences = Vec::new();
        let mut else_seen = false;
        for option in options {
            let initialisation = std::mem::replace(&mut self.initialisation, false);
            flow.open_seq();
            self.steps(&option.steps, flow);
            let seq = flow.close_seq();
            self.initialisation = initialisation;
            let Some(first) = flow.sequence(seq).first else {
                self.check_empty(option);
                continue;
            };
            let is_else = matches!(flow.el(first).node, Node::Else);
            if is_else && std::mem::replace(&mut else_seen, true) {
                let span = flow.el(first).span;
                self.error(Diagnostic::error(span, "more than one 'else'"));
            }
            flow.prune_skips(seq);
            sequences.push(seq);
        }
        sequences
    }

    fn unless(&mut self, stmt: &Stmt, main: &Stmt, escape: &Stmt, flow: &mut Flow) -> Option<El> {
        if let StmtKind::Label(name, inner) = &main.kind {
            return self.labelled_unless(stmt, name, inner, escape, flow);
        }
        // Spin makes the elements inside both, then that of the escape, then
        // that of the main statement.
        let main_inner = self.detached(main, flow);
        let escape_inner = self.detached(escape, flow);
        let escape_seq = self.close_detached(escape, escape_inner, flow)?;
        let main_seq = self.close_detached(main, main_inner, flow)?;
        Some(flow.unless(main_seq, escape_seq, stmt.span))
    }

    /// `L: { ... } unless e` is `L: { { ... } unless e }`.
    fn labelled_unless(
        &mut self,
        stmt: &Stmt,
        label: &ast::Spanned<ast::Name>,
        main: &Stmt,
        escape: &Stmt,
        flow: &mut Flow,
    ) -> Option<El> {
        let (main_seq, dstep) = match self.detached(main, flow)? {
            Detached::Seq(seq) => (seq, None),
            Detached::Atomic(seq, dstep) => {
                flow.make_atomic(seq, dstep);
                (seq, Some(dstep))
            }
            _ => {
                let message = format!("label '{}' on a statement with 'unless'", label.node);
                let help = format!("write '{}: {{ ... unless ... }}'", label.node);
                self.error(Diagnostic::error(label.span, message).help(help));
                return None;
            }
        };
        let escape_inner = self.detached(escape, flow);
        let escape_seq = self.close_detached(escape, escape_inner, flow)?;
        flow.open_seq();
        flow.unless(main_seq, escape_seq, stmt.span);
        let seq = flow.close_seq();
        let node = match dstep {
            None => Node::Block(seq),
            Some(false) => Node::Atomic(seq),
            Some(true) => Node::Dstep(seq),
        };
        let el = flow.new_el(node, stmt.span, self.text(stmt.span));
        flow.append(el);
        let scope = self.scopes.path.clone();
        flow.labels.push(Label { name: label.node.clone(), scope, el, span: label.span });
        Some(el)
    }

    /// The inside of a statement, before its own element exists. For blocks
    /// that is the sequence; the others have nothing inside that is numbered
    /// before them and are made later.
    fn detached(&mut self, stmt: &Stmt, flow: &mut Flow) -> Option<Detached> {
        match &stmt.kind {
            StmtKind::Block(body) => Some(Detached::Seq(self.block(body, "{", flow)?)),
            StmtKind::If(options) => Some(Detached::Options(self.options(options, flow))),
            StmtKind::Do(options) => {
                flow.open_loop();
                let options = self.options(options, flow);
                let id = flow.open_loops.pop()?;
                Some(Detached::Loop(options, id))
            }
            StmtKind::Atomic(body) => {
                Some(Detached::Atomic(self.block(body, "atomic {", flow)?, false))
            }
            StmtKind::Dstep(body) => {
                Some(Detached::Atomic(self.block(body, "d_step {", flow)?, true))
            }
            _ => Some(Detached::Later),
        }
    }

    fn close_detached(
        &mut self,
        stmt: &Stmt,
        inner: Option<Detached>,
        flow: &mut Flow,
    ) -> Option<Seq> {
        let inner = inner?;
        if let Detached::Seq(seq) = inner {
            return Some(seq);
        }
        flow.open_seq();
        match inner {
            Detached::Options(options) => {
                flow.select(options, false, stmt.span, "if");
            }
            Detached::Loop(options, id) => {
                flow.open_loops.push(id);
                flow.select(options, true, stmt.span, "do");
            }
            Detached::Atomic(seq, dstep) => {
                let node = if dstep { Node::Dstep(seq) } else { Node::Atomic(seq) };
                let text = self.text(stmt.span);
                let el = flow.new_el(node, stmt.span, text);
                flow.make_atomic(seq, dstep);
                flow.append(el);
            }
            Detached::Later | Detached::Seq(_) => {
                self.element(stmt, flow);
            }
        }
        let seq = flow.close_seq();
        flow.sequence(seq).first.is_some().then_some(seq)
    }

    /// A declaration among statements: in front of all others it only sets
    /// first values; behind them it is a statement that assigns.
    fn local_decl(&mut self, decl: &ast::Decl, flow: &mut Flow) {
        let init = self.initialisation;
        self.declare(decl, Space::Local, init);
        if init {
            return;
        }
        for var in &decl.vars {
            self.init_statement(var, flow);
        }
    }

    fn init_statement(&mut self, var: &VarDecl, flow: &mut Flow) {
        let span = var.name.span;
        let Some(variable) = self.lookup(&var.name.node).cloned() else { return };
        let value = match &var.init {
            None => Some(Expr::Const(0)),
            Some(VarInit::Expr(expr)) => self.first_value(expr),
            Some(VarInit::List(_)) => {
                let message = "an array can be initialised in front of all statements only";
                self.error(Diagnostic::error(span, message));
                None
            }
            Some(VarInit::Chan { .. }) => {
                let message = "a channel can be created in front of all statements only";
                let help = "move the declaration to the start of the process type";
                self.error(Diagnostic::error(span, message).help(help));
                None
            }
        };
        let Some(value) = value else { return };
        let name = &var.name.node;
        let (op, text) = match &variable.ty {
            // Spin takes a step here that changes nothing; it is no skip.
            VarType::Record(_) => (Op::Cond(Expr::Const(2)), name.to_string()),
            VarType::Scalar(ty) => {
                let (space, offset) = (variable.space, variable.offset);
                let place = Place { space, offset, indices: Vec::new(), ty: ty.clone() };
                let shown = var.init.as_ref().map_or("0".into(), |_| self.text(init_span(var)));
                (Op::Assign(place, value), format!("{name} = {shown}"))
            }
        };
        let el = flow.new_el(Node::Op(op), span, text);
        flow.append(el);
    }
}

fn init_span(var: &VarDecl) -> Span {
    match &var.init {
        Some(VarInit::Expr(expr)) => expr.span,
        _ => var.name.span,
    }
}

/// A statement whose own element is still to be made.
enum Detached {
    Seq(Seq),
    Options(Vec<Seq>),
    Loop(Vec<Seq>, crate::promela::flow::Loop),
    Atomic(Seq, bool),
    Later,
}
