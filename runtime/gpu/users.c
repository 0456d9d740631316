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
 * A lock begins at a byte that no other process has: the time, above the number of the process, so that processes of
 * several containers differ too. Its first byte says "here"; n more that the GPU is divided among n PEs.
 */
enum { PID_BITS = 22, PES_MOST = 4096 };
#define TIME_MASK ((1LL << (62 - PID_BITS)) - 1)
#define LAST_BYTE ((1LL << 62) + PES_MOST)

struct wsh_gpu_users {
    int fd;
    off_t at;
    int divided; /* among so many PEs; 0: not yet */
    bool told;
};

static off_t place_of_mine(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((now.tv_sec * 1000000000LL + now.tv_nsec) & TIME_MASK) << PID_BITS | getpid();
}

static int lock_mine(const struct wsh_gpu_users *users, int n)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = users->at, .l_len = 1 + n};

    return fcntl(users->fd, F_OFD_SETLK, &lock);
}

struct wsh_gpu_users *wsh_gpu_users_open(const char *file)
{
    struct wsh_gpu_users *users = calloc(1, sizeof *users);

    if (!users)
        return NULL;
    users->fd = open(file, O_RDONLY | O_CLOEXEC);
    users->at = place_of_mine();
    if (users->fd >= 0 && !lock_mine(users, 0))
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
static int count_range(int fd, off_t from, off_t to, int *least)
{
    int n = 0;

    while (from <= to) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from + 1};

        if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_len < 1)
            return n;
        if (lock.l_len > 1 && (!*least || lock.l_len - 1 < *least))
            *least = (int)(lock.l_len - 1 < PES_MOST ? lock.l_len - 1 : PES_MOST);
        n += 1 + count_range(fd, from, lock.l_start - 1, least);
        from = lock.l_start + lock.l_len;
    }
    return n;
}

int wsh_gpu_users_count(const struct wsh_gpu_users *users, int *least)
{
    *least = 0;
    return count_range(users->fd, 0, LAST_BYTE, least);
}

void wsh_gpu_users_divide(struct wsh_gpu_users *users, int n)
{
    n = n < PES_MOST ? n : PES_MOST;
    if (!users->divided && !lock_mine(users, n))
        users->divided = n;
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

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Without MPS kernels of several processes take turns, so that none waits for room that another has. */
static int sharers_of(const struct wsh_job *job, int *least)
{
    int known = most(job->device.sharers, 1);

    *least = 0;
    if (!job->device.users || !job->device.gpu.mps)
        return known;
    return most(known, 1 + wsh_gpu_users_count(job->device.users, least));
}

int wsh_gpu_sharers(const struct wsh_job *job)
{
    int least;

    return sharers_of(job, &least);
}

int wsh_gpu_sharers_divide(struct wsh_job *job)
{
    struct wsh_gpu_users *users = job->device.users;
    int least, n = sharers_of(job, &least);

    if (!users || !job->device.gpu.mps)
        return n;
    if (least && least < n && !users->told) {
        users->told = true;
        wsh_warn("%d processes use the GPU at %s, and some came before the others and took 1/%d each: "
                 "kernels that "
                 "wait for other PEs may wait for room for ever; start each job with SHMEM_GPU_PES=%d",
                 n, job->device.gpu.pci, least, n);
    }
    wsh_gpu_users_divide(users, n);
    return n;
}
