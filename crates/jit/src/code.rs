//! Compiled code: the functions of all locations, and what is needed to run them.

use crate::emit::{self, Role};
use crate::facts::Facts;
use crate::runtime::{LocationFn, Process, Tables, give_up};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};
use ir::layout::Layout;
use ir::system::{ChanIdx, LocIdx, ProcIdx, System};
use std::fmt;

/// Why there is no native code.
#[derive(Debug)]
pub enum Error {
    /// There is no code generator for this machine.
    Machine(String),
    Codegen(Box<ModuleError>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Machine(why) => write!(f, "no native code for this machine: {why}"),
            Error::Codegen(why) => write!(f, "native code could not be made: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ModuleError> for Error {
    fn from(error: ModuleError) -> Error {
        Error::Codegen(Box::new(error))
    }
}

/// Native code of a system. Frees its memory when dropped.
pub struct Code {
    pub(crate) tables: Tables,
    /// By process type; `at` is not set.
    pub(crate) processes: Vec<Process>,
    /// If no process is ever started.
    pub(crate) fixed: Option<Fixed>,
    pub(crate) class_of: Vec<ChanIdx>,
    /// Some code looks up channels by their number.
    pub(crate) looks_up_channels: bool,
    /// Some channel has no buffer.
    pub(crate) rendezvous: bool,
    /// There is code; otherwise all is interpreted.
    pub(crate) is_native: bool,
    pub(crate) n_actions: usize,
    module: Option<JITModule>,
}

/// The processes of all states.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub procs: Vec<Process>,
    /// Bytes of a state by its number of processes.
    pub lens: Vec<usize>,
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

/// Makes native code of a system.
pub fn compile(system: &System, layout: &Layout) -> Result<Code, Error> {
    let facts = Facts::new(system, layout);
    let processes = processes(system);
    let mut code = Code {
        tables: Tables::default(),
        fixed: facts.fixed_len.map(|_| fixed(system, layout, &processes)),
        processes,
        class_of: facts.class_of.clone(),
        looks_up_channels: false,
        rendezvous: facts.rendezvous,
        is_native: facts.worth_compiling(),
        n_actions: system.actions.len(),
        module: None,
    };
    if code.is_native {
        let isa = host_isa()?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let functions = Functions::compile(&facts, &mut module)?;
        code.looks_up_channels = functions.looks_up_channels;
        module.finalize_definitions()?;
        code.tables = Tables {
            moves: functions.moves.iter().map(|f| f.resolve(&module)).collect(),
            receives: functions.receives.iter().map(|f| f.resolve(&module)).collect(),
            waits: locations(&facts).map(|(proc, loc, _)| facts.waits(proc, loc)).collect(),
        };
        code.module = Some(module);
    }
    Ok(code)
}

fn processes(system: &System) -> Vec<Process> {
    let mut table = 0;
    let entry = |(i, proc): (usize, &ir::system::Proc)| {
        let locations = proc.locations.len() as u32;
        table += locations;
        Process { at: 0, table: table - locations, locations, proc: i as u32 }
    };
    system.procs.iter().enumerate().map(entry).collect()
}

fn fixed(system: &System, layout: &Layout, processes: &[Process]) -> Fixed {
    let mut fixed = Fixed { procs: Vec::new(), lens: vec![layout.procs_at] };
    let mut at = layout.procs_at;
    for start in &system.start {
        fixed.procs.push(Process { at: at as u32, ..processes[start.proc.idx()] });
        at += layout.procs[start.proc.idx()].size;
        fixed.lens.push(at);
    }
    fixed
}

fn flags() -> settings::Flags {
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", verifier),
    ];
    for (name, value) in wanted {
        flags.set(name, value).expect("Cranelift has this setting");
    }
    settings::Flags::new(flags)
}

fn host_isa() -> Result<OwnedTargetIsa, Error> {
    if cfg!(not(all(target_endian = "little", target_pointer_width = "64"))) {
        return Err(Error::Machine("it is not a little-endian 64-bit machine".into()));
    }
    let isa = cranelift_native::builder().map_err(|why| Error::Machine(why.into()))?;
    isa.finish(flags()).map_err(|why| Error::Machine(why.to_string()))
}

/// A function of the table.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// Nothing can happen there.
    Nothing,
    /// Never entered.
    Missing,
    Compiled(FuncId),
}

