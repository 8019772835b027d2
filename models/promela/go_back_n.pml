// expect: holds states=204519 transitions=461459
/*
 * Go-back-N, the sliding window protocol with a receiver that accepts only
 * the next frame in order and acknowledges cumulatively (the textbook
 * protocol; sliding windows go back to N. V. Stenning, 1976).
 *
 * At most WINDOW frames are on their way.  Frames are numbered modulo
 * WINDOW+1, which is just enough: try -DMODULUS=WINDOW to see the assertion
 * fail.  Both channels keep the order but may lose anything.
 *
 * Checked: the receiver gets every item once and in order.  The payload is
 * the position in the stream modulo ITEMS.
 */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef MODULUS
#define MODULUS (WINDOW + 1)
#endif
#define ITEMS 4

chan data = [2] of { byte, byte };      /* sequence number, payload */
chan acks = [1] of { byte };            /* next sequence number expected */

active proctype sender()
{
        byte base;              /* sequence number of the oldest open frame */
        byte item;              /* its payload */
        byte sent;              /* open frames sent, at most WINDOW */
        byte n;

        do
        :: sent < WINDOW ->
           if
           :: data ! (base + sent) % MODULUS, (item + sent) % ITEMS
           :: skip                              /* the frame is lost */
           fi;
           sent++
        :: sent > 0 ->                          /* time out: go back */
           sent = 0
        :: acks ? n ->                          /* frames before n have arrived */
           n = (n + MODULUS - base) % MODULUS;  /* how many of ours is that */
           base = (base + n) % MODULUS;
           item = (item + n) % ITEMS;
           sent = (sent > n -> sent - n : 0);
           n = 0
        od
}

active proctype receiver()
{
        byte next;              /* the sequence number to come */
        byte expected;          /* its payload */
        byte n, payload;

        do
        :: data ? n, payload ->
           if
           :: n == next ->
              assert(payload == expected);
              next = (next + 1) % MODULUS;
              expected = (expected + 1) % ITEMS
           :: else                              /* out of order: ignore it */
           fi;
           if
           :: acks ! next
           :: skip                              /* the acknowledgement is lost */
           fi
        od
}
