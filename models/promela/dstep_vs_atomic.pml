// expect: holds states=768 transitions=1841
/*
 * d_step and atomic side by side.  Both keep other processes out, but an
 * atomic sequence that blocks lets them in until it can go on, while a
 * d_step is one single step and must not block at all.
 *
 * Each writer keeps two counters equal.  The d_step writer is never seen
 * half way: this is what the assertion checks.  The atomic writer waits
 * for a permit between its two updates, so the observer can see it half
 * way; the run ends when that happens.
 */
#define ROUND 4

hidden byte scratch;    /* not part of the state: only used in a d_step */

byte d1, d2;            /* written by the d_step */
byte a1, a2;            /* written by the atomic sequence */
bool permit = true;
bool seen_half_way;

active proctype d_step_writer()
{
        do
        :: !seen_half_way ->
           d_step {
                scratch = (d1 + 1) % ROUND;
                d1 = scratch;
                d2 = scratch
           }
        :: seen_half_way -> break
        od
}

active proctype atomic_writer()
{
        do
        :: atomic { !seen_half_way ->
                a1 = (a1 + 1) % ROUND;
                permit;                 /* may block: others run meanwhile */
                a2 = a1
           }
        :: seen_half_way -> break
        od
}

active proctype observer()
{
        do
        :: permit = !permit
        :: assert(d1 == d2)
        :: a1 != a2 -> seen_half_way = true; permit = true; break
        od
}
