// expect: holds states=25657 transitions=76972
/*
 * The first mutual exclusion algorithm for N processes
 * (E. W. Dijkstra, "Solution of a problem in concurrent programming
 * control", 1965).  A competing process first makes itself the favourite,
 * then claims the critical section, and starts again when it sees that
 * somebody else has claimed it too.
 *
 * Checked: at most one process is in the critical section.
 */
#ifndef N
#define N 3
#endif

bool competing[N];
bool claims[N];
byte favourite;
byte inside;

active [N] proctype user()
{
        byte k;
idle:
        competing[_pid] = true;
compete:
        if
        :: favourite != _pid ->
           claims[_pid] = false;
           if
           :: !competing[favourite] -> favourite = _pid
           :: else
           fi;
           goto compete
        :: else
        fi;

        claims[_pid] = true;
        k = 0;
        do
        :: k == N -> break
        :: k < N && (k == _pid || !claims[k]) -> k++
        :: else -> k = 0; goto compete
        od;

        inside++;
        assert(inside == 1);
        inside--;

        claims[_pid] = false;
        competing[_pid] = false;
        k = 0;
        goto idle
}
