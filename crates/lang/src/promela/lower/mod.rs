//! From the syntax tree to a `System`: names, types, control flow.

mod dstep;
mod expr;
mod globals;
mod loops;
mod process;
mod stmt;
mod types;

use super::ast::{ActiveCount, Name, Proctype, Program, Spanned, Unit};
use super::flow::{Body, Counter};
use crate::diagnostic::Diagnostic;
use globals::place_globals;
use ir::constants;
use ir::source::{Sources, Span};
use ir::system::{Claim, Enum, Frame, Proc, ProcIdx, Space, Start, System};
use process::Head;
use std::collections::HashMap;
use std::rc::Rc;
use types::{Record, Scopes, Variable};

pub(super) struct Lowerer<'d> {
    system: System,
    diagnostics: &'d mut Vec<Diagnostic>,
    records: HashMap<Name, Rc<Record>>,
    globals: HashMap<Name, Variable>,
    scopes: Scopes,
    /// The frame of the process type at hand.
    locals: Frame,
    /// The process type that is being lowered, to which the locals belong.
    process: Option<ProcIdx>,
    /// Its claims on channels.
    claims: Vec<Claim>,
    proc_names: HashMap<Name, ProcIdx>,
    counter: Counter,
    /// Bodies whose automata are made when all labels are known.
    bodies: Vec<(ProcIdx, Body)>,
    remote_labels: Vec<(ProcIdx, Spanned<Name>)>,
    /// Arguments given to each `run`, to check when all types are known.
    run_counts: Vec<(ProcIdx, usize, Span)>,
    /// In a claim or formula: names are checked, nothing is executed.
    in_claim: bool,
    uses_priority: Option<Span>,
    uses_enabled: Option<Span>,
    /// Declarations here are initialised when the process starts.
    initialisation: bool,
}

