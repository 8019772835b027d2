// expect: holds states=26 transitions=28
/* Pins: expressions of constants, in indices, guards and messages. What would go
 * wrong is behind guards that never hold. Counts are those of Spin. */
#define N       3
#define LAST    (N - 1)
#define NEVER   (N * N < 2 * N + LAST)

byte a[N];
int big;
chan c = [N - 1] of { byte, int };

active proctype writer()
{
        byte i;

        do
        :: i < LAST ->
                a[i + (2 - 1)] = a[LAST - LAST] + N / 2;
                i++
        :: NEVER || false -> a[N] = 1
        :: NEVER && a[N + 1] > 0 -> a[0] = N / (N - 3)
        :: i == LAST && (!NEVER || 1 / 0) -> break
        od;
        big = (N == 3 -> -(1 << 30) : 0) * (4 >> 1);
        c!(N + LAST), ~N;
        c!a[N / 2 + N % 2 - 1], big - 1 + 2 * 3
}

active proctype reader()
{
        c?eval(2 * N - 1), big;
        a[1 - (LAST > 1)] = big + 8;
        assert(big == -4);
        c?_, big
}
