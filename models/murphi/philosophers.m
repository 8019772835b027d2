-- expect: holds states=70 rules=219
-- Dining philosophers who take the fork with the lower number first.
-- E. W. Dijkstra: Hierarchical ordering of sequential processes. Acta
-- Informatica 1, 1971.

const
  seats: 5;

type
  seat: 0..seats - 1;
  mood: enum { thinking, hungry, eating };

var
  taken: array [seat] of boolean;
  is: array [seat] of mood;

function low(s: seat): seat;
  const final: seats - 1;
begin
  return s = final ? 0 : s;
end;

function high(s: seat): seat;
begin
  if s = seats - 1 then
    return s;
  endif;
  return s + 1;
end;

startstate
  for s: seat do
    taken[s] := false;
    is[s] := thinking;
  endfor;
endstartstate;

ruleset s: seat do

  rule "first fork"
    is[s] = thinking & !taken[low(s)] ==>
    taken[low(s)] := true;
    is[s] := hungry;
  endrule;

  rule "second fork"
    is[s] = hungry & !taken[high(s)] ==>
    taken[high(s)] := true;
    is[s] := eating;
  endrule;

  rule "put both back"
    is[s] = eating ==>
    taken[low(s)] := false;
    taken[high(s)] := false;
    is[s] := thinking;
  endrule;

endruleset;

invariant "neighbours do not eat together"
  forall s: seat do
    !(is[s] = eating & is[(s + 1) % seats] = eating)
  endforall;
