// expect: holds states=4123 transitions=11014
/*
 * The MCS queue lock (J. M. Mellor-Crummey and M. L. Scott, 1991).
 * The waiting processes form a linked list and each of them spins on a
 * flag of its own.  The lock itself is only a pointer to the tail of the
 * list, changed with swap and compare-and-swap.
 *
 * Checked: at most one process is in the critical section, and nobody is
 * left waiting forever (that would show as a deadlock).
 */
#ifndef N
#define N 3
#endif
#define NIL N

byte next[N] = NIL;
bool waiting[N];
byte tail = NIL;
byte inside;

active [N] proctype user()
{
        byte before;            /* the process in front of us in the queue */
        bool released;

        do
        :: /* acquire */
           next[_pid] = NIL;
           d_step { before = tail; tail = _pid }
           if
           :: before == NIL
           :: else ->
              waiting[_pid] = true;
              next[before] = _pid;
              !waiting[_pid]
           fi;
           before = 0;

           inside++;
           assert(inside == 1);
           inside--;

           /* release */
           if
           :: next[_pid] == NIL ->
              d_step {          /* compare-and-swap(tail, _pid, NIL) */
                   released = (tail == _pid);
                   if
                   :: released -> tail = NIL
                   :: else
                   fi
              }
              if
              :: released -> released = false
              :: else ->        /* a successor is just linking itself in */
                 next[_pid] != NIL;
                 waiting[next[_pid]] = false
              fi
           :: else ->
              waiting[next[_pid]] = false
           fi
        od
}
