-- expect: holds states=183463 rules=733852
-- The first solution of mutual exclusion for many processes, one step for
-- each access to what they share. Arrays b, c, turn k and labels Li0 to Li4
-- are those of the paper: E. W. Dijkstra: Solution of a problem in concurrent
-- programming control. CACM 8(9), 1965.

const
  processes: 4;

type
  process: 1..processes;
  label: enum { remainder, li0, li1, li2, li3, take_turn, li4, compare,
    critical, leave_c, leave_b };

  -- Written by one process only.
  own: record
    at: label;
    -- Does not want to enter, and does not stand before the entrance.
    b, c: boolean;
    -- With whom to compare next.
    j: process;
  end;

var
  own_of: array [process] of own;
  k: process;

procedure set(var flag: boolean; value: boolean; var at: label; next: label);
begin
  flag := value;
  at := next;
end;

-- One turn of the loop over the others.
procedure compare_one(i: process; var me: own);
begin
  if me.j != i & !own_of[me.j].c then
    me.at := li1;
    me.j := 1;
  elsif me.j = processes then
    me.at := critical;
    me.j := 1;
  else
    me.j := me.j + 1;
  end;
end;

startstate "nobody wants to enter"
begin
  for i: process do
    alias me: own_of[i] do
      me.at := remainder;
      me.b := true;
      me.c := true;
      me.j := 1;
    end;
  end;
  k := 1;
end;

ruleset i: process do
  alias me: own_of[i]; at: own_of[i].at do
    rule "step"
    begin
      switch at
      case remainder:
        at := li0;
      case li0:
        set(me.b, false, at, li1);
      case li1:
        at := k = i ? li4 : li2;
      case li2:
        set(me.c, true, at, li3);
      case li3:
        at := own_of[k].b ? take_turn : li1;
      case take_turn:
        k := i;
        at := li1;
      case li4:
        set(me.c, false, at, compare);
      case compare:
        compare_one(i, me);
      case critical:
        at := leave_c;
      case leave_c:
        set(me.c, true, at, leave_b);
      case leave_b:
        set(me.b, true, at, remainder);
      end;
    end;
  end;
end;

invariant "one at a time"
  forall p: process do
    forall q: process do
      p = q | own_of[p].at != critical | own_of[q].at != critical
    end
  end;

invariant "c tells who may be inside"
  forall p: process do
    own_of[p].at = compare | own_of[p].at = critical -> !own_of[p].c
  end;

cover "two before the entrance"
  exists p: process do
    exists q: process do
      p != q & own_of[p].at = compare & own_of[q].at = compare
    end
  end;
