// expect: holds states=64 transitions=111
/* Pins: channels in messages and arrays. Counts are those of Spin. */
chan a = [1] of { chan, byte }; chan r[2] = [0] of { byte };
active proctype S() { chan c; byte v; do :: a?c,v -> c!v+1 od }
active [2] proctype C() { byte z; chan me; me = r[_pid-1]; do :: a!me,_pid; me?z; assert(z==_pid+1) od }
