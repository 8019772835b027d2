-- expect: holds states=48 rules=144 canonical=9
-- A lock that is taken by test-and-set; who holds it is remembered, and
-- undefined while nobody does.

const
  processes: 4;

type
  process: scalarset(processes);
  place: enum { idle, spinning, holding };

var
  owner: process;
  at: array [process] of place;

function is_free(): boolean;
begin
  return isundefined(owner);
end;

startstate
begin
  undefine owner;
  for p: process do
    at[p] := idle;
  end;
end;

ruleset p: process do

  rule "want"
    at[p] = idle ==>
  begin
    at[p] := spinning;
  end;

  rule "test and set"
    at[p] = spinning & is_free() ==>
  begin
    owner := p;
    at[p] := holding;
  end;

  rule "release"
    at[p] = holding ==>
  begin
    assert "only the owner releases" owner = p;
    undefine owner;
    at[p] := idle;
  end;

end;

invariant "the owner is the one that holds"
  forall p: process do
    at[p] = holding -> (!isundefined(owner) & owner = p)
  end;

cover "all wait but one"
  exists p: process do
    at[p] = holding &
    forall q: process do q = p | at[q] = spinning end
  end;
