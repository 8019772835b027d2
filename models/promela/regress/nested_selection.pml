// expect: holds states=6 transitions=9
/* Pins: selections as the first statement of a branch. Counts are those of Spin. */
byte x;
active proctype A() { do :: if :: x == 0 -> x = 1 :: do :: x == 1 -> x = 2 :: x == 2 -> break od fi :: { x == 3 -> x = 0 } :: atomic { if :: x == 2 -> x = 3; x = 4 :: x == 1 fi ; x = 2 } :: else -> x = 0; skip; skip; x = 3 od }
