// expect: holds states=4695 transitions=15934
/*
 * Leader election in a one-way ring with O(n log n) messages, found by
 * D. Dolev, M. Klawe and M. Rodeh, and by G. L. Peterson (both 1982).
 *
 * In each round an active node learns the values of its two nearest active
 * predecessors.  It stays active, with the nearer value, only if that value
 * is higher than the other two; otherwise it becomes a relay.  So at least
 * half of the active nodes drop out in every round.
 *
 * Checked: exactly one node ends as winner, and the winning value is the
 * highest one.
 *
 *   -DN=7      106,018 states
 *   -DN=9    2,545,717 states
 *   -DN=11  61,797,211 states
 *   -DN=13  more than 10^9, by an estimate
 */
#ifndef N
#define N 5
#endif

mtype = { first, second, winner };

chan ring[N] = [2] of { mtype, byte };
byte winners;

proctype node(byte position, number)
{
        byte value = number;    /* the value this node stands for */
        byte near, far, n;
        chan in  = ring[position];
        chan out = ring[(position + 1) % N];

active_node:
        out ! first(value);
        in ? first(near);
        if
        :: near == value ->                     /* went all the way round */
           winners++;
           out ! winner(value);
           in ? winner(n);                      /* and round once more */
           goto finish
        :: else
        fi;
        out ! second(near);
        in ? second(far);
        if
        :: near > value && near > far -> value = near; goto active_node
        :: else
        fi;

        do      /* relay */
        :: in ? first(n) -> out ! first(n)
        :: in ? second(n) -> out ! second(n)
        :: in ? winner(n) -> out ! winner(n); break
        od;
finish:
        assert(n == N && winners == 1)
}

init
{
        byte i;

        atomic {        /* numbers 1..N, mixed (N must be odd) */
                for (i : 0 .. N-1) {
                        run node(i, ((i * 2) % N) + 1)
                }
        }
}
