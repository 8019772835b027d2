// expect: holds states=22 transitions=29
/* Pins: a process may assign to its own '_priority'. Counts are those of Spin. */
byte x;
active proctype A() priority 2 { x = 1; _priority = 1; x = 2; x = 3 }
active proctype B() { x = 4; x = 5 }
