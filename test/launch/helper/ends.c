/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in which one PE ends first: how, which and how long before the others are arguments. */
#define _GNU_SOURCE
#include "test/launch/helper/by_uid.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long word;

/*
 * In place of libc's, for the library too: the PE RANK that is also DIES_IN_MOVE is killed where it is about to connect
 * to another root of its unique id, which the library's thread does.
 */
int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    const char *rank = getenv("RANK"), *dies = getenv("DIES_IN_MOVE");
    char thread[16] = "";

    prctl(PR_GET_NAME, thread);
    if (rank && dies && !strcmp(rank, dies) && !strcmp(thread, "shmem-uid"))
        raise(SIGKILL);
    return (int)syscall(SYS_connect, fd, to, len);
}

/* What the test counts from. */
static void say_when(int me)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    printf("PE %d ends at %lld ms\n", me, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    fflush(stdout);
}

static void end_by(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", NULL);
    if (!strcmp(how, "exit3"))
        exit(3);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    exit(0);
}

/* Nonblocking collectives, of which the first is waited for, or tested until it ends. */
static void exchange(const char *how)
{
    static long to[64], from[64];
    shmemx_req_h requests[3];
    int rc = 1;

    for (int i = 0; i < 3; i++)
        shmemx_long_alltoall_nb(SHMEM_TEAM_WORLD, to, from, 1, &requests[i]);
    while (!strcmp(how, "nbtest") && rc > 0)
        rc = shmemx_req_test(&requests[0]);
    shmemx_req_wait_all(requests, 3);
}

/* What the others do after a while. */
static void go_on(const char *then, int me, int n)
{
    if (!strcmp(then, "barrier"))
        shmem_barrier_all();
    if (!strcmp(then, "put")) {
        shmem_long_p(&word, me, n - 1);
        shmem_quiet();
    }
    if (!strcmp(then, "get"))
        shmem_long_g(&word, n - 1);
    if (!strcmp(then, "nb") || !strcmp(then, "nbtest"))
        exchange(then);
    if (!strcmp(then, "finalize"))
        shmem_finalize();
    printf("PE %d of %d has gone on\n", me, n);
}

/* The launcher's PEs have been PEs ENDS_BEFORE times before. */
static void start_by_launcher(void)
{
    const char *before = getenv("ENDS_BEFORE");

    for (int i = before ? atoi(before) : 0; i > 0; i--) {
        shmem_init();
        shmem_finalize();
    }
    shmem_init();
}

/*
 * ends HOW WHO SECONDS [THEN]: PE WHO ends by HOW, which ends with a + where all PEs have finalized before; the others
 * SECONDS later, after THEN. UID_FILE, RANK and WORLD_SIZE in the environment: by a unique id.
 */
int main(int argc, char **argv)
{
    const char *path = getenv("UID_FILE");
    char how[32];
    int who, me, n;

    if (argc < 4)
        return 99;
    if (path && start_by_uid(path, atoi(getenv("RANK")), atoi(getenv("WORLD_SIZE"))))
        return 96;
    if (!path)
        start_by_launcher();
    me = shmem_my_pe();
    n = shmem_n_pes();
    who = atoi(argv[2]) < 0 ? n + atoi(argv[2]) : atoi(argv[2]);
    snprintf(how, sizeof how, "%s", argv[1]);
    shmem_barrier_all();
    if (strchr(how, '+'))
        shmem_finalize();
    how[strcspn(how, "+")] = '\0';
    if (me == who) {
        say_when(me);
        end_by(how);
    }
    usleep((useconds_t)(1e6 * atof(argv[3])));
    go_on(argc > 4 ? argv[4] : "", me, n);
    exit(0);
}
