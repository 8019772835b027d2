//! `supertrace simulate`: one run of a model.

use crate::args::SimulateArgs;
use crate::{exit, load, print};
use anyhow::{Result, bail};
use ir::fault::{Fault, FaultKind};
use ir::interpret::Walk;
use ir::layout::Layout;
use ir::model::{Flow, Model, Sink, Step};
use ir::program::Program;
use ir::rules;
use ir::system::System;
use ir::trace::{self, Replayed, Trace, Violation};
use std::io::BufRead;

pub fn run(args: &SimulateArgs) -> Result<u8> {
    let replayed = args.replay.as_deref().map(load::trace).transpose()?;
    let mut model = args.model.clone();
    if let (Some(trace), true) = (&replayed, model.define.is_empty()) {
        model.define.clone_from(&trace.define);
    }
    let Some(program) = load::model(&model)? else { return Ok(exit::BAD_INPUT) };
    let color = args.color.on();
    let path = if let Some(trace) = &replayed {
        replay(program, trace)?
    } else {
        let Some(path) = simulate(program, args)? else { return Ok(exit::NO_VIOLATION) };
        path
    };
    let mut trace = trace::describe(program, &path);
    trace.define = model.define;
    if let Some(file) = &args.trace {
        load::write(file, &(serde_json::to_string_pretty(&trace)? + "\n"))?;
    }
    if !args.interactive {
        print(&report::trace::steps(&trace, false, color));
        if args.replay.is_none() {
            print(&format!("{} transitions, seed {}\n", path.transitions.len(), args.seed));
        }
    }
    Ok(if path.fault.is_some() { exit::VIOLATION } else { exit::NO_VIOLATION })
}

/// `None` if the user quits before there is a state.
fn simulate(program: &Program, args: &SimulateArgs) -> Result<Option<Replayed>> {
    let mut input = std::io::stdin().lock();
    let simulation = Simulation::new(program, |starts| {
        if args.interactive {
            return ask_start(program, starts, &mut input);
        }
        Some(pick(&mut args.seed.clone(), starts.len()))
    })?;
    let Some(mut simulation) = simulation else { return Ok(None) };
    if args.interactive {
        simulation.interactive(input);
    } else {
        simulation.random(args.seed, args.steps);
    }
    Ok(Some(simulation.finish()))
}

fn replay(program: &Program, trace: &Trace) -> Result<Replayed> {
    let expected = trace.violation.as_ref().map(|v: &Violation| v.kind);
    if expected == Some(FaultKind::Cover) {
        bail!("there is nothing to replay: no state that was searched meets the cover");
    }
    let steps = trace.steps(program).map_err(anyhow::Error::msg)?;
    match trace::replay(program, &steps, expected.map(FaultKind::into)) {
        Ok(path) => Ok(path),
        Err(reason) => bail!("the trace does not fit the model: {reason}"),
    }
}

/// What can happen next: a transition, or a fault.
struct Choices {
    transitions: Vec<(Vec<u8>, Vec<Step>)>,
    faults: Vec<(Fault, Vec<Step>)>,
}

impl Choices {
    /// Faults that lead nowhere: the run ends there.
    fn dead_ends(&self) -> impl Iterator<Item = &(Fault, Vec<Step>)> {
        let leads_on = |steps: &[Step]| self.transitions.iter().any(|(_, s)| s == steps);
        self.faults.iter().filter(move |(_, steps)| !steps.is_empty() && !leads_on(steps))
    }

    /// What can be chosen: first the transitions, then the dead ends.
    fn steps(&self) -> impl Iterator<Item = (&[Step], Option<&Fault>)> {
        let on = self.transitions.iter().map(|(_, steps)| (&steps[..], None));
        on.chain(self.dead_ends().map(|(fault, steps)| (&steps[..], Some(fault))))
    }

    fn into_dead_end(self, nth: usize) -> Option<(Fault, Vec<Step>)> {
        self.dead_ends().nth(nth).cloned()
    }
}

impl Sink for Choices {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.transitions.push((state.to_vec(), steps.to_vec()));
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        self.faults.push((fault, steps.to_vec()));
        Flow::Continue
    }
}

