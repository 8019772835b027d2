// expect: holds states=11406 transitions=36273
/*
 * Two-phase commit (J. Gray, 1978; B. Lampson and H. Sturgis).  The
 * coordinator asks everybody for a vote and decides to commit only when all
 * have voted yes; it may also lose patience and abort before all votes are
 * in.  A participant that has voted yes waits for the decision.
 *
 * Checked: the participants never disagree, and nobody commits when
 * somebody has voted no.
 */
#ifndef N
#define N 3
#endif

mtype:message  = { prepare, yes, no, commit, abort };
mtype:outcome  = { open, committed, aborted };

chan to_participant[N] = [1] of { mtype:message };
chan to_coordinator    = [N] of { mtype:message };

mtype:outcome result[N] = open;
bool voted_no;

proctype participant(byte me)
{
        to_participant[me] ? prepare;
        if
        :: to_coordinator ! yes
        :: voted_no = true; to_coordinator ! no
        fi;

        if
        :: to_participant[me] ? commit -> result[me] = committed
        :: to_participant[me] ? abort  -> result[me] = aborted
        fi
}

proctype coordinator()
{
        mtype:message vote, decision = commit;
        byte i, votes;

        for (i : 0 .. N-1) {
                to_participant[i] ! prepare
        }
        do
        :: votes == N -> break
        :: votes < N ->
           if
           :: to_coordinator ? vote ->
              votes++;
              if
              :: vote == no -> decision = abort
              :: else
              fi
           :: decision = abort; break           /* waited long enough */
           fi
        od;
        for (i : 0 .. N-1) {
                to_participant[i] ! decision
        }
}

init
{
        byte i, commits, aborts;

        atomic {
                run coordinator();
                for (i : 0 .. N-1) { run participant(i) }
        }
        _nr_pr == 1;
        d_step {
                for (i : 0 .. N-1) {
                        commits = commits + (result[i] == committed);
                        aborts  = aborts  + (result[i] == aborted)
                }
        }
        assert(commits == N || aborts == N);
        assert(commits == 0 || !voted_no)
}
