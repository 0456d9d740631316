/* SPDX-License-Identifier: BSD-3-Clause */
/* Each finding of warpshmem-info --check about limits, in a tree that has it, names its cure. */
#define _GNU_SOURCE
#include "tools/info_limits.h"

#include "test/common/unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/wsh-info-XXXXXX";
static char *text;
static struct wsh_env env;

/* Writes a file below root, with the folders before it; a folder where the path ends in a slash. */
static void put(const char *path, const char *content)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(full, 0700);
        *at = '/';
    }
    if (full[strlen(full) - 1] == '/')
        return;
    file = fopen(full, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(content, file);
    fclose(file);
}

static int look(int (*check)(const struct wsh_info *), bool parsable)
{
    struct wsh_info info = {root, parsable, NULL, &env};
    size_t size;
    int bad;

    free(text);
    info.out = open_memstream(&text, &size);
    CU_ASSERT_FATAL(info.out != NULL);
    bad = check(&info);
    fclose(info.out);
    return bad;
}

/* The line of a finding has these words. */
static bool says(const char *name, const char *kind, const char *words)
{
    char head[64], line[1200];
    char *at;

    snprintf(head, sizeof head, "%-12s %-4s ", name, kind);
    at = strstr(text, head);
    if (!at || (at != text && at[-1] != '\n'))
        return false;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return strstr(line, words);
}

static void tree_clear(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s/*", root);
    CU_ASSERT_EQUAL(system(command), 0);
}

static void tree_make(void)
{
    CU_ASSERT_FATAL(mkdtemp(root) != NULL);
    unsetenv("TMPDIR");
    CU_ASSERT_EQUAL(wsh_env_load(&env), 0);
}

static void nothing_is_wrong(void)
{
    put("tmp/", "");
    put("dev/shm/", "");
    CU_ASSERT_EQUAL(look(wsh_info_limits, false), 0);
    CU_ASSERT(says("cgroup", "ok", "no limit"));
    CU_ASSERT(says("/tmp", "ok", "can be written"));
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 0);
    CU_ASSERT(says("RDMA", "ok", "no RDMA device"));
    CU_ASSERT(says("memory", "ok", "memfd_create works"));
    CU_ASSERT_EQUAL(look(wsh_info_devices, true), 0);
    CU_ASSERT(strstr(text, "check:RDMA:ok:no RDMA device") != NULL);
}

static void folders_that_lack(void)
{
    tree_clear();
    CU_ASSERT_EQUAL(look(wsh_info_limits, false), 1);
    CU_ASSERT(says("/tmp", "FAIL", "set TMPDIR"));
    CU_ASSERT(says("/dev/shm", "note", "mount a tmpfs"));
    put("tmp/", "");
    put("dev/shm/", "");
}

static void cgroups(void)
{
    put("proc/self/cgroup", "0::/job\n");
    put("sys/fs/cgroup/job/memory.max", "104857600\n");
    put("sys/fs/cgroup/job/memory.current", "83886080\n");
    put("sys/fs/cgroup/job/memory.events", "oom_kill 3\n");
    put("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
    CU_ASSERT_EQUAL(look(wsh_info_limits, false), 0);
    CU_ASSERT(says("cgroup", "note", "100 MiB of memory, 20 MiB left"));
    CU_ASSERT(says("cgroup", "note", "srun --mem, docker --memory"));
    CU_ASSERT(says("killed", "note", "has killed 3 processes"));
    CU_ASSERT(says("processors", "note", "a quota of 0.5"));
    CU_ASSERT(says("processors", "note", "--cpuset-cpus"));
    put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    CU_ASSERT_EQUAL(look(wsh_info_limits, false), 0);
    CU_ASSERT(says("processors", "ok", ""));
}

static void containers(void)
{
    put(".dockerenv", "");
    setenv("SLURM_JOB_ID", "17", 1);
    look(wsh_info_limits, false);
    CU_ASSERT(says("place", "ok", "a container, in job 17 of Slurm"));
    unsetenv("SLURM_JOB_ID");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    look(wsh_info_limits, false);
    CU_ASSERT(says("place", "ok", "a pod of Kubernetes"));
    unsetenv("KUBERNETES_SERVICE_HOST");
}

static void devices_without_files(void)
{
    put("sys/class/infiniband/efa_0/", "");
    put("sys/class/infiniband/efa_1/", "");
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 1);
    CU_ASSERT(says("RDMA", "FAIL", "efa_0 efa_1, but there is no /dev/infiniband/uverbs*"));
    CU_ASSERT(says("RDMA", "FAIL", "vpc.amazonaws.com/efa"));
    put("dev/infiniband/uverbs0/", ""); /* a folder cannot be opened for writing, not by root either */
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 1);
    CU_ASSERT(says("RDMA", "FAIL", "cannot be opened"));
    tree_clear();
    put("sys/class/infiniband/efa_0/", "");
    put("dev/infiniband/uverbs0", "");
    look(wsh_info_devices, false);
    CU_ASSERT(says("RDMA", "ok", "1 device: efa_0"));
}

