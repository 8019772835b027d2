// expect: holds states=62 transitions=126
/* Pins: processes started in an atomic loop. Counts are those of Spin. */
init { byte i; atomic { i = 0; do :: i < 3 -> run W(i); i++ :: else -> break od } ; (_nr_pr == 1) }
proctype W(byte id) { byte c; do :: c < id -> c++ :: else -> break od }
