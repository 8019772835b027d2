//! Compiled code: the functions of all locations, and what is needed to run them.

use crate::diamonds::Diamonds;
use crate::emit;
use crate::facts::{Claimed, Facts};
use crate::functions::{ALIGNMENT, Entry, Functions, locations};
use crate::runtime::{Around, LocationFn, Process, Tables, give_up};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use ir::layout::Layout;
use ir::rows::Cause;
use ir::system::{ChanIdx, System};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// Why there is no native code.
#[derive(Debug)]
pub enum Error {
    /// There is no code generator for this machine.
    Machine(String),
    Codegen(Box<ModuleError>),
    /// It was no longer needed.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Machine(why) => write!(f, "no native code for this machine: {why}"),
            Error::Cancelled => write!(f, "native code was no longer needed"),
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
    pub(crate) diamonds: Diamonds,
    /// As in `Facts`.
    pub(crate) claims: Vec<Vec<Claimed>>,
    /// Where the code looks for things in a state.
    pub(crate) layout: Layout,
    module: Option<JITModule>,
}

impl Code {
    /// What may be left out in a state of this cause.
    pub(crate) fn around(&self, cause: Cause) -> Option<Around> {
        let [process, class] = cause.to_le_bytes();
        let masks = self.diamonds.masks_of(class)?.as_ptr();
        Some(Around { process, masks })
    }
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
    compile_until(system, layout, &AtomicBool::new(false))
}

/// Makes native code of a system, unless the flag is set meanwhile.
pub fn compile_until(
    system: &System,
    layout: &Layout,
    cancelled: &AtomicBool,
) -> Result<Code, Error> {
    let mut facts = Facts::new(system, layout);
    let mut code = Code {
        tables: Tables::default(),
        fixed: None,
        processes: Vec::new(),
        class_of: facts.class_of.clone(),
        looks_up_channels: false,
        rendezvous: facts.rendezvous,
        is_native: facts.worth_compiling(),
        n_actions: system.actions.len(),
        diamonds: Diamonds::default(),
        claims: facts.claims.clone().unwrap_or_default(),
        layout: layout.clone(),
        module: None,
    };
    if code.is_native {
        let isa = host_isa()?;
        facts.diamonds = Diamonds::of(&facts);
        let functions = Functions::compile(&facts, &*isa, cancelled)?;
        code.diamonds = std::mem::take(&mut facts.diamonds);
        if functions.code.is_empty() {
            code.is_native = false;
            return Ok(code);
        }
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let start = place(&mut module, &functions)?;
        code.looks_up_channels = functions.looks_up_channels;
        code.tables = Tables {
            moves: functions.moves.iter().map(|f| resolve(*f, start)).collect(),
            receives: functions.receives.iter().map(|f| resolve(*f, start)).collect(),
            waits: locations(&facts).map(|(proc, loc, _)| facts.waits(proc, loc)).collect(),
        };
        code.module = Some(module);
        code.processes = processes(system, &code.tables);
        code.fixed = facts.fixed_len.map(|_| fixed(system, layout, &code.processes));
    }
    Ok(code)
}

/// Puts the functions into memory that can be executed, as one piece: to the
/// module they are a single function.
fn place(module: &mut JITModule, functions: &Functions) -> Result<*const u8, Error> {
    let signature = emit::signature(module.isa().default_call_conv());
    let id = module.declare_anonymous_function(&signature)?;
    module.define_function_bytes(id, ALIGNMENT as u64, &functions.code, &[])?;
    module.finalize_definitions()?;
    Ok(module.get_finalized_function(id))
}

fn resolve(entry: Entry, start: *const u8) -> Option<LocationFn> {
    match entry {
        Entry::Nothing => None,
        Entry::Missing => Some(give_up),
        Entry::Compiled(offset) => {
            let code = start.wrapping_add(offset);
            // SAFETY: a function with the signature of `LocationFn` begins here.
            Some(unsafe { std::mem::transmute::<*const u8, LocationFn>(code) })
        }
    }
}

fn processes(system: &System, tables: &Tables) -> Vec<Process> {
    let mut next = 0;
    let entry = |(i, proc): (usize, &ir::system::Proc)| {
        let (table, locations) = (next, proc.locations.len());
        next += locations;
        let moves = tables.moves[table..next].as_ptr();
        let (table, locations) = (table as u32, locations as u32);
        Process { at: 0, locations, moves, table, proc: i as u32 }
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

pub(crate) fn flags() -> settings::Flags {
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        ("opt_level", "none"),
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

pub(crate) fn host_isa() -> Result<OwnedTargetIsa, Error> {
    if cfg!(not(all(target_endian = "little", target_pointer_width = "64"))) {
        return Err(Error::Machine("it is not a little-endian 64-bit machine".into()));
    }
    let isa = cranelift_native::builder().map_err(|why| Error::Machine(why.into()))?;
    isa.finish(flags()).map_err(|why| Error::Machine(why.to_string()))
}
