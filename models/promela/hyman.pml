// expect: violation=assertion states=96 transitions=183
/*
 * Hyman's mutual exclusion for two processes, which was published in 1966
 * as a simplification of Dijkstra's algorithm (H. Hyman, Communications of
 * the ACM) and is wrong.
 *
 * The bug: a process can wait for its rival to go away, the rival can come
 * back and enter, and only then does the first one take the turn and enter
 * too.  It shows as a violation of assert(inside == 1).
 */
bool want[2];
bit turn;
byte inside;

active [2] proctype user()
{
        do
        :: want[_pid] = true;
           do
           :: turn == _pid -> break
           :: else ->
              !want[1 - _pid];
              turn = _pid       /* the rival may be inside by now */
           od;

           inside++;
           assert(inside == 1);
           inside--;

           want[_pid] = false
        od
}
