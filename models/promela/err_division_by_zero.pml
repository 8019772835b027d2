// expect: violation=division-by-zero
/*
 * A run-time error: division by zero.
 *
 * The bug: the average is computed without asking whether there are any
 * samples left after the bad ones were dropped.  Every run drops them all.
 */
byte samples = 3;
byte total = 12;
byte average;

active proctype statistics()
{
        do
        :: average = total / samples;
           printf("%d samples, average %d\n", samples, average);
           samples--;
           total = total - 4
        od
}
