// expect: violation=deadlock states=27 transitions=43
/* Pins: nested 'unless'. Counts are those of Spin. */
byte x, y;
active proctype A() { { { do :: x = (x+1)%4; y=0 od } unless { x == 2 -> y = 1; y = 2 }; y = 3 } unless { y == 2 -> x = 0 } }
active proctype B() { do :: y == 1 -> x = 3 :: x == 3 -> y = 2 od }
