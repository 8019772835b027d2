// expect: holds states=3029 transitions=7936
/*
 * A ticket lock: draw the next number with fetch-and-add and wait until it
 * is served (after D. P. Reed and R. K. Kanodia, 1979).
 *
 * The two counters have two bits and wrap around from 3 to 0, which is
 * safe as long as there are at most four processes.
 * Checked: at most one process is in the critical section, and a process
 * never holds a ticket that is more than N-1 places behind.
 */
#ifndef N
#define N 3
#endif
#if N > 4
#error "two-bit tickets serve at most four processes"
#endif

unsigned next_ticket : 2;
unsigned now_serving : 2;
byte inside;

active [N] proctype user()
{
        unsigned mine : 2;

        do
        :: d_step { mine = next_ticket; next_ticket++ }
           assert(((mine - now_serving) & 3) < N);
           now_serving == mine;

           inside++;
           assert(inside == 1);
           inside--;

           now_serving++
        od
}
