/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls start_pes, and no finalize, is finalized when it exits; again has no effect, and a process
 * that it forked exits without disturbing the job.
 * paths: local:2,3 tcp:2 mixed:4 single
 */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int words[2];

int main(void)
{
    int me, left, status = -1;
    pid_t child;

    start_pes(0);
    start_pes(0);
    me = _my_pe();
    left = (me + _num_pes() - 1) % _num_pes();
    child = fork();
    if (child == 0)
        exit(3);
    waitpid(child, &status, 0);
    shmem_int_p(&words[0], me, (me + 1) % _num_pes());
    shmem_barrier_all();
    if (words[0] != left || !WIFEXITED(status) || WEXITSTATUS(status) != 3) {
        fprintf(stderr, "PE %d: word %d, child %d\n", me, words[0], status);
        return 1;
    }
    shmem_int_p(&words[1], me, left);
    return 0;
}
