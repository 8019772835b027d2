// expect: holds states=38 transitions=65
/*
 * Peterson's mutual exclusion for two processes (G. L. Peterson, 1981).
 * Each process says that it wants to enter, then gives the turn away; it
 * waits only while the other one wants to enter as well and has the turn.
 *
 * Checked: at most one process is in the critical section.
 */
bool want[2];
byte turn;
byte inside;            /* how many processes are in the critical section */

active [2] proctype user()
{
        pid me = _pid;
        pid other = 1 - _pid;

        do
        :: want[me] = true;
           turn = other;
           (!want[other] || turn == me);

           inside++;
           assert(inside == 1);
           inside--;

           want[me] = false
        od
}

#ifdef LTL      /* spin -DLTL -a: the same requirement as a formula */
ltl exclusion { [] (inside <= 1) }
#endif
