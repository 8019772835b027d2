//! What the tests share: expansions as lists of events, and their comparison.

#![allow(dead_code)] // Each test binary uses a part of this.

pub mod searches;

use ir::fault::Fault;
use ir::interpret::Interpreter;
use ir::layout::Layout;
use ir::model::{Flow, Found, Model, Sink, Step};
use ir::rows::{Cause, Head, Rows};
use ir::rules::Rules;
use ir::rules::Stored;
use ir::system::System;
use jit::{Counts, Facts, Interpreted, Native};
use lang::promela::preprocess::FileLoader;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What an expansion hands out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Successor(Vec<u8>, Vec<Step>),
    Fault(Fault, Vec<Step>),
}

/// More events of one expansion, or a longer atomic sequence, are not looked at.
const MAX_EVENTS: usize = 2000;
const MAX_TICKS: usize = 4;
/// States that are expanded together.
const BUNDLE: usize = 7;
/// Models with more states are not searched.
const SEARCHED: usize = 2000;
/// The same where a part of the code is missing.
const SEARCHED_IN_PART: usize = 600;
/// The functions that are there: by number, and by whether they take messages of
/// rendezvous.
const PARTS: [fn(usize, bool) -> bool; 5] =
    [|n, _| n % 3 != 0, |n, _| n % 3 != 1, |n, _| n % 3 != 2, |_, takes| takes, |_, takes| !takes];

/// Takes all events, or stops after `stop_after` of them.
pub struct Events {
    pub events: Vec<Event>,
    pub stop_after: usize,
    pub ticks: usize,
}

impl Events {
    fn take(&mut self, event: Event) -> Flow {
        self.events.push(event);
        if self.events.len() == self.stop_after { Flow::Stop } else { Flow::Continue }
    }
}

impl Sink for Events {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.take(Event::Successor(state.to_vec(), steps.to_vec()))
    }

    fn fault(&mut self, fault: Fault, steps: &[Step]) -> Flow {
        self.take(Event::Fault(fault, steps.to_vec()))
    }

    fn tick(&mut self, _: u64) -> Flow {
        self.ticks += 1;
        if self.ticks > MAX_TICKS { Flow::Stop } else { Flow::Continue }
    }
}

/// Takes successors in rows, few at a time, and forgets the steps.
struct InRows {
    rows: Rows,
    /// The state of the bundle that it is told of, 0 if that is alone.
    number: usize,
    successors: Vec<Taken>,
    /// How many of them were told of, not written.
    told: u64,
    faults: Vec<(usize, Fault)>,
}

/// A successor of a state of the bundle.
struct Taken {
    of: usize,
    state: Vec<u8>,
    cause: Cause,
}

const MARK: u32 = 77;
const ORIGIN: u64 = 1 << 40;

fn head(number: usize) -> Head {
    Head::new(MARK, ORIGIN + number as u64)
}

impl InRows {
    /// Rows that are full with so many bytes.
    fn new(bytes: usize) -> InRows {
        let mut rows = Rows::new(bytes);
        rows.set_head(head(0));
        InRows { rows, number: 0, successors: Vec::new(), told: 0, faults: Vec::new() }
    }

    fn take(&mut self) {
        let mut at = 0;
        while at < self.rows.used() {
            let (row, next) = self.rows.row(at);
            assert_eq!(row.mark, MARK);
            let (of, state) = ((row.origin - ORIGIN) as usize, row.state.to_vec());
            self.successors.push(Taken { of, state, cause: row.cause });
            at = next;
        }
        self.rows.clear();
    }

    /// Whether these events and no others are what was found of a state.
    fn found(&self, number: usize, expected: &[Event]) -> bool {
        let mut successors = self.successors.iter().filter(|found| found.of == number);
        let mut faults = self.faults.iter().filter(|(of, _)| *of == number);
        let same = expected.iter().all(|event| match event {
            Event::Successor(state, _) => successors.next().is_some_and(|s| s.state == *state),
            Event::Fault(fault, _) => faults.next().is_some_and(|(_, f)| f == fault),
        });
        same && successors.next().is_none() && faults.next().is_none()
    }
}

