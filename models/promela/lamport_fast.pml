// expect: holds states=715 transitions=1333
/*
 * Lamport's fast mutual exclusion (L. Lamport, "A fast mutual exclusion
 * algorithm", 1987): without contention a process enters after a constant
 * number of reads and writes, whatever the number of processes.
 *
 * Checked: at most one process is in the critical section.
 */
#ifndef N
#define N 2
#endif
#define NOBODY 0        /* processes are numbered 1..N in this model */

bool busy[N+1];
byte x, y;
byte inside;

active [N] proctype user()
{
        byte me = _pid + 1;
        byte k;
start:
        busy[me] = true;
        x = me;
        if
        :: y != NOBODY ->
           busy[me] = false;
           y == NOBODY;
           goto start
        :: else
        fi;
        y = me;
        if
        :: x != me ->                   /* the slow path: somebody interfered */
           busy[me] = false;
           for (k : 1 .. N) {
                !busy[k]
           }
           k = 0;
           if
           :: y != me ->
              y == NOBODY;
              goto start
           :: else
           fi
        :: else
        fi;

        inside++;
        assert(inside == 1);
        inside--;

        y = NOBODY;
        busy[me] = false;
        goto start
}
