// expect: holds states=352 transitions=385
/*
 * A counter in Gray code (F. Gray, 1953) that is read bit by bit while it
 * is being counted up and down.  Small unsigned types, bit operations and
 * a conditional expression.
 *
 * Checked: two neighbouring codes differ in exactly one bit, also where
 * the four-bit counter wraps around, and decoding gives the number back.
 */
unsigned counter : 4;
unsigned code : 4;

#define GRAY(n)    ((n) ^ ((n) >> 1))
#define ONE_BIT(x) ((x) != 0 && ((x) & ((x) - 1)) == 0)

active proctype count()
{
        unsigned before : 4;
        unsigned n : 4;
        bool up;

        do
        :: if
           :: up = true
           :: up = false
           fi;
           counter = (up -> counter + 1 : counter - 1);   /* modulo 16 */
           before = code;
           code = GRAY(counter);
           assert(ONE_BIT(before ^ code));

           n = code;                    /* decode */
           n = n ^ (n >> 2);
           n = n ^ (n >> 1);
           assert(n == counter);
           before = 0;
           n = 0
        od
}
