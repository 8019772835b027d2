// expect: violation=array-index
/*
 * A run-time error: an index outside its array.
 *
 * The bug: a ring buffer with an index that should wrap around, where the
 * test uses > instead of >=.  After SIZE items the index is SIZE, one past
 * the end.  Every run comes to this point.
 */
#define SIZE 3

byte buffer[SIZE];
byte top;

active proctype writer()
{
        byte item = 1;

        do
        :: top > SIZE -> top = 0        /* should be top >= SIZE */
        :: else ->
           buffer[top] = item;
           top++;
           item = (item % 5) + 1
        od
}
