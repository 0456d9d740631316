/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of cgroups and processes, and of folders. */
#define _GNU_SOURCE
#include "tools/info_limits.h"

#include "base/process/cgroup.h"
#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define FEW_FILES 4096
#define SMALL_SHM (256 * MIB)

/* Files and variables by which a surrounding is known. */
static void limits_note(const struct wsh_info *info)
{
    const char *job = wsh_env_foreign("SLURM_JOB_ID"), *container = wsh_env_foreign("container");
    bool pod = wsh_env_foreign("KUBERNETES_SERVICE_HOST");
    bool inside =
        container || pod || wsh_info_has(info, ".dockerenv") || wsh_info_has(info, "run/.containerenv");

    wsh_info_line(info, "place", WSH_INFO_OK, "%s%s%s%s: the limits below are those that jobs have here",
                  pod      ? "a pod of Kubernetes"
                  : inside ? "a container"
                           : "no container that is known",
                  job ? ", in job " : "", job ? job : "", job ? " of Slurm" : "");
}

static int memory_check(const struct wsh_info *info)
{
    size_t heap = info->env->symmetric_size;
    struct wsh_cgroup cgroup;

    wsh_cgroup_read(info->root, &cgroup);
    if (cgroup.kills > 0)
        wsh_info_line(
            info, "killed", WSH_INFO_NOTE,
            "the kernel has killed %ld processes of this cgroup for lack of memory; raise its limit (%s)",
            cgroup.kills, WSH_CGROUP_SETTINGS);
    if (cgroup.limit == SIZE_MAX)
        return wsh_info_line(info, "cgroup", WSH_INFO_OK, "no limit of memory");
    return wsh_info_line(
        info, "cgroup", cgroup.left < heap ? WSH_INFO_NOTE : WSH_INFO_OK,
        "%zu MiB of memory, %zu MiB left: the symmetric heaps of all PEs count (%zu MiB each, as "
        "they are used); set SHMEM_SYMMETRIC_SIZE to less, or raise the limit (%s)",
        cgroup.limit / MIB, cgroup.left / MIB, heap / MIB, WSH_CGROUP_SETTINGS);
}

/* More PEs than processors are allowed; but a quota stops all threads for the rest of each period. */
static int processors_check(const struct wsh_info *info)
{
    double quota = wsh_cgroup_cpus(info->root);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    int mine = sched_getaffinity(0, sizeof set, &set) ? (int)online : CPU_COUNT(&set);

    if (quota > 0 && quota < mine)
        return wsh_info_line(
            info, "processors", WSH_INFO_NOTE,
            "%d of %ld, with a quota of %.1f: PEs that use it up are stopped for up to 100 ms; give "
            "whole processors (docker --cpuset-cpus, in Kubernetes requests.cpu = limits.cpu and the "
            "static CPU manager), and no more PEs than that",
            mine, online, quota);
    if (mine < online)
        return wsh_info_line(info, "processors", WSH_INFO_OK,
                             "%d of %ld; more: srun --cpus-per-task or --exclusive, docker --cpuset-cpus",
                             mine, online);
    return wsh_info_line(info, "processors", WSH_INFO_OK, "all %ld", online);
}

static int shm_check(const struct wsh_info *info)
{
    char path[PATH_MAX];
    struct statvfs fs;
    size_t size;

    snprintf(path, sizeof path, "%s/dev/shm", info->root);
    if (statvfs(path, &fs) || access(path, W_OK))
        return wsh_info_line(
            info, "/dev/shm", WSH_INFO_NOTE,
            "%s: this library needs none, but libfabric's provider shm and CUDA do; mount a tmpfs there",
            wsh_strerror(errno));
    size = (size_t)fs.f_blocks * fs.f_frsize;
    if (size < SMALL_SHM)
        return wsh_info_line(
            info, "/dev/shm", WSH_INFO_NOTE,
            "%zu MiB: enough for this library; libfabric's provider shm and CUDA may want more: docker "
            "--shm-size 8g, in Kubernetes an emptyDir of medium Memory",
            size / MIB);
    return wsh_info_line(info, "/dev/shm", WSH_INFO_OK, "%zu MiB", size / MIB);
}

static int tmp_check(const struct wsh_info *info)
{
    const char *chosen = wsh_env_foreign("TMPDIR");
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s%s", info->root, chosen ? chosen : "/tmp");
    if (access(path, W_OK | X_OK))
        return wsh_info_line(
            info, "/tmp", WSH_INFO_FAIL,
            "%s: %s; oshrun makes a folder there: set TMPDIR to one that can be written, or mount a tmpfs",
            path, wsh_strerror(errno));
    return wsh_info_line(info, "/tmp", WSH_INFO_OK, "%s can be written", path);
}

static int files_check(const struct wsh_info *info)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < FEW_FILES)
        return wsh_info_line(
            info, "files", WSH_INFO_NOTE,
            "%llu open files at most: a few for each PE of a host and for peers over tcp; for more than "
            "some hundred PEs raise the hard limit (limits.conf nofile, docker --ulimit nofile=65536)",
            (unsigned long long)limit.rlim_max);
    return wsh_info_line(info, "files", WSH_INFO_OK, "%llu open files, up to %llu",
                         (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

/* The heap is a file of memory, and those of all PEs of the host are mapped. */
static int sizes_check(const struct wsh_info *info)
{
    struct rlimit file, space;
    int bad = 0;

    getrlimit(RLIMIT_FSIZE, &file);
    getrlimit(RLIMIT_AS, &space);
    if (file.rlim_cur != RLIM_INFINITY && file.rlim_cur < info->env->symmetric_size)
        bad |= wsh_info_line(
            info, "file size", WSH_INFO_FAIL,
            "%llu MiB at most, less than SHMEM_SYMMETRIC_SIZE (%zu MiB): `ulimit -f unlimited`, "
            "limits.conf fsize",
            (unsigned long long)(file.rlim_cur / MIB), info->env->symmetric_size / MIB);
    if (space.rlim_cur != RLIM_INFINITY)
        bad |= wsh_info_line(
            info, "addresses", space.rlim_cur < info->env->symmetric_size ? WSH_INFO_FAIL : WSH_INFO_NOTE,
            "%llu MiB at most: a PE maps the symmetric heaps of all PEs of its host (%zu MiB each): "
            "`ulimit -v unlimited`, limits.conf as",
            (unsigned long long)(space.rlim_cur / MIB), info->env->symmetric_size / MIB);
    if (bad || space.rlim_cur != RLIM_INFINITY)
        return bad;
    return wsh_info_line(info, "sizes", WSH_INFO_OK,
                         "files and addresses as large as the symmetric heaps need");
}

int wsh_info_limits(const struct wsh_info *info)
{
    int bad = 0;

    limits_note(info);
    bad |= memory_check(info);
    bad |= processors_check(info);
    bad |= shm_check(info);
    bad |= tmp_check(info);
    bad |= files_check(info);
    bad |= sizes_check(info);
    return bad;
}
