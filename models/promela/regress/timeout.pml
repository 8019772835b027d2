// expect: violation=deadlock states=28 transitions=37
/* Pins: 'timeout' and lost control. Counts are those of Spin. */
byte x; chan c = [0] of {byte};
active proctype A() { do :: c!1 :: timeout -> x = (x+1)%3 :: atomic { timeout -> x = 2; c!2 } od }
active proctype B() { byte n; do :: n < 2 -> c?_; n++ :: timeout -> n = 0; break od }
