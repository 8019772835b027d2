// expect: holds states=3341 transitions=8777
/*
 * Clients and a server that meet over rendezvous channels.  A client puts
 * the channel for the answer into its request, so the server needs to know
 * nothing about its clients.
 *
 * Checked: everybody gets the answer to its own question.  The server may
 * wait for ever for another request, which its end label allows.
 */
#ifndef CLIENTS
#define CLIENTS 3
#endif

mtype = { ask, answer };

chan requests = [0] of { mtype, byte, chan };   /* kind, question, reply to */

active proctype server()
{
        chan reply_to;
        byte question;

end:    do
        :: requests ? ask(question, reply_to) ->
           reply_to ! answer(question * question)
        od
}

active [CLIENTS] proctype client()
{
        chan mine = [0] of { mtype, byte };
        byte result, rounds;

        do
        :: rounds < 2 ->
           requests ! ask(_pid + rounds, mine);
           mine ? answer(result);
           assert(result == (_pid + rounds) * (_pid + rounds));
           rounds++
        :: else -> break
        od
}
