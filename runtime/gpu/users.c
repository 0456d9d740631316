/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the processes that use a GPU, by locks on a file that the kernel has for it. */
#define _GNU_SOURCE
#include "runtime/gpu/users.h"

#include "base/log.h"
#include "runtime/job/job.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The lock is of a byte that no other process has: the time, above the number of the process, so that processes of
 * several containers differ too. Anybody may lock bytes of the file: more than COUNT_MOST are not looked at.
 */
enum { PID_BITS = 22, COUNT_MOST = 4096 };
#define TIME_MASK ((1LL << (62 - PID_BITS)) - 1)
#define LAST_BYTE (1LL << 62)

struct wsh_gpu_users {
    int fd;
};

static off_t place_of_mine(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((now.tv_sec * 1000000000LL + now.tv_nsec) & TIME_MASK) << PID_BITS | getpid();
}

static int lock_mine(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = place_of_mine(), .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &lock);
}

struct wsh_gpu_users *wsh_gpu_users_open(const char *file)
{
    struct wsh_gpu_users *users = calloc(1, sizeof *users);

    if (!users)
        return NULL;
    users->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (users->fd >= 0 && !lock_mine(users->fd))
        return users;
    wsh_info(WSH_SUB_INIT, "processes of other jobs on the GPU are not seen: no lock on %s (%s)", file,
             strerror(errno));
    wsh_gpu_users_close(users);
    return NULL;
}

void wsh_gpu_users_close(struct wsh_gpu_users *users)
{
    if (users && users->fd >= 0)
        close(users->fd);
    free(users);
}

/* The kernel names any lock of the range, so what is before it is looked at apart. */
static int count_range(int fd, off_t from, off_t to, int most)
{
    int n = 0;

    while (from <= to && n < most) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from + 1};

        if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_len < 1)
            return n;
        n += 1 + count_range(fd, from, lock.l_start - 1, most - n - 1);
        from = lock.l_start + lock.l_len;
    }
    return n;
}

int wsh_gpu_users_count(const struct wsh_gpu_users *users)
{
    return count_range(users->fd, 0, LAST_BYTE, COUNT_MOST);
}

void wsh_gpu_sharers_open(struct wsh_job *job)
{
    char file[64];

    snprintf(file, sizeof file, "/sys/bus/pci/devices/%s/vendor", job->device.gpu.pci);
    for (char *c = file; *c; c++)
        *c = (char)tolower(*c);
    job->device.users = wsh_gpu_users_open(file);
}

void wsh_gpu_sharers_close(struct wsh_job *job)
{
    wsh_gpu_users_close(job->device.users);
    job->device.users = NULL;
}

int wsh_gpu_sharers(const struct wsh_job *job)
{
    int known = job->device.sharers > 1 ? job->device.sharers : 1, all = 0;

    /* Without MPS kernels of several processes take turns, so that none waits for room that another has. */
    if (job->device.users && job->device.gpu.mps)
        all = 1 + wsh_gpu_users_count(job->device.users);
    return all > known ? all : known;
}
