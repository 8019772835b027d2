//! Successors of a state: steps, with atomic sequences and rendezvous run
//! through to the next real state.
//!
//! The states inside an atomic sequence or a rendezvous are never handed out,
//! so they are explored here, depth first, on a stack of frames. Order is
//! Spin's: youngest process first, actions of a location as they are listed.
//! A sequence that comes back to a state it has been in is not followed again.

use super::execute::Outcome;
use super::machine::{Eval, Machine};
use super::waits::Waits;
use crate::fault::{Fault, FaultKind};
use crate::layout::{Layout, Shape};
use crate::model::{Flow, Model, Sink, Step};
use crate::source::Span;
use crate::system::{Action, ActionIdx, LocIdx, Op, Proc, Space, System};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;

/// An atomic sequence longer than this is taken for endless.
const MAX_ATOMIC_STEPS: usize = 1_000_000;
/// Frames whose glances are looked at one by one; those of deeper ones are in a map.
const FEW_FRAMES: usize = 64;
/// What is kept of each of these, roughly.
const GLANCE_BYTES: usize = 40;
/// Frames that stay allocated between expansions.
const KEPT_FRAMES: usize = 256;
/// Steps between two calls of `Sink::tick`.
const TICK_STEPS: u32 = 4096;
/// The same for statements of `d_step` blocks.
const TICK_NODES: usize = 1 << 18;

/// Who may move in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    All,
    /// This process alone, and nobody asks what the others can do.
    One(usize),
    /// Inside an atomic sequence of this process.
    Sequence(usize),
    /// Any process but the sender, and only to receive.
    Handshake {
        sender: usize,
        queue: usize,
    },
}

/// A state whose moves are being tried.
struct Frame {
    state: Vec<u8>,
    mode: Mode,
    timeout: bool,
    /// Next process to try, counted down; and its next action.
    pid: usize,
    cursor: usize,
    /// Which `unless` escape the process has run here, 0 if none.
    escape: u32,
    /// An action of this process has run: no `else`.
    ran: bool,
    /// Some action of some process has run.
    moved: bool,
    /// Something was handed out on a way through this frame.
    led_on: bool,
}

impl Frame {
    fn new() -> Frame {
        Frame {
            state: Vec::new(),
            mode: Mode::All,
            timeout: false,
            pid: 0,
            cursor: 0,
            escape: 0,
            ran: false,
            moved: false,
            led_on: false,
        }
    }

    fn reset(&mut self, state: &[u8], mode: Mode, n_procs: usize) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.mode = mode;
        self.timeout = false;
        self.moved = false;
        self.led_on = false;
        self.rewind(n_procs);
    }

    /// Starts over with the youngest process.
    fn rewind(&mut self, n_procs: usize) {
        self.pid = match self.mode {
            Mode::One(pid) | Mode::Sequence(pid) => pid + 1,
            _ => n_procs,
        };
        self.next_process();
    }

    /// The next action to try of those of the process; none if there are no more,
    /// or if an escape has run that it does not belong to.
    fn next_action(
        &mut self,
        system: &System,
        actions: &[ActionIdx],
        waits: Option<&Waits>,
    ) -> Option<ActionIdx> {
        let alone = !matches!(self.mode, Mode::Handshake { .. });
        loop {
            let action = *actions.get(self.cursor)?;
            self.cursor += 1;
            if self.escape != 0 && self.escape != system.action(action).escape {
                return None;
            }
            let blocks = alone && waits.is_some_and(|waits| waits.only_takes(action));
            if !blocks {
                return Some(action);
            }
        }
    }

    fn next_process(&mut self) {
        self.cursor = 0;
        self.escape = 0;
        self.ran = false;
    }
}

pub struct Interpreter<'s> {
    machine: Machine<'s>,
    waits: Option<&'s Waits>,
    frames: Vec<Frame>,
    depth: usize,
    /// Of each frame on the way that is one of a sequence its glance; else 0. There
    /// may be some of frames that were left.
    glances: Vec<u64>,
    /// How many of those that are not among the first few have a glance.
    deep: HashMap<u64, u32>,
    steps: Vec<Step>,
    reached: Vec<bool>,
    ticks: u32,
    /// The sink wants no more, but a move is still being made.
    stopped: bool,
}

