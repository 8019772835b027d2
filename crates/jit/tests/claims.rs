//! Channels that processes claim for themselves.

mod common;

use jit::Counts;
use lang::promela::preprocess::FileLoader;

fn compare(text: &str) -> Counts {
    let loaded = lang::promela::load("test.pml", text.to_string(), &[], &FileLoader);
    let system = loaded.system.expect("a model without errors");
    common::compare(&system, 50_000).expect("the same as the interpreter")
}

#[test]
fn models_that_keep_their_claims_are_run_by_native_code() {
    let counts = compare(
        "chan a = [2] of { byte }; chan b = [2] of { byte };
         proctype relay(chan inp, out) {
             xr inp; xs out; byte x;
             do :: inp?x -> out!x od
         }
         proctype source(chan out) { xs out; byte i; do :: out!i :: i < 9 -> i++ od }
         proctype drain(chan inp) { xr inp; byte x, n; do :: inp?x -> n = (n + 1) % 5 od }
         init { atomic { run source(a); run relay(a, b); run drain(b) } }",
    );
    assert!(counts.native > 50 * counts.interpreted, "{counts:?}");
}

#[test]
fn broken_claims_are_found() {
    let texts = [
        // By a known channel, a parameter, a rendezvous, in a d_step.
        "chan a = [2] of { byte }; byte n;
         active proctype P() { xs a; do :: n < 9 -> n++; a!n od }
         active proctype Q() { byte x; do :: a?x :: x > 3 -> a!0 od }",
        "chan a = [2] of { byte }; chan b = [2] of { byte };
         proctype P(chan c) { xr c; byte x; do :: c?x od }
         proctype Q(chan c) { byte x; do :: c!1 :: c!2 :: c?x -> x = 0 od }
         init { atomic { run P(a); run Q(b); run Q(a) } }",
        "chan a = [0] of { byte }; active [2] proctype P() { xs a; do :: a!1 od }
         active proctype Q() { byte x; do :: a?x od }",
        "chan a[2] = [1] of { byte }; byte i;
         active proctype P() { xr a[0]; byte x; do :: a[0]?x od }
         active proctype Q() { byte x; do :: d_step { a[i]!1; i = 1 - i } :: a[1]?x :: a[i]?x od }",
        // A process that is no more claims nothing.
        "chan a = [1] of { byte }; proctype P() { xs a; a!1 }
         active proctype Q() { byte x; run P(); a?x; do :: a!2 :: a?x od }",
    ];
    for text in texts {
        compare(text);
    }
}
