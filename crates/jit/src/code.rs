//! Compiled code: the functions of all locations, and what is needed to run them.

use crate::diamonds::Diamonds;
use crate::emit;
use crate::facts::{Claimed, Facts};
use crate::functions::{ALIGNMENT, Functions};
use crate::runtime::{Around, Process, Tables};
use crate::tiered::Compiling;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use ir::layout::Layout;
use ir::rows::Cause;
use ir::system::{ChanIdx, System};
use std::fmt;
use std::sync::Arc;
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

/// Native code of a system.
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
    pub(crate) diamonds: Arc<Diamonds>,
    /// As in `Facts`.
    pub(crate) claims: Vec<Vec<Claimed>>,
    /// Where the code looks for things in a state.
    pub(crate) layout: Layout,
    _memory: Vec<Arc<Memory>>,
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

// SAFETY: once made it is never changed, and the functions work on what they
// are given.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

/// Memory of functions, for as long as any code has need of it.
struct Memory(Option<JITModule>);

// SAFETY: the module is only kept to be freed, by whoever is the last.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the last code with these functions is no more, and
            // `Native` borrows its code, so none of them will be called.
            unsafe { module.free_memory() };
        }
    }
}

/// Makes native code of a system.
pub fn compile(system: &System, layout: &Layout) -> Result<Code, Error> {
    compile_reached(system, layout, None)
}

/// The same, if these actions are the only ones that were reached: elsewhere all
/// is interpreted.
pub fn compile_reached(
    system: &System,
    layout: &Layout,
    reached: Option<&[bool]>,
) -> Result<Code, Error> {
    let facts = Facts::new(system, layout);
    let mut maker = Maker::new(&facts)?;
    maker.add(reached, &AtomicBool::new(false))?;
    Ok(maker.code())
}

/// Locations of models for which there is code in no time.
const FEW_LOCATIONS: usize = 48;

/// Makes native code for a search that goes on meanwhile: of a large model round
/// by round, for where the search has come by.
pub fn compile_for(facts: &Facts, compiling: &Compiling<Code>) -> Result<(), Error> {
    let mut maker = Maker::new(facts)?;
    let n_locations: usize = facts.system.procs.iter().map(|proc| proc.locations.len()).sum();
    let mut by_rounds = n_locations > FEW_LOCATIONS;
    while by_rounds && maker.has_more() {
        let reached = compiling.ask().ok_or(Error::Cancelled)?;
        if maker.add(Some(&reached), compiling.cancelled())? {
            by_rounds = compiling.publish(maker.code());
        }
    }
    if maker.add(None, compiling.cancelled())? {
        compiling.publish(maker.code());
    }
    Ok(())
}

/// Makes code by and by.
struct Maker<'s> {
    facts: &'s Facts<'s>,
    isa: OwnedTargetIsa,
    functions: Functions,
    memory: Vec<Arc<Memory>>,
}

impl<'s> Maker<'s> {
    fn new(facts: &'s Facts) -> Result<Maker<'s>, Error> {
        let functions = Functions::none(facts);
        Ok(Maker { facts, isa: host_isa()?, functions, memory: Vec::new() })
    }

    /// Whether there is something that there is no code of yet.
    fn has_more(&self) -> bool {
        self.facts.worth_compiling() && self.functions.has_more()
    }

    /// Makes what there is no code of yet: all, or where actions lead that were
    /// reached. False if there is nothing.
    fn add(&mut self, reached: Option<&[bool]>, cancelled: &AtomicBool) -> Result<bool, Error> {
        if !self.has_more() {
            return Ok(false);
        }
        let batch = self.functions.make(self.facts, &*self.isa, reached, cancelled)?;
        if batch.code.is_empty() {
            return Ok(false);
        }
        let builder = JITBuilder::with_isa(self.isa.clone(), default_libcall_names());
        let mut module = JITModule::new(builder);
        let start = place(&mut module, &batch.code)?;
        self.memory.push(Arc::new(Memory(Some(module))));
        // SAFETY: who has the tables has the memory too.
        unsafe { self.functions.put(batch, start) };
        Ok(true)
    }

    /// The code that there is.
    fn code(&self) -> Code {
        let Facts { system, layout, .. } = *self.facts;
        let tables = self.functions.tables.clone();
        let processes = processes(system, &tables);
        Code {
            fixed: self.facts.fixed_len.map(|_| fixed(system, layout, &processes)),
            processes,
            tables,
            class_of: self.facts.class_of.clone(),
            looks_up_channels: self.functions.look_up_channels,
            rendezvous: self.facts.rendezvous,
            is_native: !self.memory.is_empty(),
            n_actions: system.actions.len(),
            diamonds: self.facts.diamonds.clone(),
            claims: self.facts.claims.clone().unwrap_or_default(),
            layout: layout.clone(),
            _memory: self.memory.clone(),
        }
    }
}

/// Puts functions into memory that can be executed, as one piece: to the module
/// they are a single function.
fn place(module: &mut JITModule, bytes: &[u8]) -> Result<*const u8, Error> {
    let signature = emit::signature(module.isa().default_call_conv());
    let id = module.declare_anonymous_function(&signature)?;
    module.define_function_bytes(id, ALIGNMENT as u64, bytes, &[])?;
    module.finalize_definitions()?;
    Ok(module.get_finalized_function(id))
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
