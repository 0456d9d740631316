/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts memory behind a shared file, within the limits of this process. */
#ifndef WSH_COMMIT_H
#define WSH_COMMIT_H

#include <stddef.h>

/* Gives a memory file its length. 0 or -errno: -EFBIG where `ulimit -f` is less, which would end the process. */
int wsh_memfd_resize(int fd, size_t len);

/*
 * Puts memory behind [from, to) of a memory file, as `n_sharing` processes of this host may do at the same time. 0, or
 * -errno and what was put there is taken back: -EDQUOT where the memory cgroup has not so much left, so that the kernel
 * would kill.
 */
int wsh_commit(int fd, size_t from, size_t to, int n_sharing);

/* Why it failed, and the cure: for one line. Until the thread's next call. */
const char *wsh_commit_strerror(int err);

#endif
