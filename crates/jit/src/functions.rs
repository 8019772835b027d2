//! The functions of all locations, compiled on several threads.
//!
//! Invariant: the code of a function refers to nothing but itself (it calls
//! what is outside by address), so functions can be put together in any order.

use crate::code::Error;
use crate::emit::{self, Role};
use crate::facts::Facts;
use crate::runtime::{LocationFn, Tables, give_up};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::ModuleError;
use ir::system::{LocIdx, ProcIdx};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Functions begin at multiples of this; constants in them need no more.
pub const ALIGNMENT: usize = 32;
/// Functions that are worth a thread.
const JOBS_PER_THREAD: usize = 24;
const MAX_THREADS: usize = 8;

/// The functions that there are, and those that are to be made.
pub struct Functions {
    pub tables: Tables,
    /// Some of them look up channels by their number.
    pub look_up_channels: bool,
    open: Vec<Job>,
}

/// A function to compile, and its place in a table.
struct Job {
    proc: ProcIdx,
    loc: LocIdx,
    role: Role,
    entry: usize,
}

/// Code of functions, and where that of which job begins.
#[derive(Default)]
pub struct Batch {
    pub code: Vec<u8>,
    starts: Vec<(Job, usize)>,
    looks_up_channels: bool,
}

impl Functions {
    /// None is made yet. Where nothing can happen there is nothing to call.
    pub fn none(facts: &Facts) -> Functions {
        let (mut tables, mut open) = (Tables::default(), Vec::new());
        for (entry, (proc, loc, reachable)) in locations(facts, None).enumerate() {
            tables.waits.push(facts.waits(proc, loc));
            for role in [Role::Moves, Role::Receives] {
                let needed = has_code(facts, proc, loc, role);
                tables.of(role).push((needed || !reachable).then_some(give_up as LocationFn));
                if needed && reachable {
                    open.push(Job { proc, loc, role, entry });
                }
            }
        }
        Functions { tables, look_up_channels: false, open }
    }

    pub fn has_more(&self) -> bool {
        !self.open.is_empty()
    }

    /// Makes what is open: all, or where actions lead that were reached.
    pub fn make(
        &mut self,
        facts: &Facts,
        isa: &dyn TargetIsa,
        reached: Option<&[bool]>,
        cancelled: &AtomicBool,
    ) -> Result<Batch, Error> {
        let is_entered: Vec<bool> =
            locations(facts, reached).map(|(.., entered)| entered).collect();
        let jobs: Vec<Job> = self.open.extract_if(.., |job| is_entered[job.entry]).collect();
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let n_threads = (jobs.len() / JOBS_PER_THREAD).clamp(1, cores.min(MAX_THREADS));
        // Each takes the next job, so it does not matter which.
        let jobs = Mutex::new(jobs.into_iter());
        let work = || make_all(&jobs, facts, isa, cancelled);
        let batches: Vec<Result<Batch, Error>> = std::thread::scope(|scope| {
            // With fewer threads it takes longer, no more.
            let spawn = |_| Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..n_threads).filter_map(spawn).collect();
            let own = work();
            let joined = others.into_iter().map(|thread| match thread.join() {
                Ok(batch) => batch,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(joined).collect()
        });
        let mut all = Batch::default();
        for batch in batches {
            all.append(batch?);
        }
        Ok(all)
    }

    /// Puts functions into the tables that were made.
    ///
    /// # Safety
    /// Their code must be at `start`, for as long as the tables are in use.
    pub unsafe fn put(&mut self, batch: Batch, start: *const u8) {
        self.look_up_channels |= batch.looks_up_channels;
        for (Job { role, entry, .. }, offset) in batch.starts {
            let code = start.wrapping_add(offset);
            // SAFETY: a function with the signature of `LocationFn` begins here.
            let function = unsafe { std::mem::transmute::<*const u8, LocationFn>(code) };
            self.tables.of(role)[entry] = Some(function);
        }
    }
}

/// What one of the threads makes of the jobs.
fn make_all(
    jobs: &Mutex<impl Iterator<Item = Job>>,
    facts: &Facts,
    isa: &dyn TargetIsa,
    cancelled: &AtomicBool,
) -> Result<Batch, Error> {
    let mut batch = Batch::default();
    let mut context = Context::new();
    let mut builder = FunctionBuilderContext::new();
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some(job) = next() {
        // Relaxed: a flag on its own.
        if cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        batch.looks_up_channels |= job.build(facts, isa, &mut context, &mut builder);
        batch.add(job, isa, &mut context)?;
    }
    Ok(batch)
}

impl Job {
    /// Returns whether the code looks up channels by their number.
    fn build(
        &self,
        facts: &Facts,
        isa: &dyn TargetIsa,
        context: &mut Context,
        builder: &mut FunctionBuilderContext,
    ) -> bool {
        context.clear();
        context.func.signature = emit::signature(isa.default_call_conv());
        let b = FunctionBuilder::new(&mut context.func, builder);
        emit::emit(b, facts, self.proc, self.loc, self.role)
    }
}

impl Batch {
    fn add(&mut self, job: Job, isa: &dyn TargetIsa, context: &mut Context) -> Result<(), Error> {
        let compiled = context.compile(isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| ModuleError::Compilation(error.inner))?;
        assert!(compiled.buffer.relocs().is_empty(), "code refers to nothing outside");
        self.starts.push((job, self.code.len()));
        self.code.extend(compiled.code_buffer());
        self.code.resize(self.code.len().next_multiple_of(ALIGNMENT), 0);
        Ok(())
    }

    fn append(&mut self, other: Batch) {
        let base = self.code.len();
        self.code.extend(other.code);
        self.starts.extend(other.starts.into_iter().map(|(job, start)| (job, base + start)));
        self.looks_up_channels |= other.looks_up_channels;
    }
}

/// All locations in the order of the tables, and whether they are ever entered,
/// by actions that were reached if that is given.
fn locations(
    facts: &Facts,
    reached: Option<&[bool]>,
) -> impl Iterator<Item = (ProcIdx, LocIdx, bool)> {
    let procs = (0..facts.system.procs.len()).map(|i| ProcIdx(i as u32));
    procs.flat_map(move |proc| {
        let reachable = facts.reachable(proc, reached).into_iter().enumerate();
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
    use crate::code::flags;
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
            let mut size = 0;
            for path in &paths {
                let Ok(text) = std::fs::read_to_string(path) else { continue };
                let name = path.display().to_string();
                let loaded = lang::promela::load(&name, text, &[], &FileLoader);
                let Some(system) = loaded.system else { continue };
                let layout = Layout::new(&system);
                let facts = Facts::new(&system, &layout);
                let mut functions = Functions::none(&facts);
                let batch = functions.make(&facts, &*isa, None, &AtomicBool::new(false));
                size += batch.expect("code that the generator takes").code.len();
            }
            assert!(size > 10_000, "only {size} bytes for {triple}");
        }
    }
}
