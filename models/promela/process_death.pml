// expect: holds states=4278 transitions=14286
/*
 * Processes are born and die.  Processes die in the reverse order of their
 * birth: one that has reached its end stays, as a zombie, until all younger
 * ones are gone.  `_nr_pr` counts the ones that are left, and a new process
 * gets the lowest free number.
 *
 * Checked: the family is never larger than expected, and the counter shows
 * when everybody is gone.
 */
#ifndef DEPTH
#define DEPTH 3
#endif

byte born, ended;

proctype parent(byte generation)
{
        pid child;

        born++;
        if
        :: generation < DEPTH ->
           child = run parent(generation + 1);
           assert(child > _pid)
        :: generation < DEPTH ->
           child = run parent(generation + 1);
           child = run parent(DEPTH)
        :: skip                                 /* no children */
        fi;
        ended++
}

init
{
        pid first, again;

        first = run parent(1);
        assert(first == 1);
        _nr_pr == 1;                            /* wait until all have died */
        assert(born == ended);

        again = run parent(DEPTH);
        assert(again == first);                 /* the number is used again */
        _nr_pr == 1;
        assert(born == ended)
}
