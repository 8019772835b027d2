//! The functions of all locations, compiled on several threads.
//!
//! Invariant: the code of a function refers to nothing but itself (it calls
//! what is outside by address), so functions can be put together in any order.

use crate::code::Error;
use crate::emit::{self, Role};
use crate::facts::Facts;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::ModuleError;
use ir::system::{LocIdx, ProcIdx};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Functions begin at multiples of this; constants in them need no more.
pub const ALIGNMENT: usize = 32;
/// Functions that are worth a thread.
const JOBS_PER_THREAD: usize = 24;
const MAX_THREADS: usize = 8;

/// A function of the table.
#[derive(Debug, Clone, Copy)]
pub enum Entry {
    /// Nothing can happen there.
    Nothing,
    /// Never entered.
    Missing,
    /// Begins here in the code.
    Compiled(usize),
}

pub struct Functions {
    pub moves: Vec<Entry>,
    pub receives: Vec<Entry>,
    pub looks_up_channels: bool,
    pub code: Vec<u8>,
}

/// A function to compile, and its place in a table.
struct Job {
    proc: ProcIdx,
    loc: LocIdx,
    role: Role,
    entry: usize,
}

/// What a thread has made: code, and where the function of which job begins.
#[derive(Default)]
struct Batch {
    code: Vec<u8>,
    starts: Vec<(usize, usize)>,
    looks_up_channels: bool,
}

impl Functions {
    pub fn compile(
        facts: &Facts,
        isa: &dyn TargetIsa,
        cancelled: &AtomicBool,
    ) -> Result<Functions, Error> {
        let (moves, receives, code) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Functions { moves, receives, looks_up_channels: false, code };
        let jobs = all.jobs(facts);
        // Each takes the next job, so it does not matter which; the order of
        // the counter alone is needed.
        let next = AtomicUsize::new(0);
        let work = || {
            let mut batch = Batch::default();
            let mut context = Context::new();
            let mut builder = FunctionBuilderContext::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(number) else { break };
                if cancelled.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
                batch.looks_up_channels |= job.build(facts, isa, &mut context, &mut builder);
                batch.add(number, isa, &mut context)?;
            }
            Ok::<Batch, Error>(batch)
        };
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let n_threads = (jobs.len() / JOBS_PER_THREAD).clamp(1, cores.min(MAX_THREADS));
        let batches: Vec<Result<Batch, Error>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let joined = others.into_iter().map(|thread| match thread.join() {
                Ok(batch) => batch,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(joined).collect()
        });
        for batch in batches {
            all.append(batch?, &jobs);
        }
        Ok(all)
    }

    /// Fills the tables except for what must be compiled.
    fn jobs(&mut self, facts: &Facts) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (entry, (proc, loc, reachable)) in locations(facts).enumerate() {
            for role in [Role::Moves, Role::Receives] {
                let needed = has_code(facts, proc, loc, role);
                let table = self.table(role);
                table.push(if needed || !reachable { Entry::Missing } else { Entry::Nothing });
                if needed && reachable {
                    jobs.push(Job { proc, loc, role, entry });
                }
            }
        }
        jobs
    }

    fn table(&mut self, role: Role) -> &mut Vec<Entry> {
        match role {
            Role::Moves => &mut self.moves,
            Role::Receives => &mut self.receives,
        }
    }

    fn append(&mut self, batch: Batch, jobs: &[Job]) {
        let base = self.code.len();
        self.code.extend(&batch.code);
        self.looks_up_channels |= batch.looks_up_channels;
        for (job, start) in batch.starts {
            let Job { role, entry, .. } = jobs[job];
            self.table(role)[entry] = Entry::Compiled(base + start);
        }
    }
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
    fn add(&mut self, job: usize, isa: &dyn TargetIsa, context: &mut Context) -> Result<(), Error> {
        let compiled = context.compile(isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| ModuleError::Compilation(error.inner))?;
        assert!(compiled.buffer.relocs().is_empty(), "code refers to nothing outside");
        self.starts.push((job, self.code.len()));
        self.code.extend(compiled.code_buffer());
        self.code.resize(self.code.len().next_multiple_of(ALIGNMENT), 0);
        Ok(())
    }
}

/// All locations in the order of the tables, and whether they are ever entered.
pub fn locations(facts: &Facts) -> impl Iterator<Item = (ProcIdx, LocIdx, bool)> {
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
                let functions = Functions::compile(&facts, &*isa, &AtomicBool::new(false));
                size += functions.expect("code that the generator takes").code.len();
            }
            assert!(size > 10_000, "only {size} bytes for {triple}");
        }
    }
}
