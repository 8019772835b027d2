// expect: holds states=11 transitions=12
/* Pins: 'provided' inside atomic sequences. Counts are those of Spin. */
byte x, t;
active proctype A() provided (t==0) { atomic { x = 1; t = 1; x = 2; x = 3 }; do :: x++ ; t = 1 od }
active proctype B() provided (t==1) { do :: x = 0; t = 0 od }
