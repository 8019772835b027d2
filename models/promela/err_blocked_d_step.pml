// expect: violation=blocked-d_step
/*
 * A run-time error: a d_step that blocks half way.
 *
 * The bug: a d_step must run to its end, but this one waits for the other
 * account to have enough money after it has already changed the first one.
 * An atomic sequence would be allowed to wait here.
 */
byte savings = 5;
byte current = 1;

active proctype transfer()
{
        d_step {
                savings = savings + 2;
                current >= 2;           /* false: cannot go on, nor go back */
                current = current - 2
        }
}
