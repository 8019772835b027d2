// expect: holds states=34 transitions=34
/*
 * Numbers: every type has its range, and an assignment cuts a value off to
 * fit.  Expressions are computed as 32-bit integers, as in C: division
 * rounds towards zero, and a remainder has the sign of its left side.
 *
 * Checked: all of this, on one straight run.
 */
bit   b1;
bool  b2 = true;
byte  u8 = 255;                 /* 0 .. 255 */
short s16 = 32767;              /* -32768 .. 32767 */
int   i32 = 2147483647;
unsigned u5 : 5 = 31;           /* five bits: 0 .. 31 */

active proctype arithmetic()
{
        int a = -7;
        short list[3] = -1;     /* sets every element */

        /* wrapping around at the end of the range */
        u8++;           assert(u8 == 0);
        u8--;           assert(u8 == 255);
        u8 = -2;        assert(u8 == 254);
        s16++;          assert(s16 == -32768);
        u5++;           assert(u5 == 0);
        u5 = 32 + 9;    assert(u5 == 9);
        b1 = 2;         assert(b1 == 0);
        b1 = 3;         assert(b1 == 1);

        /* no cut before the assignment: 255 + 1 is 256 here */
        u8 = 255;       assert(u8 + 1 == 256);

        /* division and remainder */
        assert(a / 2 == -3 && a % 2 == -1);
        assert(7 / -2 == -3 && 7 % -2 == 1);

        /* bit operations and shifts, on 32 bits */
        assert((6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5);
        assert(~0 == -1 && (1 << 4) == 16 && (a >> 1) == -4);

        /* truth is 1 and 0, anything but 0 is true */
        assert((3 < 4) == 1 && (4 < 3) == 0 && !5 == 0);
        assert((2 && 3) == 1 && (b2 -> 10 : 20) == 10);

        /* what binds more strongly */
        assert(2 + 3 * 4 == 14 && 10 - 4 - 3 == 3);
        assert((1 | 2 == 2) == 1);      /* == comes before | */
        assert(1 << 2 + 1 == 8);        /* + comes before << */

        assert(list[0] == -1 && list[2] == -1);
        list[1] = a * a;
        assert(list[list[1] - 48] == 49);
        i32 = i32 / 1000;
        assert(i32 == 2147483)
}
