// expect: holds states=19 transitions=19
/* Pins: declarations behind statements and in blocks are steps. Counts are those of Spin. */
byte g;
active proctype A() { byte a = 1; g = a; byte b = g + 1; byte c; int d[3]; do :: g < 4 -> byte e = 2; { byte f; f = e; g = g + f } :: else -> break od; { int z = g; g = z } }
