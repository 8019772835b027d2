// expect: holds states=28476 transitions=68239
/*
 * Producer and consumer with a bounded buffer and counting semaphores
 * (E. W. Dijkstra, 1965).  Two producers and one consumer share a ring of
 * SLOTS places; `empty_slots` and `full_slots` count, `mutex` protects the
 * indices.
 *
 * Checked: the items of each producer arrive complete and in order (an
 * item carries its producer and a running number modulo 3).
 */
#ifndef SLOTS
#define SLOTS 2
#endif

#define P(s)  atomic { (s > 0) -> s-- }
#define V(s)  s++

typedef Item {
        bit owner;
        byte number
}

Item ring[SLOTS];
byte in, out;
byte empty_slots = SLOTS;
byte full_slots;
byte mutex = 1;

active [2] proctype producer()
{
        byte number;

        do
        :: P(empty_slots);
           P(mutex);
           ring[in].owner = _pid;
           ring[in].number = number;
           in = (in + 1) % SLOTS;
           V(mutex);
           V(full_slots);
           number = (number + 1) % 3
        od
}

active proctype consumer()
{
        byte expected[2];
        Item item;

        do
        :: P(full_slots);
           P(mutex);
           item.owner = ring[out].owner;
           item.number = ring[out].number;
           out = (out + 1) % SLOTS;
           V(mutex);
           V(empty_slots);
           assert(item.number == expected[item.owner]);
           expected[item.owner] = (expected[item.owner] + 1) % 3
        od
}
