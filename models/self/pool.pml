// expect: holds states=20773 transitions=54487
// How the threads of Supertrace's depth-first search share work and notice
// the end (crates/check/src/search/pool.rs).
//
// Each thread has a stack of waiting states; expanding one may find new ones,
// as long as there are some. A thread with an empty stack takes a gift from
// the pool or sleeps; one that sees somebody hungry gives away half. Checked:
// nobody leaves while there is work, and nobody sleeps for ever (a deadlock).

#define THREADS 3
#define STATES 5

byte unseen = STATES;       // states that expansions will still find
byte stack[THREADS];
byte on_stacks;             // sum of all stacks

chan gifts = [THREADS] of { byte };
byte in_gifts;
byte waiting;
bool over, hungry;
bool locked;                // the mutex
bool asleep[THREADS];       // waits on the condition variable

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline update() { hungry = (waiting > len(gifts)) }
inline wake_one() {
    if
    :: asleep[0] -> asleep[0] = false
    :: asleep[1] -> asleep[1] = false
    :: asleep[2] -> asleep[2] = false
    :: else
    fi
}
inline wake_all() { asleep[0] = false; asleep[1] = false; asleep[2] = false }

active [THREADS] proctype thread() {
    byte gift;

    if
    :: _pid == 0 -> stack[0] = 1; on_stacks = 1
    :: else
    fi;
work:
    do
    :: stack[_pid] > 0 ->
        // Expand the state on top; it has up to two new successors.
        atomic {
            stack[_pid]--; on_stacks--;
            if
            :: unseen > 1 -> unseen = unseen - 2; stack[_pid] = stack[_pid] + 2; on_stacks = on_stacks + 2
            :: unseen > 0 -> unseen--; stack[_pid]++; on_stacks++
            :: true
            fi
        };
        if
        :: hungry && stack[_pid] > 1 ->
            gift = stack[_pid] / 2;
            lock();
            d_step {
                stack[_pid] = stack[_pid] - gift; on_stacks = on_stacks - gift;
                gifts!gift; in_gifts = in_gifts + gift;
                update();
            }
            atomic { wake_one(); gift = 0 };
            unlock()
        :: else
        fi
    :: else -> break
    od;

    lock();
    waiting++;
    do
    :: over || (len(gifts) == 0 && waiting == THREADS) ->
        // The search is over: is it?
        assert(on_stacks == 0 && in_gifts == 0);
        d_step { over = true; wake_all() }
        unlock();
        goto done
    :: else ->
        if
        :: len(gifts) > 0 ->
            d_step {
                gifts?gift; in_gifts = in_gifts - gift;
                stack[_pid] = stack[_pid] + gift; on_stacks = on_stacks + gift;
                gift = 0; waiting--; update();
            }
            unlock();
            goto work
        :: else ->
            update();
            // Sleeping gives the lock back in the same moment.
            d_step { asleep[_pid] = true; unlock() }
            !asleep[_pid];
            lock()
        fi
    od;
done:
    skip
}
