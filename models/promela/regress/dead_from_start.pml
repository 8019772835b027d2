// expect: holds states=20 transitions=49
/* Pins: a variable that is dead from the start does not add states. */
byte g; active [2] proctype P() { byte x = 5; do :: x = 5 :: g == 1 -> break od } active proctype Q() { g = 1; g = 2; g = 1 }
