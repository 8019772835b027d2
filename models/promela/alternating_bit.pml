// expect: holds states=1394 transitions=3403
/*
 * The alternating bit protocol (K. A. Bartlett, R. A. Scantlebury and
 * P. T. Wilkinson, 1969): messages and acknowledgements carry one bit, and
 * both channels may lose anything.  The sender may send again at any time,
 * also too early.
 *
 * Checked: the receiver gets every item once and in the right order.  The
 * items are a stream of numbers modulo ITEMS.
 */
#ifndef ITEMS
#define ITEMS 4
#endif

chan to_receiver = [2] of { bit, byte };        /* bit, item */
chan to_sender   = [2] of { bit };              /* bit */

active proctype sender()
{
        bit current, b;
        byte item;

        do
        :: to_receiver ! current, item          /* send, or send again */
        :: to_sender ? b ->
           if
           :: b == current ->                   /* acknowledged: go on */
              current = !current;
              item = (item + 1) % ITEMS
           :: else                              /* an old acknowledgement */
           fi
        od
}

active proctype receiver()
{
        bit current, b;
        byte item, expected;

        do
        :: to_receiver ? b, item ->
           if
           :: b == current ->
              assert(item == expected);
              expected = (expected + 1) % ITEMS;
              current = !current
           :: else                              /* a copy of the last one */
           fi;
           if
           :: to_sender ! b                     /* acknowledge what came */
           :: skip                              /* acknowledgement lost */
           fi
        :: to_receiver ? _, _                   /* the message was lost */
        od
}
