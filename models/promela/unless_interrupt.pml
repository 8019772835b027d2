// expect: holds states=38 transitions=50
/*
 * `unless` as an interrupt: a machine works through a job of several steps
 * unless the emergency button is pressed.  Before every step of the main
 * part the escape part is tried first, so the machine stops at once.
 *
 * Checked: after the button was pressed no further step is made.
 */
#define STEPS 4

bool pressed;
byte position;          /* how far the job has come */
byte at_press;          /* where the machine was when the button was pressed */

active proctype machine()
{
        do
        :: {
                do
                :: position < STEPS ->
                   position++
                :: position == STEPS ->
                   position = 0;                        /* the next job */
                od
           } unless {
                pressed ->
                assert(position == at_press);
                position = 0;
                at_press = 0;
                pressed = false
           }
        od
}

active proctype operator()
{
        do
        :: atomic { !pressed ->
                pressed = true;
                at_press = position
           }
        od
}
