// expect: holds states=16807 transitions=39053
/*
 * A mailbox sorted by priority.  `!!` inserts a message in order (rank 1
 * comes first), `?` takes the first one, `??` takes the first one that
 * matches wherever it is, and `??[ ]` only asks whether there is one.
 *
 * Checked: an ordinary clerk always gets the most urgent letter there is,
 * and a letter marked `recall` can be taken out of the middle.
 */
mtype = { letter, recall };

chan mailbox = [4] of { byte, mtype };          /* rank, kind */

byte posted, handled;

active proctype office()
{
        byte rank;

        do
        :: posted < 4 ->
           select (rank : 1 .. 3);
           atomic {
                if
                :: mailbox !! rank, letter
                :: mailbox !! rank, recall
                fi;
                posted++
           }
        :: posted == 4 -> break
        od
}

active proctype clerk()
{
        byte rank;

end:    do
        :: atomic { mailbox ? rank, letter ->
                /* nothing more urgent is left behind */
                assert(rank == 1 || !(mailbox ?? [1, letter]));
                assert(rank <= 2 || !(mailbox ?? [2, letter]));
                handled++
           }
        od
}

active proctype recaller()
{
        byte rank;

end:    do
        :: mailbox ?? [_, recall] ->
           mailbox ?? rank, recall;
           handled++;
           assert(handled <= posted)
        od
}
