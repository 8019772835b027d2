// expect: holds states=155 transitions=343
// Pins: fields of a parameter have what they are given, or 0, not what the type says
// that they begin with; and no channel is made for them. Counts are those of Spin.
typedef Group { chan done = [0] of { byte }; byte waiting = 1; byte limit }

byte finished;

proctype worker(Group g; byte id) {
    assert(g.waiting == 3 && g.limit == 7);
    g.waiting = 5;
    g.done!id
}

active proctype alone(Group g) {
    assert(g.waiting == 0 && g.limit == 0 && g.done == 0)
}

active proctype main() {
    Group mine;
    byte id;
    assert(mine.waiting == 1 && mine.limit == 0);
    mine.waiting = 3;
    mine.limit = 7;
    run worker(mine, 1);
    run worker(mine, 2);
    do
    :: finished < 2 -> mine.done?id; finished++
    :: else -> break
    od;
    assert(mine.waiting == 3)
}
