/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts memory behind a shared file, within the limits of this process. */
#define _GNU_SOURCE
#include "runtime/memory/commit.h"

#include "base/process/cgroup.h"
#include "base/err.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define PIECE_MIN ((size_t)2 << 20)

int wsh_memfd_resize(int fd, size_t len)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < len)
        return -EFBIG;
    return ftruncate(fd, (off_t)len) ? -errno : 0;
}

/*
 * How much of `want` to commit at once; 0 = too little is left. All processes of a cgroup see the same remainder and
 * commit at the same time, so each commits a part and checks again.
 */
static size_t piece_size(size_t want, int n_sharing)
{
    struct wsh_cgroup cgroup;
    size_t part;

    wsh_cgroup_read("", &cgroup);
    if (cgroup.left == SIZE_MAX)
        return want;
    if (want > cgroup.left || PIECE_MIN * (size_t)n_sharing > cgroup.left)
        return 0;
    part = cgroup.left / (4 * (size_t)n_sharing) & ~(PIECE_MIN - 1);
    if (part < PIECE_MIN)
        part = PIECE_MIN;
    return part < want ? part : want;
}

/* Of a range without any memory. */
static int commit_hole(int fd, size_t from, size_t to, int n_sharing)
{
    int rc = 0;

    for (size_t at = from, len; at < to && !rc; at += len) {
        len = piece_size(to - at, n_sharing);
        rc = !len ? -EDQUOT : fallocate(fd, 0, (off_t)at, (off_t)len) ? -errno : 0;
    }
    if (rc)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    return rc;
}

/* What a network has pinned, and what teams have written, is there already. */
int wsh_commit(int fd, size_t from, size_t to, int n_sharing)
{
    int rc = 0;

    for (size_t at = from; at < to && !rc;) {
        off_t hole = lseek(fd, (off_t)at, SEEK_HOLE), data = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
        size_t begin = hole < 0 ? at : (size_t)hole, end = data < 0 || (size_t)data > to ? to : (size_t)data;

        if (begin < to)
            rc = commit_hole(fd, begin, end, n_sharing);
        at = begin < to ? end : to;
    }
    return rc;
}

const char *wsh_commit_strerror(int err)
{
    static _Thread_local char text[256];
    struct wsh_cgroup cgroup;

    if (err == -EFBIG)
        return "`ulimit -f` is less; raise it";
    if (err != -EDQUOT)
        return wsh_strerror(err);
    wsh_cgroup_read("", &cgroup);
    snprintf(text, sizeof text,
             "of the %zu MiB that the memory cgroup allows %zu MiB are left; raise its limit "
             "(" WSH_CGROUP_SETTINGS ")",
             cgroup.limit >> 20, cgroup.left >> 20);
    return text;
}
