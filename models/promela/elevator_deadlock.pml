// expect: violation=deadlock states=180 transitions=313
/*
 * An elevator with a cabin, a door and a panel that talk over rendezvous
 * channels.
 *
 * The bug: the door reports that somebody stands in it while the cabin
 * orders it to close.  Both want to send and nobody listens: a deadlock
 * (invalid end state).  With -DFIXED the cabin waits for a report first.
 */
#define TOP 2

mtype = { open, close, closed, blocked, clear };

chan door  = [0] of { mtype };
chan cabin = [0] of { mtype };
chan panel = [0] of { byte };

bool door_open;
byte floor;

active proctype passenger()
{
        byte to;

        do
        :: select (to : 0 .. TOP);
           panel ! to
        od
}

active proctype cabin_control()
{
        byte to;

        do
        :: panel ? to ->
           do
           :: floor < to -> assert(!door_open); floor++
           :: floor > to -> assert(!door_open); floor--
           :: floor == to -> break
           od;
           door ! open;
#ifdef FIXED
           do
           :: cabin ? blocked
           :: cabin ? clear -> break
           od;
#endif
           door ! close;
           cabin ? closed
        od
}

active proctype door_control()
{
        do
        :: door ? open ->
           door_open = true;
           do
           :: true -> cabin ! blocked   /* the cabin may not listen */
           :: true -> break
           od;
#ifdef FIXED
           cabin ! clear;
#endif
           door ? close;
           door_open = false;
           cabin ! closed
        od
}
