/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of exercises 5 and 6: a task is a range of numbers, in which primes are counted. */
#ifndef PRIMES_H
#define PRIMES_H

enum { LIMIT = 20000, TASKS = 200, TASK = LIMIT / TASKS };

static inline int is_prime(int number)
{
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return 0;
    return number >= 2;
}

/* How many primes a task has that leave `rest` when they are divided by `step`: by 1 and 0 all. */
static inline long primes_count(int task, int step, int rest)
{
    long found = 0;

    for (int number = task * TASK; number < (task + 1) * TASK; number++)
        found += number % step == rest && is_prime(number);
    return found;
}

#endif
