-- expect: violation deadlock
-- A lock for many readers or one writer (P. J. Courtois, F. Heymans, D. L.
-- Parnas: Concurrent control with readers and writers. CACM 14(10), 1971),
-- where a reader may become the writer without letting go in between: two that
-- try it wait for each other, and everybody else for them.

const
  processes: 4;

type
  process: scalarset(processes);
  place: enum { idle, wants_to_read, reading, upgrading, wants_to_write,
    writing };

var
  at: array [process] of place;
  -- The lock.
  readers: 0..processes;
  is_written: boolean;

function a_writer_waits(): boolean;
begin
  return exists p: process do
    at[p] = upgrading | at[p] = wants_to_write
  end;
end;

startstate
begin
  for p: process do
    at[p] := idle;
  end;
  readers := 0;
  is_written := false;
end;

ruleset p: process do

  rule "want to read"
    at[p] = idle ==>
  begin
    at[p] := wants_to_read;
  end;

  rule "want to write"
    at[p] = idle ==>
  begin
    at[p] := wants_to_write;
  end;

  rule "read"
    at[p] = wants_to_read & !is_written & !a_writer_waits() ==>
  begin
    readers := readers + 1;
    at[p] := reading;
  end;

  rule "stop reading"
    at[p] = reading ==>
  begin
    readers := readers - 1;
    at[p] := idle;
  end;

  rule "want to upgrade"
    at[p] = reading ==>
  begin
    at[p] := upgrading;
  end;

  rule "upgrade"
    at[p] = upgrading & readers = 1 ==>
  begin
    readers := 0;
    is_written := true;
    at[p] := writing;
  end;

  rule "write"
    at[p] = wants_to_write & readers = 0 & !is_written ==>
  begin
    is_written := true;
    at[p] := writing;
  end;

  rule "stop writing"
    at[p] = writing ==>
  begin
    is_written := false;
    at[p] := idle;
  end;

end;

invariant "a writer is alone"
  forall p: process do
    at[p] = writing ->
      forall q: process do
        p = q | !(at[q] = writing | at[q] = reading | at[q] = upgrading)
      end
  end;
