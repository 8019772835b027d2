// expect: violation=assertion states=74 transitions=133
/*
 * Two jugs of 3 and 5 litres, a tap and a sink: measure 4 litres (an old
 * puzzle, known from the film "Die Hard 3").
 *
 * The assertion claims that the big jug never holds 4 litres.  It is
 * violated on purpose; the shortest counterexample takes six moves.
 */
#define SMALL 3
#define BIG   5
#ifndef GOAL
#define GOAL  4
#endif

#define MIN(a, b)  ((a) < (b) -> (a) : (b))

byte small, big;

inline pour(from, to, room)
{
        d_step {
                moved = MIN(from, room);
                from = from - moved;
                to = to + moved;
                moved = 0
        }
}

active proctype player()
{
        byte moved;

        do
        :: small < SMALL -> small = SMALL
        :: big < BIG -> big = BIG
        :: small > 0 -> small = 0
        :: big > 0 -> big = 0
        :: small > 0 && big < BIG -> pour(small, big, BIG - big)
        :: big > 0 && small < SMALL -> pour(big, small, SMALL - small)
        :: assert(big != GOAL)
        od
}
