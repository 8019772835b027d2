// expect: holds states=24 transitions=28
/* Pins: macros and line breaks as semicolons. Counts are those of Spin. */
#define P(x,y) x##y = #x
#define INC(v) v = (v + 1) % 3
#define TWICE(s) s; s
byte ab, z;
active proctype A() { do :: TWICE(INC(z)) :: z == 2 ->
   INC(ab)
   z = 0
 od }
