//! What native code leaves out because it is found another way.

mod common;

use common::searches::{Order, search};
use ir::layout::Layout;
use jit::Native;
use lang::promela::preprocess::FileLoader;

/// States, transitions, and successors that were made.
fn counts(text: &str, order: Order) -> (usize, u64, u64) {
    let loaded = lang::promela::load("test.pml", text.to_string(), &[], &FileLoader);
    let system = loaded.system.expect("a model without errors");
    let layout = Layout::new(&system);
    let code = jit::compile(&system, &layout).expect("code");
    let found = search(&mut Native::new(&code, &system, &layout), order);
    common::compare(&system, 100_000).expect("the same as without");
    (found.states.len(), found.transitions, found.made)
}

const ORDERS: [Order; 3] = [Order::First, Order::Last, Order::Any];

#[test]
fn of_processes_that_have_nothing_to_do_with_each_other_each_state_is_made_once() {
    let text = "byte a, b, c;
        active proctype A() { do :: a < 6 -> a++ od }
        active proctype B() { do :: d_step { b < 6; b++ } od }
        active proctype C() { do :: c < 6; c++ od }";
    for order in ORDERS {
        let (states, transitions, made) = counts(text, order);
        assert_eq!(made, states as u64 - 1, "{order:?}");
        assert!(transitions > 2 * made);
    }
}

#[test]
fn channels_with_a_buffer_are_apart() {
    let text = "chan p = [2] of { byte }; chan q = [2] of { byte };
        active proctype A() { byte x; do :: p!1 :: p?x od }
        active proctype B() { byte x; do :: q!1 :: q?x od }";
    for order in ORDERS {
        let (states, transitions, made) = counts(text, order);
        assert!(made < transitions && made + 1 >= states as u64, "{states} {transitions} {made}");
    }
}

/// Each of these would lose states or transitions if two of its actions were
/// taken for independent.
#[test]
fn what_matters_to_others_is_made() {
    let texts = [
        // Both write, or one reads what the other writes.
        "byte x; active proctype A() { x = x * 2 } active proctype B() { x = x + 1 }",
        "byte x, y; active proctype A() { y = x } active proctype B() { x = 1 }",
        "byte x, y; active proctype A() { x == 0; y = 1 } active proctype B() { x = 1 }",
        "byte x, y; active proctype A() { d_step { x == 0; y = 1 } }
         active proctype B() { atomic { x = 1; x = 2 } }",
        // An `else`, an escape, a time-out.
        "byte x, y; active proctype A() { if :: x == 0 -> y = 1 :: else -> y = 2 fi }
         active proctype B() { x = 1 }",
        "byte x, y; active proctype A() { { y = 1; y = 2 } unless { x == 1 } }
         active proctype B() { x = 1 }",
        "byte y; active proctype A() { timeout -> y = 1 } active proctype B() { byte i; i = 1 }",
        // Any element; channels, by whatever name.
        "byte x[3], i; active proctype A() { x[i] = 1 } active proctype B() { x[2] = x[1]; i = 2 }",
        "chan p = [1] of { byte }; chan q = [1] of { byte }; chan r;
         active proctype A() { r = p; r!1 } active proctype B() { p!2 }",
        "chan p = [2] of { byte }; active proctype A() { p!1 } active proctype B() { p!2 }",
        "chan p = [1] of { byte }; byte y;
         active proctype A() { empty(p); y = 1 } active proctype B() { p!2 }",
        "chan p = [0] of { byte }; byte y;
         active proctype A() { y = 1; p!1 } active proctype B() { byte x; x = 1; p?x }",
        // Other processes.
        "active proctype A() { byte i; i = 1; done: i = 2 }
         active proctype B() { A@done; skip }",
        "byte x; active proctype A() { byte i; x = _last } active proctype B() { byte i; i = 1 }",
        "active proctype A() { byte x; x = _nr_pr } active proctype B() { skip }",
        "proctype P() { skip; skip } active proctype A() { run P(); skip }
         active proctype B() { byte i; i = 1; run P() }",
    ];
    for text in texts {
        for order in ORDERS {
            counts(text, order);
        }
    }
}