pub fn lower(
    program: &Program,
    name: &str,
    sources: Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> System {
    let system = System { name: name.into(), language: "promela", sources, ..System::default() };
    let mut lowerer = Lowerer {
        system,
        diagnostics,
        records: HashMap::new(),
        globals: HashMap::new(),
        scopes: Scopes::default(),
        locals: Frame::default(),
        process: None,
        claims: Vec::new(),
        proc_names: HashMap::new(),
        counter: Counter::default(),
        bodies: Vec::new(),
        remote_labels: Vec::new(),
        run_counts: Vec::new(),
        in_claim: false,
        uses_priority: None,
        uses_enabled: None,
        initialisation: false,
    };
    lowerer.name_everything(program);
    for unit in &program.units {
        lowerer.unit(unit);
    }
    lowerer.finish()
}

impl Lowerer<'_> {
    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Process types and enumerations may be used before they are declared.
    fn name_everything(&mut self, program: &Program) {
        for unit in &program.units {
            match unit {
                Unit::Proctype(p) => {
                    let message = format!("process type '{}' is declared twice", p.name.node);
                    self.name_proc(&p.name.node, p.name.span, message);
                }
                Unit::Init { span, .. } => {
                    self.name_proc(&"init".into(), *span, "'init' is declared twice".into());
                }
                Unit::Mtype { kind, names } => {
                    let name = kind.as_deref().unwrap_or("mtype");
                    let enums = &mut self.system.enums;
                    let at = enums.iter().position(|e| e.name == name).unwrap_or_else(|| {
                        enums.push(Enum { name: name.into(), names: vec![String::new()] });
                        enums.len() - 1
                    });
                    enums[at].names.extend(names.iter().rev().map(|n| n.node.to_string()));
                }
                _ => {}
            }
        }
        let n = self.proc_names.len();
        if n > 255 {
            let message = "more than 255 process types";
            self.error(Diagnostic::error(Span::NONE, message));
        }
        self.system.procs = vec![empty_proc(); n];
    }

    fn name_proc(&mut self, name: &Name, span: Span, if_twice: String) {
        if self.proc_names.contains_key(name) {
            self.error(Diagnostic::error(span, if_twice));
            return;
        }
        let idx = ProcIdx(self.proc_names.len() as u32);
        self.proc_names.insert(name.clone(), idx);
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Decl(decl) => self.declare(decl, Space::Global, true),
            Unit::Typedef { name, fields } => self.record(name, fields),
            Unit::Mtype { .. } => {}
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Init { priority, body, span } => {
                if priority.is_some() {
                    self.uses_priority = self.uses_priority.or(Some(*span));
                }
                let idx = self.proc_names["init"];
                self.process(idx, "init", *span, Head { params: &[], provided: None }, body);
                let priority = self.priority_value(*priority, *span);
                self.system.start.push(Start { proc: idx, priority });
            }
            Unit::Never(claim) => {
                let name = claim.name.as_deref().map_or(String::new(), |n| format!(" {n}"));
                self.claim(&claim.body);
                self.system.unchecked.push(format!("never claim{name}"));
            }
            Unit::Trace(claim) => {
                self.claim(&claim.body);
                let kind = if claim.negated { "notrace" } else { "trace" };
                self.system.unchecked.push(format!("{kind} assertion"));
            }
            Unit::Ltl { name, formula } => {
                self.in_claim = true;
                self.expr(formula);
                self.in_claim = false;
                let name = name.as_deref().map_or(String::new(), |n| format!(" {n}"));
                self.system.unchecked.push(format!("ltl formula{name}"));
            }
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        let idx = self.proc_names[&proctype.name.node];
        let span = proctype.name.span;
        if proctype.priority.is_some() {
            self.uses_priority = self.uses_priority.or(Some(span));
        }
        self.process(idx, &proctype.name.node, span, Head::of(proctype), &proctype.body);
        let proc = &mut self.system.procs[idx.idx()];
        proc.deterministic = proctype.deterministic;
        let count = match &proctype.active {
            None => 0,
            Some(ActiveCount::Number(n)) => *n,
            Some(ActiveCount::Variable(name)) => self.initial_value(name).unwrap_or(0),
        };
        if !(0..=255).contains(&count) {
            let message = format!("{count} processes: at most 255 can run");
            self.error(Diagnostic::error(span, message));
        }
        let priority = self.priority_value(proctype.priority, span);
        for _ in 0..count.clamp(0, 255) {
            self.system.start.push(Start { proc: idx, priority });
        }
    }

    fn finish(mut self) -> System {
        self.check_runs();
        self.build_automata();
        constants::fold(&mut self.system);
        place_globals(&mut self.system);
        self.check_features();
        self.system
    }

    fn check_runs(&mut self) {
        for (idx, given, span) in std::mem::take(&mut self.run_counts) {
            let proc = &self.system.procs[idx.idx()];
            let (expected, name) = (proc.params.len(), proc.name.clone());
            if given != expected {
                let s = if expected == 1 { "" } else { "s" };
                let message = format!("'{name}' takes {expected} argument{s}, not {given}");
                self.error(Diagnostic::error(span, message));
            }
        }
    }

    fn check_features(&mut self) {
        if self.system.start.is_empty() && self.diagnostics.iter().all(|d| !d.is_error()) {
            let help = "write 'init { ... }' or put 'active' before a process type";
            let message = "no process runs in this model";
            self.error(Diagnostic::error(Span::NONE, message).help(help));
        }
        self.system.uses.priority = self.uses_priority.is_some();
        let rendezvous = self.system.chans.iter().any(|c| c.slots == 0);
        for (used, what) in [(self.uses_priority, "priorities"), (self.uses_enabled, "'enabled'")] {
            if let (Some(span), true) = (used, rendezvous) {
                let message = format!("{what} cannot be combined with rendezvous channels");
                self.error(Diagnostic::error(span, message).help("give the channels a slot"));
            }
        }
    }
}

fn empty_proc() -> Proc {
    Proc {
        name: String::new(),
        span: Span::NONE,
        params: Vec::new(),
        frame: Frame::default(),
        locations: Vec::new(),
        initial: ir::system::LocIdx(0),
        provided: None,
        deterministic: false,
        claims: Vec::new(),
    }
}
