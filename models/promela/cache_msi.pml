// expect: holds states=2374 transitions=5312
/*
 * The MSI snooping cache protocol for one memory line (the textbook form
 * of write-back invalidation; J. R. Goodman, 1983).  A cache holds the line
 * modified, shared or not at all.  To change its state it takes the bus and
 * tells every other cache, which writes back or gives up its copy.
 *
 * Checked: a modified copy is the only one, and a read always returns the
 * value written last (`latest`, which only the assertions look at).
 */
#ifndef N
#define N 3
#endif

mtype:state   = { invalid, shared, modified };
mtype:request = { bus_read, bus_write };

chan snoop[N] = [0] of { mtype:request };
chan snooped  = [0] of { bit };         /* "I have done my part" */
bool bus_free = true;

mtype:state state[N] = invalid;
bit copy[N];            /* the value in each cache */
bit memory;
bit latest;

active [N] proctype cache()
{
        mtype:request what;
        byte k;

        do
        :: state[_pid] != invalid ->                    /* read hit */
           assert(copy[_pid] == latest)

        :: state[_pid] == modified ->                   /* write hit */
           d_step { copy[_pid] = 1 - copy[_pid]; latest = copy[_pid] }

        :: snoop[_pid] ? bus_read ->                    /* somebody reads */
           d_step {
                if
                :: state[_pid] == modified ->
                   memory = copy[_pid];
                   state[_pid] = shared
                :: else
                fi
           }
           snooped ! 1

        :: snoop[_pid] ? bus_write ->                   /* somebody writes */
           d_step {
                if
                :: state[_pid] == modified -> memory = copy[_pid]
                :: else
                fi;
                state[_pid] = invalid;
                copy[_pid] = 0
           }
           snooped ! 1

        :: atomic { bus_free && state[_pid] != modified ->
                bus_free = false;
                if
                :: state[_pid] == invalid -> what = bus_read
                :: what = bus_write
                fi
           }
           k = 0;
           do                                           /* one cache at a time */
           :: k == _pid -> k++
           :: k < N && k != _pid -> snoop[k] ! what; snooped ? 1; k++
           :: k >= N -> break
           od;
           k = 0;
           d_step {
                if
                :: state[_pid] == invalid -> copy[_pid] = memory
                :: else
                fi;
                if
                :: what == bus_read -> state[_pid] = shared
                :: else ->
                   state[_pid] = modified;
                   copy[_pid] = 1 - copy[_pid];         /* the write itself */
                   latest = copy[_pid]
                fi;
                what = 0;
                bus_free = true
           }
        od
}
