// expect: holds states=29357 transitions=60077
/*
 * Snark, the deque of D. Detlefs, C. Flood, A. Garthwaite, P. Martin,
 * N. Shavit and G. Steele ("Even better DCAS-based concurrent deques", 2000):
 * a doubly linked list whose ends, the hats, are moved by DCAS, a
 * compare-and-swap of two words at once.  An end is empty if the node under
 * its hat points to itself there, as the dummy node does, and as a node does
 * that was popped from the other end.
 *
 * S. Doherty et al. ("DCAS is not a silver bullet for nonblocking algorithm
 * design", 2004) found it wrong in two ways when they tried to prove it
 * correct.  Both come from pops that were held up while the others went on:
 * a value can be popped twice, for which it takes three threads, and a pop
 * can find the deque empty when it was not, for which two will do.
 *
 * Each thread does PUSHES pushes and POPS pops in any order, at any end;
 * with -DROLES the first thread has all the pushes and the others the pops.
 * The ends mirror each other, so that push and pop are written once.  Every
 * step has one access to what is shared.  Memory is collected: every push
 * has a node of its own, which is also the value pushed.
 *
 * Checked: no value is popped twice.  With -DEMPTY also: a pop that finds
 * nothing has not run while there was something all the time.  For that,
 * pushes completed less other pops begun, but for those that have found
 * nothing, are never more than are in the deque.
 *
 *   -DROLES -DEMPTY -DPUSHES=4 -DPOPS=4        78,259 states, holds
 *   -DPUSHES=2                              1,296,439 states, holds
 *   -DPUSHES=3                             24,146,117 states, holds
 *   -DPUSHES=3 -DPOPS=3                   159,083,380 states, holds
 *   -DEMPTY                                empty when it was not
 *   -DTHREADS=3                            popped twice, found soon
 *   -DTHREADS=3 -DPUSHES=3                 popped twice, hard to find
 *
 * The last one, of some 2 * 10^9 states by an estimate, is for swarms: 230
 * million states in depth-first order are without a violation, while 31 of
 * 1,000 searches in random order, with one bit for each state in an arena of
 * 2^20 bits, have found one.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef PUSHES
#define PUSHES 1
#endif
#ifndef POPS
#define POPS 2
#endif

#define NODES   (1 + THREADS * PUSHES)
#define DUMMY   0

#define HAT     hat[side]
#define OTHER   hat[1 - side]
#define NEAR(n) link[side * NODES + (n)]        /* pointer towards our end */
#define FAR(n)  link[(1 - side) * NODES + (n)]  /* and away from it */

byte hat[2] = DUMMY;            /* the end nodes: left, right */
byte link[2 * NODES] = DUMMY;   /* pointers of the nodes: left, right */
bool popped[NODES];

#ifdef EMPTY
byte pushed;                    /* pushes completed */
byte popping;                   /* pops begun, but for those that found nothing */
bool some[THREADS];             /* has there been a value all along this pop? */
#endif

inline begin_pop()
{
#ifdef EMPTY
        popping++;
        if
        :: pushed >= popping -> some[me] = true
        :: else ->
           for (side : 0 .. THREADS - 1) {
                some[side] = false
           }
           side = 0
        fi
#else
        skip
#endif
}

inline nothing()
{
#ifdef EMPTY
        assert(!some[me]);
        popping--
#else
        skip
#endif
}

inline take()
{
        assert(!popped[end]);
        popped[end] = true
}

inline end_push()
{
        node++;
        pushes--;
        end = 0;
        next = 0;
        side = 0;
#ifdef EMPTY
        pushed++
#endif
}

inline end_pop()
{
        pops--;
        end = 0;
        next = 0;
        side = 0;
#ifdef EMPTY
        some[me] = false
#endif
}

proctype thread(byte me, pushes, pops)
{
        byte node = 1 + me * PUSHES;    /* the next one to push */
        byte side;
        byte end;               /* the node that was at our end */
        byte next;              /* where it pointed to, or the other end */

        do
        :: pushes > 0 ->
           if
           :: side = 0
           :: side = 1
           fi;
           do
           :: end = HAT;
              if
              :: d_step { NEAR(end) == end -> FAR(node) = DUMMY }
                 next = OTHER;
                 if
                 :: d_step {
                         HAT == end && OTHER == next ->
                         HAT = node;
                         OTHER = node;
                         end_push()
                    }
                    break
                 :: else
                 fi
              :: d_step { NEAR(end) != end -> next = NEAR(end); FAR(node) = end }
                 if
                 :: d_step {
                         HAT == end && NEAR(end) == next ->
                         HAT = node;
                         NEAR(end) = node;
                         end_push()
                    }
                    break
                 :: else
                 fi
              fi
           od
        :: d_step { pops > 0 -> begin_pop() }
           if
           :: side = 0
           :: side = 1
           fi;
           do
           :: end = HAT;
              next = OTHER;
              if
              :: d_step { NEAR(end) == end -> nothing(); end_pop() }
                 break
              :: NEAR(end) != end && end == next ->     /* the only node */
                 if
                 :: d_step {
                         HAT == end && OTHER == next ->
                         HAT = DUMMY;
                         OTHER = DUMMY;
                         take();
                         end_pop()
                    }
                    break
                 :: else
                 fi
              :: NEAR(end) != end && end != next ->
                 next = FAR(end);
                 if
                 :: d_step {
                         HAT == end && FAR(end) == next ->
                         HAT = next;
                         FAR(end) = end;
                         take();
                         next = 0
                    }
                    d_step { NEAR(end) = DUMMY; end_pop() }
                    break
                 :: else
                 fi
              fi
           od
        :: pushes == 0 && pops == 0 ->
           break
        od
}

init
{
        byte i;

        atomic {
                for (i : 0 .. THREADS - 1) {
#ifdef ROLES
                        run thread(i, (i == 0 -> PUSHES : 0), (i == 0 -> 0 : POPS))
#else
                        run thread(i, PUSHES, POPS)
#endif
                }
        }
}
