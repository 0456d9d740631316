/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that use a GPU see each other until they end, however they end; locks of others without number are no harm.
 */
#define _GNU_SOURCE
#include "runtime/gpu/users.h"

#include "test/common/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHERS = 9 };
static char file[] = "/tmp/wsh-gpu-users-XXXXXX";

/* Another process: it uses the GPU until it is killed. */
static pid_t start_user(void)
{
    struct wsh_gpu_users *users;
    int said[2];
    char word = 0;
    pid_t pid;

    CU_ASSERT_FATAL(!pipe(said));
    pid = fork();
    if (!pid) {
        users = wsh_gpu_users_open(file);
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

    close(mkstemp(file));
    users = wsh_gpu_users_open(file);
    CU_ASSERT_FATAL(users != NULL);
    CU_ASSERT(wsh_gpu_users_count(users) == 0);
    for (int i = 0; i < OTHERS; i++) {
        pids[i] = start_user();
        CU_ASSERT(wsh_gpu_users_count(users) == i + 1);
    }
    end_user(pids[3]);
    CU_ASSERT(wsh_gpu_users_count(users) == OTHERS - 1);
    for (int i = 0; i < OTHERS; i++)
        if (i != 3)
            end_user(pids[i]);
    CU_ASSERT(wsh_gpu_users_count(users) == 0);
    wsh_gpu_users_close(users);
    unlink(file);
}

static void counts_no_further(void)
{
    struct wsh_gpu_users *users;
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd;

    memcpy(file + strlen(file) - 6, "XXXXXX", 6);
    fd = mkstemp(file);
    users = wsh_gpu_users_open(file);
    CU_ASSERT_FATAL(users != NULL && fd >= 0);
    for (lock.l_start = 0; lock.l_start < 10000; lock.l_start += 2)
        CU_ASSERT(!fcntl(fd, F_OFD_SETLK, &lock));
    CU_ASSERT(wsh_gpu_users_count(users) == 4096);
    wsh_gpu_users_close(users);
    close(fd);
    unlink(file);
    CU_ASSERT(!wsh_gpu_users_open("/nowhere/vendor"));
}

const struct unit_test unit_tests[] = {
    {"sees all others", sees_all_others},
    {"counts no further than is of use", counts_no_further},
    {NULL, NULL},
};
