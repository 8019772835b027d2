// expect: holds states=205 transitions=497
/*
 * Dining philosophers (E. W. Dijkstra, 1965), repaired with ordered
 * resources: everybody takes the fork with the lower number first, so the
 * last philosopher begins with the right fork and the circle is broken.
 *
 * Checked: no deadlock, and two neighbours never eat at the same time.
 */
#ifndef N
#define N 4
#endif

bool taken[N];          /* fork k lies to the left of philosopher k */
bool eating[N];

inline take(fork)
{
        atomic { !taken[fork] -> taken[fork] = true }
}

active [N] proctype philosopher()
{
        byte neighbour = (_pid + 1) % N;
        byte low  = (_pid < neighbour -> _pid : neighbour);
        byte high = (_pid < neighbour -> neighbour : _pid);

        do
        :: take(low);
           take(high);

           eating[_pid] = true;
           assert(!eating[neighbour]);
           eating[_pid] = false;

           taken[high] = false;
           taken[low] = false
        od
}
