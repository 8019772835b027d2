// expect: holds states=1628 transitions=3053
/* Pins: rendezvous channels of different types and in arrays may lie in one
   place of the state, next to a channel with a buffer. Counts are those of Spin. */
chan word = [0] of { int, byte };
chan turn[2] = [0] of { byte };
chan kept = [1] of { byte };
chan bits[2] = [0] of { bit };
byte sum;

active [2] proctype Worker() {
	byte got;
	do
	:: turn[_pid]?got -> bits[got]!1
	:: kept?got -> word!1000 * got, _pid
	od
}

active proctype Boss() {
	int value; byte who, next;
	do
	:: turn[next]!next -> next = (next + 1) % 2
	:: len(kept) < 1 -> kept!next
	:: word?value, who -> sum = (sum + value / 1000 + who) % 2
	:: bits[0]?1
	:: bits[1]?1
	od
}