impl<'s> Interpreter<'s> {
    pub fn new(system: &'s System, layout: &'s Layout) -> Interpreter<'s> {
        Interpreter {
            machine: Machine::new(system, layout),
            waits: None,
            frames: Vec::new(),
            depth: 0,
            glances: Vec::new(),
            deep: HashMap::new(),
            steps: Vec::new(),
            reached: vec![false; system.actions.len()],
            ticks: 0,
            stopped: false,
        }
    }

    /// Finds the same, without looking where nobody can take a message.
    pub fn knowing(self, waits: Option<&'s Waits>) -> Interpreter<'s> {
        Interpreter { waits, ..self }
    }

    /// The initial state, or what went wrong while it was built.
    pub fn initial_state(&mut self) -> Result<Vec<u8>, Box<Fault>> {
        let machine = &mut self.machine;
        let system = machine.system;
        machine.state.clear();
        machine.state.resize(machine.layout.procs_at, 0);
        machine.shape = Shape::default();
        machine.refresh_shape();
        machine.span = Span::NONE;
        machine.handshake = None;
        machine.init(&system.globals, Space::Global, 0)?;
        for start in &system.start {
            machine.span = system.proc(start.proc).span;
            machine.run(start.proc, &[], start.priority)?;
        }
        Ok(machine.state.clone())
    }

    fn push(&mut self, mode: Mode) {
        self.push_seen(mode, 0);
    }

    /// The same for a frame of this glance.
    fn push_seen(&mut self, mode: Mode, glance: u64) {
        self.forget_left();
        if self.depth >= FEW_FRAMES {
            *self.deep.entry(glance).or_default() += 1;
        }
        self.glances.push(glance);
        if self.depth == self.frames.len() {
            self.frames.push(Frame::new());
        }
        let n_procs = self.machine.shape.procs.len();
        self.frames[self.depth].reset(&self.machine.state, mode, n_procs);
        self.depth += 1;
    }

    /// Forgets the glances of frames that were left.
    fn forget_left(&mut self) {
        while self.glances.len() > self.depth {
            let glance = self.glances.pop().unwrap_or_default();
            if self.glances.len() >= FEW_FRAMES
                && let Entry::Occupied(mut count) = self.deep.entry(glance)
            {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }

    /// Makes the top frame's state the machine's, if a move has changed it.
    fn restore(&mut self) {
        let frame = &self.frames[self.depth - 1];
        self.machine.load(&frame.state);
        self.enter_frame();
    }

    fn enter_frame(&mut self) {
        let frame = &self.frames[self.depth - 1];
        self.machine.timeout = frame.timeout;
        self.machine.handshake = match frame.mode {
            Mode::Handshake { queue, .. } => Some(queue),
            _ => None,
        };
    }

    /// The successors that process `pid` leads to, with or without timeout, and
    /// whether there was anything that it could do.
    pub fn expand_process(
        &mut self,
        state: &[u8],
        pid: usize,
        timeout: bool,
        sink: &mut dyn Sink,
    ) -> (Flow, bool) {
        let flow = self.search(state, Mode::One(pid), timeout, sink);
        (flow, self.frames[0].moved)
    }

    fn search(&mut self, state: &[u8], mode: Mode, timeout: bool, sink: &mut dyn Sink) -> Flow {
        self.machine.load(state);
        self.stopped = false;
        // A long sequence is rare: its frames are not kept for the next.
        self.frames.truncate(KEPT_FRAMES);
        self.depth = 0;
        if self.glances.capacity() > 2 * KEPT_FRAMES {
            (self.glances, self.deep) = (Vec::new(), HashMap::new());
        }
        self.steps.clear();
        self.push(mode);
        self.frames[0].timeout = timeout;
        self.enter_frame();
        while self.depth > 0 {
            let flow = match self.next_move(sink) {
                Ok(Some(action)) => self.follow(action, sink),
                Ok(None) => self.leave(sink),
                Err(_) if self.stopped => Flow::Stop,
                Err(fault) => self.report(*fault, sink),
            };
            if flow == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Runs the next enabled action of the top frame.
    fn next_move(&mut self, sink: &mut dyn Sink) -> Eval<Option<&'s Action>> {
        let (system, waits) = (self.machine.system, self.waits);
        loop {
            let frame = &mut self.frames[self.depth - 1];
            if frame.cursor == 0 && !Self::next_pid(frame, &mut self.machine, waits)? {
                return Ok(None);
            }
            let pid = frame.pid;
            self.machine.enter(pid);
            let proc = system.proc(self.machine.proc());
            let actions = &proc.locations[self.machine.location() as usize].actions;
            // What blocks changes nothing, so the process stays where it is.
            while let Some(idx) = self.frames[self.depth - 1].next_action(system, actions, waits) {
                let action = system.action(idx);
                if self.try_action(pid, idx, action, proc, sink)? {
                    return Ok(Some(action));
                }
            }
            self.frames[self.depth - 1].next_process();
        }
    }

    /// Moves the frame on to the next process that may execute.
    fn next_pid(frame: &mut Frame, machine: &mut Machine, waits: Option<&Waits>) -> Eval<bool> {
        let lowest = match frame.mode {
            Mode::One(pid) | Mode::Sequence(pid) => pid,
            _ => 0,
        };
        while frame.pid > lowest {
            frame.pid -= 1;
            if let Mode::Handshake { sender, queue } = frame.mode {
                machine.enter(frame.pid);
                let (proc, loc) = (machine.proc(), LocIdx(machine.location()));
                let takes = waits.is_none_or(|waits| waits.may_take(proc, loc, queue));
                if frame.pid == sender || !takes {
                    continue;
                }
            }
            if machine.may_execute(frame.pid)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn try_action(
        &mut self,
        pid: usize,
        idx: ActionIdx,
        action: &Action,
        proc: &Proc,
        sink: &mut dyn Sink,
    ) -> Eval<bool> {
        let frame = &mut self.frames[self.depth - 1];
        self.machine.span = action.span;
        self.machine.ran = frame.ran;
        let outcome = self.machine.execute_all(&action.ops);
        if self.machine.n_in_blocks >= TICK_NODES {
            self.machine.n_in_blocks = 0;
            self.stopped |= sink.tick(0) == Flow::Stop;
        }
        if matches!(outcome, Ok(Outcome::Blocked)) && self.machine.failure.is_none() {
            return Ok(false);
        }
        self.steps.push(Step { process: pid as u8, action: idx });
        // It comes first, even if the same d_step goes wrong later.
        if let Some(failure) = self.machine.failure.take() {
            self.stopped |= sink.fault(*failure, &self.steps) == Flow::Stop;
        }
        if outcome? == Outcome::Blocked {
            self.steps.pop();
            return Ok(false);
        }
        self.reached[idx.idx()] = true;
        // As in Spin, a jump, a skip or an `else` may stand beside another statement.
        let free = matches!(action.ops[0], Op::Skip | Op::Else);
        if proc.deterministic && !free && frame.ran && self.machine.handshake.is_none() {
            let message = "two statements are enabled in a D_proctype".into();
            let fault = Fault { kind: FaultKind::NonDeterminism, message, span: self.machine.span };
            self.stopped |= sink.fault(fault, &self.steps) == Flow::Stop;
        }
        if self.machine.handshake.is_none() {
            frame.ran = true;
            frame.moved = true;
        }
        frame.escape = action.escape;
        Ok(true)
    }

    /// After a move: hand out the new state, or go on inside the sequence.
    fn follow(&mut self, action: &Action, sink: &mut dyn Sink) -> Flow {
        if self.stopped {
            return Flow::Stop;
        }
        let machine = &mut self.machine;
        if let Some(target) = action.target {
            machine.layout.set_location(&mut machine.state, machine.at, target.0);
        }
        if let Some(at) = machine.layout.last_at {
            machine.state[at] = machine.pid as u8;
        }
        let pid = machine.pid;
        if let Some(queue) = machine.handshake {
            self.push(Mode::Handshake { sender: pid, queue });
            self.enter_frame();
            return Flow::Continue;
        }
        if action.atomic {
            return self.follow_atomic(pid, sink);
        }
        self.frames[self.depth - 1].led_on = true;
        let flow = sink.successor(&self.machine.state, &self.steps);
        self.steps.pop();
        self.restore();
        flow
    }

    /// Whether the state inside a sequence of `pid` has been there before in it.
    fn repeats(&mut self, pid: usize, glance: u64) -> bool {
        self.forget_left();
        let few = &self.glances[..self.depth.min(FEW_FRAMES)];
        if !few.contains(&glance) && !self.deep.contains_key(&glance) {
            return false;
        }
        let (glances, state) = (&self.glances, &self.machine.state);
        self.frames[..self.depth].iter().zip(glances).any(|(frame, its)| {
            *its == glance && frame.mode == Mode::Sequence(pid) && frame.state == *state
        })
    }

    fn follow_atomic(&mut self, pid: usize, sink: &mut dyn Sink) -> Flow {
        // Large states count more, as each is kept until the sequence ends.
        let size = self.machine.state.len();
        self.ticks += 1 + (size / 256) as u32;
        if self.ticks >= TICK_STEPS {
            self.ticks = 0;
            let bytes = self.depth * (size + size_of::<Frame>() + GLANCE_BYTES);
            if sink.tick(bytes as u64) == Flow::Stop {
                return Flow::Stop;
            }
        }
        if self.depth > MAX_ATOMIC_STEPS {
            let message = format!("atomic sequence did not end within {MAX_ATOMIC_STEPS} steps");
            let span = self.machine.span;
            let flow =
                sink.fault(Fault { kind: FaultKind::EndlessAtomic, message, span }, &self.steps);
            // The other choices inside would be tried until the end of time.
            self.abandon_to(1);
            return flow;
        }
        let glance = glance(&self.machine.state);
        if self.repeats(pid, glance) {
            self.steps.pop();
            self.restore();
            return Flow::Continue;
        }
        self.push_seen(Mode::Sequence(pid), glance);
        self.enter_frame();
        Flow::Continue
    }

    /// The top frame has no more moves.
    fn leave(&mut self, sink: &mut dyn Sink) -> Flow {
        let frame = &mut self.frames[self.depth - 1];
        let (mode, moved) = (frame.mode, frame.moved);
        if let Mode::One(_) = mode {
            self.depth -= 1;
            return Flow::Continue;
        }
        if mode == Mode::All {
            if !moved && !frame.timeout && self.machine.system.uses.timeout {
                frame.timeout = true;
                frame.rewind(self.machine.shape.procs.len());
                self.machine.timeout = true;
                return Flow::Continue;
            }
            self.depth -= 1;
            return if moved { Flow::Continue } else { self.check_end(sink) };
        }
        let mut flow = Flow::Continue;
        if let (Mode::Sequence(_), false) = (mode, moved) {
            // The sequence blocks: its process gives up control here.
            frame.led_on = true;
            flow = sink.successor(&frame.state, &self.steps);
        }
        let led_on = frame.led_on;
        self.depth -= 1;
        self.frames[self.depth - 1].led_on |= led_on;
        if let (Mode::Sequence(_), false, 1) = (mode, led_on, self.depth) {
            let (kind, span) = (FaultKind::EndlessAtomic, self.step_span());
            let message = "this atomic sequence never ends".into();
            return self.report(Fault { kind, message, span }, sink);
        }
        self.steps.pop();
        if let (Mode::Handshake { .. }, Some(parent)) = (mode, self.depth.checked_sub(1)) {
            let parent = &mut self.frames[parent];
            if moved {
                parent.ran = true;
                parent.moved = true;
            } else {
                parent.escape = 0;
            }
        }
        self.restore();
        flow
    }

    fn step_span(&self) -> Span {
        self.steps.last().map_or(Span::NONE, |s| self.machine.system.action(s.action).span)
    }

    fn check_end(&mut self, sink: &mut dyn Sink) -> Flow {
        if !sink.wants(FaultKind::Deadlock) {
            return Flow::Continue;
        }
        let Machine { system, layout, state, shape, .. } = &self.machine;
        match deadlock(system, layout, state, shape.procs.iter().copied()) {
            Some(fault) => sink.fault(fault, &[]),
            None => Flow::Continue,
        }
    }

    /// A move of the top frame went wrong and leads nowhere.
    fn report(&mut self, fault: Fault, sink: &mut dyn Sink) -> Flow {
        let flow = sink.fault(fault, &self.steps);
        self.machine.failure = None;
        self.abandon_to(self.depth);
        flow
    }

    /// Gives up the move being made; the frame at this depth tries its next.
    fn abandon_to(&mut self, depth: usize) {
        self.depth = depth;
        self.steps.truncate(depth - 1);
        let frame = &mut self.frames[depth - 1];
        (frame.moved, frame.led_on) = (true, true);
        self.restore();
    }
}

/// A number that different states seldom have in common; never 0.
#[inline(always)]
pub fn glance(state: &[u8]) -> u64 {
    let (words, rest) = state.as_chunks::<8>();
    let mix =
        |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let sum = words.iter().fold(1, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    mix(sum, rest) | 1
}

/// Nothing can move: a deadlock unless every process may stay where it is.
/// `procs` is where the processes are in the state.
pub fn deadlock(
    system: &System,
    layout: &Layout,
    state: &[u8],
    procs: impl Iterator<Item = usize>,
) -> Option<Fault> {
    // In some models this is called often: one string, and none if all is well.
    let mut stuck = String::new();
    let (mut n_stuck, mut span) = (0, None);
    for (pid, at) in procs.enumerate() {
        let proc = system.proc(layout.proc_type(state, pid, at));
        let location = &proc.locations[layout.location(state, at) as usize];
        if !location.end {
            let action = location.actions.first().map(|a| system.action(*a));
            span = span.or(action.map(|a| a.span));
            stuck.push_str(if n_stuck == 0 { "invalid end state: " } else { ", " });
            // Writing to a string does not fail.
            let _ = write!(stuck, "{} ({pid})", proc.name);
            n_stuck += 1;
        }
    }
    if n_stuck == 0 {
        return None;
    }
    stuck.push_str(if n_stuck == 1 { " is stuck" } else { " are stuck" });
    let span = span.unwrap_or(Span::NONE);
    Some(Fault { kind: FaultKind::Deadlock, message: stuck, span })
}

/// A statement's text without line breaks and runs of spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Model for Interpreter<'_> {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        match self.initial_state() {
            Ok(state) => sink.successor(&state, &[]),
            Err(fault) => sink.fault(*fault, &[]),
        }
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.search(state, Mode::All, false, sink)
    }

    fn hidden(&self) -> usize {
        self.machine.layout.hidden
    }

    fn reached(&mut self) -> &[bool] {
        &self.reached
    }
}
