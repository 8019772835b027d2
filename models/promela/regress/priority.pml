// expect: holds states=19 transitions=22
/* Pins: priorities. Counts are those of Spin. */
byte x;
active proctype A() priority 2 { x = 1; x = 2; set_priority(_pid, 1); x = 3 }
active proctype B() priority 1 { x = 4; x = 5; x = _priority }
