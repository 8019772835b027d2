// expect: violation=deadlock states=160 transitions=441
/*
 * Dining philosophers (E. W. Dijkstra, 1965; the story is C. A. R.
 * Hoare's).  Everybody takes the left fork first and then the right one.
 *
 * The bug: all of them take their left fork at the same time and nobody
 * ever gets a right one: a deadlock (invalid end state).
 */
#ifndef N
#define N 4
#endif

bool taken[N];          /* fork k lies to the left of philosopher k */

inline take(fork)
{
        atomic { !taken[fork] -> taken[fork] = true }
}

active [N] proctype philosopher()
{
        byte left = _pid;
        byte right = (_pid + 1) % N;

        do
        :: take(left);
           take(right);
           printf("philosopher %d eats\n", _pid);
           taken[right] = false;
           taken[left] = false
        od
}