impl Entry {
    fn resolve(&self, module: &JITModule) -> Option<LocationFn> {
        match self {
            Entry::Nothing => None,
            Entry::Missing => Some(give_up),
            Entry::Compiled(id) => {
                let code = module.get_finalized_function(*id);
                // SAFETY: the code was made with the signature of `LocationFn`.
                Some(unsafe { std::mem::transmute::<*const u8, LocationFn>(code) })
            }
        }
    }
}

#[derive(Default)]
struct Functions {
    moves: Vec<Entry>,
    receives: Vec<Entry>,
    looks_up_channels: bool,
}

impl Functions {
    fn compile(facts: &Facts, module: &mut JITModule) -> Result<Functions, Error> {
        let mut functions = Functions::default();
        let mut context = module.make_context();
        let mut builder = FunctionBuilderContext::new();
        let call_conv = module.isa().default_call_conv();
        for (proc, loc, reachable) in locations(facts) {
            for role in [Role::Moves, Role::Receives] {
                let entry = match (reachable, has_code(facts, proc, loc, role)) {
                    (false, _) => Entry::Missing,
                    (true, false) => Entry::Nothing,
                    (true, true) => {
                        context.func.signature = emit::signature(call_conv);
                        let b = FunctionBuilder::new(&mut context.func, &mut builder);
                        functions.looks_up_channels |= emit::emit(b, facts, proc, loc, role);
                        let id = module.declare_anonymous_function(&context.func.signature)?;
                        module.define_function(id, &mut context)?;
                        module.clear_context(&mut context);
                        Entry::Compiled(id)
                    }
                };
                match role {
                    Role::Moves => functions.moves.push(entry),
                    Role::Receives => functions.receives.push(entry),
                }
            }
        }
        Ok(functions)
    }
}

/// All locations in the order of the tables, and whether they are ever entered.
fn locations(facts: &Facts) -> impl Iterator<Item = (ProcIdx, LocIdx, bool)> {
    let procs = (0..facts.system.procs.len()).map(|i| ProcIdx(i as u32));
    procs.flat_map(|proc| {
        let reachable = facts.reachable(proc).into_iter().enumerate();
        reachable.map(move |(i, reachable)| (proc, LocIdx(i as u32), reachable))
    })
}

/// Whether anything can happen at a location, faults of the `provided` clause
/// included.
fn has_code(facts: &Facts, proc: ProcIdx, loc: LocIdx, role: Role) -> bool {
    match role {
        Role::Moves => {
            let proc = facts.system.proc(proc);
            proc.provided.is_some() || !proc.locations[loc.idx()].actions.is_empty()
        }
        Role::Receives => facts.waits(proc, loc) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::control::ControlPlane;
    use cranelift_codegen::{Context, isa};
    use lang::promela::preprocess::FileLoader;
    use std::path::Path;
    use std::str::FromStr;
    use target_lexicon::Triple;

    /// Makes all code of a system for a machine; returns its bytes.
    fn code_size(facts: &Facts, isa: &dyn isa::TargetIsa) -> usize {
        let mut builder = FunctionBuilderContext::new();
        let mut size = 0;
        for (proc, loc, reachable) in locations(facts) {
            for role in [Role::Moves, Role::Receives] {
                if reachable && has_code(facts, proc, loc, role) {
                    let mut context = Context::new();
                    context.func.signature = emit::signature(isa.default_call_conv());
                    let b = FunctionBuilder::new(&mut context.func, &mut builder);
                    emit::emit(b, facts, proc, loc, role);
                    let code = context.compile(isa, &mut ControlPlane::default());
                    size += code.expect("code that the generator takes").code_buffer().len();
                }
            }
        }
        size
    }

    #[test]
    fn code_is_made_for_all_machines() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
        let models = std::fs::read_dir(models).expect("a directory of models");
        let paths: Vec<_> = models.map(|m| m.expect("a directory entry").path()).collect();
        for triple in
            ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"]
        {
            let isa = isa::lookup(Triple::from_str(triple).unwrap()).expect("a machine");
            let isa = isa.finish(flags()).expect("a machine with these settings");
            let mut size = 0;
            for path in &paths {
                let Ok(text) = std::fs::read_to_string(path) else { continue };
                let name = path.display().to_string();
                let Some(system) = lang::promela::load(&name, text, &[], &FileLoader).system else {
                    continue;
                };
                let layout = Layout::new(&system);
                size += code_size(&Facts::new(&system, &layout), &*isa);
            }
            assert!(size > 10_000, "only {size} bytes for {triple}");
        }
    }
}
