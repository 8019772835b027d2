// expect: violation=assertion states=6 transitions=6
/* Pins: a poll assigns nothing, so what it names stays alive. */
chan d = [1] of {byte};
active proctype P() { byte x; x = 3; d!1; d?[x]; assert(x != 3) }
