// expect: violation=deadlock states=37 transitions=54
/*
 * The bounded buffer with its semaphores taken in the wrong order.
 *
 * The bug: the producer takes the mutex first and then waits for an empty
 * slot.  With the buffer full it waits while holding the mutex that the
 * consumer needs to empty it: a deadlock (invalid end state).
 */
#ifndef SLOTS
#define SLOTS 2
#endif

#define P(s)  atomic { (s > 0) -> s-- }
#define V(s)  s++

byte stored;
byte empty_slots = SLOTS;
byte full_slots;
byte mutex = 1;

active proctype producer()
{
        do
        :: P(mutex);            /* should come after P(empty_slots) */
           P(empty_slots);
           stored++;
           assert(stored <= SLOTS);
           V(full_slots);
           V(mutex)
        od
}

active proctype consumer()
{
        do
        :: P(full_slots);
           P(mutex);
           assert(stored > 0);
           stored--;
           V(mutex);
           V(empty_slots)
        od
}
