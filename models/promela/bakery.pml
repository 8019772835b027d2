// expect: holds states=4545 transitions=8742
/*
 * Lamport's bakery algorithm (L. Lamport, 1974): take a ticket that is
 * higher than all tickets you can see, then wait for everybody with a
 * lower ticket.  Equal tickets are decided by the process number.
 *
 * The original tickets grow without bound.  Here a process that would need
 * a ticket above LIMIT leaves the shop again and comes back later, which
 * keeps the model finite.
 *
 * Checked: at most one process is in the critical section.
 */
#ifndef N
#define N 2
#endif
#ifndef LIMIT
#define LIMIT 4
#endif

bool choosing[N];
byte ticket[N];         /* 0: no ticket */
byte inside;

active [N] proctype customer()
{
        byte k, highest;

        do
        :: choosing[_pid] = true;
           highest = 0;
           for (k : 0 .. N-1) {
                if
                :: ticket[k] > highest -> highest = ticket[k]
                :: else
                fi
           }
           if
           :: highest >= LIMIT ->          /* too busy, come back later */
              choosing[_pid] = false;
              goto next_time
           :: else
           fi;
           ticket[_pid] = highest + 1;
           choosing[_pid] = false;

           for (k : 0 .. N-1) {
                !choosing[k];
                (ticket[k] == 0
                || ticket[k] > ticket[_pid]
                || (ticket[k] == ticket[_pid] && k >= _pid))
           }

           inside++;
           assert(inside == 1);
           inside--;

           ticket[_pid] = 0;
next_time:
           highest = 0; k = 0
        od
}
