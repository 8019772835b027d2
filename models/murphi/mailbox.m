-- expect: violation undefined-value
-- Many producers and one consumer with a ring of slots: a producer first
-- claims a slot and fills it later. The consumer looks if the first slot is
-- filled, and then wrongly takes all that are claimed: some may be empty yet.

const
  producers: 3;
  slots: 4;

type
  producer: scalarset(producers);
  slot: 0..slots - 1;

var
  -- Who filled a slot; undefined while it is empty.
  letter: array [slot] of producer;
  first: slot;
  claimed: 0..slots;
  -- The slot that a producer has claimed and not filled yet.
  claim: array [producer] of slot;
  -- How many the consumer still takes without another look, and the last one.
  to_take: 0..slots;
  taken: producer;

startstate "the mailbox is empty"
begin
  undefine letter;
  undefine claim;
  undefine taken;
  first := 0;
  claimed := 0;
  to_take := 0;
end;

ruleset p: producer do

  rule "claim a slot"
    isundefined(claim[p]) & claimed < slots ==>
  begin
    claim[p] := (first + claimed) % slots;
    claimed := claimed + 1;
  end;

  rule "fill it"
    !isundefined(claim[p]) ==>
  begin
    letter[claim[p]] := p;
    undefine claim[p];
  end;

end;

rule "look"
  to_take = 0 & !isundefined(letter[first]) ==>
begin
  to_take := claimed;
end;

rule "take"
  to_take > 0 ==>
begin
  taken := letter[first];
  undefine letter[first];
  first := (first + 1) % slots;
  claimed := claimed - 1;
  to_take := to_take - 1;
end;

invariant "no more is taken than was claimed"
  to_take <= claimed;

invariant "a slot is claimed once"
  forall p: producer do
    forall q: producer do
      p = q | isundefined(claim[p]) | isundefined(claim[q])
        | claim[p] != claim[q]
    end
  end;
