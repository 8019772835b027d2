// expect: holds states=220 transitions=327
/*
 * The many ways to look at a channel.
 *
 *      q ? x, y        receive into variables
 *      q ? K, y        receive only if the first field is the constant K
 *      q ? eval(x), y  receive only if the first field equals variable x
 *      q ? [K, _]      could we receive?  Takes nothing, has no effect.
 *      q ? <x, y>      copy the first message and leave it in the channel
 *      q ? _, y        throw a field away
 *      q ?? K, y       the first message that matches, wherever it is
 *
 * Checked: what each of them promises, on a queue filled in all orders.
 */
mtype = { apple, pear, plum };

chan q = [3] of { mtype, byte };

active proctype filler()
{
        bool a, p, l;

        do
        :: !a -> atomic { q ! apple, 1; a = true }
        :: !p -> atomic { q ! pear, 2; p = true }
        :: !l -> atomic { q ! plum, 3; l = true }
        :: else -> break
        od
}

active proctype tester()
{
        mtype kind, again;
        byte n, m;

        full(q);
        assert(len(q) == 3 && nempty(q));

        /* a copy leaves the queue as it is */
        q ? <kind, n>;
        assert(len(q) == 3);

        /* a poll agrees with the copy and changes nothing */
        assert((kind == apple) == q ? [apple, _]);
        assert((kind == plum) == q ? [plum, 3]);
        assert(q ?? [pear, _]);
        assert(len(q) == 3);

        /* receive what matches a variable: this must be the first message */
        q ? eval(kind), m;
        assert(m == n && nempty(q));

        /* random receive: a plum is somewhere, unless it was the first */
        if
        :: kind != plum ->
           q ?? plum, m;
           assert(m == 3)
        :: else -> q ?? pear(m); assert(m == 2)
        fi;

        /* one message is left */
        if
        :: q ? apple, n -> assert(n == 1)
        :: q ? pear, n -> assert(n == 2)
        :: q ? again, _ -> assert(again != plum)
        fi;
        assert(empty(q))
}
