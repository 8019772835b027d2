-- expect: holds states=1093 rules=4280 canonical=13
-- Processes line up in any order, close the line to a ring, and pass a bit
-- round it. In the closed ring all processes look alike, but no two of them can
-- be exchanged: hard for symmetry reduction.

const
  processes: 5;

type
  process: scalarset(processes);

var
  next: array [process] of process;
  bit: array [process] of boolean;
  first, last: process;
  n_linked: 0..processes;

ruleset p: process do
  startstate "one process alone"
  begin
    for q: process do
      bit[q] := false;
    end;
    first := p;
    last := p;
    n_linked := 1;
  end;
end;

function is_linked(p: process): boolean;
begin
  return p = last | !isundefined(next[p]);
end;

ruleset p: process do

  rule "line up"
    n_linked < processes & !isundefined(last) & !is_linked(p) ==>
  begin
    next[last] := p;
    last := p;
    n_linked := n_linked + 1;
  end;

  rule "flip a bit"
    n_linked = processes & isundefined(last) & bit[p] = bit[next[p]] ==>
  begin
    bit[p] := !bit[p];
  end;

  rule "hand a bit on"
    n_linked = processes & isundefined(last) & bit[p] != bit[next[p]] ==>
  begin
    bit[next[p]] := bit[p];
  end;

end;

rule "close the ring"
  n_linked = processes & !isundefined(last) ==>
begin
  next[last] := first;
  undefine first;
  undefine last;
end;

invariant "everybody has a successor in the ring"
  isundefined(last) -> forall p: process do !isundefined(next[p]) end;
