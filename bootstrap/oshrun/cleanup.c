/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the private folder of a job and removes what a job leaves: a guardian does when oshrun itself is killed. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/cleanup.h"

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/io.h"
#include "base/env/env.h"
#include "base/err.h"
#include "base/secret.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int pid_compare(const void *a, const void *b)
{
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The process that a file is named for, if it is one of this user's; else 0. */
static pid_t file_owner(const char *name)
{
    int pid, uid, number, end = 0;

    if (sscanf(name, "%d:%d:%d%n", &pid, &uid, &number, &end) != 3 || name[end] || (uid_t)uid != getuid())
        return 0;
    return pid;
}

/*
 * One name may outlive a PE: libfabric's shm provider keeps /dev/shm/<pid>:<uid>:<n>. The library unlinks it once all
 * PEs have connected, so that only a PE that is killed earlier leaves it.
 */
void wsh_leftovers_remove(const pid_t *pids, int n)
{
    pid_t *sorted = malloc((size_t)n * sizeof *sorted);
    DIR *dir = opendir("/dev/shm");

    for (int i = 0; sorted && i < n; i++)
        sorted[i] = pids[i];
    if (sorted)
        qsort(sorted, (size_t)n, sizeof *sorted, pid_compare);
    for (struct dirent *entry; sorted && dir && (entry = readdir(dir));) {
        pid_t owner = file_owner(entry->d_name);

        if (owner > 0 && bsearch(&owner, sorted, (size_t)n, sizeof owner, pid_compare))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    free(sorted);
}

#define PREFIX "oshrun."
#define DIGITS 16 /* hexadecimal, of the rest of the name */

/* The owner's file in the folder, locked for as long as oshrun lives: else the folder is a leftover. */
static int owner_fd = -1;

int wsh_tmpdir_name(char **path)
{
    const char *below = wsh_env_foreign("TMPDIR");
    uint64_t any;

    *path = NULL;
    if (!wsh_random_fill(&any, sizeof any) &&
        asprintf(path, "%s/" PREFIX "%0*" PRIx64, below ? below : "/tmp", DIGITS, any) >= 0)
        return 0;
    wsh_say("out of memory");
    return -ENOMEM;
}

static void folder_empty(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        int sub;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (!unlinkat(fd, entry->d_name, 0))
            continue;
        sub = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            folder_empty(sub);
        unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

/* A PE that has just been killed may still make a file: then once more, for up to a second. */
void wsh_tmpdir_remove(const char *path)
{
    for (int i = 0; i < 1000; i++) {
        int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

        if (fd < 0)
            return;
        folder_empty(fd);
        if (!rmdir(path) || (errno != ENOTEMPTY && errno != EEXIST))
            return;
        usleep(1000);
    }
}

/* With the host's name: where several hosts share the folder above, locks may be those of one host. */
static void owner_name(char *text, size_t size)
{
    char host[HOST_NAME_MAX + 1] = "";

    gethostname(host, sizeof host - 1);
    snprintf(text, size, "owner.%s", host);
}

/* The file has another name until it is locked: one of the final name that is not locked has lost its owner. */
static void owner_open(const char *path)
{
    char name[HOST_NAME_MAX + 16];
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir < 0)
        return;
    owner_name(name, sizeof name);
    owner_fd = openat(dir, "owner", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (owner_fd >= 0 && (flock(owner_fd, LOCK_EX | LOCK_NB) || renameat(dir, "owner", dir, name))) {
        close(owner_fd);
        owner_fd = -1;
    }
    close(dir);
}

void wsh_tmpdir_note(pid_t pid)
{
    if (owner_fd >= 0)
        (void)!write(owner_fd, &pid, sizeof pid);
}

/* The file of an owner that has ended, on this host; -1 where there is none. */
static int owner_take(int folder)
{
    char name[HOST_NAME_MAX + 16];
    int fd;

    owner_name(name, sizeof name);
    fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A number that has been given to another process since is left alone. */
static void noted_bury(int owner)
{
    pid_t *pids = calloc(WSH_OSHRUN_MAX_PES, sizeof *pids), pid;
    int n = 0;

    while (pids && n < WSH_OSHRUN_MAX_PES && read(owner, &pid, sizeof pid) == (ssize_t)sizeof pid)
        if (pid > 0 && kill(pid, 0) && errno == ESRCH)
            pids[n++] = pid;
    if (n)
        wsh_leftovers_remove(pids, n);
    free(pids);
}

/* Opens a folder of this user's; -1 where it is not. */
static int folder_open(int dir, const char *name)
{
    int folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (folder < 0 || (!fstat(folder, &st) && st.st_uid == geteuid()))
        return folder;
    close(folder);
    return -1;
}

static void folder_sweep(int dir, const char *name, bool alone)
{
    int folder = folder_open(dir, name), owner = folder < 0 ? -1 : owner_take(folder);

    if (owner >= 0) {
        noted_bury(owner);
        folder_empty(folder);
        close(owner);
    } else if (folder >= 0) {
        if (alone)
            unlinkat(folder, "owner", 0);
        close(folder);
    }
    if ((owner >= 0 || (folder >= 0 && alone)) && !unlinkat(dir, name, AT_REMOVEDIR))
        wsh_say_more("removed %s, which an oshrun that was killed had left", name);
}

static bool name_is_ours(const char *name)
{
    size_t len = sizeof PREFIX - 1;

    return !strncmp(name, PREFIX, len) && strspn(name + len, "0123456789abcdef") == DIGITS &&
           !name[len + DIGITS];
}

/*
 * A folder has no owner's file for a moment after it has been made. Who makes one holds a shared lock on the folder
 * above meanwhile; who gets the exclusive one knows that an empty folder is a leftover too. Strangers may lock what is
 * above: so nobody waits for long.
 */
static void folders_sweep(DIR *dir)
{
    bool alone = !flock(dirfd(dir), LOCK_EX | LOCK_NB);

    for (struct dirent *entry; (entry = readdir(dir));)
        if (name_is_ours(entry->d_name))
            folder_sweep(dirfd(dir), entry->d_name, alone);
    for (int i = 0; i < 20 && flock(dirfd(dir), LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK; i++)
        usleep(1000);
}

static DIR *above_open(const char *path)
{
    char *above = strndup(path, (size_t)(strrchr(path, '/') - path));
    DIR *dir = above ? opendir(*above ? above : "/") : NULL;

    free(above);
    return dir;
}

int wsh_tmpdir_make(char **path)
{
    DIR *above = above_open(*path);
    int err = 0;

    if (above)
        folders_sweep(above);
    if (mkdir(*path, 0700))
        err = errno;
    else
        owner_open(*path);
    if (above)
        closedir(above);
    if (!err)
        return 0;
    wsh_say("cannot make the folder %s: %s; set TMPDIR to a writable one", *path, wsh_strerror(err));
    free(*path);
    *path = NULL;
    return -err;
}

#define DISMISSED ((pid_t)0)

static pid_t groups[WSH_OSHRUN_MAX_PES];
static int n_groups;

/* Reads groups until the end; true when dismissed. */
static bool groups_read(int fd)
{
    pid_t group;
    ssize_t got;

    while ((got = read(fd, &group, sizeof group)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof group)
            return false;
        if (group == DISMISSED)
            return true;
        if (n_groups < WSH_OSHRUN_MAX_PES)
            groups[n_groups++] = group;
    }
    return false;
}

static void fds_close_above(int fd)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, fd + 1, ~0U, 0))
        return;
#endif
    for (int other = fd + 1; other < 1024; other++)
        close(other);
}

/* Closes all descriptors of oshrun: a reader of its output would otherwise wait for the guardian. */
static void guardian_detach(int *fd)
{
    int null = open("/dev/null", O_RDWR);

    setsid();
    prctl(PR_SET_NAME, "oshrun-guard");
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD)
            signal(sig, SIG_IGN);
    *fd = dup2(*fd, 3);
    for (int std = 0; std < 3 && null >= 0; std++)
        dup2(null, std);
    fds_close_above(3);
}

static void guardian_run(int fd, const char *tmpdir)
{
    guardian_detach(&fd);
    if (groups_read(fd))
        return;
    for (int i = 0; i < n_groups; i++)
        kill(-groups[i], SIGKILL);
    wsh_leftovers_remove(groups, n_groups);
    wsh_tmpdir_remove(tmpdir);
}

int wsh_guardian_start(struct wsh_guardian *guardian, const char *tmpdir)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        goto err;
    guardian->pid = fork();
    if (guardian->pid == 0) {
        close(ends[1]);
        guardian_run(ends[0], tmpdir);
        _exit(0);
    }
    close(ends[0]);
    guardian->fd = ends[1];
    if (guardian->pid > 0)
        return 0;
    close(ends[1]);
err:
    wsh_say("cannot start a process: %s; raise `ulimit -u` or `ulimit -n`", wsh_strerror(errno));
    return -errno;
}

void wsh_guardian_send(int fd, pid_t group)
{
    while (write(fd, &group, sizeof group) < 0 && errno == EINTR)
        continue;
}

void wsh_guardian_dismiss(struct wsh_guardian *guardian)
{
    wsh_guardian_send(guardian->fd, DISMISSED);
    close(guardian->fd);
    while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
