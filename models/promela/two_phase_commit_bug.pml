// expect: violation=assertion states=1511 transitions=3834
/*
 * Two-phase commit (J. Gray, 1978) with a well-meant mistake.
 *
 * The bug: a participant that has voted yes and hears nothing for a while
 * aborts on its own, although the coordinator may already have decided to
 * commit.  It shows as an assertion violation: one participant has
 * committed and another one has aborted.
 */
#ifndef N
#define N 2
#endif

mtype = { yes, no, commit, abort };

chan vote_box        = [N] of { mtype };
chan verdict_for[N]  = [1] of { mtype };

bool committed, aborted;        /* has anybody? */

active [N] proctype participant()
{
        if
        :: vote_box ! no; goto give_up
        :: vote_box ! yes
        fi;

        if
        :: verdict_for[_pid] ? commit ->
           committed = true;
           goto finished
        :: verdict_for[_pid] ? abort
        :: skip                         /* the bug: not allowed after a yes */
        fi;
give_up:
        aborted = true;
finished:
        assert(!(committed && aborted))
}

active proctype coordinator()
{
        mtype vote, verdict = commit;
        byte i;

        for (i : 1 .. N) {
                vote_box ? vote;
                if
                :: vote == no -> verdict = abort
                :: else
                fi
        }
        for (i : 0 .. N-1) {
                verdict_for[i] ! verdict
        }
}
