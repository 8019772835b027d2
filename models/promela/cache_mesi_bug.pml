// expect: violation=assertion states=124 transitions=991
/*
 * The MESI cache protocol (M. Papamarcos and J. Patel, 1984) for one memory
 * line, with each bus transaction as one atomic step.  `exclusive` means
 * that this is the only copy and that it is clean, so it may be written
 * without asking anybody.
 *
 * The bug: a cache that holds the line exclusively does not notice when
 * another cache reads it, and stays exclusive.  Its next write is silent,
 * and the other cache then reads an old value: an assertion violation.
 * Compile with -DFIXED for the correct protocol.
 */
#ifndef N
#define N 3
#endif

mtype = { M, E, S, I };

mtype line[N] = I;
bit copy[N];
bit memory;
bit latest;             /* the value written last, for the check only */

inline write_back(k)
{
        if
        :: line[k] == M -> memory = copy[k]
        :: else
        fi
}

active [N] proctype cache()
{
        byte k;
        bool others;            /* has anybody else a copy? */

        do
        :: d_step { line[_pid] != I ->                  /* read hit */
                assert(copy[_pid] == latest)
           }

        :: d_step { line[_pid] == I ->                  /* read miss */
                others = false;
                for (k : 0 .. N-1) {
                        if
                        :: k != _pid && line[k] != I ->
                           others = true;
                           write_back(k);
#ifdef FIXED
                           line[k] = S
#else
                           line[k] = (line[k] == E -> E : S)    /* the bug */
#endif
                        :: else
                        fi
                }
                copy[_pid] = memory;
                line[_pid] = (others -> S : E);
                others = false; k = 0
           }

        :: d_step { (line[_pid] == M || line[_pid] == E) -> /* silent write */
                line[_pid] = M;
                copy[_pid] = !copy[_pid];
                latest = copy[_pid]
           }

        :: d_step { (line[_pid] == S || line[_pid] == I) -> /* write with bus */
                for (k : 0 .. N-1) {
                        if
                        :: k != _pid ->
                           write_back(k);
                           line[k] = I;
                           copy[k] = 0
                        :: else
                        fi
                }
                line[_pid] = M;
                copy[_pid] = !latest;
                latest = copy[_pid];
                k = 0
           }

        :: d_step { line[_pid] != I ->                  /* drop the line */
                write_back(_pid);
                line[_pid] = I;
                copy[_pid] = 0
           }
        od
}
