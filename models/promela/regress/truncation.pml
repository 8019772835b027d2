// expect: holds states=150 transitions=151
/* Pins: truncation in every type. Counts are those of Spin. */
unsigned a : 3, b : 11; short s; int i; bit f; bool g[2]; byte bb;
active proctype A() { do :: a = a + 3; b = b - 1000; s = s * 7 + 30000; i = i * 3 + 1; f = f + 1; g[1] = 3; bb = bb - 1; i = i % 5; b = b % 3; s = s % 4; bb = bb % 2; a = a % 4 od }
