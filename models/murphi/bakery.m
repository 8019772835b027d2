-- expect: holds states=101278 rules=275974
-- Mutual exclusion by tickets. The tickets are bounded: who finds none left
-- goes away and comes back later. All tickets are read in one step.
-- L. Lamport: A new solution of Dijkstra's concurrent programming problem.
-- CACM 17(8), 1974.

const
  processes: 4;
  tickets: 5;

type
  process: 0..processes - 1;
  ticket: 0..tickets;
  place: enum { away, doorway, drawing, waiting, critical };

var
  at: array [process] of place;
  -- Shared: who is in the doorway, and the tickets; 0 for none.
  choosing: array [process] of boolean;
  number: array [process] of ticket;
  -- Private: the highest ticket seen, and the process to wait for.
  highest: array [process] of ticket;
  next: array [process] of 0..processes;

function highest_ticket(): ticket;
var
  q: 0..processes;
  top: ticket;
begin
  q := 0;
  top := 0;
  while q < processes do
    if number[q] > top then
      top := number[q];
    end;
    q := q + 1;
  end;
  return top;
end;

-- Of equal tickets, the one of the lower process counts as the lower.
function before(p: process; q: process): boolean;
begin
  return number[p] < number[q] | number[p] = number[q] & p < q;
end;

function lets_pass(q: process; p: process): boolean;
begin
  return !choosing[q] & (p = q | number[q] = 0 | before(p, q));
end;

startstate "nobody is in the bakery"
begin
  clear choosing;
  clear number;
  clear highest;
  clear next;
  for p: process do
    at[p] := away;
  end;
end;

ruleset p: process do

  rule "enter the doorway"
    at[p] = away ==>
  begin
    choosing[p] := true;
    at[p] := doorway;
  end;

  rule "look at the tickets"
    at[p] = doorway ==>
  begin
    highest[p] := highest_ticket();
    at[p] := drawing;
  end;

  rule "draw a ticket"
    at[p] = drawing & highest[p] < tickets ==>
  begin
    number[p] := highest[p] + 1;
    clear highest[p];
    choosing[p] := false;
    at[p] := waiting;
  end;

  rule "no ticket is left"
    at[p] = drawing & highest[p] = tickets ==>
  begin
    clear highest[p];
    choosing[p] := false;
    at[p] := away;
  end;

  rule "pass one"
    at[p] = waiting & next[p] < processes & lets_pass(next[p], p) ==>
  begin
    next[p] := next[p] + 1;
  end;

  rule "enter"
    at[p] = waiting & next[p] = processes ==>
  begin
    at[p] := critical;
  end;

  rule "leave"
    at[p] = critical ==>
  begin
    number[p] := 0;
    next[p] := 0;
    at[p] := away;
  end;

end;

invariant "one at a time"
  forall p: process do
    forall q: process do
      p = q | at[p] != critical | at[q] != critical
    end
  end;

invariant "who is inside has the lowest ticket"
  forall p: process do
    at[p] = critical ->
      forall q: process do p = q | number[q] = 0 | before(p, q) end
  end;

cover "two have the same ticket"
  exists p: process do
    exists q: process do
      p != q & number[p] = number[q] & number[p] > 0
    end
  end;

cover "all tickets are gone"
  highest_ticket() = tickets;
