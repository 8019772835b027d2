-- expect: violation invariant
-- German's cache coherence (see german.m) without data, and with a wrong
-- optimisation: a node that shares the line keeps it while it becomes the
-- exclusive holder, and for that the directory waits only until it has called
-- all others back, not until they have answered.

const
  nodes: 3;

type
  node: scalarset(nodes);
  access: enum { invalid, shared, exclusive };
  request: enum { no_request, ask_shared, ask_exclusive };
  order: enum { no_order, take_shared, take_exclusive, give_up };

var
  held: array [node] of access;
  channel_1: array [node] of request;
  channel_2: array [node] of order;
  -- Whether there is an acknowledgement.
  channel_3: array [node] of boolean;

  lent: array [node] of boolean;
  lent_exclusively: boolean;
  to_call: array [node] of boolean;
  serving: request;
  client: node;

function may_be_exclusive(n: node): boolean;
begin
  if lent[n] & !lent_exclusively then
    -- Wrong: 'lent' would have to be asked here as well.
    return forall m: node do !to_call[m] end;
  end;
  return forall m: node do !lent[m] end;
end;

startstate "nothing is lent"
begin
  clear lent;
  clear lent_exclusively;
  clear to_call;
  clear channel_3;
  for n: node do
    held[n] := invalid;
    channel_1[n] := no_request;
    channel_2[n] := no_order;
  end;
  serving := no_request;
  undefine client;
end;

ruleset n: node do

  ruleset wish: request do
    rule "ask"
      channel_1[n] = no_request & wish != no_request
        & (held[n] = invalid | held[n] = shared & wish = ask_exclusive) ==>
    begin
      channel_1[n] := wish;
    end;
  end;

  rule "obey"
    channel_2[n] != no_order & !channel_3[n] ==>
  begin
    switch channel_2[n]
    case take_shared:
      held[n] := shared;
    case take_exclusive:
      held[n] := exclusive;
    case give_up:
      held[n] := invalid;
      channel_3[n] := true;
    end;
    channel_2[n] := no_order;
  end;

  rule "directory: begin to serve"
    serving = no_request & channel_1[n] != no_request ==>
  begin
    serving := channel_1[n];
    client := n;
    channel_1[n] := no_request;
    for m: node do
      to_call[m] := lent[m]
        & (lent_exclusively | serving = ask_exclusive & m != n);
    end;
  end;

  rule "directory: call a line back"
    to_call[n] & channel_2[n] = no_order ==>
  begin
    channel_2[n] := give_up;
    to_call[n] := false;
  end;

  rule "directory: a line is back"
    channel_3[n] ==>
  begin
    channel_3[n] := false;
    lent[n] := false;
    lent_exclusively := false;
  end;

  rule "directory: grant a shared line"
    serving = ask_shared & client = n & !lent_exclusively
      & channel_2[n] = no_order ==>
  begin
    channel_2[n] := take_shared;
    lent[n] := true;
    serving := no_request;
    undefine client;
  end;

  rule "directory: grant an exclusive line"
    serving = ask_exclusive & client = n & may_be_exclusive(n)
      & channel_2[n] = no_order ==>
  begin
    channel_2[n] := take_exclusive;
    lent[n] := true;
    lent_exclusively := true;
    serving := no_request;
    undefine client;
  end;

end;

invariant "exclusive is exclusive"
  forall n: node do
    held[n] = exclusive ->
      forall m: node do n = m | held[m] = invalid end
  end;
