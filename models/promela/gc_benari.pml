// expect: holds states=9559 transitions=34778
/*
 * Garbage collection on the fly, by two colours (M. Ben-Ari, "Algorithms for
 * on-the-fly garbage collection", 1984), in the steps in which K. Havelund
 * verified it ("Mechanical verification of a garbage collector", 1999).
 *
 * The memory has NODES nodes of SONS pointers each, and the first ROOTS of
 * them are roots.  A node that is reached from a root is accessible.  The
 * mutator makes any pointer point to any accessible node, and then blackens
 * that node.  The collector blackens the roots, blackens the sons of black
 * nodes, and counts the black ones, until their number stays the same.  Then
 * it appends what is white to the free list, and whitens the rest.
 *
 * The free list begins at the first pointer of node 0.  What is appended is
 * put at the front.
 *
 * Checked: no accessible node is appended to the free list.
 *
 *   -DNODES=4                 231,707 states
 *   -DNODES=3 -DSONS=2        326,361 states
 *   -DNODES=5               7,589,802 states
 *   -DNODES=3 -DSONS=3     10,202,485 states
 *   -DNODES=4 -DSONS=2     80,922,264 states
 *   -DNODES=6             some 3 * 10^8, by an estimate
 *
 * With -DFLAW the mutator blackens the node before it makes the pointer point
 * to it, which was once thought to be as good.  That takes four nodes to go
 * wrong: -DFLAW holds for -DNODES=3 and also with -DSONS=2, -DNODES=4 fails.
 */
#ifndef NODES
#define NODES 3
#endif
#ifndef SONS
#define SONS 1
#endif
#ifndef ROOTS
#define ROOTS 1
#endif

#define SON(n, s)       son[(n) * SONS + (s)]
#define ACCESSIBLE(n)   ((accessible >> (n)) & 1)

byte son[NODES * SONS];
bool black[NODES];
short accessible = (1 << ROOTS) - 1;    /* always that of son: a set of nodes */

/* Takes three variables, and leaves them 0. */
inline find_accessible(old, n, s)
{
        accessible = (1 << ROOTS) - 1;
        do
        :: old != accessible ->
           old = accessible;
           for (n : 0 .. NODES - 1) {
                if
                :: ACCESSIBLE(n) ->
                   for (s : 0 .. SONS - 1) {
                        accessible = accessible | (1 << SON(n, s))
                   }
                :: else
                fi
           }
        :: else -> break
        od;
        old = 0;
        n = 0;
        s = 0
}

inline redirect()
{
        son[cell] = target;
        cell = 0;
        find_accessible(before, n, cell)
}

active proctype mutator()
{
        byte cell, target, n;
        short before;

        do
        :: atomic {
                do
                :: cell < NODES * SONS - 1 -> cell++
                :: break
                od;
                target = NODES - 1;
                do
                :: target > 0 -> target--
                :: ACCESSIBLE(target) -> break  /* as node 0 always is */
                od;
#ifdef FLAW
                black[target] = true
           }
           d_step { redirect(); target = 0 }
#else
                d_step { redirect() }
           }
           d_step { black[target] = true; target = 0 }
#endif
        od
}

active proctype collector()
{
        byte i, k;
        byte blacks, last;      /* black nodes counted: now, the last time */
        short before;

        do
        :: do
           :: i < ROOTS -> d_step { black[i] = true; i++ }
           :: i == ROOTS -> i = 0; break
           od;

           do
           :: do            /* blacken the sons of black nodes */
              :: i < NODES && black[i] ->
                 do
                 :: k < SONS -> d_step { black[SON(i, k)] = true; k++ }
                 :: d_step { k == SONS -> k = 0; i++ }
                    break
                 od
              :: i < NODES && !black[i] -> i++
              :: i == NODES -> i = 0; break
              od;

              do            /* count */
              :: d_step { i < NODES -> blacks = blacks + black[i]; i++ }
              :: i == NODES -> i = 0; break
              od;

              if
              :: d_step { blacks != last -> last = blacks; blacks = 0 }
              :: d_step { blacks == last -> last = 0; blacks = 0 }
                 break
              fi
           od;

           do               /* append what is white, whiten what is black */
           :: d_step {
                   i < NODES && !black[i] ->
                   assert(!ACCESSIBLE(i));
                   for (k : 0 .. SONS - 1) {
                        SON(i, k) = SON(0, 0)
                   }
                   SON(0, 0) = i;
                   find_accessible(before, blacks, k);
                   i++
              }
           :: d_step { i < NODES && black[i] -> black[i] = false; i++ }
           :: i == NODES -> i = 0; break
           od
        od
}
