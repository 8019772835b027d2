// expect: holds states=4 transitions=4
// A line break behind 'timeout' is a semicolon, as Spin's lexer reads it as '(timeout)'.
byte x;
active proctype p() {
  progress0: timeout
  L0: (x < 1);
}
