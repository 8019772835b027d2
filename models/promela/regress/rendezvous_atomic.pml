// expect: holds states=243 transitions=509
/* Pins: rendezvous between atomic sequences. Counts are those of Spin. */
chan c = [0] of { byte }; chan d = [0] of {byte,byte}; byte x, y;
active proctype A() { do :: atomic { x = 1; c!1; x = 2; c!2; x = 3 } :: d!1,x od }
active proctype B() { byte v; do :: atomic { c?v; y = v; y = 0 } :: c?1 :: d?1,v; y = v :: c?2; y = 1 od }
active proctype C() { byte v; do :: atomic { c?v -> d!v,v } :: d?eval(x),v od }
