// expect: holds states=212 transitions=441
/* Pins: hidden variables do not tell states apart. Counts are those of Spin. */
hidden byte h; byte x; hidden int hi[2];
active [2] proctype A() { h = _pid; hi[1] = 3; x = h; do :: x < 3 -> h++; x++ :: x > 1 -> x = 0; h = 7 od }
