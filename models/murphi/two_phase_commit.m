-- expect: holds states=12604 rules=72680 canonical=2370
-- A coordinator and participants agree to commit or to abort a transaction
-- although participants crash; what is in their log survives. It is assumed
-- that one is down at a time. J. N. Gray: Notes on data base operating
-- systems. Operating Systems: An Advanced Course, LNCS 60, 1978.

const
  participants: 3;

type
  participant: scalarset(participants);
  decision: enum { undecided, to_commit, to_abort };
  entry: enum { nothing, prepared, committed, aborted };
  order: enum { no_order, prepare, commit, abort };
  reply: enum { no_reply, yes, no, done };

  site: record
    up: boolean;
    log: entry;
    -- Channels from and to the coordinator.
    order: order;
    reply: reply;
  end;

var
  sites: array [participant] of site;
  decided: decision;
  voted_yes: array [participant] of boolean;
  is_done: array [participant] of boolean;

function is_quiet(s: site): boolean;
begin
  return s.order = no_order & s.reply = no_reply;
end;

procedure begin_transaction();
begin
  decided := undecided;
  clear voted_yes;
  clear is_done;
  for p: participant do
    sites[p].log := nothing;
  end;
end;

startstate "all are up"
begin
  begin_transaction();
  for p: participant do
    sites[p].up := true;
    sites[p].order := no_order;
    sites[p].reply := no_reply;
  end;
end;

ruleset p: participant do
  alias s: sites[p] do

    rule "coordinator: ask for a vote"
      decided = undecided & !voted_yes[p] & is_quiet(s) ==>
    begin
      s.order := prepare;
    end;

    rule "coordinator: tell the decision"
      decided != undecided & !is_done[p] & is_quiet(s) ==>
    begin
      s.order := decided = to_commit ? commit : abort;
    end;

    rule "coordinator: receive"
      s.reply != no_reply ==>
    begin
      switch s.reply
      case yes:
        voted_yes[p] := true;
      case no:
        assert decided != to_commit "committed without a vote";
        decided := to_abort;
      case done:
        is_done[p] := true;
      end;
      s.reply := no_reply;
    end;

    ruleset willing: boolean do
      rule "vote"
        s.up & s.order = prepare ==>
      begin
        if s.log = nothing then
          s.log := willing ? prepared : aborted;
        end;
        s.reply := s.log = prepared ? yes : no;
        s.order := no_order;
      end;
    end;

    rule "obey"
      s.up & (s.order = commit | s.order = abort) ==>
    begin
      if s.order = commit then
        assert s.log = prepared | s.log = committed "not prepared";
        s.log := committed;
      else
        assert s.log != committed "has committed";
        s.log := aborted;
      end;
      s.reply := done;
      s.order := no_order;
    end;

    rule "crash"
      s.up ==>
    begin
      s.up := false;
      s.order := no_order;
    end;

    rule "recover"
      !s.up ==>
    begin
      s.up := true;
      if s.log = nothing then
        s.log := aborted;
      end;
    end;

  end;
end;

rule "coordinator: commit"
  decided = undecided & forall p: participant do voted_yes[p] end ==>
begin
  decided := to_commit;
end;

rule "coordinator: lose patience"
  decided = undecided ==>
begin
  decided := to_abort;
end;

rule "coordinator: begin the next transaction"
  forall p: participant do is_done[p] end ==>
begin
  for p: participant do
    assert is_quiet(sites[p]) "a message is left over";
  end;
  begin_transaction();
end;

assume "one is down at a time"
  forall p: participant do
    forall q: participant do
      p = q | sites[p].up | sites[q].up
    end
  end;

invariant "all agree"
  forall p: participant do
    forall q: participant do
      !(sites[p].log = committed & sites[q].log = aborted)
    end
  end;

invariant "nobody goes ahead of the decision"
  forall p: participant do
    sites[p].log = committed -> decided = to_commit
  end;

cover "all committed"
  forall p: participant do sites[p].log = committed end;

cover "some cannot know the decision"
  exists p: participant do
    exists q: participant do
      sites[p].log = prepared & sites[q].log = committed & !sites[p].up
    end
  end;
