// expect: holds states=51596 transitions=146377
/*
 * Peterson's algorithm for N processes, also called the filter lock
 * (G. L. Peterson, 1981).  There are N-1 waiting rooms.  In each room the
 * last one to arrive stays behind as long as anybody else is in the same
 * room or further on, so every room holds back at least one process.
 *
 * Checked: at most one process is in the critical section.
 * Tunable: N, the number of processes (spin -DN=2 ...).
 */
#ifndef N
#define N 3
#endif

byte room[N];           /* 0: not competing; r: has reached room r */
byte last[N];           /* last[r]: who arrived last in room r */
byte inside;

active [N] proctype user()
{
        byte r, k;

        do
        :: for (r : 1 .. N-1) {
                room[_pid] = r;
                last[r] = _pid;
                k = 0;
                do      /* look at the others, one at a time */
                :: k == N -> break
                :: k < N ->
                   (k == _pid || room[k] < r || last[r] != _pid);
                   k++
                od
           }

           inside++;
           assert(inside == 1);
           inside--;

           room[_pid] = 0
        od
}
