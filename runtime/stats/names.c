/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the job and of files, and how a file is replaced. */
#define _GNU_SOURCE
#include "runtime/stats/names.h"

#include "base/env/env.h"
#include "base/file.h"
#include "base/stats/page.h"
#include "runtime/job/job.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const batch_systems[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};

/* Letters, digits, and what no shell or label minds. */
static void name_tame(char *name)
{
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("-_.", *name))
            *name = '_';
}

void wsh_stats_job_name(const struct wsh_job *job, char *text, size_t size)
{
    const char *name = NULL;

    for (size_t i = 0; !name && i < sizeof batch_systems / sizeof batch_systems[0]; i++)
        name = wsh_env_foreign(batch_systems[i]);
    if (name)
        snprintf(text, size, "%s", name);
    else if (job->env.oshrun_pid >= 0)
        snprintf(text, size, "oshrun-%ld", job->env.oshrun_pid);
    else if (job->boot.has_secret) /* a number made of it, from which nobody finds it */
        snprintf(text, size, "job-%08x",
                 (unsigned)wsh_secret_tag(&job->boot.secret, UINT32_MAX, UINT32_MAX, job->boot.generation));
    else
        snprintf(text, size, "pid-%d", (int)getpid());
    name_tame(text);
}

/* One character of the pattern, or what %x stands for; *at moves on. */
static void part_of(const struct wsh_job *job, const char **at, char part[NAME_MAX + 1])
{
    char what = **at == '%' ? (*at)[1] : 0;

    part[0] = **at;
    part[1] = 0;
    if (what == 'j')
        wsh_stats_job_name(job, part, WSH_STATS_JOB);
    else if (what == 'p')
        snprintf(part, NAME_MAX, "%d", (int)getpid());
    else if (what != 'h' || gethostname(part, NAME_MAX))
        what = 0;
    part[NAME_MAX] = 0;
    *at += what ? 2 : 1;
}

int wsh_stats_path(const struct wsh_job *job, const char *pattern, char *path, size_t size)
{
    char part[NAME_MAX + 1];
    size_t used = 0;

    if (*pattern != '/') {
        if (!getcwd(path, size - 1))
            return -errno;
        used = strlen(path);
        path[used++] = '/';
    }
    while (*pattern) {
        size_t len;

        part_of(job, &pattern, part);
        len = strlen(part);
        if (used + len + sizeof ".tmp" > size)
            return -ENAMETOOLONG;
        memcpy(path + used, part, len);
        used += len;
    }
    path[used] = 0;
    return 0;
}

static int bytes_write(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno != EINTR)
            return -errno;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int wsh_stats_file_write(const char *path, const char *bytes, size_t len)
{
    char name[WSH_STATS_PATH + 8];
    int fd, rc;

    snprintf(name, sizeof name, "%s.tmp", path);
    fd = wsh_file_create(name, 0600); /* in the place of what a PE has left that was killed as it wrote */
    if (fd < 0)
        return fd;
    rc = bytes_write(fd, bytes, len);
    if (!rc && fchmod(fd, 0644))
        rc = -errno;
    if (close(fd) && !rc)
        rc = -errno;
    if (!rc && rename(name, path))
        rc = -errno;
    if (rc)
        unlink(name);
    return rc;
}
