// expect: holds states=3 transitions=3
// The smallest complete model: one process prints one line and ends.
active proctype hello() { printf("hello, world\n") }
