// expect: holds states=24628 transitions=51385
/*
 * A log-structured store on flash memory that survives power failures: the
 * core of a flash file system, with files of one page each.
 *
 * A page is programmed once and then only erased, together with the others
 * of its block.  So a file is written to a new page, with a sequence number,
 * and a second step programs a mark which tells that the page is whole.
 * When one free block is left, a cleaner copies what is live in some full
 * block into it, erases the full block, and lets the copies be a part of the
 * log.  Every step programs or erases one page or one header.  The power may
 * fail between any two, up to FAILURES times; then everything in RAM is lost.
 *
 * After a failure all pages are scanned: the page of a file is the whole one
 * with the highest number.  If there are unfinished copies, then the block
 * they were made from is erased when all of it that is live has been copied,
 * and otherwise the copies are.
 *
 * Checked: a file has what was last written to it, also after a failure.
 *
 * With -DBUG the recovery takes a copy for good that has no mark yet.  All
 * is well, as it knows where the copy is, until the power fails once more.
 *
 *   -DFAILURES=2                           94,545 states
 *   -DFAILURES=2 -DWRITES=4               440,569 states
 *   -DFAILURES=2 -DWRITES=5 -DPAGES=3   1,403,500 states
 *   -DFAILURES=2 -DWRITES=6             5,852,959 states
 *   -DFAILURES=3 -DWRITES=8             some 10^8, by an estimate
 *   -DFAILURES=2 -DBUG                  a file is lost, after 94 steps
 */
#ifndef FILES
#define FILES 2
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef PAGES           /* of a block */
#define PAGES 2
#endif
#ifndef WRITES
#define WRITES 3
#endif
#ifndef FAILURES
#define FAILURES 1
#endif

#define ALL     (BLOCKS * PAGES)
#define NONE    255
#define BLOCK(p)        ((p) / PAGES)
#define NEXT(b)         ((b) * PAGES + used[b])         /* page of a block */

#define FREE    0
#define LOG     1
#define COPY    2

/* Flash */
byte kind[BLOCKS];      /* the header of a block: what it is for */
byte from[BLOCKS];      /* and for COPY, the block that is copied */
byte file[ALL];         /* the file of a page, from 1; 0: erased */
byte number[ALL];
bool whole[ALL];

/* RAM */
byte map[FILES] = NONE; /* the page of every file */
byte used[BLOCKS];      /* pages programmed, which are the first ones */
byte live[BLOCKS];      /* pages of them that are in the map */
byte free;              /* free blocks */
byte writing = NONE;    /* the block the user writes to */
byte victim = NONE;     /* the block that is cleaned */

/* Outside */
bool on;
byte failures;
byte writes;
byte saved[FILES];      /* the number of the last write that has ended */

inline erase_page(b)
{
        used[b]--;
        file[NEXT(b)] = 0;
        number[NEXT(b)] = 0;
        whole[NEXT(b)] = false
}

inline lose_ram(i)
{
        for (i : 0 .. FILES - 1) {
                map[i] = NONE
        }
        for (i : 0 .. BLOCKS - 1) {
                used[i] = 0;
                live[i] = 0
        }
        i = 0;
        free = 0;
        writing = NONE;
        victim = NONE
}

#define ROOM(b)         (kind[b] == LOG && used[b] < PAGES && (b) != victim)
#define CLEANABLE(b)    (kind[b] == LOG && used[b] == PAGES && live[b] < PAGES && (b) != writing)

proctype user()
{
        byte f, b, p;

        {
                do
                :: atomic {
                        writes < WRITES ->
                        do      /* any file */
                        :: f < FILES - 1 -> f++
                        :: break
                        od;
                        do      /* the first block with room */
                        :: b < BLOCKS && !ROOM(b) -> b++
                        :: else -> break
                        od
                   }
                   if
                   :: d_step {
                           b < BLOCKS ->
                           writes++;
                           p = NEXT(b);
                           file[p] = f + 1;
                           number[p] = writes;
                           used[b]++;
                           writing = b;
                           b = 0
                      }
                      whole[p] = true;
                      d_step {
                           if
                           :: map[f] != NONE -> live[BLOCK(map[f])]--
                           :: else
                           fi;
                           map[f] = p;
                           live[BLOCK(p)]++;
                           saved[f] = number[p];
                           writing = NONE;
                           p = 0;
                           f = 0
                      }
                   :: d_step {  /* a new block for the log, but not the last one */
                           b == BLOCKS && free >= 2 ->
                           b = 0;
                           do
                           :: kind[b] != FREE -> b++
                           :: else -> break
                           od;
                           kind[b] = LOG;
                           free--;
                           b = 0;
                           f = 0
                      }
                   :: d_step { b == BLOCKS && free < 2 -> b = 0; f = 0 }
                   fi
                :: d_step {     /* read all files */
                        for (f : 0 .. FILES - 1) {
                                assert(saved[f] == 0 || number[map[f]] == saved[f])
                        }
                        f = 0
                   }
                od
        } unless {
                !on
        }
}

