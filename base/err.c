/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns an errno of either sign into text, without shared state. */
#define _GNU_SOURCE
#include "base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_FEW 16

static void (*abort_job)(int status); /* set before main */

const char *wsh_strerror(int err)
{
    static _Thread_local char text[128];

    return strerror_r(err < 0 ? -err : err, text, sizeof text);
}

/* What failed has given back its own. */
static bool files_are_short(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), err = errno;
    struct rlimit limit;

    if (fd < 0)
        return err == EMFILE;
    close(fd);
    return !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur - (rlim_t)fd <= FILES_FEW;
}

const char *wsh_err_cure(int err, const char *other)
{
    err = err < 0 ? -err : err;
    if (err == EIO && files_are_short())
        err = EMFILE;
    switch (err) {
    case EMFILE: return "raise the limit of open files (ulimit -n), or let the program keep fewer open";
    case ENFILE: return "raise this machine's limit of open files (sysctl fs.file-max)";
    default: return other;
    }
}

void wsh_abort_by(void (*end)(int status))
{
    abort_job = end;
}

bool wsh_err_of_folder(int err)
{
    static const int errors[] = {ENOSPC, EDQUOT, EROFS, ENOENT, ENOTDIR, EACCES, EPERM};

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (err == errors[i] || err == -errors[i])
            return true;
    return false;
}

void wsh_abort(int status)
{
    if (abort_job)
        abort_job(status);
    _exit(status);
}
