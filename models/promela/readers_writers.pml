// expect: holds states=161 transitions=305
/*
 * Readers and writers with preference for readers (P. J. Courtois,
 * F. Heymans and D. L. Parnas, 1971).  The first reader locks the writers
 * out and the last reader lets them in again.
 *
 * Checked: a writer is alone, and readers never see a writer at work.
 */
#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif

inline lock(semaphore)
{
        atomic { semaphore -> semaphore = false }
}

inline unlock(semaphore)
{
        semaphore = true
}

bool mutex = true;      /* protects `readers` */
bool resource = true;   /* held by a writer, or by the readers together */
byte readers;           /* readers that have registered */

byte reading, writing;  /* who is really at work, for the check */

active [READERS] proctype reader()
{
        do
        :: lock(mutex);
           readers++;
           if
           :: readers == 1 -> lock(resource)
           :: else
           fi;
           unlock(mutex);

           reading++;
           assert(writing == 0);
           reading--;

           lock(mutex);
           readers--;
           if
           :: readers == 0 -> unlock(resource)
           :: else
           fi;
           unlock(mutex)
        od
}

active [WRITERS] proctype writer()
{
        do
        :: lock(resource);
           writing++;
           assert(writing == 1 && reading == 0);
           writing--;
           unlock(resource)
        od
}
