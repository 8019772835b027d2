//! The functions of all locations, compiled on several threads and called from
//! others as soon as they are there.
//!
//! Invariant: the code of a function refers to nothing but itself (it calls
//! what is outside by address), so functions can be put together in any order.

use crate::code::Error;
use crate::diamonds::{Diamonds, Mask};
use crate::emit::{self, Role};
use crate::facts::Facts;
use crate::rounds::{self, Rounds, RoundsFn};
use crate::runtime::{LocationFn, Tables};
use crate::tiered::Compiling;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use ir::system::{LocIdx, ProcIdx};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Functions begin at multiples of this; constants in them need no more.
const ALIGNMENT: usize = 32;
/// Functions that are worth a thread.
const JOBS_PER_THREAD: usize = 24;
const MAX_THREADS: usize = 8;
/// Functions wait so long for others, as all that are put at once share pages.
const LONGEST_WAIT: Duration = Duration::from_micros(500);
/// So often a function was missed before it is worth its while.
const WORTH_MAKING: u32 = 32;
/// Functions are put together again when those that lie apart are such a part of
/// the others: where they were is never given back.
const WORTH_GATHERING: usize = 4;
/// Time between two looks at what is missed while nothing is, to begin with and
/// at most: it doubles.
const SHORTEST_PAUSE: Duration = Duration::from_micros(250);
const LONGEST_PAUSE: Duration = Duration::from_millis(256);
/// Functions that make rounds, at most.
const MOST_ROUNDS: usize = 16;

/// The functions that there are.
pub struct Functions {
    pub tables: Tables,
    pub masks: Masks,
    /// The function that makes rounds if no process is ever started, null if there
    /// is none.
    rounds: AtomicPtr<()>,
    /// Others, by the types of the processes; none if it could not be made.
    by_types: Mutex<Vec<(Vec<u8>, Option<RoundsFn>)>>,
    /// Where their code is.
    memory: Mutex<Vec<Memory>>,
}

/// Masks of what is left out, by class of the cause.
pub struct Masks {
    by_class: Box<[*const Mask; 256]>,
    /// Where nothing is.
    _none: Vec<Mask>,
    _diamonds: Arc<Diamonds>,
}

// SAFETY: the pointers lead to what lies beside them, which nobody changes.
unsafe impl Send for Masks {}
// SAFETY: as above.
unsafe impl Sync for Masks {}

impl Masks {
    fn new(diamonds: &Arc<Diamonds>, n_locations: usize) -> Masks {
        let none = vec![0; n_locations];
        let masks_of = |class| diamonds.masks_of(class).unwrap_or(&none).as_ptr();
        let by_class = Box::new(std::array::from_fn(|class| masks_of(class as u8)));
        Masks { by_class, _none: none, _diamonds: diamonds.clone() }
    }

    /// By location, in the order of the tables.
    #[inline(always)]
    pub fn of(&self, class: u8) -> *const Mask {
        self.by_class[class as usize]
    }

    /// Where those of all classes are, one after the other.
    pub fn address(&self) -> usize {
        self.by_class.as_ptr().addr()
    }
}

/// Memory of functions.
struct Memory(Option<JITModule>);

// SAFETY: the module is only kept to be freed, by whoever is the last.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the tables with these functions are no more, and `Native`
            // borrows them with its code, so none of them will be called.
            unsafe { module.free_memory() };
        }
    }
}

/// A function to compile, and its place in a table.
pub struct Job {
    proc: ProcIdx,
    loc: LocIdx,
    pub role: Role,
    entry: usize,
}

/// Code of functions, and where that of which job begins.
#[derive(Default)]
struct Batch {
    code: Vec<u8>,
    starts: Vec<(Job, usize)>,
}

impl Functions {
    /// None is made yet: those that are to be made. Where nothing can happen
    /// there is nothing to call.
    pub fn none(facts: &Facts) -> (Functions, Vec<Job>) {
        let (mut tables, mut jobs) = (Tables::default(), Vec::new());
        for (entry, (proc, loc, reachable)) in locations(facts).enumerate() {
            tables.waits.push(facts.waits.channels(proc, loc));
            for role in [Role::Moves, Role::Told, Role::Receives] {
                let needed = has_code(facts, proc, loc, role);
                tables.add(role, needed || !reachable);
                if needed && reachable {
                    jobs.push(Job { proc, loc, role, entry });
                }
            }
        }
        let masks = Masks::new(&facts.diamonds, tables.moves.len());
        let (rounds, by_types, memory) = Default::default();
        (Functions { tables, masks, rounds, by_types, memory }, jobs)
    }

