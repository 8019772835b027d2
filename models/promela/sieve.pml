// expect: holds states=5068 transitions=13309
/*
 * The sieve of Eratosthenes as a pipeline of processes (M. D. McIlroy's
 * idea; a classic example of communicating processes).  Each stage keeps
 * the first number that it gets, a prime, and passes on those that its
 * prime does not divide.  A new stage is started when it is needed, and it
 * gets its input channel as a parameter.
 *
 * Checked: what a stage keeps is a prime, and all the primes are found.
 */
#ifndef MAX
#define MAX 12
#endif

byte found;             /* primes so far */

proctype stage(chan input; byte prime)
{
        chan output = [0] of { byte };
        byte n, d;
        bool last = true;       /* no stage behind this one yet */

        found++;
        for (d : 2 .. prime - 1) {
                assert(prime % d != 0)
        }
        d = 0;

        do
        :: input ? n ->
           if
           :: n == 0 ->                         /* the end of the numbers */
              if
              :: !last -> output ! 0
              :: else
              fi;
              break
           :: n != 0 && n % prime == 0          /* drop it */
           :: n != 0 && n % prime != 0 ->
              if
              :: last -> last = false; run stage(output, n)
              :: else -> output ! n
              fi
           fi
        od
}

init
{
        chan numbers = [0] of { byte };
        byte n;

        run stage(numbers, 2);
        for (n : 3 .. MAX) {
                numbers ! n
        }
        numbers ! 0;
        _nr_pr == 1;
        printf("%d primes up to %d\n", found, MAX);
        assert(MAX != 12 || found == 5)
}
