-- expect: holds states=930 rules=5226
-- Reliable transfer over two channels that keep the order of messages but may
-- lose any of them. K. A. Bartlett, R. A. Scantlebury, P. T. Wilkinson: A note
-- on reliable full-duplex transmission over half-duplex links. CACM 12(5),
-- 1969.

const
  capacity: 3;
  words: 3;

type
  word: 0..words - 1;
  bit: 0..1;
  place: 0..capacity - 1;

  -- An acknowledgement has no word.
  message: record
    tag: bit;
    word: word;
  end;

  -- Places from 'used' on are undefined.
  channel: record
    used: 0..capacity;
    places: array [place] of message;
  end;

var
  forth, back: channel;

  sender: record
    tag: bit;
    word: word;
  end;
  receiver: record
    tag: bit;
    -- The word taken last; undefined before there was one.
    word: word;
  end;

function has_room(c: channel): boolean;
begin
  return c.used < capacity;
end;

procedure send(var c: channel; m: message);
begin
  assert c.used < capacity "the channel is full";
  c.places[c.used] := m;
  c.used := c.used + 1;
end;

-- Takes one message away: a receiver the first, a bad channel any.
procedure remove(var c: channel; at: place);
begin
  for i := 0 to capacity - 2 do
    if i >= at then
      c.places[i] := c.places[i + 1];
    end;
  end;
  undefine c.places[capacity - 1];
  c.used := c.used - 1;
end;

procedure acknowledge(tag: bit);
var
  m: message;
begin
  undefine m;
  m.tag := tag;
  send(back, m);
end;

ruleset w: word do
  startstate "nothing is on its way"
  begin
    undefine forth;
    undefine back;
    forth.used := 0;
    back.used := 0;
    sender.tag := 0;
    sender.word := w;
    undefine receiver;
    receiver.tag := 1;
  end;
end;

rule "send, also again"
  has_room(forth) ==>
var
  m: message;
begin
  m.tag := sender.tag;
  m.word := sender.word;
  send(forth, m);
end;

alias first: forth.places[0] do
  rule "receive a word"
    forth.used > 0 & has_room(back) ==>
  begin
    if first.tag != receiver.tag then
      assert first.tag = sender.tag & first.word = sender.word "a wrong word";
      receiver.tag := first.tag;
      receiver.word := first.word;
    end;
    acknowledge(first.tag);
    remove(forth, 0);
  end;
end;

ruleset w: word do
  rule "receive an acknowledgement, go on to the next word"
    back.used > 0 & back.places[0].tag = sender.tag ==>
  begin
    assert receiver.tag = sender.tag & receiver.word = sender.word "not there";
    sender.tag := 1 - sender.tag;
    sender.word := w;
    remove(back, 0);
  end;
end;

rule "receive an old acknowledgement"
  back.used > 0 & back.places[0].tag != sender.tag ==>
begin
  remove(back, 0);
end;

ruleset i: place do
  rule "lose a word"
    i < forth.used ==>
  begin
    remove(forth, i);
  end;

  rule "lose an acknowledgement"
    i < back.used ==>
  begin
    remove(back, i);
  end;
end;

invariant "a tag in common means a word in common"
  receiver.tag = sender.tag -> receiver.word = sender.word;

invariant "used places are defined, and no others"
  forall i: place do
    (i >= forth.used) = isundefined(forth.places[i].tag)
      & (i >= back.used) = isundefined(back.places[i].tag)
      & isundefined(back.places[i].word)
  end;

cover "an old word is still on its way"
  exists i: place do i < forth.used & forth.places[i].tag != sender.tag end;
