// expect: holds states=160 transitions=281
/*
 * A railway crossing with two tracks.  A sensor reports a train that comes
 * near and one that has left; the controller lowers the gate and shows a
 * train the green signal only when the gate is down, and raises the gate
 * when no train is left.
 *
 * Checked: whenever a train is on the crossing, the gate is down.
 */
#define TRACKS 2

mtype:event = { near, left };
mtype:order = { lower, raise };
mtype:gate  = { up, moving, down };

chan sensor      = [0] of { mtype:event, byte };
chan gate_motor  = [0] of { mtype:order };
chan gate_report = [0] of { mtype:gate };

mtype:gate gate = up;
bool green[TRACKS];
byte crossing;          /* trains on the crossing */

active [TRACKS] proctype train()
{
        byte track = _pid;

        do
        :: sensor ! near(track);
           green[track];                        /* wait for the signal */
           crossing++;
           assert(gate == down);
           crossing--;
           sensor ! left(track)
        od
}

active proctype gate_process()
{
        do
        :: gate_motor ? lower -> gate = moving; gate = down; gate_report ! down
        :: gate_motor ? raise -> gate = moving; gate = up;   gate_report ! up
        od
}

active proctype controller()
{
        byte t, trains;

        do
        :: sensor ? near(t) ->
           if
           :: trains == 0 -> gate_motor ! lower; gate_report ? down
           :: else
           fi;
           trains++;
           green[t] = true
        :: sensor ? left(t) ->
           green[t] = false;
           trains--;
           if
           :: trains == 0 -> gate_motor ! raise; gate_report ? up
           :: else
           fi
        od
}