/* Devices are there by now. */
static void locked_memory(void)
{
    struct rlimit before, limit;

    getrlimit(RLIMIT_MEMLOCK, &before);
    limit = before;
    limit.rlim_cur = 65536;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 1);
    CU_ASSERT(says("memlock", "FAIL", "64 KiB"));
    CU_ASSERT(says("memlock", "FAIL", "PropagateResourceLimitsExcept=MEMLOCK"));
    tree_clear();
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 0);
    CU_ASSERT(says("memlock", "ok", "enough for tcp"));
    setrlimit(RLIMIT_MEMLOCK, &before);
}

static void huge_pages(void)
{
    put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n");
    put("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0\n");
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 0);
    CU_ASSERT(says("huge pages", "ok", "8 of 2 MiB, 0 free"));
    env.huge_pages = WSH_ON;
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 1);
    CU_ASSERT(says("huge pages", "FAIL", "vm.nr_hugepages"));
    env.huge_pages = WSH_AUTO;
}

static void yama(void)
{
    put("proc/sys/kernel/yama/ptrace_scope", "1\n");
    CU_ASSERT_EQUAL(look(wsh_info_devices, false), 0);
    CU_ASSERT(says("copies", "ok", "ptrace_scope is 1") || says("copies", "note", "is refused"));
}

static void direct_rdma(void)
{
    tree_clear();
    look(wsh_info_devices, false);
    CU_ASSERT(says("GPUDirect", "ok", "not needed"));
    put("sys/class/infiniband/efa_0/", "");
    put("dev/infiniband/uverbs0", "");
    put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550\n");
    look(wsh_info_devices, false);
    CU_ASSERT(says("GPUDirect", "note", "modprobe nvidia-peermem"));
    put("sys/module/efa_nv_peermem/", "");
    look(wsh_info_devices, false);
    CU_ASSERT(says("GPUDirect", "ok", "kernel module efa_nv_peermem"));
    tree_clear();
    put("sys/class/infiniband/efa_0/", "");
    put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550\n");
    look(wsh_info_devices, false);
    CU_ASSERT(says("GPUDirect", "ok", "by dma-buf"));
    env.hmem = WSH_OFF;
    look(wsh_info_devices, false);
    CU_ASSERT(says("GPUDirect", "ok", "SHMEM_HMEM=off"));
    env.hmem = WSH_AUTO;
    tree_clear();
}

/* The process may not call it from now on, as under a container's profile. */
static int refuse_call(unsigned number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { SAID = 3, NO_SECCOMP = 4 };

static int look_refused(unsigned number, const char *name, const char *kind, const char *words)
{
    if (refuse_call(number))
        return NO_SECCOMP;
    look(wsh_info_devices, false);
    return says(name, kind, words) ? SAID : 1;
}

/* In a process of its own, since a filter stays. */
static void seccomp_says(unsigned number, const char *name, const char *kind, const char *words)
{
    pid_t child = fork();
    int status;

    if (!child)
        _exit(look_refused(number, name, kind, words));
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP)
        printf("note: seccomp filters are refused here\n");
    else
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == SAID);
}

static void refused_calls(void)
{
    seccomp_says(SYS_memfd_create, "memory", "FAIL", "allow it in the seccomp profile");
    seccomp_says(SYS_process_vm_readv, "copies", "note", "--cap-add SYS_PTRACE");
}

static void limits_of_processes(void)
{
    struct rlimit before, limit;

    put("tmp/", "");
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)64 << 20;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    env.symmetric_size = (size_t)1 << 30;
    CU_ASSERT_EQUAL(look(wsh_info_limits, false), 1);
    CU_ASSERT(says("file size", "FAIL", "64 MiB at most"));
    CU_ASSERT(says("file size", "FAIL", "ulimit -f unlimited"));
    setrlimit(RLIMIT_FSIZE, &before);
}

static void tree_remove(void)
{
    char command[64];

    free(text);
    text = NULL;
    snprintf(command, sizeof command, "rm -rf %s", root);
    CU_ASSERT_EQUAL(system(command), 0);
}

const struct unit_test unit_tests[] = {
    {"a tree to read from", tree_make},
    {"where nothing is wrong nothing fails", nothing_is_wrong},
    {"folders that lack", folders_that_lack},
    {"limits of a cgroup", cgroups},
    {"containers, pods and jobs of Slurm", containers},
    {"devices without their files", devices_without_files},
    {"locked memory, where there are devices", locked_memory},
    {"huge pages that are asked for", huge_pages},
    {"ptrace_scope", yama},
    {"memory of GPUs and RDMA devices", direct_rdma},
    {"calls that a seccomp profile refuses", refused_calls},
    {"limits of processes", limits_of_processes},
    {"and it is gone", tree_remove},
    {NULL, NULL},
};