    /// The function that makes rounds, if it is there.
    pub fn rounds(&self) -> Option<RoundsFn> {
        // Acquire: its code is there.
        let function = self.rounds.load(Ordering::Acquire);
        // SAFETY: null, or the function by `make_rounds`.
        unsafe { std::mem::transmute::<*mut (), Option<RoundsFn>>(function) }
    }

    /// Makes the function that makes rounds.
    fn make_rounds(&self, rounds: &Rounds, isa: &OwnedTargetIsa) -> Result<(), Error> {
        let start = self.place(&code_of_rounds(rounds, &**isa)?, isa)?;
        // Release: its code is there.
        self.rounds.store(start.cast_mut().cast(), Ordering::Release);
        Ok(())
    }

    /// The function for states whose processes have these types, if it was made.
    pub fn known_rounds_of(&self, types: &[u8]) -> Option<RoundsFn> {
        let by_types = self.by_types.lock().unwrap_or_else(PoisonError::into_inner);
        by_types.iter().find(|(its, _)| its == types).and_then(|(_, function)| *function)
    }

    /// The same, made if need be; `None` if there are too many.
    pub fn rounds_of(
        &self,
        types: &[u8],
        isa: &OwnedTargetIsa,
        rounds: impl FnOnce() -> Option<Rounds>,
    ) -> Option<RoundsFn> {
        let mut by_types = self.by_types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = by_types.iter().find(|(its, _)| its == types) {
            return *function;
        }
        if by_types.len() == MOST_ROUNDS {
            return None;
        }
        let made = rounds().and_then(|rounds| {
            let start = self.place(&code_of_rounds(&rounds, &**isa).ok()?, isa).ok()?;
            // SAFETY: a function with this signature begins here, and stays for as long
            // as the tables.
            Some(unsafe { std::mem::transmute::<*const u8, RoundsFn>(start) })
        });
        by_types.push((types.to_vec(), made));
        made
    }

    /// Puts code into memory that can be executed, and keeps that.
    fn place(&self, code: &[u8], isa: &OwnedTargetIsa) -> Result<*const u8, Error> {
        let builder = JITBuilder::with_isa(isa.clone(), default_libcall_names());
        let mut module = JITModule::new(builder);
        let start = place(&mut module, code)?;
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).push(Memory(Some(module)));
        Ok(start)
    }

    /// Puts functions into memory that can be executed, and into the tables.
    fn put(&self, batch: &Batch, isa: &OwnedTargetIsa) -> Result<(), Error> {
        let start = self.place(&batch.code, isa)?;
        for (Job { role, entry, .. }, offset) in &batch.starts {
            let code = start.wrapping_add(*offset);
            // SAFETY: a function with the signature of `LocationFn` begins here,
            // and stays for as long as the tables.
            let function = unsafe { std::mem::transmute::<*const u8, LocationFn>(code) };
            self.tables.of(*role)[*entry].set(function);
        }
        Ok(())
    }
}

/// Puts functions into memory as one piece: to the module they are a single
/// function.
fn place(module: &mut JITModule, bytes: &[u8]) -> Result<*const u8, Error> {
    let signature = emit::signature(module.isa().default_call_conv());
    let id = module.declare_anonymous_function(&signature)?;
    module.define_function_bytes(id, ALIGNMENT as u64, bytes, &[])?;
    module.finalize_definitions()?;
    Ok(module.get_finalized_function(id))
}

/// Makes all functions of the jobs.
pub fn make(
    facts: &Facts,
    isa: &OwnedTargetIsa,
    functions: &Functions,
    jobs: impl Iterator<Item = Job>,
    rounds: Option<Rounds>,
) -> Result<(), Error> {
    let mut batch = Batch::default();
    let (mut context, mut builder) = (Context::new(), FunctionBuilderContext::new());
    for job in jobs {
        batch.add(job, facts, &**isa, &mut context, &mut builder)?;
    }
    functions.put(&batch, isa)?;
    rounds.map_or(Ok(()), |rounds| functions.make_rounds(&rounds, isa))
}

