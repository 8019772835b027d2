//! Traces: a path of the model as a file that people and programs can read.
//!
//! A trace holds all that is needed to show it without the model, and the
//! process and action numbers that are needed to run it again.

use crate::fault::{Fault, FaultKind};
use crate::interpret::{Interpreter, Walk};
use crate::layout::Layout;
use crate::model::{Flow, Model, Sink, Step};
use crate::source::Position;
use crate::system::{ActionIdx, System};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub model: String,
    pub language: String,
    /// Macros the model was read with, as `-D` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<String>,
    /// What is wrong at the end, if anything.
    pub violation: Option<Violation>,
    pub steps: Vec<TraceStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    pub kind: FaultKind,
    pub message: String,
    pub location: Position,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    pub process: u8,
    pub name: String,
    pub location: Position,
    pub statement: String,
    pub action: u32,
    /// The next step belongs to the same transition: an atomic sequence or a rendezvous.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<Message>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printed: String,
}

/// A variable that has another value than before; `from` is empty in a new process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub name: String,
    pub from: String,
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub channel: String,
    pub values: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rendezvous: bool,
}

/// A path as the interpreter confirmed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// Steps of each transition.
    pub transitions: Vec<Vec<Step>>,
    pub fault: Option<Fault>,
}

/// Runs `steps` from the initial state; fails if the interpreter does not find
/// them, or not the fault of the given kind at their end.
pub fn replay(
    system: &System,
    layout: &Layout,
    steps: &[Step],
    expected: Option<FaultKind>,
) -> Result<Replayed, String> {
    let mut interpreter = Interpreter::new(system, layout);
    let mut state = match interpreter.initial_state() {
        Ok(state) => state,
        Err(fault) if steps.is_empty() && expected == Some(fault.kind) => {
            return Ok(Replayed { transitions: Vec::new(), fault: Some(*fault) });
        }
        Err(fault) => return Err(fault.message),
    };
    let mut transitions = Vec::new();
    let mut rest = steps;
    loop {
        match follow(&mut interpreter, &state, rest, expected) {
            Followed::Fault(fault) => {
                if !rest.is_empty() {
                    transitions.push(rest.to_vec());
                }
                return Ok(Replayed { transitions, fault: Some(fault) });
            }
            Followed::Next { state: next, n_steps } => {
                transitions.push(rest[..n_steps].to_vec());
                rest = &rest[n_steps..];
                state = next;
            }
            Followed::Nowhere if rest.is_empty() => {
                return match expected {
                    None => Ok(Replayed { transitions, fault: None }),
                    Some(kind) => Err(format!("the path does not end in a violation '{kind}'")),
                };
            }
            Followed::Nowhere => {
                return Err(format!("step {} is not possible", steps.len() - rest.len() + 1));
            }
        }
    }
}

/// Where a path leads from a state.
pub enum Followed {
    /// By its first `n_steps` steps to another state.
    Next {
        state: Vec<u8>,
        n_steps: usize,
    },
    /// By all its steps to the fault that is looked for.
    Fault(Fault),
    Nowhere,
}

/// Follows the first transition of a path.
pub fn follow(
    model: &mut dyn Model,
    state: &[u8],
    path: &[Step],
    expected: Option<FaultKind>,
) -> Followed {
    let mut finder = Finder { rest: path, expected, fault: None, next: None };
    model.expand(state, &mut finder);
    match (finder.fault, finder.next) {
        (Some(fault), _) => Followed::Fault(fault),
        (None, Some((state, n_steps))) => Followed::Next { state, n_steps },
        (None, None) => Followed::Nowhere,
    }
}

/// Looks for the successor, or the fault, that the rest of the path leads to.
struct Finder<'a> {
    rest: &'a [Step],
    expected: Option<FaultKind>,
    fault: Option<Fault>,
    next: Option<(Vec<u8>, usize)>,
}

impl Sink for Finder<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.next.is_none() && self.rest.starts_with(steps) && !steps.is_empty() {
            self.next = Some((state.to_vec(), steps.len()));
        }
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.expected == Some(fault.kind) && steps == self.rest {
            self.fault = Some(fault);
            return Flow::Stop;
        }
        Flow::Continue
    }
}

/// The trace of a confirmed path, with all that changes on it.
pub fn describe(system: &System, layout: &Layout, path: &Replayed) -> Trace {
    let mut interpreter = Interpreter::new(system, layout);
    let mut steps = Vec::new();
    if let Ok(initial) = interpreter.initial_state() {
        let mut walk = Walk::new(system, layout, &initial);
        for transition in &path.transitions {
            for (i, step) in transition.iter().enumerate() {
                let Some(mut described) = describe_step(system, &mut walk, *step) else { break };
                described.continues = i + 1 < transition.len();
                steps.push(described);
            }
        }
    }
    let violation = path.fault.as_ref().map(|fault| Violation {
        kind: fault.kind,
        message: fault.message.clone(),
        location: system.sources.position(fault.span),
    });
    Trace {
        model: system.name.clone(),
        language: system.language.to_string(),
        define: Vec::new(),
        violation,
        steps,
    }
}

/// Takes one step and describes it.
pub fn describe_step(system: &System, walk: &mut Walk, step: Step) -> Option<TraceStep> {
    let (action, taken) = walk.take(step)?;
    Some(TraceStep {
        process: step.process,
        name: system.proc(action.proc).name.clone(),
        location: system.sources.position(action.span),
        statement: action.text.clone(),
        action: step.action.0,
        continues: false,
        changes: taken.changes,
        sent: taken.sent,
        received: taken.received,
        printed: taken.printed,
    })
}

impl Trace {
    /// The steps to run again; fails if they were made from another model.
    pub fn steps(&self, system: &System) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            let action = system.actions.get(step.action as usize);
            if action.is_none_or(|a| a.text != step.statement) {
                return Err(format!(
                    "step {} ('{}') is not a statement of this model",
                    i + 1,
                    step.statement
                ));
            }
            steps.push(Step { process: step.process, action: ActionIdx(step.action) });
        }
        Ok(steps)
    }
}
