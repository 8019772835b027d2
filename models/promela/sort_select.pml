// expect: holds states=1863 transitions=1907
/*
 * Bubble sort, tried on all arrays of N small numbers.  `select` picks
 * each number without commitment, `for` runs over a range or over an
 * array, and `inline` works like a macro with parameters.
 *
 * Checked: the array is sorted in the end, and no number got lost.
 */
#ifndef N
#define N 3
#endif
#define TOP 3

byte a[N];

inline swap(x, y)
{
        byte t;                 /* belongs to the process that uses swap */
        t = x;
        x = y;
        y = t;
        t = 0
}

inline order(i, j)
{
        if
        :: a[i] > a[j] -> swap(a[i], a[j])
        :: else
        fi
}

active proctype sorter()
{
        byte value, i, k;
        byte sum;

        for (i in a) {
                select (value : 0 .. TOP);
                a[i] = value;
                sum = sum + value
        }
        value = 0;

        for (i : 1 .. N-1) {
                for (k : 0 .. N-1-i) {
                        order(k, k+1)
                }
        }

        for (i : 0 .. N-2) {
                assert(a[i] <= a[i+1])
        }
        for (i in a) {
                sum = sum - a[i]
        }
        assert(sum == 0)
}
