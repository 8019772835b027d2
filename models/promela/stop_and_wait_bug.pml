// expect: violation=assertion states=4660 transitions=10184
/*
 * Stop-and-wait over a lossy channel, where frames carry an alternating
 * bit but the acknowledgements carry nothing.
 *
 * The bug: after a frame was sent twice, its second acknowledgement is
 * taken for the acknowledgement of the next frame.  When that next frame
 * was lost, nobody notices: an item is missing, and the receiver's
 * assertion fails.
 */
#define ITEMS 4

mtype = { ACK };

chan data = [1] of { bit, byte };       /* sequence bit, item */
chan acks = [2] of { mtype };

active proctype sender()
{
        bit current;
        byte item;

        do
        :: if
           :: data ! current, item
           :: skip                              /* the frame is lost */
           fi;
           if
           :: acks ? ACK ->                     /* but which frame is it for? */
              current = 1 - current;
              item = (item + 1) % ITEMS
           :: skip                              /* time out: send it again */
           fi
        od
}

active proctype receiver()
{
        bit current, b;
        byte item, expected;

        do
        :: data ? b, item ->
           if
           :: b == current ->
              assert(item == expected);
              expected = (expected + 1) % ITEMS;
              current = 1 - current
           :: else
           fi;
           acks ! ACK
        od
}
