-- expect: holds states=84 rules=221
-- Election of a leader on a ring whose messages go one way.
-- E. Chang, R. Roberts: An improved algorithm for decentralized
-- extrema-finding in circular configurations of processes. CACM 22(5), 1979.

const
  size: 4;
  none: 0;

type
  node: 0..size - 1;
  number: none..size;

var
  id: array [node] of number;
  started: array [node] of boolean;
  leader: array [node] of boolean;
  -- A channel of two places leads to each node.
  first: array [node] of number;
  second: array [node] of number;

function next(n: node): node;
begin
  return (n + 1) % size;
end;

function has_room(n: node): boolean;
begin
  return second[n] = none;
end;

procedure send(n: node; x: number);
begin
  if first[n] = none then
    first[n] := x;
  else
    assert second[n] = none "the channel is full";
    second[n] := x;
  end;
end;

startstate "numbers in a jumble"
begin
  for n: node do
    -- 2, 4, 1, 3 for four nodes
    id[n] := n < size / 2 ? 2 * n + 2 : 2 * (n - size / 2) + 1;
    started[n] := false;
    leader[n] := false;
    first[n] := none;
    second[n] := none;
  end;
end;

ruleset n: node do

  rule "call an election"
    !started[n] & has_room(next(n)) ==>
  begin
    started[n] := true;
    send(next(n), id[n]);
  end;

  rule "receive"
    first[n] != none & (first[n] <= id[n] | has_room(next(n))) ==>
  var
    x: number;
  begin
    x := first[n];
    first[n] := second[n];
    second[n] := none;
    if x > id[n] then
      started[n] := true;
      send(next(n), x);
    elsif x = id[n] then
      leader[n] := true;
    end;
  end;

  rule "begin anew"
    leader[n] & forall m: node do started[m] & first[m] = none end ==>
  begin
    for m := size - 1 to 0 by -1 do
      started[m] := false;
    end;
    leader[n] := false;
  end;

end;

invariant "only the largest leads"
  forall n: node do leader[n] -> id[n] = size end;