/// Makes functions for a search, those first that it misses most.
pub struct Making<'m, C> {
    pub facts: &'m Facts<'m>,
    pub isa: OwnedTargetIsa,
    pub functions: Arc<Functions>,
    /// What is left to do.
    pub open: Mutex<Vec<Job>>,
    pub rounds: Mutex<Option<Rounds>>,
    pub compiling: &'m Compiling<C>,
}

impl<C: Send + Sync> Making<'_, C> {
    /// Makes functions until there are all or the search ends.
    pub fn run(&self) -> Result<(), Error> {
        let mut n_threads = (self.open().len() / JOBS_PER_THREAD).clamp(1, MAX_THREADS);
        if n_threads > 1 {
            // A search has need of the cores too. The system answers by files, which takes
            // a while.
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
            n_threads = n_threads.min(cores / 2).max(1);
        }
        std::thread::scope(|scope| {
            // With fewer threads it takes longer, no more.
            let spawn = |_| Builder::new().spawn_scoped(scope, || self.work()).ok();
            let others: Vec<_> = (1..n_threads).filter_map(spawn).collect();
            let own = self.work();
            others.into_iter().fold(own, |all, thread| match thread.join() {
                Ok(its) => all.and(its),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Job>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one of the threads does.
    fn work(&self) -> Result<(), Error> {
        let mut batch = Batch::default();
        // All that it has made, and how much of that lies in one piece.
        let (mut made, mut together) = (Batch::default(), 0);
        let (mut context, mut builder) = (Context::new(), FunctionBuilderContext::new());
        let mut begun = Instant::now();
        let mut pause = SHORTEST_PAUSE;
        while !self.compiling.is_cancelled() {
            let job = self.most_missed();
            let waits = job.is_none();
            if let Some(job) = job {
                // What cannot be made is interpreted.
                let _ = batch.add(job, self.facts, &*self.isa, &mut context, &mut builder);
                pause = SHORTEST_PAUSE;
            }
            if !batch.starts.is_empty() && (waits || begun.elapsed() >= LONGEST_WAIT) {
                self.functions.put(&batch, &self.isa)?;
                if made.starts.is_empty() {
                    together = batch.code.len();
                }
                made.append(std::mem::take(&mut batch));
                begun = Instant::now();
            }
            if waits {
                // Before there are functions there is nothing to call.
                if !made.starts.is_empty()
                    && let Some(rounds) = self.take_rounds()
                {
                    // Without it Rust goes round.
                    let _ = self.functions.make_rounds(&rounds, &self.isa);
                }
                if made.code.len() > together + together / WORTH_GATHERING {
                    // Together they need fewer pages.
                    self.functions.put(&made, &self.isa)?;
                    together = made.code.len();
                }
                if self.open().is_empty() {
                    return Ok(());
                }
                self.compiling.pause(pause);
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
        Err(Error::Cancelled)
    }

    fn take_rounds(&self) -> Option<Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the job that is missed most, if it is worth its while. Where an
    /// atomic sequence goes on from there will be missed next.
    fn most_missed(&self) -> Option<Job> {
        let tables = &self.functions.tables;
        let missed = |job: &Job| tables.of(job.role)[job.entry].missed();
        let mut open = self.open();
        let (most, times) = open.iter().map(missed).enumerate().max_by_key(|(_, times)| *times)?;
        if times < WORTH_MAKING {
            return None;
        }
        let job = open.swap_remove(most);
        let proc = self.facts.system.proc(job.proc);
        for action in &proc.locations[job.loc.idx()].actions {
            let action = self.facts.system.action(*action);
            if let (true, Some(target)) = (action.atomic, action.target) {
                let entry = job.entry - job.loc.idx() + target.idx();
                let moves = if job.role == Role::Told { Role::Told } else { Role::Moves };
                tables.of(moves)[entry].miss(times);
            }
        }
        Some(job)
    }
}

impl Batch {
    /// Compiles a function.
    fn add(
        &mut self,
        job: Job,
        facts: &Facts,
        isa: &dyn TargetIsa,
        context: &mut Context,
        builder: &mut FunctionBuilderContext,
    ) -> Result<(), Error> {
        context.clear();
        context.func.signature = emit::signature(isa.default_call_conv());
        let b = FunctionBuilder::new(&mut context.func, builder);
        emit::emit(b, facts, job.proc, job.loc, job.role);
        let code = code_of(context, isa)?;
        self.starts.push((job, self.code.len()));
        self.code.extend(code);
        self.code.resize(self.code.len().next_multiple_of(ALIGNMENT), 0);
        Ok(())
    }

    fn append(&mut self, other: Batch) {
        let base = self.code.len();
        self.code.extend(other.code);
        self.starts.extend(other.starts.into_iter().map(|(job, start)| (job, base + start)));
    }
}

/// Compiles the function of a context.
fn code_of(context: &mut Context, isa: &dyn TargetIsa) -> Result<Vec<u8>, Error> {
    let compiled = context.compile(isa, &mut ControlPlane::default());
    let compiled = compiled.map_err(|error| ModuleError::Compilation(error.inner))?;
    assert!(compiled.buffer.relocs().is_empty(), "code refers to nothing outside");
    Ok(compiled.code_buffer().to_vec())
}

/// Compiles the function that makes rounds.
fn code_of_rounds(rounds: &Rounds, isa: &dyn TargetIsa) -> Result<Vec<u8>, Error> {
    let (mut context, mut builder) = (Context::new(), FunctionBuilderContext::new());
    context.func.signature = rounds::signature(isa.default_call_conv());
    rounds::emit(FunctionBuilder::new(&mut context.func, &mut builder), rounds);
    code_of(&mut context, isa)
}

/// All locations in the order of the tables, and whether a path leads there.
fn locations(facts: &Facts) -> impl Iterator<Item = (ProcIdx, LocIdx, bool)> {
    let procs = (0..facts.system.procs.len()).map(|i| ProcIdx(i as u32));
    procs.flat_map(move |proc| {
        let reachable = facts.reachable(proc).into_iter().enumerate();
        reachable.map(move |(i, reachable)| (proc, LocIdx(i as u32), reachable))
    })
}

/// Whether anything can happen at a location, faults of the `provided` clause
/// included.
fn has_code(facts: &Facts, proc: ProcIdx, loc: LocIdx, role: Role) -> bool {
    match role {
        Role::Moves | Role::Told => {
            let proc = facts.system.proc(proc);
            proc.provided.is_some() || !proc.locations[loc.idx()].actions.is_empty()
        }
        Role::Receives => facts.waits.channels(proc, loc) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Code, flags};
    use cranelift_codegen::isa;
    use ir::layout::Layout;
    use lang::promela::preprocess::FileLoader;
    use std::path::Path;
    use std::str::FromStr;
    use target_lexicon::Triple;

    const MACHINES: [&str; 3] =
        ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

    #[test]
    fn code_is_made_for_all_machines() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
        let models = std::fs::read_dir(models).expect("a directory of models");
        let paths: Vec<_> = models.map(|m| m.expect("a directory entry").path()).collect();
        for triple in MACHINES {
            let isa = isa::lookup(Triple::from_str(triple).unwrap()).expect("a machine");
            let isa = isa.finish(flags()).expect("a machine with these settings");
            let (mut size, mut n_rounds) = (0, 0);
            for path in &paths {
                let Ok(text) = std::fs::read_to_string(path) else { continue };
                let name = path.display().to_string();
                let loaded = lang::promela::load(&name, text, &[], &FileLoader);
                let Some(system) = loaded.system else { continue };
                let layout = Layout::new(&system);
                let facts = Facts::new(&system, &layout);
                let mut batch = Batch::default();
                let mut context = Context::new();
                let mut builder = FunctionBuilderContext::new();
                let (functions, jobs) = Functions::none(&facts);
                for job in jobs {
                    let made = batch.add(job, &facts, &*isa, &mut context, &mut builder);
                    made.expect("code that the generator takes");
                }
                size += batch.code.len();
                let code = Code::new(&facts, Arc::new(functions), &isa);
                let of_any = || Rounds::of_kind(&code, &code.processes, 100);
                let rounds = Rounds::of(&code).or_else(of_any).expect("not too many processes");
                let made = code_of_rounds(&rounds, &*isa);
                n_rounds += !made.expect("code that the generator takes").is_empty() as usize;
            }
            assert!(size > 10_000 && n_rounds > 40, "{size} bytes, {n_rounds} for {triple}");
        }
    }
}
