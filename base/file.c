/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens files so that a name in a shared folder cannot be a trap. */
#define _GNU_SOURCE
#include "base/file.h"

#include "base/err.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int wsh_file_create(const char *path, unsigned mode)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(path, flags, mode);
    struct stat st;

    if (fd < 0 && errno == EEXIST && !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        !unlink(path))
        fd = open(path, flags, mode);
    return fd < 0 ? -errno : fd;
}

static bool is_trusted(uid_t user)
{
    return !user || user == geteuid();
}

/* Whether others can put files into the folder of `path`. */
static bool others_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    char folder[PATH_MAX] = ".";
    struct stat st;

    if (len >= sizeof folder)
        return true;
    if (len) {
        memcpy(folder, path, len);
        folder[len] = '\0';
    }
    return stat(folder, &st) || st.st_mode & (S_IWGRP | S_IWOTH);
}

/* Who may exchange the link meanwhile could write whatever else is in that folder. */
static int link_open(const char *path, int flags, unsigned mode)
{
    struct stat st;

    if (lstat(path, &st) || (S_ISLNK(st.st_mode) && !is_trusted(st.st_uid))) {
        errno = ELOOP;
        return -1;
    }
    return open(path, flags, mode);
}

/* One that was there. */
static int old_check(int fd, const char *path, int how)
{
    struct stat st;

    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode))
        return 0;
    if (!is_trusted(st.st_uid) && others_write(path))
        return -EPERM;
    return how & O_TRUNC && ftruncate(fd, 0) ? -errno : 0;
}

int wsh_file_open(const char *path, int how, unsigned mode)
{
    const int flags = O_WRONLY | O_CLOEXEC | (how & O_APPEND);
    int fd = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, mode), rc;

    if (fd >= 0 || errno != EEXIST)
        return fd < 0 ? -errno : fd;
    fd = open(path, flags | O_NOFOLLOW);
    if (fd < 0 && errno == ELOOP)
        fd = link_open(path, flags | O_CREAT, mode);
    if (fd < 0)
        return -errno;
    rc = old_check(fd, path, how);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* A pipe would wait for who writes it. */
int wsh_file_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

const char *wsh_file_strerror(int err)
{
    switch (err < 0 ? -err : err) {
    case EEXIST: return "what has that name is no file of this user";
    case ELOOP: return "it is a link of another user";
    case EPERM: return "it is a file of another user, in a folder that others can write";
    default: return wsh_strerror(err);
    }
}
