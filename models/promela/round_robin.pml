// expect: holds states=70 transitions=81
/*
 * A scheduler made with `provided`: a process can take steps only while
 * its provided clause is true, so the scheduler switches processes on and
 * off with one variable, in the middle of whatever they do.
 *
 * Checked: since the scheduler switches only at safe points, the update of
 * the shared counter loses nothing although it has no lock of its own.
 */
#define IDLE 9          /* nobody's turn */

byte turn = 1;
bool safe = true;
byte shared_count;

active proctype scheduler()                     /* _pid 0 */
{
        do
        :: atomic { safe && turn == 1 -> turn = 2 }
        :: atomic { safe && turn == 2 -> turn = IDLE }
        :: turn == IDLE -> turn = 1
        od
}

active [2] proctype worker() provided (turn == _pid)
{
        byte copy;

        do
        :: safe = false;
           copy = shared_count;
           shared_count = (copy + 1) % 5;
           assert(shared_count == (copy + 1) % 5);
           copy = 0;
           safe = true
        od
}
