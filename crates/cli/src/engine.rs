//! Runs a search with the engine that was asked for.

use crate::args::{Engine, Reduce};
use check::Maker;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::Model;
use ir::reduce;
use ir::system::System;
use jit::{Compiling, Tiered};

/// The model with the reductions that were asked for.
pub fn reduced(system: &System, reductions: Reduce) -> System {
    match reductions {
        Reduce::None => system.clone(),
        Reduce::Default => reduce::reduce(system),
    }
}

/// Calls `run` with what makes the model.
pub fn with_model<T>(system: &System, engine: Engine, run: impl FnOnce(&Maker) -> T) -> T {
    let layout = Layout::new(system);
    if engine == Engine::Interpret {
        return run(&|| -> Box<dyn Model + '_> { Box::new(Interpreter::new(system, &layout)) });
    }
    // Native code is made while the interpreter begins.
    let compiling = Compiling::new();
    std::thread::scope(|scope| {
        scope.spawn(|| compiling.run(system, &layout));
        let make = || -> Box<dyn Model + '_> { Box::new(Tiered::new(&compiling, system, &layout)) };
        let done = run(&make);
        compiling.cancel();
        done
    })
}
