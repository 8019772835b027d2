// expect: violation=array-index
/* Pins: a constant index, one past the end, that is reached. */
#define N 3
byte a[N], b;
active proctype p() { a[N - 1] = 1; a[N * 1] = 1; b = 1 }