struct Simulation<'s> {
    program: &'s Program,
    model: Box<dyn Model + 's>,
    /// Steps to the initial state.
    start: Vec<Step>,
    /// States passed through, the current one last.
    states: Vec<Vec<u8>>,
    undoable: bool,
    transitions: Vec<Vec<Step>>,
    fault: Option<Fault>,
}

impl<'s> Simulation<'s> {
    /// Of the initial states, with the steps to them, one is chosen, or none.
    fn new(
        program: &'s Program,
        choose: impl FnOnce(&[(Vec<u8>, Vec<Step>)]) -> Option<usize>,
    ) -> Result<Option<Simulation<'s>>> {
        let mut model = program.interpreter();
        let mut choices = Choices { transitions: Vec::new(), faults: Vec::new() };
        model.initial(&mut choices);
        if choices.transitions.is_empty() {
            let reason = choices.faults.first().map_or("no start state", |(f, _)| &f.message);
            bail!("the model cannot start: {reason}");
        }
        for (fault, _) in choices.dead_ends() {
            print(&format!("a start state is left out: {}\n", fault.message));
        }
        let Some(chosen) = choose(&choices.transitions) else { return Ok(None) };
        let (initial, start) = choices.transitions.swap_remove(chosen);
        Ok(Some(Simulation {
            program,
            model,
            start,
            states: vec![initial],
            undoable: false,
            transitions: Vec::new(),
            fault: None,
        }))
    }

    fn finish(self) -> Replayed {
        Replayed { start: self.start, transitions: self.transitions, fault: self.fault }
    }

    fn choices(&mut self) -> Choices {
        let state = self.states.last().expect("there is always a current state").clone();
        let mut choices = Choices { transitions: Vec::new(), faults: Vec::new() };
        self.model.expand(&state, &mut choices);
        choices
    }

    /// Takes a transition; the run ends if it has a fault.
    fn take(&mut self, choices: Choices, at: usize) {
        let (state, steps) = choices.transitions.into_iter().nth(at).expect("a valid choice");
        let fault = choices.faults.into_iter().find(|(_, s)| *s == steps);
        self.transitions.push(steps);
        // Only undo needs the states before.
        if !self.undoable {
            self.states.clear();
        }
        self.states.push(state);
        self.fault = fault.map(|(fault, _)| fault);
    }

    fn random(&mut self, seed: u64, steps: usize) {
        let mut random = seed;
        while self.transitions.len() < steps && self.fault.is_none() {
            let choices = self.choices();
            // A deadlock ends the run, a dead end can be chosen like a transition.
            if let Some(deadlock) = choices.faults.iter().find(|(_, s)| s.is_empty()) {
                return self.end_with(Some(deadlock.clone()));
            }
            let n = choices.steps().count();
            if n == 0 {
                return;
            }
            let at = pick(&mut random, n);
            match at.checked_sub(choices.transitions.len()) {
                None => self.take(choices, at),
                Some(nth) => self.end_with(choices.into_dead_end(nth)),
            }
        }
    }

    fn end_with(&mut self, fault: Option<(Fault, Vec<Step>)>) {
        if let Some((fault, steps)) = fault {
            if !steps.is_empty() {
                self.transitions.push(steps);
            }
            self.fault = Some(fault);
        }
    }

    fn interactive(&mut self, mut input: impl BufRead) {
        self.undoable = true;
        loop {
            let choices = self.choices();
            self.show_choices(&choices);
            let mut line = String::new();
            if !matches!(input.read_line(&mut line), Ok(n) if n > 0) {
                return;
            }
            let (n, n_all) = (choices.transitions.len(), choices.steps().count());
            match line.trim() {
                "q" | "quit" => return,
                "u" | "undo" => self.undo(),
                "v" | "variables" => self.show_variables(),
                "" | "h" | "help" => print(HELP),
                word => match word.parse::<usize>() {
                    Ok(choice) if (1..=n).contains(&choice) => self.take(choices, choice - 1),
                    Ok(choice) if (1..=n_all).contains(&choice) => {
                        return self.end_with(choices.into_dead_end(choice - 1 - n));
                    }
                    _ if n_all == 0 => print("nothing can run: 'u' goes back, 'q' quits\n"),
                    _ => print(&format!("expected a number from 1 to {n_all}, or 'h' for help\n")),
                },
            }
        }
    }

    fn undo(&mut self) {
        if self.transitions.pop().is_none() {
            print("this is the initial state\n");
            return;
        }
        self.states.pop();
        self.fault = None;
    }

    fn show_choices(&self, choices: &Choices) {
        print(&format!("\ntransitions so far: {}\n", self.transitions.len()));
        if let Some(fault) = &self.fault {
            print(&format!("  !! {}\n", fault.message));
        }
        for (fault, _) in choices.faults.iter().filter(|(_, steps)| steps.is_empty()) {
            print(&format!("  !! {}\n", fault.message));
        }
        for (i, (steps, fault)) in choices.steps().enumerate() {
            let text = |step: &Step| step_text(self.program, *step);
            let parts: Vec<String> = steps.iter().take(4).map(text).collect();
            let rest = steps.len().saturating_sub(4);
            let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
            let wrong = fault.map_or(String::new(), |f| format!("  !! {}", f.message));
            print(&format!("  {}  {}{more}{wrong}\n", i + 1, parts.join("; ")));
        }
        prompt();
    }

    fn show_variables(&self) {
        let state = self.states.last().expect("there is always a current state");
        match self.program {
            Program::Processes { system, layout } => show_processes(system, layout, state),
            Program::Rules(rules) => {
                for (name, value) in rules::variables(rules, state) {
                    print(&format!("  {name} = {value}\n"));
                }
            }
        }
    }
}

