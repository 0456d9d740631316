/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether a process lives, by its descriptor or by its number and start time. */
#include "emulator/fabric/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define START_TIME_FIELD 22
#define STATE_FIELD 3

/* /proc/PID/stat: the name may hold anything, so the fields are counted from the last parenthesis. */
uint64_t emu_process_start_time(int pid)
{
    char path[40], text[1024];
    char *at;
    ssize_t len;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? 0 : EMU_START_UNKNOWN;
    len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len < 0 ? 0 : len] = 0;
    at = strrchr(text, ')');
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X')
        return 0;
    at += 2;
    for (int field = STATE_FIELD; field < START_TIME_FIELD && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

int emu_process_open(int pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* A look that fails, because a signal comes (EINTR) or there is no descriptor to look with, finds no death. */
bool emu_process_alive(int pid, int pidfd, uint64_t start_time)
{
    struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
    uint64_t seen;

    if (pidfd >= 0 && poll(&poll_fd, 1, 0) <= 0)
        return true;
    if (pidfd >= 0 &&
        !(poll_fd.revents & POLLNVAL)) /* the program may close descriptors that are not its own */
        return false;
    seen = emu_process_start_time(pid);
    return seen == start_time || seen == EMU_START_UNKNOWN;
}
