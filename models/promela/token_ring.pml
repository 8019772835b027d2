// expect: holds states=10341 transitions=27394
/*
 * A token ring: the station that holds the token may send one message to
 * any other station; the message travels round the ring and is taken off
 * by the station that sent it, which then passes the token on.
 *
 * Checked: there is never more than one sender at a time, and a message
 * comes back to its sender with the mark that it was copied.
 */
#ifndef N
#define N 3
#endif

mtype = { token, message };

typedef Frame {
        byte from;
        byte to;
        bool copied
}

chan link[N] = [1] of { mtype, Frame };
byte senders;

proctype station(byte me)
{
        Frame f;
        byte to;
        chan in  = link[me];
        chan out = link[(me + 1) % N];

        do
        :: in ? token, f ->
           select (to : 0 .. N-1);
           if
           :: to != me ->
              senders++;
              assert(senders == 1);
              f.from = me; f.to = to; f.copied = false;
              out ! message, f
           :: else -> out ! token, f            /* nothing to send */
           fi;
           to = 0; f.from = 0; f.to = 0; f.copied = false
        :: in ? message, f ->
           if
           :: f.from == me ->
              assert(f.copied);
              senders--;
              f.from = 0; f.to = 0; f.copied = false;
              out ! token, f
           :: f.to == me ->
              f.copied = true;
              out ! message, f
           :: else -> out ! message, f
           fi;
           f.from = 0; f.to = 0; f.copied = false
        od
}

init
{
        byte i;
        Frame empty_frame;

        atomic {
                for (i : 0 .. N-1) { run station(i) }
                i = 0;
                link[0] ! token, empty_frame
        }
}
