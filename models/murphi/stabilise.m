-- expect: holds states=64 rules=112
-- A token ring that heals itself: from every state, at least one machine has
-- the token, and once there is exactly one it stays the only one.
-- E. W. Dijkstra: Self-stabilizing systems in spite of distributed control.
-- CACM 17(11), 1974.

const
  machines: 3;
  counts: 4;

type
  machine: 0..machines - 1;
  counter: 0..counts - 1;

var
  register: array [machine] of counter;
  -- Whether there has been exactly one token.
  healed: boolean;

function privileged(m: machine): boolean;
begin
  if m = 0 then
    return register[0] = register[machines - 1];
  end;
  return register[m] != register[m - 1];
end;

function tokens(): 0..machines;
var
  n: 0..machines;
begin
  n := 0;
  for m: machine do
    if privileged(m) then
      n := n + 1;
    end;
  end;
  return n;
end;

ruleset a: counter; b: counter; c: counter do
  startstate "anything"
  begin
    register[0] := a;
    register[1] := b;
    register[2] := c;
    healed := tokens() = 1;
  end;
end;

ruleset m: machine do
  rule "pass the token on"
    privileged(m) ==>
  begin
    register[m] := m = 0 ? (register[0] + 1) % counts : register[m - 1];
    healed := healed || tokens() = 1;
  end;
end;

invariant "there is a token" tokens() >= 1;
invariant "healed is healed" healed -> tokens() = 1;