proctype cleaner()
{
        byte i, b, p;

        {
                do
                :: atomic {
                        free == 1 ->
                        do      /* any block worth it, if there is one */
                        :: b < BLOCKS -> b++
                        :: b < BLOCKS && CLEANABLE(b) -> victim = b; break
                        :: b == BLOCKS -> break
                        od;
                        b = 0
                   }
                   if
                   :: victim == NONE
                   :: d_step {
                           victim != NONE ->
                           do
                           :: kind[b] != FREE -> b++
                           :: else -> break
                           od;
                           kind[b] = COPY;
                           from[b] = victim;
                           free--;
                           i = victim * PAGES
                      }
                      do        /* copy what is live */
                      :: d_step {
                              i < (victim + 1) * PAGES && map[file[i] - 1] == i ->
                              p = NEXT(b);
                              file[p] = file[i];
                              number[p] = number[i];
                              used[b]++
                         }
                         whole[p] = true;
                         d_step {
                              if
                              :: map[file[i] - 1] == i ->
                                 map[file[i] - 1] = p;
                                 live[victim]--;
                                 live[b]++
                              :: else   /* written again meanwhile */
                              fi;
                              p = 0;
                              i++
                         }
                      :: i < (victim + 1) * PAGES && map[file[i] - 1] != i -> i++
                      :: i == (victim + 1) * PAGES -> i = 0; break
                      od;
                      do        /* erase the block, its header last */
                      :: d_step { used[victim] > 0 -> erase_page(victim) }
                      :: d_step { used[victim] == 0 -> kind[victim] = FREE; free++ }
                         break
                      od;
                      kind[b] = LOG;
                      atomic { from[b] = 0; b = 0; victim = NONE }
                   fi
                od
        } unless {
                !on
        }
}

proctype power()
{
        byte i;

        do
        :: d_step { on && failures < FAILURES -> failures++; on = false; lose_ram(i) }
        :: failures == FAILURES -> break
        od
}

#ifdef BUG
#define IS_COPY(q, p)   (file[q] == file[p] && number[q] == number[p])
#else
#define IS_COPY(q, p)   (file[q] == file[p] && number[q] == number[p] && whole[q])
#endif

/* Is all that is live in the block copied?  With `move`, have the map say so. */
inline find_copies(to, move)
{
        copied = true;
        for (p : from[to] * PAGES .. from[to] * PAGES + PAGES - 1) {
                if
                :: whole[p] && map[file[p] - 1] == p ->
                   q = to * PAGES;
                   do
                   :: q < (to + 1) * PAGES && !IS_COPY(q, p) -> q++
                   :: else -> break
                   od;
                   if
                   :: q == (to + 1) * PAGES -> copied = false
                   :: q < (to + 1) * PAGES && move -> map[file[p] - 1] = q
                   :: else
                   fi
                :: else
                fi
        }
        p = 0;
        q = 0
}

init
{
        byte b, p, q;
        bool copied;

        run power();
        do
        :: d_step { on = true; b = 0; p = 0; copied = false }
           {
                do              /* scan the pages */
                :: d_step {
                        p < ALL && file[p] != 0 ->
                        used[BLOCK(p)]++;
                        q = file[p] - 1;
                        if
                        :: !whole[p]
                        :: whole[p] && map[q] == NONE -> map[q] = p
                        :: whole[p] && map[q] != NONE ->
                           if
                           :: number[p] > number[map[q]] -> map[q] = p
                           :: number[p] == number[map[q]] && kind[BLOCK(p)] != COPY ->
                              map[q] = p
                           :: else
                           fi
                        fi;
                        q = 0;
                        p++
                   }
                :: p < ALL && file[p] == 0 -> p++
                :: p == ALL -> p = 0; break
                od;

                do              /* finish or undo a copy */
                :: b < BLOCKS && kind[b] != COPY -> b++
                :: d_step { b < BLOCKS && kind[b] == COPY -> find_copies(b, false) }
                   if
                   :: d_step {
                           copied ->
                           copied = false;
                           find_copies(b, true);
                           copied = false;
                           victim = from[b]
                      }
                      do
                      :: d_step { used[victim] > 0 -> erase_page(victim) }
                      :: d_step { used[victim] == 0 -> kind[victim] = FREE }
                         break
                      od;
                      kind[b] = LOG;
                      atomic { from[b] = 0; victim = NONE }
                   :: !copied ->
                      do
                      :: d_step { used[b] > 0 -> erase_page(b) }
                      :: d_step { used[b] == 0 -> kind[b] = FREE; from[b] = 0 }
                         break
                      od
                   fi
                :: d_step {
                        b == BLOCKS ->
                        for (b : 0 .. BLOCKS - 1) {
                                free = free + (kind[b] == FREE)
                        }
                        for (b : 0 .. FILES - 1) {
                                if
                                :: map[b] == NONE -> assert(saved[b] == 0)
                                :: else ->
                                   assert(number[map[b]] >= saved[b]);
                                   saved[b] = number[map[b]];
                                   live[BLOCK(map[b])]++
                                fi
                        }
                        b = 0
                   }
                   break
                od;

                atomic { run user(); run cleaner() }
                false
           } unless {
                !on
           }
           _nr_pr <= 2
        od
}
