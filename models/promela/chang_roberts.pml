// expect: holds states=580 transitions=1070
/*
 * Leader election in a one-way ring (E. Chang and R. Roberts, 1979).
 * Every node sends its number around; a node passes on higher numbers and
 * swallows lower ones, so only the highest number makes it all the way
 * round and tells its owner that it has won.  The owner then announces the
 * result.
 *
 * Checked: exactly one leader, it is the node with the highest number, and
 * every node learns who it is.  init places the numbers in all ways.
 */
#ifndef N
#define N 3
#endif

mtype = { candidate, elected };

chan ring[N] = [N] of { mtype, byte };
byte leaders;

proctype node(byte position, number)
{
        byte n, leader;
        chan in  = ring[position];
        chan out = ring[(position + 1) % N];

        out ! candidate(number);
        do
        :: in ? candidate(n) ->
           if
           :: n > number -> out ! candidate(n)
           :: n < number                        /* swallow it */
           :: n == number ->                    /* ours came back: we have won */
              leaders++;
              assert(leaders == 1);
              out ! elected(number)
           fi
        :: in ? elected(leader) ->
           assert(leader == N);                 /* the numbers are 1..N */
           if
           :: leader != number -> out ! elected(leader)
           :: else                              /* the announcement is back */
           fi;
           break
        od
}

init
{
        bool used[N+1];
        byte i, k;

        atomic {
                for (i : 0 .. N-1) {
                        select (k : 1 .. N);
                        do
                        :: !used[k] -> break
                        :: else -> k = (k % N) + 1
                        od;
                        used[k] = true;
                        run node(i, k)
                }
        }
        _nr_pr == 1;
        assert(leaders == 1)
}
