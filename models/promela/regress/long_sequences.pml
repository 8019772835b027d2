// expect: holds states=125 transitions=59392
/* Pins: sequences that are longer than native code has room for at once: one with
   59,049 results, then loops of 700 rounds in an atomic sequence and of 5,000 in a
   d_step. Counts are those of Spin. */
byte a[2];
byte s;
byte digits[10];
bool chosen;

active proctype Chooser() {
	byte n;
	atomic {
		do
		:: n < 10 ->
			if
			:: digits[n] = 0
			:: digits[n] = 1
			:: digits[n] = 2
			fi;
			n++
		:: n == 10 -> break
		od;
		if
		:: digits[0] + digits[3] * digits[9] == 6 -> s = 1
		:: else -> s = 0
		fi;
		do
		:: n > 0 -> n--; digits[n] = 0
		:: else -> break
		od
	};
	chosen = true
}

active [2] proctype Walker() {
	short i;
	chosen;
	do
	:: atomic {
		do
		:: i < 700 ->
			if
			:: (i & 1) == s -> a[i & 1] = (a[i & 1] + 1) % 3
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	   };
	   s = 1 - s
	:: d_step {
		do
		:: i < 5000 -> i++
		:: else -> break
		od;
		i = 0
	   }
	od
}