impl Sink for InRows {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        self.take();
        self.successors.push(Taken { of: self.number, state: state.to_vec(), cause: 0 });
        self.told += 1;
        Flow::Continue
    }

    fn fault(&mut self, fault: Fault, _: &[Step]) -> Flow {
        self.take();
        self.faults.push((self.number, fault));
        Flow::Continue
    }

    fn rows(&mut self) -> Option<&mut Rows> {
        Some(&mut self.rows)
    }

    fn make_room(&mut self) -> Flow {
        self.take();
        Flow::Continue
    }

    fn turn_to(&mut self, number: usize) {
        self.number = number;
        self.rows.set_head(head(number));
    }
}

/// Whether an expansion into rows of so many bytes finds what is expected.
fn same_in_rows(model: &mut dyn Model, state: &[u8], expected: &[Event], bytes: usize) -> bool {
    let mut sink = InRows::new(bytes);
    model.expand(state, &mut sink);
    sink.take();
    sink.found(0, expected)
}

/// States with what is to be found of each.
type Bundle = Vec<(Vec<u8>, Vec<Event>)>;

/// Whether an expansion of all at once finds what is expected.
fn same_in_bundle(model: &mut dyn Model, bundle: &Bundle, bytes: usize) -> bool {
    let states = bundle.iter().enumerate();
    let states = states.map(|(n, (state, _))| Found { state, cause: 0, head: head(n) });
    let mut sink = InRows::new(bytes);
    model.expand_all(&states.collect::<Vec<_>>(), &mut sink);
    sink.take();
    let mut expected = bundle.iter().enumerate();
    expected.all(|(number, (_, events))| sink.found(number, events))
}

/// What an expansion hands out; none if it takes too long.
type Expansion = Option<(Vec<Event>, Flow)>;

fn expand(model: &mut dyn Model, state: &[u8], stop_after: usize) -> Expansion {
    let mut sink = Events { events: Vec::new(), stop_after, ticks: 0 };
    let flow = model.expand(state, &mut sink);
    (sink.ticks <= MAX_TICKS).then_some((sink.events, flow))
}

fn initial(model: &mut dyn Model) -> Vec<Event> {
    let mut sink = Events { events: Vec::new(), stop_after: MAX_EVENTS, ticks: 0 };
    model.initial(&mut sink);
    sink.events
}

/// Explores up to `max_states` with the interpreter, and expands each state
/// natively too. `Err` says where they differ, the counts what was native where there
/// is room.
pub fn compare(system: &System, max_states: usize) -> Result<Counts, String> {
    let layout = Layout::new(system);
    let code = jit::compile(system, &layout).map_err(|e| e.to_string())?;
    let mut native = Native::new(&code, system, &layout);
    let mut interpreter = Interpreter::new(system, &layout);
    agree(&mut interpreter, &mut native, max_states)?;
    let mut roomy = Native::new(&code, system, &layout);
    let again = &mut Interpreter::new(system, &layout);
    agree_in(1 << 16, again, &mut roomy, max_states.min(SEARCHED))?;
    let facts = Facts::new(system, &layout);
    let mut interpreted = Interpreted::new(&facts);
    searches::agree(&mut interpreter, &mut native, &mut interpreted, max_states.max(SEARCHED))?;
    for (number, part) in PARTS.iter().enumerate() {
        let in_part = |difference| format!("with part {number} of the code: {difference}");
        let code = jit::compile_part(system, &layout, part).map_err(|e| e.to_string())?;
        let mut partly = Native::new(&code, system, &layout);
        let mut interpreter = Interpreter::new(system, &layout);
        let n_states = max_states.min(SEARCHED_IN_PART);
        agree(&mut interpreter, &mut partly, n_states).map_err(in_part)?;
        let searched = searches::agree(&mut interpreter, &mut partly, &mut interpreted, n_states);
        searched.map_err(in_part)?;
    }
    Ok(roomy.counts())
}

