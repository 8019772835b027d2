// expect: holds states=397 transitions=434
/*
 * A short file is sent in numbered chunks over a lossy channel.  The
 * sender repeats a chunk when `timeout` says that nothing else in the whole
 * system can move, that is, when something must have been lost.  The
 * channel loses at most LOSSES messages, so that the transfer ends.
 *
 * Checked: the file arrives complete and in order, the sender terminates,
 * and the receiver may rest at its end label (a valid end state).
 */
#ifndef CHUNKS
#define CHUNKS 5
#endif
#ifndef LOSSES
#define LOSSES 3
#endif

mtype = { chunk, ok };

chan line_in  = [1] of { mtype, byte };
chan line_out = [1] of { mtype, byte };
chan back     = [1] of { mtype, byte };

byte lost;
byte written;           /* chunks that the receiver has written */

active proctype sender()
{
        byte n;

        do
        :: n < CHUNKS ->
           line_in ! chunk(n);
           do
           :: back ? ok(eval(n)) -> break       /* only this number matches */
           :: timeout -> line_in ! chunk(n)
           od;
           n++
        :: else -> break
        od;
        assert(written == CHUNKS);
        printf("done, %d lost\n", lost)
}

active proctype line()
{
        byte n;
end:
        do
        :: line_in ? chunk(n) ->
           if
           :: line_out ! chunk(n)
           :: lost < LOSSES -> lost++
           fi
        od
}

active proctype receiver()
{
        byte n;
end_idle:
        do
        :: line_out ? chunk(n) ->
           if
           :: n == written -> written++
           :: else -> assert(n + 1 == written)  /* a repetition */
           fi;
           if
           :: back ! ok(n)
           :: lost < LOSSES -> lost++
           fi
        od
}
