//! Writes the code of one rule, function or property.

use super::Lower;
use crate::murphi::model::{Binder, Local, LocalId, LocalKind, TypeId};
use ir::fault::FaultKind;
use ir::rules::{Address, Code, Instr, MAX_FRAME, Reg};
use ir::source::Span;
use std::rc::Rc;

/// What a local name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Binding {
    Value(Reg),
    Place(Address),
}

pub(super) struct Coder<'l, 'm> {
    pub lower: &'l mut Lower<'m>,
    pub bindings: Vec<Option<Binding>>,
    instrs: Vec<Instr>,
    n_params: u32,
    /// Registers and bytes of locals that are in use now, and at most.
    in_use: InUse,
    most: InUse,
    /// Iterations of the loops around that are not counted when they run.
    pub iterations: u64,
    /// Bytes of the variables, which come first in the frame.
    variables: u64,
    /// In a function, the type of its result, if it has one.
    pub returns: Option<Option<TypeId>>,
    /// Where a result with parts goes.
    pub result: Option<Address>,
}

/// What code needs while it runs: calls take as much for their caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct InUse {
    n_regs: u32,
    frame: u64,
}

/// A jump whose target is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hole(usize);

impl<'l, 'm> Coder<'l, 'm> {
    pub fn new(lower: &'l mut Lower<'m>, locals: &'m [Local]) -> Coder<'l, 'm> {
        let mut coder = Coder {
            lower,
            bindings: vec![None; locals.len()],
            instrs: Vec::new(),
            n_params: 0,
            in_use: InUse { n_regs: 1, frame: 0 },
            most: InUse { n_regs: 1, frame: 0 },
            iterations: 1,
            variables: 0,
            returns: None,
            result: None,
        };
        for (i, local) in locals.iter().enumerate() {
            if local.kind == LocalKind::Variable {
                let at = coder.temporary(local.ty);
                coder.bindings[i] = Some(Binding::Place(at));
            }
        }
        coder.variables = coder.in_use.frame;
        coder
    }

    /// The code; an error if it needs too much for its locals.
    pub fn finish(mut self, span: Span) -> Code {
        self.emit(Instr::Return(None));
        if self.most.frame > MAX_FRAME as u64 {
            let message = format!("local values of more than {MAX_FRAME} bytes");
            self.lower.too_large(span, message);
        }
        let frame = self.most.frame.min(MAX_FRAME as u64) as u32;
        Code { n_params: self.n_params, n_regs: self.most.n_regs, frame, instrs: self.instrs }
    }

    /// Variables begin undefined.
    pub fn zero_variables(&mut self) {
        if self.variables > 0 {
            let at = Address { base: Some(Reg::FRAME), offset: 0 };
            self.emit(Instr::Zero { at, len: self.variables as u32 });
        }
    }

    /// Registers of the parameters of a rule.
    pub fn bind_params(&mut self, binders: &[Rc<Binder>]) {
        for binder in binders {
            let local = match &**binder {
                Binder::Quantifier(q) => q.local,
                Binder::Choose(choice) => choice.local,
                Binder::Alias(_) => continue,
            };
            let reg = self.param();
            self.bind(local, Binding::Value(reg));
        }
    }

    /// The register of the next parameter; to be called before any other.
    pub fn param(&mut self) -> Reg {
        self.n_params += 1;
        self.register()
    }

    pub fn bind(&mut self, local: LocalId, binding: Binding) {
        self.bindings[local.0 as usize] = Some(binding);
    }

    pub fn register(&mut self) -> Reg {
        self.in_use.n_regs += 1;
        self.most.n_regs = self.most.n_regs.max(self.in_use.n_regs);
        Reg(self.in_use.n_regs - 1)
    }

    /// Room for a value in the frame.
    pub fn temporary(&mut self, ty: TypeId) -> Address {
        let at = Address { base: Some(Reg::FRAME), offset: self.in_use.frame as i64 };
        self.in_use.frame = self.in_use.frame.saturating_add(self.lower.bytes(ty));
        self.most.frame = self.most.frame.max(self.in_use.frame);
        at
    }

    /// What is in use, to be given to `release`.
    pub fn in_use(&self) -> InUse {
        self.in_use
    }

    /// Ends the use of registers and temporaries that came after.
    pub fn release(&mut self, in_use: InUse) {
        self.in_use = in_use;
    }

    pub fn emit(&mut self, instr: Instr) {
        self.instrs.push(instr);
    }

    pub fn constant(&mut self, value: i64) -> Reg {
        let to = self.register();
        self.emit(Instr::Const { to, value });
        to
    }

    pub fn here(&self) -> u32 {
        self.instrs.len() as u32
    }

    /// A jump to a place that comes later.
    pub fn jump(&mut self) -> Hole {
        self.emit(Instr::Jump(0));
        Hole(self.instrs.len() - 1)
    }

    /// A jump that is taken if the condition does not hold.
    pub fn unless(&mut self, condition: Reg) -> Hole {
        self.emit(Instr::Unless { condition, label: 0 });
        Hole(self.instrs.len() - 1)
    }

    /// Lets a jump lead here.
    pub fn land(&mut self, hole: Hole) {
        let here = self.here();
        match &mut self.instrs[hole.0] {
            Instr::Jump(label) | Instr::Unless { label, .. } => *label = here,
            _ => unreachable!("a hole is a jump"),
        }
    }

    pub fn failure(&mut self, kind: FaultKind, message: String, span: Span) -> u32 {
        self.lower.failure(kind, message, span)
    }

    /// The text of the model, as messages quote it.
    pub fn quote(&self, span: Span) -> String {
        let text = self.lower.rules.sources.text(span);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = text.chars().take(60).collect();
        if short.len() < text.len() { format!("'{short}...'") } else { format!("'{text}'") }
    }
}
