// expect: violation=enabled-self
/*
 * Pins: two processes that each ask whether the other is enabled have no
 * answer. Spin's verifier runs out of stack.
 */
byte x;
active proctype A() { enabled(1); x = 1 }
active proctype B() { enabled(0); x = 2 }
