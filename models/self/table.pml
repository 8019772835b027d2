// expect: holds states=96871 transitions=192187
// How a shard of Supertrace's lock-free table grows while threads insert
// (crates/check/src/store/table/growth.rs).
//
// Threads insert the same keys in different orders. The shard has three slots
// at first; when two are taken it grows to five: free slots of the old shard are
// frozen, its entries are put into the new one, and whoever is done switches over.
// Threads that move at the same time begin different parts; what others have
// begun and not ended is moved once more, so that none waits.
// Each read, each exchange is a step of its own. Checked: every key is new to
// exactly one thread, whatever happens, and it is there in the end.

#define THREADS 2
#define KEYS 4
#define OLD 3
#define NEW 5
#define PART 2              // slots that are moved together
#define PARTS 2
#define FULL 2
#define EMPTY 0
#define FROZEN 255
#define HOME(key) ((key) / 2)   // where a search in the new shard begins: two keys meet

byte old[OLD];              // an entry is a key
byte new[NEW];
byte begun;                 // parts that were begun
bool ended[PARTS];
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

// Moves the entries of a part to the new shard.
inline move_part() {
    i = part * PART;
    do
    :: i < OLD && i < (part + 1) * PART ->
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
    ended[part] = true
}

// Moves all entries to the new shard.
inline move_on() {
    do
    :: d_step { begun < PARTS -> part = begun; begun++ }; move_part()
    :: begun == PARTS -> break
    od;
    part = 0;
    do
    :: part < PARTS && !ended[part] -> move_part(); part++
    :: part < PARTS && ended[part] -> part++
    :: part == PARTS -> break
    od;
    moved = true;
    d_step { i = 0; e = 0; part = 0 }
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
    byte key, n, i, j, e, part;
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
