// expect: holds states=25 transitions=54
/* Pins: remote variables and labels. Counts are those of Spin. */
active proctype A() { byte arr[3]; byte k; L1: arr[1] = 2; L2: goto L3; L3: k = 1; goto L1 }
active proctype B() { do :: A[0]:arr[1] == 2 -> skip :: A[0]@L2 -> skip; skip :: A[0]@L3 -> skip od }
