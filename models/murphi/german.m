-- expect: holds states=53298 rules=212112 canonical=4813
-- S. German's cache coherence: a directory lends a line to nodes, shared or
-- exclusive, over three channels of one place for each node. With data, as in
-- C.-T. Chou, P. K. Mannava, S. Park: A simple method for parameterized
-- verification of cache coherence protocols. FMCAD 2004.

const
  nodes: 3;
  values: 2;

type
  node: scalarset(nodes);
  value: scalarset(values);
  access: enum { invalid, shared, exclusive };
  request: enum { no_request, ask_shared, ask_exclusive };
  order: enum { no_order, take_shared, take_exclusive, give_up };

  station: record
    access: access;
    data: value;
    -- Channel 1, to the directory.
    request: request;
    -- Channel 2, from the directory; only grants carry data.
    order: order;
    granted: value;
    -- Channel 3, to the directory; data if the line was exclusive.
    gave_up: boolean;
    returned: value;
  end;

var
  at: array [node] of station;

  memory: value;
  -- To whom the line is lent, and if that is exclusively.
  lent: array [node] of boolean;
  lent_exclusively: boolean;
  -- Whom the directory still has to call back for the request it serves.
  to_call: array [node] of boolean;
  serving: request;
  client: node;

  -- The value stored last: no part of the protocol.
  latest: value;

procedure grant(var borrower: station; how: order);
begin
  assert borrower.order = no_order "channel 2 is occupied";
  borrower.order := how;
  borrower.granted := memory;
end;

procedure stop_serving();
begin
  serving := no_request;
  undefine client;
end;

ruleset v: value do
  startstate "nothing is lent"
  begin
    undefine at;
    for n: node do
      at[n].access := invalid;
      at[n].request := no_request;
      at[n].order := no_order;
      at[n].gave_up := false;
      lent[n] := false;
      to_call[n] := false;
    end;
    lent_exclusively := false;
    stop_serving();
    memory := v;
    latest := v;
  end;
end;

ruleset n: node do
  alias me: at[n] do

    rule "ask for a shared line"
      me.request = no_request & me.access = invalid ==>
    begin
      me.request := ask_shared;
    end;

    rule "ask for an exclusive line"
      me.request = no_request & me.access != exclusive ==>
    begin
      me.request := ask_exclusive;
    end;

    ruleset v: value do
      rule "store"
        me.access = exclusive ==>
      begin
        me.data := v;
        latest := v;
      end;
    end;

    rule "take what is granted"
      me.order = take_shared | me.order = take_exclusive ==>
    begin
      me.access := me.order = take_shared ? shared : exclusive;
      me.data := me.granted;
      me.order := no_order;
      undefine me.granted;
    end;

    rule "give up the line"
      me.order = give_up & !me.gave_up ==>
    begin
      me.order := no_order;
      me.gave_up := true;
      if me.access = exclusive then
        me.returned := me.data;
      end;
      me.access := invalid;
      undefine me.data;
    end;

    rule "directory: begin to serve"
      serving = no_request & me.request != no_request ==>
    begin
      serving := me.request;
      client := n;
      me.request := no_request;
      for m: node do
        to_call[m] := lent[m] & (lent_exclusively | serving = ask_exclusive);
      end;
    end;

    rule "directory: call a line back"
      to_call[n] & me.order = no_order ==>
    begin
      me.order := give_up;
      to_call[n] := false;
    end;

    rule "directory: a line is back"
      me.gave_up ==>
    begin
      me.gave_up := false;
      lent[n] := false;
      if lent_exclusively then
        memory := me.returned;
        lent_exclusively := false;
        undefine me.returned;
      end;
    end;

    rule "directory: grant a shared line"
      serving = ask_shared & client = n & !lent_exclusively
        & me.order = no_order ==>
    begin
      grant(me, take_shared);
      lent[n] := true;
      stop_serving();
    end;

    rule "directory: grant an exclusive line"
      serving = ask_exclusive & client = n & me.order = no_order
        & forall m: node do !lent[m] end ==>
    begin
      grant(me, take_exclusive);
      lent[n] := true;
      lent_exclusively := true;
      stop_serving();
    end;

  end;
end;

invariant "exclusive is exclusive"
  forall n: node do
    at[n].access = exclusive ->
      forall m: node do n = m | at[m].access = invalid end
  end;

invariant "the directory knows who has the line"
  forall n: node do at[n].access != invalid -> lent[n] end;

invariant "nobody has an old value"
  forall n: node do at[n].access != invalid -> at[n].data = latest end;

invariant "memory is old only while the line is exclusive"
  !lent_exclusively -> memory = latest;

cover "all share"
  forall n: node do at[n].access = shared end;
