-- expect: holds states=952 rules=3000 canonical=104
-- Caches kept coherent by a directory: a line is invalid, shared or modified.
-- The directory serves one request at a time and waits for all answers
-- before it grants. After the classical write-invalidate protocols, as in
-- L. Censier, P. Feautrier: A new solution to coherence problems in
-- multicache systems. IEEE Trans. Computers C-27(12), 1978.

const
  caches: 3;
  values: 2;

type
  cache: scalarset(caches);
  value: scalarset(values);
  line_state: enum { invalid, shared, modified };
  request: enum { no_request, read_request, write_request };
  order: enum { no_order, invalidate, downgrade };

  line: record
    state: line_state;
    data: value;
    pending: request;
    ordered: order;
  end;

var
  lines: array [cache] of line;
  memory: value;
  -- What a reader has to see; no part of the protocol.
  latest: value;

  busy: boolean;
  served: cache;
  serving: request;

function holders_are_done(): boolean;
begin
  return forall c: cache do
    lines[c].ordered = no_order
  end;
end;

procedure order_others(me: cache; what: order);
begin
  for c: cache do
    if c != me then
      switch lines[c].state
      case shared:
        if what = invalidate then
          lines[c].ordered := invalidate;
        end;
      case modified:
        lines[c].ordered := what;
      else
      end;
    end;
  end;
end;

procedure drop(c: cache);
begin
  if lines[c].state = modified then
    memory := lines[c].data;
  end;
  lines[c].state := invalid;
  undefine lines[c].data;
end;

ruleset v: value do
  startstate "all caches are empty"
  begin
    for c: cache do
      lines[c].state := invalid;
      undefine lines[c].data;
      lines[c].pending := no_request;
      lines[c].ordered := no_order;
    end;
    memory := v;
    latest := v;
    busy := false;
    undefine served;
    serving := no_request;
  end;
end;

ruleset c: cache do
  alias mine: lines[c] do

    rule "ask to read"
      mine.state = invalid & mine.pending = no_request ==>
    begin
      mine.pending := read_request;
    end;

    rule "ask to write"
      mine.state != modified & mine.pending = no_request ==>
    begin
      mine.pending := write_request;
    end;

    ruleset v: value do
      rule "write"
        mine.state = modified & mine.ordered = no_order ==>
      begin
        mine.data := v;
        latest := v;
      end;
    end;

    rule "evict"
      mine.state != invalid & mine.pending = no_request & mine.ordered = no_order
        & !(busy & served = c) ==>
    begin
      drop(c);
    end;

    rule "begin to serve"
      !busy & mine.pending != no_request ==>
    begin
      busy := true;
      served := c;
      serving := mine.pending;
      order_others(c, mine.pending = read_request ? downgrade : invalidate);
    end;

    rule "obey"
      mine.ordered != no_order ==>
    begin
      if mine.ordered = invalidate then
        drop(c);
      elsif mine.state = modified then
        memory := mine.data;
        mine.state := shared;
      end;
      mine.ordered := no_order;
    end;

    rule "grant"
      busy & served = c & holders_are_done() ==>
    begin
      if mine.state = invalid then
        mine.data := memory;
      end;
      mine.state := serving = read_request ? shared : modified;
      mine.pending := no_request;
      busy := false;
      undefine served;
      serving := no_request;
    end;

  end;
end;

invariant "one writer and no readers, or readers only"
  forall a: cache do
    lines[a].state = modified ->
      forall b: cache do a = b | lines[b].state = invalid end
  end;

cover "two readers"
  exists a: cache do
    exists b: cache do
      a != b & lines[a].state = shared & lines[b].state = shared
    end
  end;

invariant "nobody reads an old value"
  forall c: cache do
    lines[c].state != invalid -> lines[c].data = latest
  end;
