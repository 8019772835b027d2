// expect: violation=assertion states=52 transitions=97
/*
 * A broken lock: it checks that the lock is free and then sets it, as two
 * separate steps.
 *
 * The bug: both processes can see the lock free before either of them sets
 * it.  It shows as a violation of assert(inside == 1).
 * Compile with -DFIXED to make the two steps atomic.
 */
bool locked;
byte inside;

active [2] proctype user()
{
        do
        ::
#ifdef FIXED
           atomic { !locked -> locked = true }
#else
           !locked;
           locked = true;       /* too late: the other one may be here as well */
#endif
           inside++;
           assert(inside == 1);
           inside--;
           locked = false
        od
}
