//! `for` and `select`: loops that Spin makes of other statements.

use super::Lowerer;
use super::types::VarType;
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Body, ExprKind, ForRange, Stmt, VarRef};
use crate::promela::flow::{El, Flow, Node, Target};
use ir::scalar::Kind;
use ir::source::Span;
use ir::system::{Binary, Expr, Op, Place, Space};

/// Widest plain range that `select` turns into a choice.
const MAX_CHOICES: i32 = 32;

impl Lowerer<'_> {
    /// `for`: an assignment, then a loop with a condition and an increment.
    pub(super) fn for_loop(
        &mut self,
        stmt: &Stmt,
        var: &VarRef,
        range: &ForRange,
        body: &Body,
        flow: &mut Flow,
    ) -> Option<El> {
        if let ForRange::In(of) = range {
            return self.for_in(stmt, var, of, body, flow);
        }
        let ForRange::Numbers(low, high) = range else { return None };
        let (low_value, high_value) = (self.expr(low)?, self.expr(high)?);
        let (low, high) = (self.text(low.span), self.text(high.span));
        self.count(stmt, var, (low_value, low), (high_value, high), body, flow)
    }

    /// Counts `var` from a first to a last value, each with its text.
    fn count(
        &mut self,
        stmt: &Stmt,
        var: &VarRef,
        (low, low_text): (Expr, String),
        (high, high_text): (Expr, String),
        body: &Body,
        flow: &mut Flow,
    ) -> Option<El> {
        let place = self.counter(var)?;
        let name = self.text(var.span);
        self.assign(&place, low, format!("{name} = {low_text}"), var.span, flow);
        flow.open_loop();
        flow.open_seq();
        let value = Expr::Load(Box::new(place.clone()));
        let condition = Expr::Binary(Binary::Le, Box::new(value), Box::new(high));
        let text = format!("({name} <= {high_text})");
        let el = flow.new_el(Node::Op(Op::Cond(condition)), var.span, text);
        flow.append(el);
        self.loop_body(stmt, &place, format!("{name}++"), var.span, body, flow)
    }

    /// The variable that a `for` or `select` counts with.
    fn counter(&mut self, var: &VarRef) -> Option<Place> {
        let place = self.target(var)?;
        if place.ty.kind == Kind::Chan {
            self.error(Diagnostic::error(var.span, "a channel cannot count"));
            return None;
        }
        Some(place)
    }

    fn assign(&mut self, place: &Place, value: Expr, text: String, span: Span, flow: &mut Flow) {
        let el = flow.new_el(Node::Op(Op::Assign(place.clone(), value)), span, text);
        flow.append(el);
    }

    /// The rest of a `for` behind its condition: body, increment, `else` exit.
    fn loop_body(
        &mut self,
        stmt: &Stmt,
        place: &Place,
        increment: String,
        span: Span,
        body: &Body,
        flow: &mut Flow,
    ) -> Option<El> {
        self.scopes.open();
        self.initialisation = false;
        self.steps(&body.steps, flow);
        self.scopes.close();
        self.increment(place, increment, span, flow);
        let main = flow.close_seq();
        flow.open_seq();
        let el = flow.new_el(Node::Else, stmt.span, "else".into());
        flow.append(el);
        self.leave_loop(stmt.span, flow);
        let exit = flow.close_seq();
        Some(flow.select(vec![exit, main], true, stmt.span, "for"))
    }

    fn increment(&mut self, place: &Place, text: String, span: Span, flow: &mut Flow) {
        let old = Box::new(Expr::Load(Box::new(place.clone())));
        let value = Expr::Binary(Binary::Add, old, Box::new(Expr::Const(1)));
        self.assign(place, value, text, span, flow);
    }

    fn leave_loop(&mut self, span: Span, flow: &mut Flow) {
        if let Some(target) = flow.open_loops.last().copied() {
            let el = flow.new_el(Node::Goto(Target::Break(target)), span, "break".into());
            flow.append(el);
        }
    }

    /// `for (x in array)` counts through the indices; `for (x in channel)`
    /// rotates the messages through the record `x`.
    fn for_in(
        &mut self,
        stmt: &Stmt,
        var: &VarRef,
        of: &VarRef,
        body: &Body,
        flow: &mut Flow,
    ) -> Option<El> {
        let [part] = &of.parts[..] else {
            self.error(Diagnostic::error(of.span, "expected the name of an array or channel"));
            return None;
        };
        let variable = self.lookup(&part.name).cloned();
        match variable {
            Some(v) if v.bound.is_some() && part.index.is_none() => {
                let last = v.bound.unwrap_or(1) as i32 - 1;
                let (first, last) =
                    ((Expr::Const(0), "0".into()), (Expr::Const(last), last.to_string()));
                self.count(stmt, var, first, last, body, flow)
            }
            Some(v) if matches!(&v.ty, VarType::Scalar(s) if s.kind == Kind::Chan) => {
                self.for_in_channel(stmt, var, of, body, flow)
            }
            _ => {
                let message = format!("'{}' is no array or channel", part.name);
                self.error(Diagnostic::error(of.span, message));
                None
            }
        }
    }

    fn for_in_channel(
        &mut self,
        stmt: &Stmt,
        var: &VarRef,
        of: &VarRef,
        body: &Body,
        flow: &mut Flow,
    ) -> Option<El> {
        let chan = self.chan(of)?;
        let place = self.temporary();
        let (name, chan_name) = (self.text(var.span), self.text(of.span));
        let arg = ast::RecvArg { kind: ast::RecvArgKind::Var(var.clone()), span: var.span };
        let receive = self.receive(of, false, false, &[arg])?;
        let mut args = Vec::new();
        let message = ast::Expr { kind: ExprKind::Var(var.clone()), span: var.span };
        self.message_arg(&message, &mut args)?;
        self.assign(&place, Expr::Const(0), "i = 0".into(), var.span, flow);
        flow.open_loop();
        flow.open_seq();
        let value = Box::new(Expr::Load(Box::new(place.clone())));
        let condition =
            Expr::Binary(Binary::Lt, value, Box::new(Expr::Len(Box::new(chan.clone()))));
        let send = Op::Send { chan, sorted: false, args };
        for (op, text) in [
            (Op::Cond(condition), format!("(i < len({chan_name}))")),
            (Op::Receive(receive), format!("{chan_name}?{name}")),
            (send, format!("{chan_name}!{name}")),
        ] {
            let el = flow.new_el(Node::Op(op), var.span, text);
            flow.append(el);
        }
        self.loop_body(stmt, &place, "i++".into(), var.span, body, flow)
    }

    /// A byte of the process's frame that no name means.
    fn temporary(&mut self) -> Place {
        let offset = self.locals.size;
        self.locals.size += 1;
        let ty = ir::scalar::Scalar::BYTE;
        let name = format!("(loop at {offset})");
        let cell = ir::system::Cell { name, ty: ty.clone(), offset, hidden: false };
        self.locals.cells.push(cell);
        Place { space: Space::Local, offset, indices: Vec::new(), ty }
    }

    /// `select`: an assignment, then a loop that may count up or leave. With
    /// plain numbers that are near each other, a choice of assignments.
    pub(super) fn select(
        &mut self,
        stmt: &Stmt,
        var: &VarRef,
        (low, high): (&ast::Expr, &ast::Expr),
        plain: bool,
        flow: &mut Flow,
    ) -> Option<El> {
        let place = self.counter(var)?;
        let (low_value, high_value) = (self.expr(low)?, self.expr(high)?);
        let name = self.text(var.span);
        if let (Expr::Const(low), Expr::Const(high)) = (&low_value, &high_value) {
            if low > high {
                let message = format!("the range {low}..{high} is empty");
                self.error(Diagnostic::error(stmt.span, message));
                return None;
            }
            if plain && high - low <= MAX_CHOICES {
                return Some(self.choice(stmt, &place, *low..=*high, &name, flow));
            }
        }
        let (low, high) = (self.text(low.span), self.text(high.span));
        self.assign(&place, low_value, format!("{name} = {low}"), stmt.span, flow);
        let first = flow.last();
        flow.open_seq();
        let value = Box::new(Expr::Load(Box::new(place.clone())));
        let condition = Expr::Binary(Binary::Lt, value, Box::new(high_value));
        let text = format!("({name} < {high})");
        let el = flow.new_el(Node::Op(Op::Cond(condition)), stmt.span, text);
        flow.append(el);
        flow.open_loop();
        self.increment(&place, format!("{name}++"), stmt.span, flow);
        let main = flow.close_seq();
        flow.open_seq();
        self.leave_loop(stmt.span, flow);
        let exit = flow.close_seq();
        // Spin's lexer writes the branches the other way round than its parser.
        let options = if plain { vec![main, exit] } else { vec![exit, main] };
        let loop_el = flow.select(options, true, stmt.span, "select");
        if plain { first } else { Some(loop_el) }
    }

    fn choice(
        &mut self,
        stmt: &Stmt,
        place: &Place,
        range: std::ops::RangeInclusive<i32>,
        name: &str,
        flow: &mut Flow,
    ) -> El {
        let mut options = Vec::new();
        for value in range {
            flow.open_seq();
            let text = format!("{name} = {value}");
            self.assign(place, Expr::Const(value), text, stmt.span, flow);
            options.push(flow.close_seq());
        }
        flow.select(options, false, stmt.span, "select")
    }
}
