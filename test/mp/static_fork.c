/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores of forked children to globals and to libc's own data never reach the parent or its peers; the parent goes
 * on, fork after fork.
 * paths: local:2,4 tcp:2 shm:2 mixed:4 single
 */
#define _GNU_SOURCE
#include "test/common/mp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long shared_word = 7;
static char shared_block[20000];

/* Sees the parent's values, then overwrites them. */
static void child_main(long round)
{
    bool right = shared_word == 7 + round && shared_block[10000] == (char)round;

    shared_word = -1;
    mp_fill(shared_block, sizeof shared_block, 5);
    free(malloc(100000));
    _exit(right ? 0 : 1);
}

static void fork_once(long round)
{
    pid_t pid;
    int status = -1;

    shared_word = 7 + round;
    shared_block[10000] = (char)round;
    pid = fork();
    if (pid == 0)
        child_main(round);
    if (!mp_check(pid > 0, "fork failed"))
        return;
    waitpid(pid, &status, 0);
    mp_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %ld saw other values or died: %x", round,
             (unsigned)status);
    mp_check(shared_word == 7 + round, "child %ld changed the parent's word to %ld", round, shared_word);
    mp_check(shared_block[10000] == (char)round && shared_block[0] == 0,
             "child %ld changed the parent's block", round);
}

/* A fork takes seconds where valgrind runs the program. */
static long how_many(void)
{
    const char *variant = getenv("WSH_TEST_VARIANT");

    return variant && !strcmp(variant, "valgrind") ? 20 : mp_rounds(100, 1000);
}

int main(void)
{
    long forks;

    mp_begin();
    forks = how_many();
    for (long round = 1; round <= forks; round++) {
        fork_once(round);
        if (round % 10)
            continue;
        shmem_barrier_all();
        mp_check(shmem_long_g(&shared_word, mp_right()) == 7 + round, "a child of PE %d changed its word",
                 mp_right());
        shmem_barrier_all();
    }
    return mp_end();
}
