// expect: holds states=3229 transitions=4818
/* Pins: all forms of 'select'. Counts are those of Spin. */
int x; byte y; byte a_b;
inline pick(v) { select (v : 1 .. 3) }
active proctype A() { select (x : 1 .. 3); select (x : 0 .. 40); select (a_b : 1 .. 3); pick(y); select (y : x .. x+2); L: select (x: 5 .. 7); if :: x == 7 -> goto L :: else fi; for (y : 1 .. 3) { if :: y == 2 -> break :: else fi } }
