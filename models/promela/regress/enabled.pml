// expect: holds states=16 transitions=27
/* Pins: 'enabled' and 'pc_value'. Counts are those of Spin. */
byte x;
active proctype A() { do :: x < 2 -> x++ :: x == 3 -> x = 0 od }
active proctype B() { do :: !enabled(0) -> x = 3 :: pc_value(0) == 5 -> x = 1 od }
