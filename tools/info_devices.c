/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices, and what they and their provider need; calls that a seccomp profile may refuse. */
#define _GNU_SOURCE
#include "base/err.h"
#include "tools/info_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define DEVICES "sys/class/infiniband"
#define GIVE_THEM \
    "docker --device=/dev/infiniband/uverbs0 …, in Kubernetes the resource vpc.amazonaws.com/efa or rdma/…"

/* The kernel shows devices to containers that do not have their files. */
static int rdma_check(const struct wsh_info *info)
{
    char devices[256], files[256], path[PATH_MAX + 300];
    int n = wsh_info_names(info, DEVICES, "", devices, sizeof devices), fd;

    if (!n)
        return wsh_info_line(info, "RDMA", WSH_INFO_OK,
                             "no RDMA device: other hosts are reached over sockets");
    if (!wsh_info_names(info, "dev/infiniband", "uverbs", files, sizeof files))
        return wsh_info_line(
            info, "RDMA", WSH_INFO_FAIL,
            "this machine has %s, but there is no /dev/infiniband/uverbs* here; give them: " GIVE_THEM,
            devices);
    snprintf(path, sizeof path, "%s/dev/infiniband/%.*s", info->root, (int)strcspn(files, " "), files);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return wsh_info_line(info, "RDMA", WSH_INFO_FAIL,
                             "%s cannot be opened: %s; a hostPath or bind mount is not enough, the device "
                             "must be given: " GIVE_THEM,
                             path, wsh_strerror(errno));
    close(fd);
    return wsh_info_line(info, "RDMA", WSH_INFO_OK, "%d device%s: %s", n, n > 1 ? "s" : "", devices);
}

static int memlock_check(const struct wsh_info *info)
{
    char devices[256];
    bool needed = wsh_info_names(info, DEVICES, "", devices, sizeof devices) > 0;
    struct rlimit limit;

    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        return wsh_info_line(info, "memlock", WSH_INFO_OK, "unlimited");
    return wsh_info_line(
        info, "memlock", needed ? WSH_INFO_FAIL : WSH_INFO_OK,
        "%llu KiB: enough for tcp; EFA and verbs need `ulimit -l unlimited`%s",
        (unsigned long long)limit.rlim_cur / 1024,
        needed ? " (limits.conf memlock; slurmd: LimitMEMLOCK=infinity and "
                 "PropagateResourceLimitsExcept=MEMLOCK; docker --ulimit memlock=-1; Kubernetes: "
                 "LimitMEMLOCK=infinity of containerd)"
               : "");
}

/* Whether a line of a file below the root has the text. */
static bool file_says(const struct wsh_info *info, const char *name, const char *text)
{
    char path[PATH_MAX], line[512];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", info->root, name);
    file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, text);
    if (file)
        fclose(file);
    return found;
}

/* NICs reach memory of GPUs by a module of NVIDIA's or of EFA's, or by dma-buf, which NVIDIA's open modules have. */
static int direct_check(const struct wsh_info *info)
{
    static const char *const modules[] = {"nvidia_peermem", "efa_nv_peermem", "nv_peer_mem"};
    char devices[256], path[64];

    if (!wsh_info_has(info, "proc/driver/nvidia/version") ||
        !wsh_info_names(info, DEVICES, "", devices, sizeof devices))
        return wsh_info_line(info, "GPUDirect", WSH_INFO_OK,
                             "not needed: no NVIDIA GPU together with an RDMA device here");
    if (info->env->hmem == WSH_OFF)
        return wsh_info_line(info, "GPUDirect", WSH_INFO_OK,
                             "SHMEM_HMEM=off: device memory of other hosts is reached through host memory");
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        snprintf(path, sizeof path, "sys/module/%s", modules[i]);
        if (wsh_info_has(info, path))
            return wsh_info_line(info, "GPUDirect", WSH_INFO_OK, "RDMA by the kernel module %s", modules[i]);
    }
    if (file_says(info, "proc/driver/nvidia/version", "Open Kernel Module"))
        return wsh_info_line(info, "GPUDirect", WSH_INFO_OK,
                             "RDMA by dma-buf, which NVIDIA's open kernel modules have");
    return wsh_info_line(
        info, "GPUDirect", WSH_INFO_NOTE,
        "NICs do not reach memory of the GPU: device memory of other hosts goes through host memory; load "
        "nvidia-peermem (modprobe nvidia-peermem, with EFA efa_nv_peermem), or install NVIDIA's open kernel "
        "modules");
}

static int pages_check(const struct wsh_info *info)
{
    long all = wsh_info_number(info, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
    long unused = wsh_info_number(info, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");

    if (info->env->huge_pages == WSH_ON && unused <= 0)
        return wsh_info_line(
            info, "huge pages", WSH_INFO_FAIL,
            "none is free, and SHMEM_HUGE_PAGES=on wants them: sysctl vm.nr_hugepages=…, in Kubernetes the "
            "resource hugepages-2Mi; or SHMEM_HUGE_PAGES=auto");
    if (all <= 0)
        return wsh_info_line(info, "huge pages", WSH_INFO_OK, "none reserved: ordinary pages are used");
    return wsh_info_line(info, "huge pages", WSH_INFO_OK, "%ld of 2 MiB, %ld free", all, unused);
}

static int memfd_check(const struct wsh_info *info)
{
    int fd = memfd_create("warpshmem-check", MFD_CLOEXEC);

    if (fd < 0)
        return wsh_info_line(
            info, "memory", WSH_INFO_FAIL,
            "memfd_create is refused (%s): the symmetric heap is one; allow it in the seccomp profile of the "
            "container, or use the default profile",
            wsh_strerror(errno));
    close(fd);
    return wsh_info_line(info, "memory", WSH_INFO_OK, "memfd_create works (shared symmetric heap)");
}

/* Of itself a process may read everywhere but where the call is refused as such. */
static int copies_check(const struct wsh_info *info)
{
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    long scope = wsh_info_number(info, "proc/sys/kernel/yama/ptrace_scope");

    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0)
        return wsh_info_line(
            info, "copies", WSH_INFO_NOTE,
            "process_vm_readv is refused (%s): this library does without, libfabric's provider shm copies "
            "twice, debuggers need it; allow it in the seccomp profile (docker --cap-add SYS_PTRACE)",
            wsh_strerror(errno));
    if (scope > 0)
        return wsh_info_line(
            info, "copies", WSH_INFO_OK,
            "process_vm_readv works; kernel.yama.ptrace_scope is %ld: not between processes of a job, so "
            "libfabric's provider shm copies twice and gdb -p needs root",
            scope);
    return wsh_info_line(info, "copies", WSH_INFO_OK, "process_vm_readv works");
}

int wsh_info_devices(const struct wsh_info *info)
{
    int bad = 0;

    bad |= memfd_check(info);
    bad |= copies_check(info);
    bad |= rdma_check(info);
    bad |= memlock_check(info);
    bad |= direct_check(info);
    bad |= pages_check(info);
    return bad;
}
