// expect: violation=assertion
// The assertion is the first violation, though the same d_step blocks after it.
byte x;
active proctype p() {
  d_step {
    assert(x == 1);
    x == 2
  }
}
