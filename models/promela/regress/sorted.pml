// expect: violation=deadlock states=2811 transitions=10871
/* Pins: sorted sends, random and peeking receives. Counts are those of Spin. */
chan q = [3] of { byte, short, bit };
active proctype A() { byte i; for (i : 0 .. 3) { if :: q!!i%2,-i,i :: q!!3-i,i,1 :: skip fi } }
active proctype B() { byte x; short y; bit z; do :: q??x,0,z :: q??eval(x),y,1 :: q?<x,y,z> :: q??<1,y,_> :: q?x,y,z :: full(q) -> q?_,_,_ od }
