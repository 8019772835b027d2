// expect: holds states=6 transitions=7
/* Pins: a dead variable is reset behind a send, also if there are rendezvous channels. */
chan r = [0] of {byte}; chan c = [2] of {byte}; active proctype P() { byte x = 3; if :: c!x :: (x == 3) -> c!3 fi; M: c?_; c!1 }
