// expect: holds states=81 transitions=178
/*
 * A monitor that looks at where other processes are, with remote
 * references: user[0]@critical is true when the process with number 0, a
 * `user`, stands at the label `critical`.  No counter has to be added to
 * the system.
 *
 * The system is a binary semaphore, passed as a message in a channel.
 * Checked: the two users are never both at their critical label.
 */
mtype = { key };

chan hook = [1] of { mtype };   /* the key hangs here when it is free */

active [2] proctype user()                      /* _pid 0 and 1 */
{
        byte visits;

        do
        :: hook ? key;
critical:  visits = (visits + 1) % 4;
           hook ! key
        od
}

active proctype monitor()
{
        hook ! key;
        do
        :: assert(!(user[0]@critical && user[1]@critical))
        od
}
