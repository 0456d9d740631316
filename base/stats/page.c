/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and finds pages. */
#define _GNU_SOURCE
#include "base/stats/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGES_MOST 65536

static void *pages_map(int fd, int first, int n, int prot)
{
    void *at = mmap(NULL, (size_t)n * WSH_STATS_BYTES, prot, MAP_SHARED, fd, (off_t)first * WSH_STATS_BYTES);

    return at == MAP_FAILED ? NULL : at;
}

struct wsh_stats_page *wsh_stats_page_make(int *fd)
{
    struct wsh_stats_page *page = NULL;

    *fd = memfd_create(WSH_STATS_MEMFD, MFD_CLOEXEC);
    if (*fd >= 0 && !ftruncate(*fd, WSH_STATS_BYTES))
        page = pages_map(*fd, 0, 1, PROT_READ | PROT_WRITE);
    if (page)
        return page;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    page = mmap(NULL, WSH_STATS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* Is what `dir`/NAME leads to a memfd of pages? */
static bool is_pages(int dir, const char *name)
{
    static const char wanted[] = "/memfd:" WSH_STATS_MEMFD;
    char target[sizeof wanted + 1];
    ssize_t len = readlinkat(dir, name, target, sizeof target);

    return len >= (ssize_t)sizeof wanted - 1 && !memcmp(target, wanted, sizeof wanted - 1);
}

/* The number comes from the environment, and may by now be that of any file of the program. */
struct wsh_stats_page *wsh_stats_page_given(int fd, int pe)
{
    char link[64];
    struct stat st;
    int seals;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    seals = is_pages(AT_FDCWD, link) ? fcntl(fd, F_GET_SEALS) : -1;
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) || pe < 0 ||
        st.st_size / WSH_STATS_BYTES <= pe)
        return NULL;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return pages_map(fd, pe, 1, PROT_READ | PROT_WRITE);
}

void wsh_stats_page_close(struct wsh_stats_page *page)
{
    if (page)
        munmap(page, WSH_STATS_BYTES);
}

int wsh_stats_pages_make(int n, const char **pages)
{
    int fd = memfd_create(WSH_STATS_MEMFD "-of-all", MFD_ALLOW_SEALING);

    *pages = NULL;
    if (fd < 0)
        return -errno;
    if (!ftruncate(fd, (off_t)n * WSH_STATS_BYTES) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        *pages = pages_map(fd, 0, n, PROT_READ);
    if (*pages)
        return fd;
    close(fd);
    return -ENOMEM;
}

/* It goes to a terminal. */
static void text_tame(char *text, size_t size)
{
    text[size - 1] = 0;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool wsh_stats_page_read(const void *at, struct wsh_stats_page *copy)
{
    const struct wsh_stats_page *page = at;

    /* Acquire: partner of the release by which the PE has said that its page is filled. */
    if (__atomic_load_n(&page->magic, __ATOMIC_ACQUIRE) != WSH_STATS_MAGIC)
        return false;
    memcpy(copy, page, sizeof *copy);
    copy->metrics[sizeof copy->metrics - 1] = 0;
    text_tame(copy->job, sizeof copy->job);
    text_tame(copy->routine, sizeof copy->routine);
    return true;
}

/* The descriptor of `dir`/NAME if that has pages; else -1. */
static int pages_open(int dir, const char *name)
{
    return is_pages(dir, name) ? openat(dir, name, O_RDONLY | O_CLOEXEC) : -1;
}

/* That of the process, among its own one alone or all of oshrun's. */
static bool page_take(int fd, pid_t pid, struct wsh_stats_page *copy)
{
    struct stat st;
    char *pages = NULL;
    bool took = false;
    int n = 0;

    if (!fstat(fd, &st) && st.st_size >= WSH_STATS_BYTES && st.st_size / WSH_STATS_BYTES <= PAGES_MOST)
        n = (int)(st.st_size / WSH_STATS_BYTES);
    if (n)
        pages = pages_map(fd, 0, n, PROT_READ);
    for (int i = 0; pages && i < n && !took; i++)
        took = wsh_stats_page_read(pages + (size_t)i * WSH_STATS_BYTES, copy) && copy->pid == pid;
    if (pages)
        munmap(pages, (size_t)n * WSH_STATS_BYTES);
    return took;
}

int wsh_stats_page_of(pid_t pid, struct wsh_stats_page *copy)
{
    char path[64];
    struct dirent *entry;
    struct stat st;
    bool took = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &st))
        return -ESRCH;
    if (st.st_uid != geteuid())
        return -EACCES;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (!dir)
        return errno == EACCES ? -EACCES : -ESRCH;
    while (!took && (entry = readdir(dir))) {
        int fd = pages_open(dirfd(dir), entry->d_name);

        took = fd >= 0 && page_take(fd, pid, copy);
        if (fd >= 0)
            close(fd);
    }
    closedir(dir);
    return took ? 0 : -ENOENT;
}

static void own_file_remove(const char *path)
{
    struct stat st;

    if (!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        unlink(path);
}

void wsh_stats_metrics_remove(const struct wsh_stats_page *copy)
{
    char temporary[WSH_STATS_PATH + 8];

    if (copy->metrics[0] != '/')
        return;
    own_file_remove(copy->metrics);
    snprintf(temporary, sizeof temporary, "%s.tmp", copy->metrics);
    own_file_remove(temporary);
}
