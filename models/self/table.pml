// expect: holds states=40847 transitions=80948
// How a shard of Supertrace's lock-free table grows while threads insert
// (crates/check/src/store/table/growth.rs).
//
// Threads insert the same keys in different orders. The shard has three slots
// at first; when two are taken it grows to five: free slots of the old shard are
// frozen, its entries are put into the new one, and whoever is done switches over.
// Each read, each exchange is a step of its own. Checked: every key is new to
// exactly one thread, whatever happens, and it is there in the end.

#define THREADS 2
#define KEYS 4
#define OLD 3
#define NEW 5
#define FULL 2
#define EMPTY 0
#define FROZEN 255
#define HOME(key) ((key) / 2)   // where a search in the new shard begins: two keys meet

byte old[OLD];              // an entry is a key
byte new[NEW];
bool moved;                 // the shard is the new one
byte count;
byte made[KEYS + 1];        // how often a key was new

// Puts entry e into the new shard, unless it is there.
inline put() {
    j = HOME(e);
    do
    :: atomic { new[j] == EMPTY -> new[j] = e }; break
    :: new[j] == e -> break
    :: new[j] != EMPTY && new[j] != e -> j = (j + 1) % NEW
    od;
    j = 0
}

// Moves all entries to the new shard.
inline move_on() {
    i = 0;
    do
    :: i < OLD ->
        e = old[i];
        if
        :: e == EMPTY ->
            d_step { if :: old[i] == EMPTY -> old[i] = FROZEN :: else fi; e = old[i] }
        :: else
        fi;
        if
        :: e != FROZEN -> put()
        :: else
        fi;
        i++
    :: else -> break
    od;
    moved = true;
    d_step { i = 0; e = 0 }
}

// One search for the key; ends with done unless the shard has moved.
inline try_new() {
    i = HOME(key);
    do
    :: e = new[i];
        if
        :: e == EMPTY ->
            if
            :: d_step { new[i] == EMPTY -> new[i] = key; made[key]++ }; done = true; break
            :: new[i] != EMPTY
            fi
        :: e == key -> done = true; break
        :: else -> i = (i + 1) % NEW
        fi
    od
}

inline try_old() {
    i = key % OLD;
    do
    :: e = old[i];
        if
        :: e == EMPTY && count >= FULL -> move_on(); break
        :: e == EMPTY && count < FULL ->
            if
            :: d_step { old[i] == EMPTY -> old[i] = key; made[key]++ }; count++; done = true; break
            :: old[i] != EMPTY
            fi
        :: e == FROZEN -> move_on(); break
        :: e == key -> done = true; break
        :: else -> i = (i + 1) % OLD
        fi
    od
}

active [THREADS] proctype thread() {
    byte key, n, i, j, e;
    bool done;

    do
    :: n < KEYS ->
        // Each thread comes by all keys, from another one on.
        key = 1 + (n + _pid) % KEYS;
        do
        :: !done ->
            if
            :: moved -> try_new()
            :: else -> try_old()
            fi
        :: else -> break
        od;
        done = false;
        d_step { i = 0; e = 0 };
        assert(made[key] == 1);
        n++
    :: else -> break
    od;
    assert(made[1] == 1 && made[2] == 1 && made[3] == 1 && made[4] == 1)
}
