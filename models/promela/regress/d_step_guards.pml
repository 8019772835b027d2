// expect: holds states=20 transitions=74
/* Pins: what a d_step may start with. Counts are those of Spin. */
byte x, y; chan c = [1] of {byte}; chan r = [0] of {byte};
active proctype A() { do :: d_step { if :: x == 1 -> y = 1 :: x == 2 -> y = 2 fi; x = 0 } :: d_step { c?x -> y = x } :: d_step { do :: x < 3 -> x++ :: x >= 3 -> break od; y = 0 } :: d_step { else -> x = 1 } :: c!2 :: d_step { r?x; y = x } od }
active proctype B() { do :: r!2 :: d_step { c!1; y = 3 } od }
