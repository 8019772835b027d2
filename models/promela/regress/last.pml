// expect: holds states=54 transitions=109
/* Pins: '_last'. Counts are those of Spin. */
byte x;
active [2] proctype A() { do :: _last == 0 -> x = (x+1)%3 :: _last == 1 -> x = (x+2)%3 od }
