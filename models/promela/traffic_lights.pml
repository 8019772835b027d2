// expect: holds states=25 transitions=51
/*
 * Two traffic lights at a crossing, with symbolic names of two different
 * kinds (a named mtype is a type of its own since Spin 6.4.8).
 *
 * Checked: at most one road has a light that is not red, and a light goes
 * through its colours in the right order.
 */
mtype:colour = { red, green, amber };
mtype:road   = { north_south, east_west };

mtype:colour ns = red;
mtype:colour ew = red;

chan baton = [1] of { mtype:road };     /* whose turn it is */

inline change(light, from, to)
{
        assert(light == from);
        light = to;
        printf("%e\n", light)
}

proctype lights(mtype:road mine; mtype:road other)
{
        do
        :: baton ? eval(mine) ->
           if
           :: mine == north_south ->
              change(ns, red, green);
              change(ns, green, amber);
              change(ns, amber, red)
           :: mine == east_west ->
              change(ew, red, green);
              change(ew, green, amber);
              change(ew, amber, red)
           fi;
           baton ! other
        od
}

proctype camera()
{
        do
        :: assert(ns == red || ew == red)
        od
}

init
{
        atomic {
                run lights(north_south, east_west);
                run lights(east_west, north_south);
                run camera();
                if
                :: baton ! north_south
                :: baton ! east_west
                fi
        }
}