/// The same for rules, also for their states as they are stored.
pub fn compare_rules(rules: &Rules, max_states: usize) -> Result<Counts, String> {
    let code = jit::rules::compile(rules, &AtomicBool::new(false)).map_err(|e| e.to_string())?;
    let mut native = jit::rules::Native::new(&code, rules);
    agree(&mut ir::rules::Interpreter::new(rules), &mut native, max_states)?;
    let counts = native.counts();
    let mut oracle = Stored::of(Box::new(ir::rules::Interpreter::new(rules)), rules);
    let difference =
        agree(&mut *oracle, &mut *jit::rules::Native::stored(&code, rules), max_states);
    difference.map_err(|difference| format!("as stored: {difference}"))?;
    Ok(counts)
}

/// Explores up to `max_states` with one model, and expands each state with the
/// other too.
fn agree(oracle: &mut dyn Model, native: &mut dyn Model, max_states: usize) -> Result<(), String> {
    agree_in(0, oracle, native, max_states)
}

/// The same with so many bytes of rows besides the few that the other has, in which
/// native code has to give up now and then.
fn agree_in(
    room: usize,
    oracle: &mut dyn Model,
    native: &mut dyn Model,
    max_states: usize,
) -> Result<(), String> {
    let hidden = oracle.hidden();
    let mut queue: Vec<Vec<u8>> = Vec::new();
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let start = initial(oracle);
    if start != initial(native) {
        return Err("the initial states differ".into());
    }
    let mut events = start;
    let mut bundle = Bundle::new();
    let mut at = 0;
    loop {
        for event in events {
            if let Event::Successor(state, _) = event
                && queue.len() < max_states
                && seen.insert(state[hidden..].to_vec())
            {
                queue.push(state);
            }
        }
        let Some(state) = queue.get(at) else { break };
        // Stopping is tried now and then, at different events.
        let stop_after = if at % 16 == 7 { 1 + at / 16 % 5 } else { MAX_EVENTS };
        let found = expand(native, state, stop_after);
        let expected = expand(oracle, state, stop_after);
        let (Some(expected), Some(found)) = (expected, found) else {
            return Ok(());
        };
        if expected != found {
            return Err(format!("state {at}: {state:?}\n{}", difference(&expected, &found)));
        }
        let all = stop_after == MAX_EVENTS && expected.0.len() < MAX_EVENTS;
        if all && !same_in_rows(native, state, &expected.0, room + at % 300) {
            return Err(format!("state {at}: {state:?}\nin rows there are other successors"));
        }
        if all {
            bundle.push((state.clone(), expected.0.clone()));
        }
        if bundle.len() == BUNDLE {
            if !same_in_bundle(native, &bundle, room + at % 700) {
                return Err(format!("state {at}: other successors in a bundle: {bundle:?}"));
            }
            bundle.clear();
        }
        events = expected.0;
        at += 1;
    }
    if oracle.reached() != native.reached() {
        return Err("different actions were reached".into());
    }
    Ok(())
}

fn difference(expected: &(Vec<Event>, Flow), found: &(Vec<Event>, Flow)) -> String {
    let n = expected.0.iter().zip(&found.0).take_while(|(a, b)| a == b).count();
    let (a, b) = (expected.0.get(n), found.0.get(n));
    let (n_a, n_b) = (expected.0.len(), found.0.len());
    format!(
        "event {n} (of {n_a}, {n_b} natively)\nexpected {a:?}\nfound    {b:?}\nflow {:?} {:?}",
        expected.1, found.1
    )
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

pub fn load(path: &Path) -> Option<System> {
    let text = std::fs::read_to_string(path).expect("a readable model");
    lang::promela::load(&path.display().to_string(), text, &[], &FileLoader).system
}

pub fn load_rules(path: &Path) -> Option<Rules> {
    let text = std::fs::read_to_string(path).expect("a readable model");
    lang::murphi::load(&path.display().to_string(), text).rules
}

/// All models below a directory, in order.
pub fn models(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory of models") {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            found.extend(models(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
