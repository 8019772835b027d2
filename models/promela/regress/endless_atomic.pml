// expect: violation=endless-atomic
// An endless atomic sequence with a choice in each round is reported once, soon.
byte x;
active proctype p() {
  atomic {
    do
    :: x = 1
    :: x = 0
    od
  }
}
