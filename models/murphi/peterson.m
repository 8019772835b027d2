-- expect: holds states=20 rules=34
-- Mutual exclusion of two processes with a turn and two flags.
-- G. L. Peterson: Myths about the mutual exclusion problem. IPL 12(3), 1981.

type
  process: 0..1;
  place: enum { away, flagged, waiting, critical };

var
  flag: array [process] of boolean;
  turn: process;
  at: array [process] of place;

startstate "nobody wants to enter"
begin
  clear flag;
  clear turn;
  for p: process do
    at[p] := away;
  end;
end;

ruleset p: process do
  alias other: 1 - p do

    rule "raise the flag"
      at[p] = away ==>
    begin
      flag[p] := true;
      at[p] := flagged;
    end;

    rule "give way"
      at[p] = flagged ==>
    begin
      turn := other;
      at[p] := waiting;
    end;

    rule "enter"
      at[p] = waiting & (!flag[other] | turn = p) ==>
    begin
      at[p] := critical;
    end;

    rule "leave"
      at[p] = critical ==>
    begin
      flag[p] := false;
      at[p] := away;
    end;

  end;
end;

invariant "one at a time"
  !(at[0] = critical & at[1] = critical);

invariant "who is inside has the flag up"
  forall p: process do at[p] = critical -> flag[p] end;
