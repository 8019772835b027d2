// expect: holds states=51 transitions=86
/* Pins: 'unless' around atomic sequences, d_steps and loops. Counts are those of Spin. */
byte x;
active proctype A() { atomic { x = 1; x = 2; x = 3 } unless { x == 2; x = 9 }; d_step { x = 4; x = 5 } unless { x == 9 }; do :: x = 1 :: x = 2 -> break od unless { x == 1 -> x = 7 } }
active proctype B() { x = 2; x = 8 }
