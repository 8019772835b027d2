// expect: holds states=1216 transitions=3697
/* Pins: processes and their channels end youngest first. Counts are those of Spin. */
byte n;
proctype P(byte d) { chan l = [1] of { byte }; if :: d > 0 -> run P(d-1); l!d :: else fi; n++; }
init { run P(2); run P(1); (_nr_pr <= 2) -> n = 0 }
