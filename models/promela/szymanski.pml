// expect: holds states=805 transitions=1776
/*
 * Szymanski's first-come-first-served mutual exclusion
 * (B. K. Szymanski, 1988).  Think of a waiting room with an entrance and an
 * exit door: a group gathers inside while the entrance is open, the last
 * one in closes it, the group is served in the order of the process
 * numbers, and the last one out opens the entrance again.
 *
 * A test over all flags is one step here (a guard is evaluated at once).
 * Checked: at most one process is in the critical section.
 */
#define OUTSIDE   0     /* not interested */
#define AT_DOOR   1     /* wants to enter the waiting room */
#define GATHERING 2     /* inside, waits for those still at the door */
#define ENTERING  3     /* standing in the entrance */
#define CLOSED    4     /* inside, the entrance is closed */

byte flag[3];
byte inside;

#define ALL(c0, c1, c2)   ((c0) && (c1) && (c2))

active [3] proctype user()
{
        do
        :: flag[_pid] = AT_DOOR;
           ALL(flag[0] < ENTERING, flag[1] < ENTERING, flag[2] < ENTERING);
           flag[_pid] = ENTERING;
           if
           :: flag[0] == AT_DOOR || flag[1] == AT_DOOR || flag[2] == AT_DOOR ->
              flag[_pid] = GATHERING;
              (flag[0] == CLOSED || flag[1] == CLOSED || flag[2] == CLOSED)
           :: else
           fi;
           flag[_pid] = CLOSED;
           /* those with a lower number go first */
           ALL(_pid <= 0 || flag[0] < GATHERING,
               _pid <= 1 || flag[1] < GATHERING,
               true);

           inside++;
           assert(inside == 1);
           inside--;

           /* make sure that the others have seen that the door is closed */
           ALL(true,
               _pid >= 1 || flag[1] < GATHERING || flag[1] == CLOSED,
               _pid >= 2 || flag[2] < GATHERING || flag[2] == CLOSED);
           flag[_pid] = OUTSIDE
        od
}
