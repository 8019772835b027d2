// expect: holds states=3044 transitions=9177
/*
 * A spin lock built on the test-and-set instruction, with the usual
 * refinement of reading the lock first and trying only when it looks free
 * ("test and test-and-set").
 *
 * The instruction is an inline whose body is one d_step: it returns the
 * old value and sets the variable, and nothing can happen in between.
 * Checked: at most one process is in the critical section.
 */
#ifndef N
#define N 4
#endif

inline test_and_set(old, variable)
{
        d_step {
                old = variable;
                variable = true
        }
}

bool locked;
byte inside;

active [N] proctype user()
{
        bool was_locked;

        do
        :: do
           :: !locked ->
              test_and_set(was_locked, locked);
              if
              :: was_locked               /* somebody was faster */
              :: else -> break
              fi
           od;

           inside++;
           assert(inside == 1);
           inside--;

           locked = false
        od
}
