//! Compiled code: the functions of all locations, and what is needed to run them.

use crate::diamonds::Diamonds;
use crate::emit::Role;
use crate::facts::{Claimed, Facts};
use crate::functions::{self, Functions, Job, Making};
use crate::rounds::Rounds;
use crate::runtime::{Around, MOST_QUEUES, Process, Queue, Tables};
use crate::tiered::Compiling;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_module::ModuleError;
use ir::interpret::Waits;
use ir::layout::{Layout, QueueLayout};
use ir::rows::Cause;
use ir::system::{ChanIdx, Proc, System};
use std::fmt;
use std::sync::{Arc, Mutex};

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

/// Native code of a system. More of it may be made while it runs.
pub struct Code {
    pub(crate) functions: Arc<Functions>,
    /// By process type; `at` is not set.
    pub(crate) processes: Vec<Process>,
    /// If no process is ever started.
    pub(crate) fixed: Option<Fixed>,
    class_of: Vec<ChanIdx>,
    /// As many successors as a state has, but for those of sequences that fork.
    pub(crate) most_successors: usize,
    /// Some channel has no buffer.
    pub(crate) rendezvous: bool,
    /// The machine; for code that is made when it is needed.
    pub(crate) isa: OwnedTargetIsa,
    /// There is code; otherwise all is interpreted.
    pub(crate) is_native: bool,
    pub(crate) n_actions: usize,
    pub(crate) waits: Arc<Waits>,
    pub(crate) diamonds: Arc<Diamonds>,
    /// As in `Facts`.
    pub(crate) claims: Vec<Vec<Claimed>>,
    /// Where the code looks for things in a state.
    pub(crate) layout: Layout,
}

impl Code {
    /// Functions that are made later are of use at once.
    pub(crate) fn new(facts: &Facts, functions: Arc<Functions>, isa: &OwnedTargetIsa) -> Code {
        let Facts { system, layout, .. } = *facts;
        let mut code = Code {
            processes: processes(system, &functions.tables),
            functions,
            fixed: None,
            class_of: facts.class_of.clone(),
            most_successors: most_successors(facts),
            rendezvous: facts.rendezvous,
            isa: isa.clone(),
            is_native: facts.worth_compiling(),
            n_actions: system.actions.len(),
            waits: facts.waits.clone(),
            diamonds: facts.diamonds.clone(),
            claims: facts.claims.clone().unwrap_or_default(),
            layout: layout.clone(),
        };
        code.fixed = facts.fixed_len.map(|_| code.fixed(system));
        code
    }

    fn fixed(&self, system: &System) -> Fixed {
        let layout = &self.layout;
        let mut at = layout.procs_at;
        let globals = layout.global_queues.iter().map(|q| self.queue(q, 0));
        let mut queues: Vec<Queue> = globals.collect();
        let mut procs = Vec::new();
        let mut sizes = vec![Size { len: at, n_queues: queues.len().min(MOST_QUEUES) as u32 }];
        for start in &system.start {
            let proc = &layout.procs[start.proc.idx()];
            procs.push(Process { at: at as u32, ..self.processes[start.proc.idx()] });
            queues.extend(proc.queues.iter().map(|q| self.queue(q, at)));
            at += proc.size;
            sizes.push(Size { len: at, n_queues: queues.len().min(MOST_QUEUES) as u32 });
        }
        queues.truncate(MOST_QUEUES);
        Fixed { procs, queues, sizes }
    }

    /// A channel of the process at this place, or with 0 a global one.
    pub(crate) fn queue(&self, queue: &QueueLayout, at: usize) -> Queue {
        let chan = queue.chan.idx();
        Queue {
            offset: (at + queue.offset) as u32,
            class: self.class_of[chan].0 as u16,
            capacity: self.layout.chans[chan].capacity as u16,
        }
    }

    /// What may be left out in a state of this cause.
    #[inline(always)]
    pub(crate) fn around(&self, cause: Cause) -> Option<Around> {
        let [process, class] = cause.to_le_bytes();
        let masks = self.functions.masks.of(class);
        (class > 0).then_some(Around { process, masks })
    }

    /// Whether anything is ever left out.
    pub(crate) fn may_leave_out(&self) -> bool {
        self.diamonds.masks_of(1).is_some()
    }
}

/// The processes of all states. Channels beyond `MOST_QUEUES` are the
/// interpreter's.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub procs: Vec<Process>,
    pub queues: Vec<Queue>,
    /// By the number of processes.
    pub sizes: Vec<Size>,
}

/// What a state has.
#[derive(Debug)]
pub(crate) struct Size {
    pub len: usize,
    pub n_queues: u32,
}

// SAFETY: once made it is never changed but for its functions, which are set as
// a whole, and these work on what they are given.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

/// Makes native code of a system.
pub fn compile(system: &System, layout: &Layout) -> Result<Code, Error> {
    compile_part(system, layout, |_, _| true)
}

/// The same for a part of its functions, by number and by whether they take
/// messages of rendezvous: elsewhere all is interpreted.
pub fn compile_part(
    system: &System,
    layout: &Layout,
    wanted: impl Fn(usize, bool) -> bool,
) -> Result<Code, Error> {
    let facts = Facts::new(system, layout);
    let (functions, jobs) = Functions::none(&facts);
    let wanted = |(number, job): &(usize, Job)| {
        facts.worth_compiling() && wanted(*number, job.role == Role::Receives)
    };
    let jobs = jobs.into_iter().enumerate().filter(wanted).map(|(_, job)| job);
    let code = Code::new(&facts, Arc::new(functions), &host_isa()?);
    functions::make(&facts, &code.isa, &code.functions, jobs, Rounds::of(&code))?;
    Ok(code)
}

/// Makes native code for a search that goes on meanwhile.
pub fn compile_for(facts: &Facts, compiling: &Compiling<Code>) -> Result<(), Error> {
    if !facts.worth_compiling() {
        return Ok(());
    }
    let isa = host_isa()?;
    let (functions, jobs) = Functions::none(facts);
    let functions = Arc::new(functions);
    let code = Code::new(facts, functions.clone(), &isa);
    let (open, rounds) = (Mutex::new(jobs), Mutex::new(Rounds::of(&code)));
    compiling.publish(code);
    Making { facts, isa, functions, open, rounds, compiling }.run()
}

/// The actions of one location of each process. If processes are started nobody knows
/// how many there will be.
fn most_successors(facts: &Facts) -> usize {
    const STARTED: usize = 16;
    let Facts { system, layout, .. } = *facts;
    let of = |proc: &Proc| proc.locations.iter().map(|at| at.actions.len()).max().unwrap_or(0);
    match &layout.fixed {
        Some(types) => types.iter().map(|proc| of(system.proc(*proc))).sum(),
        None => STARTED * system.procs.iter().map(of).max().unwrap_or(0),
    }
}

fn processes(system: &System, tables: &Tables) -> Vec<Process> {
    let mut next = 0;
    let entry = |(i, proc): (usize, &ir::system::Proc)| {
        let (table, locations) = (next, proc.locations.len());
        next += locations;
        let [moves, told] = [&tables.moves, &tables.told].map(|all| all[table..next].as_ptr());
        let (table, locations) = (table as u32, locations as u32);
        Process { at: 0, locations, moves, told, table, proc: i as u32 }
    };
    system.procs.iter().enumerate().map(entry).collect()
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
