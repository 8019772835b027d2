-- expect: holds states=106586 rules=461752 canonical=2798
-- Caches that snoop on a bus; a line is modified, owned, exclusive, shared or
-- invalid. Each cache answers a command on the bus at its own time.
-- P. Sweazey, A. J. Smith: A class of compatible cache consistency protocols
-- and their support by the IEEE Futurebus. ISCA 1986.

const
  caches: 4;
  values: 2;

type
  cache: scalarset(caches);
  value: scalarset(values);
  line_state: enum { modified, owned, exclusive, shared, invalid };
  command: enum { nothing, fetch, fetch_to_write, upgrade, write_back };

  line: record
    state: line_state;
    data: value;
    -- What the cache wants to put on the bus.
    wanted: command;
  end;

  bus_state: record
    running: command;
    master: cache;
    answered: array [cache] of boolean;
    -- Another cache keeps a copy, and what the owner put on the bus.
    is_shared: boolean;
    supplied: value;
  end;

var
  lines: array [cache] of line;
  bus: bus_state;
  memory: value;
  -- The value stored last: no part of the protocol.
  latest: value;

function may_store(l: line): boolean;
begin
  return l.state = modified | l.state = exclusive;
end;

procedure invalidate(var l: line);
begin
  l.state := invalid;
  undefine l.data;
  switch l.wanted
  case upgrade:
    l.wanted := fetch_to_write;
  case write_back:
    l.wanted := nothing;
  end;
end;

procedure supply(l: line);
begin
  assert isundefined(bus.supplied) "two caches supply the line";
  bus.supplied := l.data;
end;

-- What a cache does about the command of another one.
procedure snoop(var l: line);
begin
  if bus.running != upgrade & (l.state = modified | l.state = owned) then
    supply(l);
  end;
  if bus.running != fetch then
    invalidate(l);
  elsif l.state != invalid then
    bus.is_shared := true;
    switch l.state
    case modified:
      l.state := owned;
    case exclusive:
      l.state := shared;
    end;
  end;
end;

procedure complete(var l: line);
begin
  if bus.running != upgrade then
    l.data := isundefined(bus.supplied) ? memory : bus.supplied;
  end;
  if bus.running != fetch then
    l.state := modified;
  else
    l.state := bus.is_shared ? shared : exclusive;
  end;
  l.wanted := nothing;
end;

procedure release_bus();
begin
  undefine bus;
  clear bus.answered;
  bus.running := nothing;
  bus.is_shared := false;
end;

ruleset v: value do
  startstate "all caches are empty"
  begin
    for c: cache do
      lines[c].state := invalid;
      undefine lines[c].data;
      lines[c].wanted := nothing;
    end;
    release_bus();
    memory := v;
    latest := v;
  end;
end;

ruleset c: cache do
  alias mine: lines[c] do

    rule "load misses"
      mine.wanted = nothing & mine.state = invalid ==>
    begin
      mine.wanted := fetch;
    end;

    ruleset v: value do
      rule "store hits"
        may_store(mine) ==>
      begin
        mine.state := modified;
        mine.data := v;
        latest := v;
      end;
    end;

    rule "store needs the bus"
      mine.wanted = nothing & !may_store(mine) ==>
    begin
      mine.wanted := mine.state = invalid ? fetch_to_write : upgrade;
    end;

    rule "evict"
      mine.wanted = nothing & mine.state != invalid ==>
    begin
      switch mine.state
      case modified, owned:
        mine.wanted := write_back;
      else
        invalidate(mine);
      end;
    end;

    rule "get the bus"
      bus.running = nothing & mine.wanted != nothing ==>
    begin
      if mine.wanted = write_back then
        -- Concerns no other cache.
        memory := mine.data;
        invalidate(mine);
      else
        bus.running := mine.wanted;
        bus.master := c;
      end;
    end;

    rule "snoop"
      bus.running != nothing & c != bus.master & !bus.answered[c] ==>
    begin
      snoop(mine);
      bus.answered[c] := true;
    end;

    rule "complete"
      bus.running != nothing & c = bus.master
        & forall d: cache do d = c | bus.answered[d] end ==>
    begin
      complete(mine);
      release_bus();
    end;

  end;
end;

invariant "who may store is alone"
  forall c: cache do
    may_store(lines[c]) ->
      forall d: cache do c = d | lines[d].state = invalid end
  end;

invariant "one owner at most"
  forall c: cache do
    forall d: cache do
      c = d | lines[c].state != owned | lines[d].state != owned
    end
  end;

invariant "nobody has an old value"
  forall c: cache do
    lines[c].state != invalid -> lines[c].data = latest
  end;

invariant "the latest value is not lost"
  memory = latest | !isundefined(bus.supplied)
    | exists c: cache do lines[c].state != invalid end;

cover "an owner and a sharer"
  exists c: cache do
    exists d: cache do lines[c].state = owned & lines[d].state = shared end
  end;
