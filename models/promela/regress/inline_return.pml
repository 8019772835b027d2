// expect: holds states=5 transitions=5
/* Pins: inlines with 'return'. Counts are those of Spin. */
byte y;
inline inc(v) { return v+1 }
init { byte k; k = inc(y); y = inc(k); k = inc(y) }
