// expect: holds states=22 transitions=67
/* Pins: jumps into, out of and between atomic sequences. Counts are those of Spin. */
byte x,y;
active proctype A() { L0: atomic { x = 1; if :: y == 0 -> goto L1 :: y == 1 -> goto L2 :: else fi; x = 2 }; x = 3; L1: y = 1; L9: atomic { y = 1 } ; atomic { x = 0; L2: x = 4; do :: x > 1 -> x-- :: x == 1 -> break od; y = 2 }; goto L0 }
active proctype B() { do :: y = 0 :: y = 2 od }
