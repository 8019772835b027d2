//! The text form of a `System` (`--emit ir`): for people and golden tests.

use crate::system::{
    Action, Binary, Expr, Field, Frame, Init, Node, Op, Place, Proc, Receive, Space, System, Unary,
};
use std::fmt::{self, Write};

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut out = String::new();
        Writer { system: self, proc: None }.system(&mut out)?;
        f.write_str(&out)
    }
}

struct Writer<'s> {
    system: &'s System,
    proc: Option<&'s Proc>,
}

impl<'s> Writer<'s> {
    fn system(&mut self, out: &mut String) -> fmt::Result {
        let system = self.system;
        writeln!(out, "system \"{}\" ({})", system.name, system.language)?;
        for (i, e) in system.enums.iter().enumerate() {
            let names: Vec<&str> = e.names.iter().map(|n| n.as_str()).collect();
            writeln!(out, "enum{i} {} {{ {} }}", e.name, names.join(" ").trim())?;
        }
        for (i, chan) in system.chans.iter().enumerate() {
            let fields: Vec<String> = chan.fields.iter().map(|f| f.to_string()).collect();
            writeln!(out, "q{i} {} [{}] {{ {} }}", chan.name, chan.slots, fields.join(", "))?;
        }
        writeln!(out, "globals")?;
        self.frame(&system.globals, out)?;
        for start in &system.start {
            writeln!(out, "start {} priority {}", system.proc(start.proc).name, start.priority)?;
        }
        for (i, proc) in system.procs.iter().enumerate() {
            self.proc = Some(proc);
            writeln!(out, "\nprocess p{i} {} from {}", proc.name, proc.initial)?;
            self.frame(&proc.frame, out)?;
            if let Some(clause) = &proc.provided {
                writeln!(out, "  provided {}", self.expr(clause))?;
            }
            self.locations(proc, out)?;
        }
        Ok(())
    }

    fn frame(&self, frame: &Frame, out: &mut String) -> fmt::Result {
        for cell in &frame.cells {
            let hidden = if cell.hidden { " hidden" } else { "" };
            if cell.offset < frame.size {
                writeln!(out, "  {} {} @{}{hidden}", cell.ty, cell.name, cell.offset)?;
            } else {
                writeln!(out, "  {} {} @{} in no state", cell.ty, cell.name, cell.offset)?;
            }
        }
        for init in &frame.init {
            match init {
                Init::Assign(place, expr) => {
                    writeln!(out, "  init {} = {}", self.place(place), self.expr(expr))?;
                }
                Init::Channels { offset, count, chan, .. } => {
                    writeln!(out, "  init @{offset} = {count} of {chan}")?;
                }
            }
        }
        Ok(())
    }

    fn locations(&self, proc: &Proc, out: &mut String) -> fmt::Result {
        for (i, location) in proc.locations.iter().enumerate() {
            if location.actions.is_empty() {
                continue;
            }
            write!(out, "  l{i}")?;
            for label in &location.labels {
                write!(out, " {label}")?;
            }
            let marks = [
                (location.end, "end"),
                (location.accept, "accept"),
                (location.progress, "progress"),
            ];
            for (_, mark) in marks.iter().filter(|(set, _)| *set) {
                write!(out, " [{mark}]")?;
            }
            writeln!(out, ":")?;
            for idx in &location.actions {
                writeln!(out, "    {idx} {}", self.action(self.system.action(*idx)))?;
            }
        }
        Ok(())
    }

