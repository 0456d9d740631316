/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory cgroup's limit, what is left of it, and the kernel's kills are read from both versions' files. */
#define _GNU_SOURCE
#include "base/process/cgroup.h"

#include "test/common/unit.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static char root[] = "/tmp/wsh-cgroup-XXXXXX";

/* Writes a file below root, with the folders on the way. */
static void put(const char *path, const char *text)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(full, 0700);
        *at = '/';
    }
    file = fopen(full, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void tree_clear(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s/*", root);
    CU_ASSERT_EQUAL(system(command), 0);
}

static struct wsh_cgroup tree_read(void)
{
    struct wsh_cgroup cgroup;

    wsh_cgroup_read(root, &cgroup);
    return cgroup;
}

static void tree_make(void)
{
    CU_ASSERT_FATAL(mkdtemp(root) != NULL);
}

static void tree_remove(void)
{
    CU_ASSERT_EQUAL(rmdir(root), 0);
}

static void nothing_to_read(void)
{
    struct wsh_cgroup cgroup = tree_read();

    CU_ASSERT(cgroup.limit == SIZE_MAX && cgroup.left == SIZE_MAX && cgroup.kills == -1);
    put("proc/self/cgroup", "rubbish\n9\n::\n1:cpu:/x\n");
    cgroup = tree_read();
    CU_ASSERT(cgroup.limit == SIZE_MAX && cgroup.left == SIZE_MAX && cgroup.kills == -1);
    tree_clear();
}

static void version_2(void)
{
    struct wsh_cgroup cgroup;

    put("proc/self/cgroup", "0::/job/step\n");
    put("sys/fs/cgroup/job/memory.max", "104857600\n");
    put("sys/fs/cgroup/job/memory.current", "83886080\n");
    put("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 10485760\nactive_file 5242880\n");
    put("sys/fs/cgroup/job/step/memory.max", "max\n");
    put("sys/fs/cgroup/job/step/memory.current", "83886080\n");
    put("sys/fs/cgroup/job/step/memory.events", "low 0\noom 5\noom_kill 3\noom_group_kill 0\n");
    cgroup = tree_read();
    CU_ASSERT_EQUAL(cgroup.limit, 100 * MIB);
    CU_ASSERT_EQUAL(cgroup.left, 35 * MIB);
    CU_ASSERT_EQUAL(cgroup.kills, 3);
    put("proc/meminfo", "MemTotal: 1 kB\nSwapFree:       2048 kB\n");
    CU_ASSERT_EQUAL(tree_read().left, 37 * MIB);
    put("sys/fs/cgroup/job/step/memory.max", "90000384\n"); /* 85.83 MiB: less left than around it */
    CU_ASSERT_EQUAL(tree_read().limit, 90000384);
    tree_clear();
}

static void version_1(void)
{
    struct wsh_cgroup cgroup;

    put("proc/self/cgroup", "12:pids:/a\n9:cpu,memory:/b\n1:name=systemd:/c\n0::/d\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
    put("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "10485760\n");
    put("sys/fs/cgroup/memory/b/memory.usage_in_bytes", "4194304\n");
    put("sys/fs/cgroup/memory/b/memory.stat", "inactive_file 9\ntotal_inactive_file 1048576\n");
    put("sys/fs/cgroup/memory/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    cgroup = tree_read();
    CU_ASSERT_EQUAL(cgroup.limit, 10 * MIB);
    CU_ASSERT_EQUAL(cgroup.left, 7 * MIB);
    CU_ASSERT_EQUAL(cgroup.kills, 7);
    put("proc/self/cgroup", "9:memory:/docker/0123\n"); /* the host's path; here the mount point is it */
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2097152\n");
    CU_ASSERT_EQUAL(tree_read().limit, 2 * MIB);
    tree_clear();
}

static void more_used_than_allowed(void)
{
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "1048576\n");
    put("sys/fs/cgroup/memory.current", "2097152\n");
    CU_ASSERT_EQUAL(tree_read().left, 0);
    tree_clear();
}

static void processors(void)
{
    put("proc/self/cgroup", "0::/job/step\n");
    CU_ASSERT_EQUAL(wsh_cgroup_cpus(root), 0);
    put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    CU_ASSERT_EQUAL(wsh_cgroup_cpus(root), 1.5);
    tree_clear();
    put("proc/self/cgroup", "3:cpu,cpuacct:/b\n9:memory:/c\n");
    put("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
    CU_ASSERT_EQUAL(wsh_cgroup_cpus(root), 0);
    put("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "200000\n");
    CU_ASSERT_EQUAL(wsh_cgroup_cpus(root), 2);
    tree_clear();
}

const struct unit_test unit_tests[] = {
    {"a folder to read from", tree_make},
    {"nothing to read is no limit", nothing_to_read},
    {"version 2", version_2},
    {"version 1", version_1},
    {"more used than allowed", more_used_than_allowed},
    {"processors' time", processors},
    {"and it is gone", tree_remove},
    {NULL, NULL},
};
