//! Runs a search with the engine that was asked for.

use crate::args::{Engine, Reduce};
use check::Maker;
use ir::model::Model;
use ir::program::Program;
use ir::reduce;
use jit::{Compiling, Tiered};

/// The model with the reductions that were asked for.
pub fn reduced(program: &Program, reductions: Reduce) -> Program {
    match (program, reductions) {
        (Program::Processes { system, .. }, Reduce::Default) => reduce::reduce(system).into(),
        _ => program.clone(),
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
    let Program::Processes { system, layout } = program else {
        return run(&|| program.interpreter());
    };
    if engine == Engine::Interpret {
        return run(&|| program.interpreter());
    }
    // Native code is made while the interpreter begins.
    let compiling = Compiling::new();
    std::thread::scope(|scope| {
        scope.spawn(|| compiling.run(system, layout));
        let make = || -> Box<dyn Model + '_> { Box::new(Tiered::new(&compiling, system, layout)) };
        let done = run(&make);
        compiling.cancel();
        done
    })
}