    fn action(&self, action: &Action) -> String {
        let ops: Vec<String> = action.ops.iter().map(|op| self.op(op)).collect();
        let mut out = ops.join("; ");
        match action.target {
            Some(target) => _ = write!(out, " -> {target}"),
            None => out.push_str(" -> stay"),
        }
        if action.atomic {
            out.push_str(" atomic");
        }
        if action.escape > 0 {
            _ = write!(out, " escape l{}", action.escape);
        }
        let at = self.system.sources.position(action.span);
        _ = write!(out, "  // {}:{} #{}", at.line, at.column, action.trail_id);
        out
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Skip => "skip".into(),
            Op::Else => "else".into(),
            Op::Cond(e) => self.expr(e),
            Op::Assign(p, e) => format!("{} = {}", self.place(p), self.expr(e)),
            Op::Send { chan, sorted, args } => {
                let mark = if *sorted { "!!" } else { "!" };
                format!("{} {mark} {}", self.channel(chan), self.list(args))
            }
            Op::Receive(receive) => self.receive(receive),
            Op::Assert(e) => format!("assert {}", self.expr(e)),
            Op::Print { format, args } => format!("print \"{format}\" {}", self.list(args)),
            Op::SetPriority { pid, priority } => {
                format!("priority[{}] = {}", self.expr(pid), self.expr(priority))
            }
            Op::Exit => "exit".into(),
            Op::Block(block) => {
                let guards: Vec<String> = block.guards.iter().map(|g| self.op(g)).collect();
                let nodes: Vec<String> =
                    block.nodes.iter().enumerate().map(|(i, n)| self.node(i, n)).collect();
                let (guards, nodes) = (guards.join(" | "), nodes.join(" "));
                format!("block if ({guards}) from {} {{ {nodes} }}", block.entry)
            }
        }
    }

    fn node(&self, idx: usize, node: &Node) -> String {
        match node {
            Node::Done => format!("{idx}: done;"),
            Node::Do { op, next, .. } => format!("{idx}: {} -> {next};", self.op(op)),
            Node::Select { options, .. } => format!("{idx}: select {options:?};"),
        }
    }

    fn receive(&self, receive: &Receive) -> String {
        let mark = if receive.random { "??" } else { "?" };
        let fields: Vec<String> = receive
            .fields
            .iter()
            .map(|f| match f {
                Field::Match(e) => format!("={}", self.expr(e)),
                Field::Bind(p) => self.place(p),
                Field::Any => "_".into(),
            })
            .collect();
        let fields = fields.join(", ");
        let fields = if receive.keep { format!("<{fields}>") } else { fields };
        format!("{} {mark} {fields}", self.channel(&receive.chan))
    }

    /// A channel that is always the same one is known by its name.
    fn channel(&self, expr: &Expr) -> String {
        let Expr::Const(number) = expr else { return self.expr(expr) };
        let globals = &self.system.globals;
        let nth = usize::try_from(number - 1).ok();
        let offset = nth.and_then(|nth| globals.channel_cells().nth(nth));
        let cell = globals.cells.iter().find(|cell| Some(cell.offset) == offset);
        cell.map_or_else(|| number.to_string(), |cell| format!("::{}", cell.name))
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn place(&self, place: &Place) -> String {
        let (prefix, frame) = match (place.space, self.proc) {
            (Space::Local, Some(proc)) => ("", &proc.frame),
            _ => ("::", &self.system.globals),
        };
        let cell = frame.cells.iter().find(|c| c.offset == place.offset);
        let mut name = cell.map_or_else(|| format!("@{}", place.offset), |c| c.name.clone());
        for index in &place.indices {
            let at = format!("[{}]", self.expr(&index.expr));
            name = name.replacen("[0]", &at, 1);
        }
        format!("{prefix}{name}")
    }

    fn expr(&self, expr: &Expr) -> String {
        let call = |name: &str, e: &Expr| format!("{name}({})", self.expr(e));
        let ask = |name: &str, c: &Expr| format!("{name}({})", self.channel(c));
        match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Load(place) => self.place(place),
            Expr::Remote { pid, place } => format!("[{}]@{}", self.expr(pid), place.offset),
            Expr::At { pid, loc } => format!("[{}]@{loc}", self.expr(pid)),
            Expr::Unary(op, e) => {
                let op = match op {
                    Unary::Neg => "-",
                    Unary::Not => "!",
                    Unary::BitNot => "~",
                };
                format!("{op}{}", self.expr(e))
            }
            Expr::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(a), symbol(*op), self.expr(b))
            }
            Expr::Cond(c, a, b) => {
                format!("({} -> {} : {})", self.expr(c), self.expr(a), self.expr(b))
            }
            Expr::Len(c) => ask("len", c),
            Expr::Full(c) => ask("full", c),
            Expr::Empty(c) => ask("empty", c),
            Expr::NotFull(c) => ask("nfull", c),
            Expr::NotEmpty(c) => ask("nempty", c),
            Expr::Poll(receive) => format!("poll({})", self.receive(receive)),
            Expr::Run { proc, args, priority } => {
                let name = &self.system.proc(*proc).name;
                format!("run {name}({}) priority {priority}", self.list(args))
            }
            Expr::Timeout => "timeout".into(),
            Expr::Pid => "_pid".into(),
            Expr::ProcessCount => "_nr_pr".into(),
            Expr::Last => "_last".into(),
            Expr::Enabled(e) => call("enabled", e),
            Expr::PcValue(e) => call("pc_value", e),
            Expr::Priority(e) => call("get_priority", e),
            Expr::TheProcess(proc) => format!("the {}", self.system.proc(*proc).name),
            Expr::NonProgress => "np_".into(),
        }
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::And => "&&",
        Binary::Or => "||",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
    }
}
