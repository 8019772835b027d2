//! Traces: a path of the model as a file that people and programs can read.
//!
//! A trace holds all that is needed to show it without the model, and the
//! process and action numbers that are needed to run it again.

use crate::fault::{Fault, FaultKind};
use crate::interpret::{Interpreter, Walk};
use crate::layout::Layout;
use crate::model::{Flow, Model, Sink, Step};
use crate::program::Program;
use crate::rules::{self, Rules};
use crate::source::{Position, Span};
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
    /// Steps to the initial state: a start state of rules.
    pub start: Vec<Step>,
    /// Steps of each transition.
    pub transitions: Vec<Vec<Step>>,
    pub fault: Option<Fault>,
}

impl Replayed {
    /// All steps.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = self.start.clone();
        steps.extend(self.transitions.iter().flatten());
        steps
    }
}

/// The fault that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub kind: FaultKind,
    /// Where, if that has to be the same, too: several invariants may fail at once.
    pub span: Option<Span>,
}

impl From<FaultKind> for Expected {
    fn from(kind: FaultKind) -> Expected {
        Expected { kind, span: None }
    }
}

impl Expected {
    fn is(self, fault: &Fault) -> bool {
        self.kind == fault.kind && self.span.is_none_or(|span| span == fault.span)
    }
}

/// Runs `steps` from an initial state; fails if the interpreter does not find
/// them, or not the fault that is expected at their end.
pub fn replay(
    program: &Program,
    steps: &[Step],
    expected: Option<Expected>,
) -> Result<Replayed, String> {
    let mut interpreter = program.interpreter();
    let (start, mut state) = match begin(&mut *interpreter, steps, expected) {
        Followed::Next { state, n_steps } => (steps[..n_steps].to_vec(), state),
        Followed::Fault(fault) => {
            let start = steps.to_vec();
            return Ok(Replayed { start, transitions: Vec::new(), fault: Some(fault) });
        }
        Followed::Nowhere => return Err("the model cannot start like this".into()),
    };
    let mut rest = &steps[start.len()..];
    let mut transitions = Vec::new();
    loop {
        match follow(&mut *interpreter, &state, rest, expected) {
            Followed::Fault(fault) => {
                if !rest.is_empty() {
                    transitions.push(rest.to_vec());
                }
                return Ok(Replayed { start, transitions, fault: Some(fault) });
            }
            Followed::Next { state: next, n_steps } => {
                transitions.push(rest[..n_steps].to_vec());
                rest = &rest[n_steps..];
                state = next;
            }
            Followed::Nowhere if rest.is_empty() => {
                return match expected {
                    None => Ok(Replayed { start, transitions, fault: None }),
                    Some(Expected { kind, .. }) => {
                        Err(format!("the path does not end in a violation '{kind}'"))
                    }
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
    expected: Option<Expected>,
) -> Followed {
    let mut finder = Finder { rest: path, expected, at_start: false, fault: None, next: None };
    model.expand(state, &mut finder);
    finder.followed()
}

/// Finds the initial state that a path begins with.
pub fn begin(model: &mut dyn Model, path: &[Step], expected: Option<Expected>) -> Followed {
    let mut finder = Finder { rest: path, expected, at_start: true, fault: None, next: None };
    model.initial(&mut finder);
    finder.followed()
}

/// Looks for the successor, or the fault, that the rest of the path leads to.
struct Finder<'a> {
    rest: &'a [Step],
    expected: Option<Expected>,
    /// An initial state may have no steps.
    at_start: bool,
    fault: Option<Fault>,
    next: Option<(Vec<u8>, usize)>,
}

impl Finder<'_> {
    fn followed(self) -> Followed {
        match (self.fault, self.next) {
            (Some(fault), _) => Followed::Fault(fault),
            (None, Some((state, n_steps))) => Followed::Next { state, n_steps },
            (None, None) => Followed::Nowhere,
        }
    }
}

impl Sink for Finder<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let fits = self.rest.starts_with(steps) && (self.at_start || !steps.is_empty());
        if self.next.is_none() && fits {
            self.next = Some((state.to_vec(), steps.len()));
        }
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        if self.expected.is_some_and(|expected| expected.is(&fault)) && steps == self.rest {
            self.fault = Some(fault);
            return Flow::Stop;
        }
        Flow::Continue
    }
}

/// The trace of a confirmed path, with all that changes on it.
pub fn describe(program: &Program, path: &Replayed) -> Trace {
    let steps = match program {
        Program::Processes { system, layout } => process_steps(system, layout, path),
        Program::Rules(rules) => rule_steps(rules, path),
    };
    let violation = path.fault.as_ref().map(|fault| Violation {
        kind: fault.kind,
        message: fault.message.clone(),
        location: program.sources().position(fault.span),
    });
    Trace {
        model: program.name().to_string(),
        language: program.language().to_string(),
        define: Vec::new(),
        violation,
        steps,
    }
}

fn process_steps(system: &System, layout: &Layout, path: &Replayed) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    let Ok(initial) = Interpreter::new(system, layout).initial_state() else { return steps };
    let mut walk = Walk::new(system, layout, &initial);
    for transition in &path.transitions {
        for (i, step) in transition.iter().enumerate() {
            let Some(mut described) = describe_step(system, &mut walk, *step) else { break };
            described.continues = i + 1 < transition.len();
            steps.push(described);
        }
    }
    steps
}

fn rule_steps(rules: &Rules, path: &Replayed) -> Vec<TraceStep> {
    let mut walk = rules::Walk::new(rules);
    path.steps().into_iter().map_while(|step| walk.describe(step)).collect()
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
    pub fn steps(&self, program: &Program) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        for (i, taken) in self.steps.iter().enumerate() {
            let step = Step { process: taken.process, action: ActionIdx(taken.action) };
            let statement = match program {
                Program::Processes { system, .. } => {
                    system.actions.get(step.action.idx()).map(|action| action.text.clone())
                }
                Program::Rules(rules) => rules::statement(rules, step),
            };
            if statement.as_ref() != Some(&taken.statement) {
                return Err(format!(
                    "step {} ('{}') is not a statement of this model",
                    i + 1,
                    taken.statement
                ));
            }
            steps.push(step);
        }
        Ok(steps)
    }
}
