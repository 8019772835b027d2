//! Runs a search with the engine that was asked for.

use crate::args::{Engine, Reduce};
use check::Maker;
use ir::model::Model;
use ir::program::Program;
use ir::reduce;
use ir::rules::Stored;
use ir::rules::symmetry::Canon;
use jit::{Compiling, Tiered};

/// The model with the reductions that were asked for.
pub fn reduced(program: &'static Program, reductions: Reduce) -> &'static Program {
    match (program, reductions) {
        (Program::Processes { system, .. }, Reduce::Default) => {
            Box::leak(Box::new(reduce::reduce(system).into()))
        }
        _ => program,
    }
}

/// What was reached in the model as it was searched, in the model as it is written.
pub fn expand_reached(reduced: &Program, reached: &mut Vec<bool>) {
    if let Program::Processes { system, .. } = reduced {
        reduce::expand_reached(system, reached);
    }
}

/// Calls `run` with what makes the model. Native code is made meanwhile by a
/// thread that nobody waits for in the end, as a function may take it a while: so
/// what it works on is there until the process ends.
pub fn with_model<T>(
    program: &'static Program,
    engine: Engine,
    run: impl FnOnce(&Maker<'static>) -> T,
) -> T {
    if engine == Engine::Interpret {
        return run(&|| interpreter(program));
    }
    match program {
        Program::Processes { system, layout } => {
            let facts: &jit::Facts = Box::leak(Box::new(jit::Facts::new(system, layout)));
            tiered(
                || Box::new(jit::Interpreted::new(facts)),
                |compiling| jit::compile_for(facts, compiling),
                |code| Box::new(jit::Native::new(code, system, layout)),
                run,
            )
        }
        Program::Rules(rules) => tiered(
            || interpreter(program),
            |compiling| {
                compiling.publish(jit::rules::compile(rules, compiling.cancelled())?);
                Ok(())
            },
            |code| jit::rules::Native::stored(code, rules),
            run,
        ),
    }
}

/// The same for tasks of a swarm, which come by the same states whatever the engine:
/// the interpreter leaves out what native code does.
pub fn with_task_model<T>(
    program: &'static Program,
    engine: Engine,
    run: impl FnOnce(&Maker<'static>) -> T,
) -> T {
    match (program, engine) {
        (Program::Processes { system, layout }, Engine::Interpret) => {
            let facts: &jit::Facts = Box::leak(Box::new(jit::Facts::new(system, layout)));
            run(&|| -> Box<dyn Model> { Box::new(jit::Interpreted::new(facts)) })
        }
        _ => with_model(program, engine, run),
    }
}

/// The same for paths that are real: states that are but symmetric are not taken
/// for the same.
pub fn with_real_paths<T>(
    program: &'static Program,
    engine: Engine,
    run: impl FnOnce(&Maker<'static>) -> T,
) -> T {
    match program {
        Program::Rules(rules) if Canon::new(rules).is_some() => run(&|| program.interpreter()),
        _ => with_model(program, engine, run),
    }
}

/// The interpreter, with states as they are stored.
fn interpreter(program: &Program) -> Box<dyn Model + '_> {
    match program {
        Program::Processes { .. } => program.interpreter(),
        Program::Rules(rules) => Stored::of(program.interpreter(), rules),
    }
}

/// Runs with the interpreter until native code is ready.
fn tiered<C: Send + Sync + 'static, T>(
    interpreter: impl Fn() -> Box<dyn Model> + Copy + Sync + 'static,
    compile: impl FnOnce(&Compiling<C>) -> Result<(), jit::Error> + Send + 'static,
    start: impl Fn(&'static C) -> Box<dyn Model> + Copy + Send + Sync + 'static,
    run: impl FnOnce(&Maker<'static>) -> T,
) -> T {
    let compiling: &Compiling<C> = Box::leak(Box::default());
    // Without such a thread, or if it panics, the search is slower, no more.
    let _ = std::thread::Builder::new().spawn(|| compiling.run(compile));
    // Also if the search ends by a panic.
    let _ended = Ended(compiling);
    run(&move || -> Box<dyn Model> {
        Box::new(Tiered::new(compiling, interpreter(), Box::new(start)))
    })
}

/// A search that ends needs no more code.
struct Ended<'c, C>(&'c Compiling<C>);

impl<C> Drop for Ended<'_, C> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
