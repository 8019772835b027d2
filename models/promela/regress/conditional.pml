// expect: holds states=51 transitions=113
/* Pins: conditional expressions. Counts are those of Spin. */
byte x; bool b;
active [2] proctype A() { do :: b = (x > 1 -> x % 2 : !b); x = (b -> (x+1)%4 : (x+3)%4) :: x == (_pid == 0 -> 1 : 2) -> skip od }
