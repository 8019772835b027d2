//! Native code for rules.
//!
//! One function for each rule tries all its instances; one for each routine
//! and property. As in the code for processes, native code never reports a
//! fault: it gives up, and the interpreter does the expansion over.

mod context;
mod emit;
mod native;
mod packer;
mod plan;

pub use native::Native;

use crate::code::{Error, host_isa};
use context::{PropertyFn, RuleFn};
use cranelift_codegen::Context as Codegen;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use ir::rules::symmetry::Canon;
use ir::rules::{Packing, Rules};
use packer::{Direction, MoveFn, Packer};
use plan::{Part, Planner};
use std::sync::atomic::{AtomicBool, Ordering};

/// Functions begin at multiples of this.
const ALIGNMENT: usize = 32;
/// Code with more registers is left to the interpreter: making it would take
/// too long, and calls of it too much of the stack.
const MAX_REGISTERS: u32 = 8_000;

/// Native code of rules. Frees its memory when dropped.
pub struct Code {
    rules: Vec<RuleFn>,
    /// What code calls, by number: routines, then assumptions, invariants and
    /// covers (those that are statements have none).
    properties: Vec<Option<PropertyFn>>,
    pieces: Numbers,
    /// For states that stores get from native code, without symmetry.
    packer: Option<Packer>,
    module: Option<JITModule>,
}

/// Where the properties of each kind begin among all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    assumptions: usize,
    invariants: usize,
    covers: usize,
}

impl Numbers {
    fn of(rules: &Rules) -> Numbers {
        let assumptions = rules.routines.len();
        let invariants = assumptions + rules.assumptions.len();
        Numbers { assumptions, invariants, covers: invariants + rules.invariants.len() }
    }
}

// SAFETY: after `compile` nothing is changed any more; the module is only
// kept to free its memory, and the functions work on what they are given.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: `Native` borrows the code, so no function of it is
            // running or will be called.
            unsafe { module.free_memory() };
        }
    }
}

/// Makes native code, unless the flag is set meanwhile.
pub fn compile(rules: &Rules, cancelled: &AtomicBool) -> Result<Code, Error> {
    if cfg!(windows) {
        return Err(Error::Machine("properties return two values in registers".into()));
    }
    let isa = host_isa()?;
    let packing = Packing::new(rules).filter(|_| Canon::new(rules).is_none());
    let mut maker = Maker::new(&*isa);
    let starts = all_pieces(rules, &mut maker, cancelled)?;
    let moves = packing.as_ref().filter(|packing| packer::worthwhile(packing));
    let moves = moves.map(|packing| maker.make_packer(packing)).transpose()?;
    let bytes = maker.bytes;
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let signature = emit::rule_signature(module.isa().default_call_conv());
    let id = module.declare_anonymous_function(&signature)?;
    module.define_function_bytes(id, ALIGNMENT as u64, &bytes, &[])?;
    module.finalize_definitions()?;
    let start = module.get_finalized_function(id);
    let at = |offset: &Option<usize>| offset.map(|offset| start.wrapping_add(offset));
    let (for_rules, others) = starts.split_at(rules.rules.len());
    // SAFETY: functions with these signatures begin at these places.
    let (rule_fns, properties) = unsafe {
        let rule = |code: *const u8| std::mem::transmute::<*const u8, RuleFn>(code);
        let property = |code: *const u8| std::mem::transmute::<*const u8, PropertyFn>(code);
        let rule_fns = for_rules.iter().filter_map(at).map(rule).collect();
        (rule_fns, others.iter().map(|offset| at(offset).map(property)).collect())
    };
    // SAFETY: as above.
    let move_fn = |offset: usize| unsafe {
        std::mem::transmute::<*const u8, MoveFn>(start.wrapping_add(offset))
    };
    let (pack, unpack) = moves.map(|(pack, unpack)| (move_fn(pack), move_fn(unpack))).unzip();
    let packer = packing.map(|packing| Packer::new(packing, pack, unpack));
    let pieces = Numbers::of(rules);
    Ok(Code { rules: rule_fns, properties, pieces, packer, module: Some(module) })
}

/// Makes functions for rules, then for what they call; returns where each begins.
fn all_pieces(
    rules: &Rules,
    maker: &mut Maker,
    cancelled: &AtomicBool,
) -> Result<Vec<Option<usize>>, Error> {
    let mut parts: Vec<Option<Part>> = Vec::new();
    parts.extend(rules.rules.iter().enumerate().map(|(i, rule)| Some(Part::Rule(i, rule))));
    parts.extend(rules.routines.iter().map(|r| Some(Part::Routine(&r.code))));
    let conditions = rules.assumptions.iter().chain(&rules.invariants);
    parts.extend(conditions.map(|p| Some(Part::Property(&p.code))));
    parts.extend(rules.covers.iter().map(|c| c.code.as_ref().map(Part::Property)));
    let mut planner = Planner::new(rules);
    let mut starts = Vec::new();
    for part in parts {
        // Relaxed: a flag on its own.
        if cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let Some(part) = part else {
            starts.push(None);
            continue;
        };
        let piece = planner.piece(part);
        if piece.codes().iter().any(|code| code.n_regs > MAX_REGISTERS) {
            return Err(Error::Machine("a rule is too large".into()));
        }
        let signature = piece.signature(maker.isa.default_call_conv());
        starts.push(Some(maker.make(signature, |builder| emit::emit(builder, rules, &piece))?));
    }
    Ok(starts)
}

/// Makes functions, one behind the other.
struct Maker<'i> {
    isa: &'i dyn TargetIsa,
    context: Codegen,
    builder: FunctionBuilderContext,
    bytes: Vec<u8>,
}

impl<'i> Maker<'i> {
    fn new(isa: &'i dyn TargetIsa) -> Maker<'i> {
        let (context, builder) = (Codegen::new(), FunctionBuilderContext::new());
        Maker { isa, context, builder, bytes: Vec::new() }
    }

    /// Makes a function; returns where it begins.
    fn make(
        &mut self,
        signature: Signature,
        emit: impl FnOnce(FunctionBuilder),
    ) -> Result<usize, Error> {
        let start = self.bytes.len();
        self.context.clear();
        self.context.func.signature = signature;
        emit(FunctionBuilder::new(&mut self.context.func, &mut self.builder));
        let compiled = self.context.compile(self.isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| ModuleError::Compilation(error.inner))?;
        assert!(compiled.buffer.relocs().is_empty(), "code refers to nothing outside");
        self.bytes.extend(compiled.code_buffer());
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        Ok(start)
    }

    /// Makes the functions that pack and unpack.
    fn make_packer(&mut self, packing: &Packing) -> Result<(usize, usize), Error> {
        let mut make = |direction| {
            let signature = packer::signature(self.isa.default_call_conv());
            self.make(signature, |builder| packer::emit(builder, packing, direction))
        };
        Ok((make(Direction::Pack)?, make(Direction::Unpack)?))
    }
}
