-- expect: holds states=22 rules=31
-- Producers and consumers that share a bounded buffer: items come out in the
-- order in which they went in, and none is lost.

const
  slots: 3;
  last: 5;

type
  slot: 0..slots - 1;
  item: 0..last;
  ring: record
    data: array [slot] of item;
    head: slot;
    count: 0..slots;
  end;

var
  buffer: ring;
  produced, consumed: 0..last + 1;

procedure put_in(var r: ring; x: item);
begin
  assert r.count < slots "overflow";
  r.data[(r.head + r.count) % slots] := x;
  r.count := r.count + 1;
end;

function take_out(var r: ring): item;
var
  x: item;
begin
  assert r.count > 0 "underflow";
  x := r.data[r.head];
  undefine r.data[r.head];
  r.head := (r.head + 1) % slots;
  r.count := r.count - 1;
  return x;
end;

startstate
begin
  undefine buffer;
  buffer.head := 0;
  buffer.count := 0;
  produced := 0;
  consumed := 0;
end;

rule "produce"
  buffer.count < slots & produced <= last ==>
begin
  put_in(buffer, produced);
  produced := produced + 1;
end;

rule "consume"
  buffer.count > 0 ==>
var
  x: item;
begin
  x := take_out(buffer);
  assert x = consumed "out of order";
  consumed := consumed + 1;
end;

rule "start over"
  consumed = last + 1 ==>
begin
  produced := 0;
  consumed := 0;
  while buffer.head != 0 do
    buffer.head := (buffer.head + 1) % slots;
  end;
end;

invariant "what is inside"
  produced - consumed = buffer.count;

invariant "used slots are defined"
  forall i := 0 to slots - 1 do
    i < buffer.count -> !isundefined(buffer.data[(buffer.head + i) % slots])
  end;
