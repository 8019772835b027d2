//! What `Code` and `Native` promise besides the right successors.

mod common;

use common::{load, models, root};
use ir::fault::Fault;
use ir::layout::Layout;
use ir::model::{Flow, Model, Sink, Step};
use ir::system::System;
use jit::{Code, Native};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Collects successors; panics instead of taking number `panic_at`.
#[derive(Default)]
struct Collect {
    states: Vec<Vec<u8>>,
    panic_at: Option<usize>,
}

impl Sink for Collect {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        assert!(self.panic_at != Some(self.states.len()), "the sink has had enough");
        self.states.push(state.to_vec());
        Flow::Continue
    }

    fn fault(&mut self, _: Fault, _: &[Step]) -> Flow {
        Flow::Continue
    }
}

fn model(name: &str) -> System {
    load(&root().join("models/promela").join(name)).expect("a model")
}

/// States in the order of their discovery, expanded natively.
fn explore(code: &Code, system: &System, layout: &Layout, max_states: usize) -> Vec<Vec<u8>> {
    let mut native = Native::new(code, system, layout);
    let mut found = Collect::default();
    native.initial(&mut found);
    let mut at = 0;
    while at < found.states.len() && found.states.len() < max_states {
        let state = found.states[at].clone();
        native.expand(&state, &mut found);
        at += 1;
    }
    found.states
}

#[test]
fn threads_share_code() {
    let system = model("peterson.pml");
    let layout = Layout::new(&system);
    let code = jit::compile(&system, &layout).expect("code");
    let run = || explore(&code, &system, &layout, 2000);
    let (a, b) = std::thread::scope(|scope| {
        let (a, b) = (scope.spawn(run), scope.spawn(run));
        (a.join().expect("a thread"), b.join().expect("a thread"))
    });
    assert_eq!(a, b);
    assert_eq!(a, run());
}

#[test]
fn a_model_may_move_to_another_thread() {
    let system = model("peterson.pml");
    let layout = Layout::new(&system);
    let code = jit::compile(&system, &layout).expect("code");
    let mut native = Native::new(&code, &system, &layout);
    std::thread::scope(|scope| {
        scope.spawn(move || native.initial(&mut Collect::default()));
    });
}

#[test]
fn a_panic_of_the_sink_comes_through() {
    let system = model("peterson.pml");
    let layout = Layout::new(&system);
    let code = jit::compile(&system, &layout).expect("code");
    let states = explore(&code, &system, &layout, 100);
    let mut native = Native::new(&code, &system, &layout);
    let mut panics = 0;
    for state in &states {
        let mut all = Collect::default();
        native.expand(state, &mut all);
        for panic_at in 0..all.states.len() {
            let mut sink = Collect { states: Vec::new(), panic_at: Some(panic_at) };
            let expand = AssertUnwindSafe(|| native.expand(state, &mut sink));
            assert!(catch_unwind(expand).is_err());
            assert_eq!(sink.states[..], all.states[..panic_at]);
            panics += 1;
        }
        let mut again = Collect::default();
        native.expand(state, &mut again);
        assert_eq!(again.states, all.states, "the model works on after a panic");
    }
    assert!(panics > 100, "only {panics} panics");
}

/// Bytes that are no state of the model may lead to a panic of the
/// interpreter, but never out of a buffer.
#[test]
fn bytes_that_are_no_state_do_no_harm() {
    let mut random = 1u64;
    let mut next = move || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize
    };
    for path in models(&root().join("models/promela"), "pml") {
        let Some(system) = load(&path) else { continue };
        let layout = Layout::new(&system);
        let code = jit::compile(&system, &layout).expect("code");
        let states = explore(&code, &system, &layout, 50);
        let mut native = Native::new(&code, &system, &layout);
        for state in &states {
            let mut bytes = state.clone();
            for _ in 0..1 + next() % 3 {
                let at = next() % bytes.len();
                bytes[at] = next() as u8;
            }
            if next() % 8 == 0 {
                bytes.truncate(next() % bytes.len());
            }
            let expand = AssertUnwindSafe(|| native.expand(&bytes, &mut Collect::default()));
            if catch_unwind(expand).is_err() {
                native = Native::new(&code, &system, &layout);
            }
        }
    }
}
