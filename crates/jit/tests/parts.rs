//! Native code of which a part is missing.

mod common;

use lang::promela::preprocess::FileLoader;

fn compare(text: &str) {
    let loaded = lang::promela::load("test.pml", text.to_string(), &[], &FileLoader);
    let system = loaded.system.expect("a model without errors");
    common::compare(&system, 5_000).expect("the same as the interpreter");
}

/// While nothing else can happen, messages are offered to processes that have no
/// code to take them.
#[test]
fn timeouts_stay_timeouts_where_a_receiver_is_interpreted() {
    let clock = "active proctype clock() { do :: timeout -> n = (n + 1) % 50 od }";
    let receiver = "active proctype receiver() { byte x; end: do :: c?2,x :: c?3,x -> n = x od }";
    let senders = [
        "active proctype sender() { do :: c!1,0 od }",
        "active proctype sender() { do :: timeout -> c!1,0 :: timeout -> c!3,n od }",
        "active proctype sender() provided (timeout) { do :: c!2,n :: c!3,n od }",
        "active proctype sender() { do :: c!2,timeout od }",
        "active proctype sender() { do :: atomic { timeout -> n++; c!3,n; n = 0 } od }",
    ];
    for sender in senders {
        for order in [[clock, receiver, sender], [sender, clock, receiver]] {
            compare(&format!("chan c = [0] of {{ byte, byte }}; byte n; {}", order.concat()));
        }
    }
}
