//! Runs a search with the engine that was asked for.

use crate::args::{Engine, Reduce};
use check::Maker;
use ir::model::Model;
use ir::program::Program;
use ir::reduce;
use ir::rules::Stored;
use jit::{Compiling, Tiered};
use std::borrow::Cow;

/// The model with the reductions that were asked for.
pub fn reduced(program: &Program, reductions: Reduce) -> Cow<'_, Program> {
    match (program, reductions) {
        (Program::Processes { system, .. }, Reduce::Default) => {
            Cow::Owned(reduce::reduce(system).into())
        }
        _ => Cow::Borrowed(program),
    }
}

/// What was reached in the model as it was searched, in the model as it is written.
pub fn expand_reached(reduced: &Program, reached: &mut Vec<bool>) {
    if let Program::Processes { system, .. } = reduced {
        reduce::expand_reached(system, reached);
    }
}

/// Calls `run` with what makes the model.
pub fn with_model<T>(program: &Program, engine: Engine, run: impl FnOnce(&Maker) -> T) -> T {
    if engine == Engine::Interpret {
        return run(&|| interpreter(program));
    }
    match program {
        Program::Processes { system, layout } => {
            let facts = jit::Facts::new(system, layout);
            tiered(
                &Compiling::default(),
                || Box::new(jit::Interpreted::new(&facts)),
                |compiling| jit::compile_for(&facts, compiling),
                |code| Box::new(jit::Native::new(code, system, layout)),
                run,
            )
        }
        Program::Rules(rules) => tiered(
            &Compiling::default(),
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

/// The interpreter, with states as they are stored.
fn interpreter(program: &Program) -> Box<dyn Model + '_> {
    match program {
        Program::Processes { .. } => program.interpreter(),
        Program::Rules(rules) => Stored::of(program.interpreter(), rules),
    }
}

/// Runs with the interpreter until native code is ready.
fn tiered<'s, C: Send + Sync, T>(
    compiling: &'s Compiling<C>,
    interpreter: impl Fn() -> Box<dyn Model + 's> + Copy + Sync + 's,
    compile: impl FnOnce(&Compiling<C>) -> Result<(), jit::Error> + Send,
    start: impl Fn(&'s C) -> Box<dyn Model + 's> + Copy + Send + Sync + 's,
    run: impl FnOnce(&Maker) -> T,
) -> T {
    std::thread::scope(|scope| {
        scope.spawn(|| compiling.run(compile));
        // Also if the search ends by a panic.
        let _ended = Ended(compiling);
        let make = move || -> Box<dyn Model + 's> {
            Box::new(Tiered::new(compiling, interpreter(), Box::new(start)))
        };
        run(&make)
    })
}

/// A search that ends needs no more code.
struct Ended<'c, C>(&'c Compiling<C>);

impl<C> Drop for Ended<'_, C> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
