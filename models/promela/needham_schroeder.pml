// expect: violation=assertion states=696 transitions=1801
/*
 * The Needham-Schroeder public key protocol (R. Needham and M. Schroeder,
 * 1978) and the attack found by G. Lowe in 1995.
 *
 *      1.  A -> B : { A, Na } encrypted for B
 *      2.  B -> A : { Na, Nb } encrypted for A
 *      3.  A -> B : { Nb } encrypted for B
 *
 * The network is in the hands of the intruder: whatever Alice and Bob send
 * goes to her, and whatever they receive comes from her.  She reads what
 * is encrypted for herself, can keep one message that she cannot read and
 * pass it on, and builds messages from the nonces that she knows.
 *
 * The bug is in the protocol: message 2 does not say who sent it.  Alice
 * talks to the intruder, who uses her answers to talk to Bob as if she were
 * Alice.  It shows as an assertion violation in Bob, who believes that
 * Alice talks to him.  With -DLOWE message 2 names its sender and the
 * attack is gone.
 */
mtype = { none, alice, bob, intruder,           /* agents, also their keys */
          nonce_a, nonce_b, nonce_i };          /* secrets */

#define AGENT(x)  (x == alice || x == bob || x == intruder)

/* message number, key, and up to three fields */
chan sent      = [0] of { byte, mtype, mtype, mtype, mtype };
chan delivered = [0] of { byte, mtype, mtype, mtype, mtype };

mtype partner_of_alice = none;  /* whom Alice talks to */

active proctype Alice()
{
        mtype nonce, name;

        if
        :: partner_of_alice = bob
        :: partner_of_alice = intruder
        fi;
        sent ! 1, partner_of_alice, alice, nonce_a, none;
end_wait:
        delivered ? 2, eval(alice), eval(nonce_a), nonce, name;
#ifdef LOWE
        if
        :: name != partner_of_alice -> goto end_stop    /* not my partner */
        :: else
        fi;
#endif
        sent ! 3, partner_of_alice, nonce, none, none;
end_stop:
        skip
}

active proctype Bob()
{
        mtype partner, nonce;

end_wait:
        delivered ? 1, eval(bob), partner, nonce, _;
        if
        :: !AGENT(partner) -> goto end_stop
        :: else
        fi;
#ifdef LOWE
        sent ! 2, partner, nonce, nonce_b, bob;
#else
        sent ! 2, partner, nonce, nonce_b, none;
#endif
end_answer:
        delivered ? 3, eval(bob), eval(nonce_b), _, _;
        /* Bob is now sure that he talks to `partner` */
        assert(partner != alice || partner_of_alice == bob);
end_stop:
        skip
}

active proctype Intruder()
{
        bool knows_a, knows_b;
        byte number;                            /* the message at hand */
        mtype key, f1, f2, f3;
        byte kept;                              /* one kept unread, 0: none */
        mtype kept_key, kept1, kept2, kept3;
        mtype n;

end_listen:
        do
        :: sent ? number, key, f1, f2, f3 ->
           atomic {
                if
                :: key == intruder ->           /* read it */
                   knows_a = knows_a || f1 == nonce_a || f2 == nonce_a;
                   knows_b = knows_b || f1 == nonce_b || f2 == nonce_b
                :: else ->
                   kept = number; kept_key = key;
                   kept1 = f1; kept2 = f2; kept3 = f3
                fi;
                number = 0; key = 0; f1 = 0; f2 = 0; f3 = 0
           }
        :: delivered ! kept, kept_key, kept1, kept2, kept3      /* replay */
        :: atomic {                             /* pick a nonce and use it */
                if
                :: n = nonce_i
                :: knows_a -> n = nonce_a
                :: knows_b -> n = nonce_b
                fi;
                if
                :: delivered ! 1, bob, alice, n, none
                :: delivered ! 1, bob, intruder, n, none
                :: delivered ! 2, alice, nonce_a, n, intruder
                :: delivered ! 3, bob, n, none, none
                :: skip
                fi;
                n = 0
           }
        od
}
