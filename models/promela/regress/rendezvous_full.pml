// expect: holds states=12 transitions=17
/* Pins: whether a message is taken depends on how full another rendezvous
   channel is while it passes. Counts are those of Spin. */
chan a = [0] of { byte };
chan b = [0] of { byte };
byte x;

active proctype Sends() { do :: a!0 :: a!1 :: b!0 od }
active proctype Takes() {
	do
	:: a?eval(len(b)) -> x = (x + 1) % 4
	:: b?eval(len(b)) -> x = (x + 2) % 4
	:: b?eval(len(a)) -> x = 3
	od
}
