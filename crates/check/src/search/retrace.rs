//! Finds the way to a violation by one thread, in Spin's order: depth first,
//! one successor at a time.
//!
//! For searches that do not keep from where a state was found, and to report
//! the same violation as Spin whatever order the search had. A state is marked
//! when it is taken, not when it is found; the states that are being expanded
//! stay on the stack, so the stack is the way. Faults wait in line with the
//! successors.

use super::run::Run;
use super::{Maker, Target, path};
use crate::outcome::{Found, Stop};
use crate::store::{Full, Shape, Store, Token, TreeStore, TreeWriter, Writer};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

/// Expansions between two looks at the clock.
const CLOCK_EXPANSIONS: u32 = 512;

enum Item {
    Waiting(Token),
    /// A state whose successors, or what is left of them, lie above it.
    Expanded(Token),
    Fault(Box<(Fault, Vec<Step>)>),
}

/// The first violation, or the first that is the target. `None` if there is
/// none within the limits of the run.
pub(super) fn retrace(
    make: &Maker,
    run: &Run,
    shapes: Vec<Shape>,
    target: Option<Target>,
) -> Option<Found> {
    let store = TreeStore::new(shapes, &run.budget)?;
    let mut model = make();
    let mut stack = Vec::new();
    let found = Retrace { run, target, writer: store.writer(), stack: &mut stack, depth: 0 }
        .search(&mut *model)?;
    let (fault, last) = *found;
    let on_the_way = |item: &Item| match item {
        Item::Expanded(token) => Some(*token),
        _ => None,
    };
    let tokens: Vec<Token> = stack.iter().filter_map(on_the_way).collect();
    let depth = tokens.len().saturating_sub(1) + !last.is_empty() as usize;
    let (mut steps, _) = path::steps(&mut *model, &mut store.writer(), &tokens);
    steps.extend(last);
    Some(Found { fault, depth, steps })
}

struct Retrace<'r, 's> {
    run: &'r Run<'r>,
    target: Option<Target>,
    writer: TreeWriter<'s>,
    stack: &'r mut Vec<Item>,
    /// Expanded states on the stack.
    depth: usize,
}

impl Retrace<'_, '_> {
    fn search(&mut self, model: &mut dyn Model) -> Option<Box<(Fault, Vec<Step>)>> {
        model.initial(self);
        self.stack.reverse();
        let mut state = Vec::new();
        let mut expansions = 0;
        while let Some(item) = self.stack.pop() {
            match item {
                Item::Fault(found) => return Some(found),
                Item::Expanded(_) => self.depth -= 1,
                Item::Waiting(token) => match self.writer.insert(token) {
                    Ok(true) => {
                        expansions += 1;
                        self.look_around(expansions);
                        self.expand(model, token, &mut state);
                    }
                    Ok(false) => {}
                    Err(Full) => self.run.stop(Stop::Memory),
                },
            }
            if self.run.is_stopped() {
                return None;
            }
        }
        None
    }

    fn look_around(&self, expansions: u32) {
        if expansions.is_multiple_of(CLOCK_EXPANSIONS) {
            self.run.look_at_clock();
            let bytes = (self.stack.capacity() * size_of::<Item>()) as u64;
            if bytes > self.run.budget.left() {
                self.run.stop(Stop::Memory);
            }
        }
    }

    fn expand(&mut self, model: &mut dyn Model, token: Token, space: &mut Vec<u8>) {
        self.stack.push(Item::Expanded(token));
        self.depth += 1;
        let bottom = self.stack.len();
        let state = self.writer.read(token, space);
        model.expand(state, self);
        self.writer.finish(true);
        // The first that was found comes on top.
        self.stack[bottom..].reverse();
    }

    fn flow(&self) -> Flow {
        if self.run.is_stopped() { Flow::Stop } else { Flow::Continue }
    }
}

impl Sink for Retrace<'_, '_> {
    fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
        if self.run.options.depth.is_some_and(|limit| self.depth > limit) {
            return Flow::Stop;
        }
        match self.writer.name(state) {
            Ok(token) => self.stack.push(Item::Waiting(token)),
            Err(Full) => self.run.stop(Stop::Memory),
        }
        self.flow()
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        let wanted = match self.target {
            Some(target) => target.matches(&fault),
            None => !self.run.ignores(&fault),
        };
        if wanted {
            self.stack.push(Item::Fault(Box::new((fault, steps.to_vec()))));
        }
        Flow::Continue
    }

    fn tick(&mut self, bytes: u64) -> Flow {
        self.run.tick(bytes);
        self.flow()
    }
}
