-- expect: holds states=56 rules=132
-- Clients ask a server that hands out one ticket at a time, over a network
-- that may reorder messages: a multiset. Rumur has none; the numbers are those
-- of a model that counts the messages of each kind.

const
  clients: 3;
  capacity: 2 * clients;

type
  client: scalarset(clients);
  server: enum { the_server };
  station: union { client, server };
  content: enum { ask, grant, give_back };
  message: record
    content: content;
    from, dest: station;
  end;
  place: enum { away, waiting, inside };

var
  net: multiset [capacity] of message;
  at: array [client] of place;
  free: boolean;

procedure send(what: content; from: station; dest: station);
var
  m: message;
begin
  m.content := what;
  m.from := from;
  m.dest := dest;
  multisetadd(m, net);
end;

startstate
begin
  undefine net;
  for c: client do
    at[c] := away;
  end;
  free := true;
end;

ruleset c: client do

  rule "ask"
    at[c] = away ==>
  begin
    at[c] := waiting;
    send(ask, c, the_server);
  end;

  rule "give back"
    at[c] = inside ==>
  begin
    at[c] := away;
    send(give_back, c, the_server);
  end;

end;

choose i: net do
  alias m: net[i] do

    rule "the server receives"
      ismember(m.dest, server) & (m.content = give_back | free) ==>
    begin
      if m.content = ask then
        free := false;
        send(grant, the_server, m.from);
      else
        free := true;
      end;
      multisetremove(i, net);
    end;

    rule "a client receives"
      ismember(m.dest, client) ==>
    begin
      assert m.content = grant;
      at[m.dest] := inside;
      multisetremove(i, net);
    end;

  end;
endchoose;

invariant "one inside"
  forall a: client do
    forall b: client do
      a = b | at[a] != inside | at[b] != inside
    end
  end;

invariant "one ticket"
  multisetcount(i: net, net[i].content = grant) <= 1;