fn prompt() {
    print("> ");
    let _ = std::io::Write::flush(&mut std::io::stdout());
}

fn step_text(program: &Program, step: Step) -> String {
    match program {
        Program::Processes { system, .. } => {
            let action = system.action(step.action);
            let at = system.sources.position(action.span);
            let name = &system.proc(action.proc).name;
            format!("{name}({}) line {}: {}", step.process, at.line, action.text)
        }
        Program::Rules(rules) => rules::statement(rules, step).unwrap_or_default(),
    }
}

/// Asks which of several start states it shall be; `None` to quit.
fn ask_start(
    program: &Program,
    starts: &[(Vec<u8>, Vec<Step>)],
    input: &mut impl BufRead,
) -> Option<usize> {
    if starts.len() < 2 {
        return Some(0);
    }
    print("\nwhich start state?\n");
    for (i, (_, steps)) in starts.iter().enumerate() {
        let text = steps.first().map_or(String::new(), |step| step_text(program, *step));
        print(&format!("  {}  {text}\n", i + 1));
    }
    loop {
        prompt();
        let mut line = String::new();
        if !matches!(input.read_line(&mut line), Ok(n) if n > 0) {
            return None;
        }
        match (line.trim(), line.trim().parse::<usize>()) {
            ("q" | "quit", _) => return None,
            (_, Ok(choice)) if (1..=starts.len()).contains(&choice) => return Some(choice - 1),
            _ => print(&format!("expected a number from 1 to {}, or 'q' to quit\n", starts.len())),
        }
    }
}

fn show_processes(system: &System, layout: &Layout, state: &[u8]) {
    let walk = Walk::new(system, layout, state);
    for (name, value) in walk.variables() {
        print(&format!("  {name} = {value}\n"));
    }
    for (name, messages) in walk.channels().into_iter().filter(|(_, m)| !m.is_empty()) {
        let messages: Vec<String> =
            messages.iter().map(|m| format!("[{}]", m.values.join(","))).collect();
        print(&format!("  {name}: {}\n", messages.join(" ")));
    }
    for (pid, (name, next)) in walk.processes().into_iter().enumerate() {
        if let Some(action) = next {
            let at = system.sources.position(action.span);
            print(&format!("  {name}({pid}) at line {}: {}\n", at.line, action.text));
        }
    }
}

const HELP: &str = "  a number takes that transition
  u  undo      v  show variables, channels and processes
  h  help      q  quit
";

/// A number below `n`, from a splitmix64 sequence: without bias that matters
/// for the few choices there are.
fn pick(random: &mut u64, n: usize) -> usize {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *random;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    ((z as u128 * n as u128) >> 64) as usize
}
