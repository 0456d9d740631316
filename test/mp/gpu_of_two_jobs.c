/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that wait for other PEs have room beside those of other jobs: a GPU is divided among all processes that use
 * it under MPS, until they end. Where another job came first and took more, a line says so, once, with the cure.
 *
 * paths: fakegpu1:2
 */
#define _GNU_SOURCE
#include "test/common/mp.h"
#include "test/fake_cuda/fake.h"

#include "device/view/launch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char pci[300];

/* A device that this machine has stands in for the GPU: its name, and whether there is one. */
static bool find_device(void)
{
    DIR *dir = opendir("/sys/bus/pci/devices");
    struct dirent *entry = NULL;

    while (dir && (entry = readdir(dir)) && entry->d_name[0] == '.')
        ;
    if (entry)
        snprintf(pci, sizeof pci, "%s", entry->d_name);
    if (dir)
        closedir(dir);
    return entry != NULL;
}

/* As a process of another job has it, which has divided the GPU among n PEs. */
static int lock_of_another(off_t at, int n)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 + n};
    char file[400];
    int fd;

    snprintf(file, sizeof file, "/sys/bus/pci/devices/%s/vendor", pci);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    mp_check(fd >= 0 && !fcntl(fd, F_OFD_SETLK, &lock), "no lock on %s", file);
    return fd;
}

static int find(const void *kernel, void **function)
{
    *function = (void *)(uintptr_t)kernel;
    return 0;
}

/* Blocks of 128 threads that fit, and in `said` what the library prints meanwhile. */
static int room(char *said, size_t size)
{
    struct wsh_device_launch it = {
        "gpu_of_two_jobs", "kernel", find, {0, 0, 0}, {128, 1, 1}, 0, NULL, NULL, NULL, NULL};
    int blocks = -1, was = dup(2), out = memfd_create("stderr", MFD_CLOEXEC);
    ssize_t len;

    dup2(out, 2);
    mp_check(wsh_device_launch_fits(&it, &blocks) == 0, "the query fails");
    dup2(was, 2);
    len = pread(out, said, size - 1, 0);
    said[len > 0 ? len : 0] = '\0';
    close(out);
    close(was);
    return blocks;
}

static void expect(const char *when, int sharers, bool warns)
{
    char said[1024], cure[64];
    int most = FAKE_PROCESSORS * FAKE_THREADS / 128 / sharers, blocks = room(said, sizeof said);

    snprintf(cure, sizeof cure, "SHMEM_GPU_PES=%d", sharers);
    mp_check(blocks == most, "%s: room for %d blocks, not %d", when, blocks, most);
    mp_check(!strstr(said, cure) == !warns && (warns || !said[0]), "%s: it says '%s'", when, said);
    shmem_barrier_all();
}

int main(void)
{
    bool there = find_device();
    int first = -1, second = -1;

    setenv("FAKE_CUDA_MPS", "1", 1);
    setenv("FAKE_CUDA_PCI", pci, 1);
    mp_begin();
    if (!there)
        mp_skip("this machine has no PCI devices");
    if (!mp_me)
        first = lock_of_another(1, 0);
    shmem_barrier_all();
    expect("beside a process that has no kernels yet", 3, false);
    if (!mp_me)
        second = lock_of_another(4, 1);
    shmem_barrier_all();
    expect("beside one that has taken all", 4, true);
    expect("again", 4, false);
    if (!mp_me) {
        close(first);
        close(second);
    }
    shmem_barrier_all();
    expect("alone again", 2, false);
    return mp_end();
}
