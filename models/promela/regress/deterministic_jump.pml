// expect: holds states=140 transitions=140
// A 'break' that is enabled beside another option is no error in a D_proctype.
byte x;
active D_proctype p() {
  select(x : 0..34)
}
