// expect: holds states=7 transitions=7
/* Pins: a list of values that is shorter than its array. Counts are those of Spin. */
byte a[4] = {1,2}; byte b[3] = 5; byte s;
init { s = a[0]*64+a[1]*16+a[2]*4+a[3]; s = s + b[2]; if :: s==1 -> skip :: s == 101 -> skip :: else -> skip; skip; s=0 fi }
