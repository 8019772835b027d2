// expect: holds states=14 transitions=33
/* Pins: hidden variables do not tell states apart. Counts are those of Spin. */
hidden byte scratch; hidden int list[2]; byte x;
active [2] proctype A() { do :: atomic { scratch = x + _pid; list[1] = scratch * 2; x = (scratch + list[1]) % 5 } :: x == 3 -> list[0] = 7 od }
