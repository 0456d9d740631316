/* SPDX-License-Identifier: BSD-3-Clause */
/* The start, the checks and the end of a test of several PEs. */
#define _GNU_SOURCE
#include "test/common/mp.h"

#include <shmemx.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES_MAX 10 /* of failures a PE prints; the rest is counted */

int mp_me, mp_npes;

static int stopper_pipe = -1;
static pid_t stopper_pid;
static int failures; /* threads add to it: relaxed, read after they were joined */

void mp_begin(void)
{
    shmem_init();
    mp_me = shmem_my_pe();
    mp_npes = shmem_n_pes();
}

void mp_begin_thread(int level)
{
    int provided = -1;

    mp_check(shmem_init_thread(level, &provided) == 0, "shmem_init_thread failed");
    mp_me = shmem_my_pe();
    mp_npes = shmem_n_pes();
    if (provided < level)
        mp_skip("thread level %d is not provided, only %d", level, provided);
}

int mp_end(void)
{
    int failed = __atomic_load_n(&failures, __ATOMIC_RELAXED);

    if (failed > LINES_MAX)
        fprintf(stderr, "PE %d: %d more failures\n", mp_me, failed - LINES_MAX);
    shmem_finalize();
    return failed ? MP_FAILED : MP_PASSED;
}

/* One write a line, so that lines of several PEs do not mix. */
static void say(const char *head, const char *fmt, va_list args)
{
    char text[512];

    vsnprintf(text, sizeof text, fmt, args);
    fprintf(stderr, "%s%s\n", head, text);
}

void mp_skip(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (mp_me == 0)
        say("skip: ", fmt, args);
    va_end(args);
    shmem_finalize();
    exit(MP_SKIPPED);
}

bool mp_check_at(bool ok, const char *file, int line, const char *fmt, ...)
{
    const char *name = strrchr(file, '/');
    char head[256];
    va_list args;

    if (ok)
        return true;
    if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > LINES_MAX)
        return false;
    snprintf(head, sizeof head, "PE %d: %s:%d: ", mp_me, name ? name + 1 : file, line);
    va_start(args, fmt);
    say(head, fmt, args);
    va_end(args);
    return false;
}

void mp_note(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (mp_me == 0)
        say("note: ", fmt, args);
    va_end(args);
}

long mp_rounds(long quick, long thorough)
{
    const char *text = getenv("WSH_TEST_LONG"), *rounds = getenv("WSH_TEST_ROUNDS");

    if (rounds && atol(rounds) > 0)
        return atol(rounds);
    return text && *text && strcmp(text, "0") ? thorough : quick;
}

bool mp_path_is(const char *path)
{
    const char *text = getenv("WSH_TEST_PATH");

    return text && !strcmp(text, path);
}

void mp_network_counts(uint64_t *operations, uint64_t *bytes)
{
    shmemx_stats_t stats;

    mp_check(!shmemx_stats(&stats, sizeof stats), "no statistics");
    *operations = stats.network_operations;
    *bytes = stats.network_bytes;
}

int mp_right(void)
{
    return (mp_me + 1) % mp_npes;
}

int mp_left(void)
{
    return (mp_me + mp_npes - 1) % mp_npes;
}

void *mp_alloc(size_t len)
{
    void *mem = shmem_calloc(1, len);

    if (!mem) {
        fprintf(stderr, "PE %d: no symmetric memory for %zu bytes\n", mp_me, len);
        shmem_global_exit(MP_FAILED);
    }
    return mem;
}

static unsigned char pattern(uint64_t seed, size_t i)
{
    return (unsigned char)(seed * 31 + i * 7 + (i >> 8) * 13 + (seed >> 8));
}

void mp_fill(void *buf, size_t len, uint64_t seed)
{
    unsigned char *bytes = buf;

    for (size_t i = 0; i < len; i++)
        bytes[i] = pattern(seed, i);
}

size_t mp_wrong(const void *buf, size_t len, uint64_t seed)
{
    const unsigned char *bytes = buf;
    size_t wrong = 0;

    for (size_t i = 0; i < len; i++)
        wrong += bytes[i] != pattern(seed, i);
    return wrong;
}

uint64_t mp_seed(void)
{
    const char *text = getenv("WSH_TEST_SEED");

    return text && *text ? strtoull(text, NULL, 0) : 20260901;
}

/* SplitMix64: every state, zero too, starts a good sequence. */
uint64_t mp_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

size_t mp_random_below(uint64_t *state, size_t limit)
{
    return limit ? mp_random(state) % limit : 0;
}

double mp_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void mp_sleep(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};

    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left))
        ;
}

/* Never signals whoever inherits an orphan. */
static void stopper_main(int pipe_in, pid_t parent)
{
    double seconds;

    while (read(pipe_in, &seconds, sizeof seconds) == sizeof seconds && getppid() == parent) {
        kill(parent, SIGSTOP);
        mp_sleep(seconds);
        kill(parent, SIGCONT);
    }
    _exit(0);
}

void mp_stopper_start(void)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe(ends) || (stopper_pid = fork()) < 0) {
        perror("pipe or fork");
        exit(MP_FAILED);
    }
    if (stopper_pid == 0) {
        close(ends[1]);
        stopper_main(ends[0], parent);
    }
    close(ends[0]);
    stopper_pipe = ends[1];
}

void mp_stopper_stop_me(double seconds)
{
    if (write(stopper_pipe, &seconds, sizeof seconds) != sizeof seconds)
        mp_check(false, "the stopper is gone");
}

void mp_stopper_end(void)
{
    close(stopper_pipe);
    waitpid(stopper_pid, NULL, 0);
}
