// expect: violation=assertion states=32 transitions=47
/*
 * The farmer, the wolf, the goat and the cabbage (a puzzle attributed to
 * Alcuin of York, about 800).  The boat carries the farmer and one other;
 * without the farmer the wolf eats the goat and the goat eats the cabbage.
 *
 * The assertion claims that they can never all be on the other side.  It
 * is violated on purpose: the counterexample is the solution.
 */
mtype = { WOLF, GOAT, CABBAGE };        /* names, for printf */

bool farmer, wolf, goat, cabbage;       /* false: this side, true: other */

#define GOAT_EATEN     (wolf == goat && farmer != goat)
#define CABBAGE_EATEN  (goat == cabbage && farmer != cabbage)

inline cross(passenger, name)
{
        passenger = !passenger;
        farmer = !farmer;
        printf("the farmer takes the %e\n", name)
}

active proctype river()
{
        do
        :: atomic {
                if
                :: farmer = !farmer; printf("the farmer goes alone\n")
                :: wolf == farmer -> cross(wolf, WOLF)
                :: goat == farmer -> cross(goat, GOAT)
                :: cabbage == farmer -> cross(cabbage, CABBAGE)
                fi;
                if
                :: GOAT_EATEN || CABBAGE_EATEN -> break         /* game over */
                :: else
                fi
           }
           assert(!(farmer && wolf && goat && cabbage))
        od
}
