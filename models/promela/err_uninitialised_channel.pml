// expect: violation=uninitialised-channel
/*
 * A run-time error: a channel variable that was never given a channel.
 *
 * The bug: the client announces a reply channel that it has declared but
 * not initialised (it should say  chan reply = [1] of { byte }).  The
 * server fails when it sends the answer there.
 */
chan requests = [1] of { byte, chan };

active proctype client()
{
        chan reply;             /* no "= [1] of { byte }" */

        requests ! 7, reply
}

active proctype server()
{
        chan reply_to;
        byte n;

        requests ? n, reply_to;
        reply_to ! n + 1
}
