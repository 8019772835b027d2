// expect: holds states=27 transitions=27
/* Pins: names and labels inside inlines. Counts are those of Spin. */
byte g;
inline swap(a, b) { byte t; t = a; a = b; b = t; if :: a > b -> goto out :: else fi; out: skip }
inline outer(p) { swap(p, g); swap(g, p) }
active proctype A() { byte m = 3; outer(m); outer(m); g = m * 2 }
