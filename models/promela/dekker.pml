// expect: holds states=146 transitions=275
/*
 * Dekker's algorithm, the first correct mutual exclusion for two processes
 * that uses only plain reads and writes (Th. J. Dekker, described by
 * E. W. Dijkstra in 1965).
 *
 * Checked: at most one process is in the critical section.
 */
bool want[2];
bit turn;
byte inside;

active [2] proctype user()
{
        bit me = _pid;
        bit other = 1 - me;

again:
        want[me] = true;
        do
        :: !want[other] -> break
        :: else ->
           if
           :: turn == me           /* insist: the other one will step back */
           :: else ->
              want[me] = false;    /* step back until it is our turn */
              turn == me;
              want[me] = true
           fi
        od;

        inside++;
        assert(inside == 1);
        inside--;

        turn = other;
        want[me] = false;
        goto again
}
