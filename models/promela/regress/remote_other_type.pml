// expect: violation=assertion states=14 transitions=20
/* Pins: a remote reference may meet a process of another type. */
byte g;
proctype P() { byte x; x = 1; g = x }
active proctype Q() { byte y; y = 7; g = 1; g = 2 }
active proctype M() { P[0]:x == 7 -> assert(0) }
