/* SPDX-License-Identifier: BSD-3-Clause */
/* What most likely killed a PE: lack of memory, or a limit; and how to see where it crashed. */
#include "bootstrap/oshrun/cause.h"

#include "base/process/cgroup.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The kernel does not say which process it killed, but counts the kills in our cgroup, which the PEs share. */
static void kernel_cause_print(long kills, char *text, size_t size)
{
    struct wsh_cgroup cgroup;
    int len;

    wsh_cgroup_read("", &cgroup);
    if (kills < 0 || cgroup.kills <= kills)
        return;
    len = snprintf(text, size, ": most likely by the kernel, for lack of memory");
    if (cgroup.limit != SIZE_MAX)
        len += snprintf(text + len, size - (size_t)len, ", the memory cgroup allows %zu MiB; raise that (%s)",
                        cgroup.limit >> 20, WSH_CGROUP_SETTINGS);
    snprintf(text + len, size - (size_t)len, "%s use less (SHMEM_SYMMETRIC_SIZE, fewer PEs)",
             cgroup.limit != SIZE_MAX ? " or" : ";");
}

static bool is_crash(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGABRT || sig == SIGFPE || sig == SIGILL;
}

void wsh_cause_print(int sig, long kills, bool noted, char *text, size_t size)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

    *text = 0;
    if (sig == SIGKILL)
        kernel_cause_print(kills, text, size);
    if (is_crash(sig) && !noted && !getrlimit(RLIMIT_CORE, &limit) && !limit.rlim_cur)
        snprintf(text, size,
                 ": for its stack run it again after `ulimit -c unlimited`, then gdb PROGRAM CORE");
    if (sig == SIGXFSZ && !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
        snprintf(
            text, size,
            ": it made a file larger than `ulimit -f` allows (%llu KiB); raise that (ulimit -f unlimited, "
            "systemd's LimitFSIZE=)",
            (unsigned long long)limit.rlim_cur >> 10);
    if (sig == SIGXCPU && !getrlimit(RLIMIT_CPU, &limit) && limit.rlim_cur != RLIM_INFINITY)
        snprintf(
            text, size,
            ": it ran longer than `ulimit -t` allows (%llu s); raise that (ulimit -t unlimited, systemd's "
            "LimitCPU=)",
            (unsigned long long)limit.rlim_cur);
}
