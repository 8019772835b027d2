// expect: holds states=48270 transitions=90544
/*
 * Records: a small warehouse.  Typedefs may contain arrays and other
 * typedefs, arrays of typedefs are fine too, and a typedef without arrays
 * may travel in a message as a whole.
 *
 * Checked: nothing gets lost between the shelves and the orders, and a
 * record arrives as it was sent.
 */
#define GOODS  2
#define STOCK  3

typedef Date {
        byte day;
        byte month
}

typedef Order {
        byte item;
        byte count;
        Date due                /* a typedef inside a typedef */
}

typedef Shelf {
        byte pieces[GOODS];     /* an array inside a typedef */
        Date checked
}

Shelf shelf[2];                         /* an array of typedefs */
byte shipped[GOODS];

chan orders = [2] of { mtype, Order };  /* a typedef inside a message */

mtype = { normal, express };

active proctype shop()
{
        Order o;
        mtype kind;
        byte n, k;

        for (n : 1 .. 3) {
                atomic {
                        select (k : 0 .. GOODS-1);
                        o.item = k;
                        select (k : 1 .. 2);
                        o.count = k;
                        o.due.day = 10 * n;
                        o.due.month = n + o.item;
                        if
                        :: kind = normal
                        :: kind = express
                        fi
                }
                orders ! kind, o
        }
}

inline ship(where, what, many)
{
        shelf[where].pieces[what] = shelf[where].pieces[what] - many;
        shipped[what] = shipped[what] + many
}

active proctype warehouse()
{
        Order o;
        mtype kind;
        byte s;

        atomic {
                for (s : 0 .. 1) {
                        shelf[s].pieces[0] = STOCK;
                        shelf[s].pieces[1] = STOCK;
                        shelf[s].checked.day = 1 + s
                }
                s = 0
        }

end:    do
        :: orders ? kind, o ->
           assert(o.due.day == 10 * (o.due.month - o.item));
           s = (kind == express -> 0 : 1);
           if
           :: shelf[s].pieces[o.item] >= o.count -> ship(s, o.item, o.count)
           :: else -> printf("order for %d of item %d refused\n", o.count, o.item)
           fi;
           shelf[s].checked.month = o.due.month;
           assert(shelf[0].pieces[o.item] + shelf[1].pieces[o.item]
                  + shipped[o.item] == 2 * STOCK)
        od
}
