// expect: violation=assertion states=429 transitions=733
/*
 * The classic race: two tellers add to the same account, each by reading
 * the balance, computing, and writing it back.
 *
 * The bug: an update is lost when both read before either writes.  The
 * auditor waits until it is the only process left and then finds too
 * little money: an assertion violation.
 */
#ifndef DEPOSITS
#define DEPOSITS 2
#endif

byte balance;

proctype teller()
{
        byte seen, done;

        do
        :: done < DEPOSITS ->
           seen = balance;
           balance = seen + 1;
           done++
        :: done == DEPOSITS -> break
        od
}

init
{
        atomic { run teller(); run teller() }
        _nr_pr == 1;
        assert(balance == 2 * DEPOSITS)
}
