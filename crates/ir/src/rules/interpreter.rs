//! The reference interpreter of rules as a [`Model`].

use super::{Deadlock, End, Machine, Multiset, Rule, Rules, multisets, sort_multisets};
use crate::fault::{Fault, FaultKind};
use crate::model::{Flow, Model, Sink};
use crate::source::Span;

/// Instances of rules and turns of their loops between two looks at the limits.
const TICK_WORK: u64 = 1 << 16;

pub struct Interpreter<'r> {
    rules: &'r Rules,
    machine: Machine<'r>,
    multisets: Vec<Multiset>,
    /// The rules, then the covers.
    reached: Vec<bool>,
    /// Since limits were last looked at.
    work: u64,
}

/// What became of the instances of a rule.
#[derive(Default)]
struct Moves {
    enabled: bool,
    changed: bool,
}

impl<'r> Interpreter<'r> {
    pub fn new(rules: &'r Rules) -> Interpreter<'r> {
        Interpreter {
            rules,
            machine: Machine::new(rules),
            multisets: multisets(rules),
            reached: vec![false; rules.n_reached()],
            work: 0,
        }
    }

    /// Runs all instances of a rule on a state. `number` is that of a rule
    /// that is no start state. Where an assumption does not hold afterwards
    /// the rule has fired all the same, as in Rumur: it counts as a step that
    /// leads back.
    fn fire(
        &mut self,
        rule: &Rule,
        number: Option<usize>,
        state: &[u8],
        moves: &mut Moves,
        sink: &mut dyn Sink,
    ) -> Flow {
        let mut args: Vec<i64> = rule.params.iter().map(|p| p.low).collect();
        for instance in 0..rule.n_instances() {
            if instance > 0 {
                next_arguments(rule, &mut args);
            }
            self.work += 1 + self.machine.spent();
            if self.work >= TICK_WORK {
                self.work = 0;
                if sink.tick(0) == Flow::Stop {
                    return Flow::Stop;
                }
            }
            self.machine.set_state(state);
            let step = Rules::step(rule, instance, number.is_none());
            let end = match self.machine.run(&rule.code, &args) {
                Ok(End::Disabled | End::Discarded) => continue,
                Ok(End::Returned(_)) => {
                    let size = self.rules.size as usize;
                    sort_multisets(&self.multisets, &mut self.machine.memory[..size]);
                    moves.enabled = true;
                    moves.changed |= self.machine.state() != state;
                    self.assumed()
                }
                Err(fault) => Err(fault),
            };
            if let Some(number) = number {
                self.reached[number] = true;
            }
            let flow = match end {
                Ok(true) => sink.successor(self.machine.state(), &[step]),
                Ok(false) if number.is_none() => continue,
                Ok(false) => sink.successor(state, &[step]),
                Err(fault) => {
                    (moves.enabled, moves.changed) = (true, true);
                    sink.fault(*fault, &[step])
                }
            };
            if flow == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Whether all assumptions hold in the state.
    fn assumed(&mut self) -> Result<bool, Box<Fault>> {
        let rules = self.rules;
        for property in &rules.assumptions {
            if self.machine.run(&property.code, &[])? != End::Returned(Some(1)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What must hold in every state.
    fn check(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let rules = self.rules;
        for property in &rules.invariants {
            self.machine.set_state(state);
            let fault = match self.machine.run(&property.code, &[]) {
                Ok(End::Returned(Some(1))) => continue,
                Ok(_) => {
                    let message = format!("{} does not hold", property.name);
                    Fault { kind: FaultKind::Invariant, message, span: property.span }
                }
                Err(fault) => *fault,
            };
            if sink.fault(fault, &[]) == Flow::Stop {
                return Flow::Stop;
            }
        }
        for (i, cover) in rules.covers.iter().enumerate() {
            let Some(code) = &cover.code else { continue };
            if self.reached[rules.rules.len() + i] {
                continue;
            }
            self.machine.set_state(state);
            match self.machine.run(code, &[]) {
                Ok(End::Returned(Some(1))) => self.reached[rules.rules.len() + i] = true,
                Ok(_) => {}
                Err(fault) => {
                    if sink.fault(*fault, &[]) == Flow::Stop {
                        return Flow::Stop;
                    }
                }
            }
        }
        Flow::Continue
    }
}

/// The parameters of the next instance: the last one changes fastest.
fn next_arguments(rule: &Rule, args: &mut [i64]) {
    for (param, arg) in rule.params.iter().zip(args).rev() {
        if *arg != param.value(param.count - 1) {
            *arg = arg.wrapping_add(param.step);
            return;
        }
        *arg = param.low;
    }
}

/// That there is no way on from a state.
pub fn deadlock(rules: &Rules, enabled: bool, changed: bool) -> Option<Fault> {
    let message = match rules.deadlock {
        Deadlock::Stuck | Deadlock::Stuttering if !enabled => "no rule is enabled",
        Deadlock::Stuttering if !changed => "no rule changes the state",
        _ => return None,
    };
    let span = rules.rules.first().map_or(Span::NONE, |rule| rule.span);
    Some(Fault { kind: FaultKind::Deadlock, message: message.into(), span })
}

impl Model for Interpreter<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        let rules = self.rules;
        let undefined = vec![0; rules.size as usize];
        for rule in &rules.starts {
            if self.fire(rule, None, &undefined, &mut Moves::default(), sink) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let rules = self.rules;
        if state.len() != rules.size as usize || self.check(state, sink) == Flow::Stop {
            return Flow::Stop;
        }
        let mut moves = Moves::default();
        for (number, rule) in rules.rules.iter().enumerate() {
            if self.fire(rule, Some(number), state, &mut moves, sink) == Flow::Stop {
                return Flow::Stop;
            }
        }
        match deadlock(rules, moves.enabled, moves.changed) {
            Some(fault) if sink.wants(FaultKind::Deadlock) => sink.fault(fault, &[]),
            _ => Flow::Continue,
        }
    }

    fn reached(&mut self) -> &[bool] {
        let n_rules = self.rules.rules.len();
        for (reached, covered) in self.reached[n_rules..].iter_mut().zip(&self.machine.covered) {
            *reached |= covered;
        }
        &self.reached
    }
}
