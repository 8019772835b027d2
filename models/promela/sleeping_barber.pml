// expect: holds states=1754 transitions=5069
/*
 * The sleeping barber (E. W. Dijkstra, 1965).  One barber, a few chairs to
 * wait on; a customer who finds all chairs taken goes away.
 *
 * Checked: the counter of waiting customers never exceeds the chairs, the
 * barber never cuts thin air, and nobody waits forever (no deadlock).
 */
#ifndef CHAIRS
#define CHAIRS 2
#endif
#ifndef CUSTOMERS
#define CUSTOMERS 3
#endif

byte customers;         /* semaphore: customers ready for the barber */
byte barber;            /* semaphore: the barber is ready */
byte done;              /* semaphore: a haircut is finished */
bool mutex = true;      /* protects `waiting` */
byte waiting;
byte in_shop;           /* customers sitting in the shop, for the check */

inline down(s) { atomic { s > 0 -> s-- } }
inline lock()  { atomic { mutex -> mutex = false } }

active proctype barber_shop()
{
        do
        :: down(customers);     /* sleeps when there is nobody */
           lock();
           waiting--;
           mutex = true;
           barber++;
           assert(in_shop > 0);
           done++
        od
}

active [CUSTOMERS] proctype customer()
{
        do
        :: lock();
           if
           :: waiting < CHAIRS ->
              waiting++;
              assert(waiting <= CHAIRS);
              in_shop++;
              customers++;
              mutex = true;
              down(barber);
              down(done);
              in_shop--
           :: else ->           /* full: come back another day */
              mutex = true
           fi
        od
}
