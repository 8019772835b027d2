// expect: holds states=5 transitions=16
/* Pins: a d_step that starts with a rendezvous receive. Counts are those of Spin. */
byte x, y; chan r = [0] of {byte};
active proctype A() { do :: d_step { r?x; y = x } :: x = 0 od }
active proctype B() { do :: r!2 :: y = 1  od }
