//! A model as a front-end hands it over: processes or rules. What searches,
//! traces and reports need of it, whatever it is.

use crate::fault::Fault;
use crate::interpret;
use crate::layout::Layout;
use crate::model::{Flow, Model, Sink, Step};
use crate::rules::{self, Rules};
use crate::source::Sources;
use crate::system::System;
use std::fmt;

#[derive(Debug, Clone)]
pub enum Program {
    Processes { system: System, layout: Layout },
    Rules(Rules),
}

impl From<System> for Program {
    fn from(system: System) -> Program {
        let layout = Layout::new(&system);
        Program::Processes { system, layout }
    }
}

impl Program {
    pub fn name(&self) -> &str {
        match self {
            Program::Processes { system, .. } => &system.name,
            Program::Rules(rules) => &rules.name,
        }
    }

    pub fn language(&self) -> &'static str {
        match self {
            Program::Processes { system, .. } => system.language,
            Program::Rules(rules) => rules.language,
        }
    }

    pub fn sources(&self) -> &Sources {
        match self {
            Program::Processes { system, .. } => &system.sources,
            Program::Rules(rules) => &rules.sources,
        }
    }

    /// Properties that were read but are not checked.
    pub fn unchecked(&self) -> &[String] {
        match self {
            Program::Processes { system, .. } => &system.unchecked,
            Program::Rules(rules) => &rules.unchecked,
        }
    }

    /// Initial states that are no transitions: Spin counts its one as such,
    /// Murphi's tools count rules only. At most as many as a search has counted.
    pub fn n_uncounted_starts(&self, most: u64) -> u64 {
        struct Count {
            n: u64,
            most: u64,
        }
        impl Sink for Count {
            fn successor(&mut self, _state: &[u8], _steps: &[Step]) -> Flow {
                self.n += 1;
                if self.n < self.most { Flow::Continue } else { Flow::Stop }
            }
            fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
                Flow::Continue
            }
        }
        let mut count = Count { n: 0, most };
        if let (Program::Rules(_), true) = (self, most > 0) {
            self.interpreter().initial(&mut count);
        }
        count.n
    }

    /// The reference interpreter.
    pub fn interpreter(&self) -> Box<dyn Model + '_> {
        match self {
            Program::Processes { system, layout } => {
                Box::new(interpret::Interpreter::new(system, layout))
            }
            Program::Rules(rules) => Box::new(rules::Interpreter::new(rules)),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Program::Processes { system, .. } => system.fmt(f),
            Program::Rules(rules) => rules.fmt(f),
        }
    }
}
