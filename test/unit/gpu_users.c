/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that use a GPU see each other, and among how many PEs they have divided it, until they end, however they
 * end.
 */
#include "runtime/gpu/users.h"

#include "test/common/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHERS = 9 };
static char file[] = "/tmp/wsh-gpu-users-XXXXXX";

/* Another process: it uses the GPU, divided among n PEs if n is not 0, until it is killed. */
static pid_t start_user(int n)
{
    struct wsh_gpu_users *users;
    int said[2];
    char word = 0;
    pid_t pid;

    CU_ASSERT_FATAL(!pipe(said));
    pid = fork();
    if (!pid) {
        users = wsh_gpu_users_open(file);
        if (users && n)
            wsh_gpu_users_divide(users, n);
        (void)!write(said[1], users ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    close(said[1]);
    CU_ASSERT(read(said[0], &word, 1) == 1 && word == 'y');
    close(said[0]);
    return pid;
}

static void end_user(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void sees_all_others(void)
{
    struct wsh_gpu_users *users;
    pid_t pids[OTHERS];
    int least = -1;

    close(mkstemp(file));
    users = wsh_gpu_users_open(file);
    CU_ASSERT_FATAL(users != NULL);
    CU_ASSERT(wsh_gpu_users_count(users, &least) == 0 && !least);
    for (int i = 0; i < OTHERS; i++) {
        pids[i] = start_user(i < 3 ? 0 : i);
        CU_ASSERT(wsh_gpu_users_count(users, &least) == i + 1);
        CU_ASSERT(least == (i < 3 ? 0 : 3));
    }
    end_user(pids[3]);
    CU_ASSERT(wsh_gpu_users_count(users, &least) == OTHERS - 1 && least == 4);
    for (int i = 0; i < OTHERS; i++)
        if (i != 3)
            end_user(pids[i]);
    CU_ASSERT(wsh_gpu_users_count(users, &least) == 0 && !least);
    wsh_gpu_users_close(users);
    unlink(file);
}

/* What a process has divided for the first kernels holds for those. */
static void keeps_the_largest_part(void)
{
    struct wsh_gpu_users *one, *two;
    int least;

    strcpy(file + strlen(file) - 6, "XXXXXX");
    close(mkstemp(file));
    one = wsh_gpu_users_open(file);
    two = wsh_gpu_users_open(file);
    CU_ASSERT_FATAL(one && two);
    wsh_gpu_users_divide(one, 2);
    wsh_gpu_users_divide(one, 4);
    CU_ASSERT(wsh_gpu_users_count(two, &least) == 1 && least == 2);
    CU_ASSERT(wsh_gpu_users_count(one, &least) == 1 && least == 0);
    wsh_gpu_users_close(one);
    CU_ASSERT(wsh_gpu_users_count(two, &least) == 0 && !least);
    wsh_gpu_users_close(two);
    unlink(file);
    CU_ASSERT(!wsh_gpu_users_open("/nowhere/vendor"));
}

const struct unit_test unit_tests[] = {
    {"sees all others", sees_all_others},
    {"keeps the largest part", keeps_the_largest_part},
    {NULL, NULL},
};
